"""Packs, curricula, corrections and tokens, as files give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from corecurves.canonical import JSON, digest
from corecurves.text import hits, normalise

__all__ = ["Correction", "Curriculum", "Lemma", "Pack", "Relation", "Token"]


@dataclass(frozen=True)
class Lemma:
    """One word of a pack.

    Parameters
    ----------
    text : str
        The word as it is looked up.
    pos : str
        Part of speech: ``noun``, ``adjective``, ``verb`` or ``adverb``.
    gloss : str
        One line on what it means.
    forms : tuple of str
        Other accepted forms, such as a plural.
    """

    text: str
    pos: str
    gloss: str
    forms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """One verb that a proposition may have.

    Parameters
    ----------
    name : str
        The name, with underscores: ``leads_to``.
    base : str
        Base form: ``lead to``.
    third : str
        Third person: ``leads to``.
    gloss : str
        One line on what it means.
    """

    name: str
    base: str
    third: str
    gloss: str


@dataclass(frozen=True)
class Pack:
    """A vocabulary pack: the words that curricula draw on and that a system may be taught with.

    Parameters
    ----------
    name, edition, language, note : str
        What it is called, whose edition, which language, and what to know about it.
    lemmas : tuple of Lemma
        The words.
    relations : tuple of Relation
        The verbs that propositions may have.
    """

    name: str
    edition: str
    language: str
    note: str
    lemmas: tuple[Lemma, ...]
    relations: tuple[Relation, ...]

    @cached_property
    def by_form(self) -> dict[str, Lemma]:
        """Lemma of each accepted form, in normal form."""
        table = {normalise(form): lemma for lemma in self.lemmas for form in lemma.forms}
        return table | {normalise(lemma.text): lemma for lemma in self.lemmas}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest(
            {
                "pack": self.name,
                "edition": self.edition,
                "language": self.language,
                "lemmas": [[x.text, x.pos, x.gloss, x.forms] for x in self.lemmas],
                "relations": [[x.name, x.base, x.third, x.gloss] for x in self.relations],
            }
        )

    def __repr__(self) -> str:
        return f"Pack({self.name!r}, edition={self.edition!r}, {len(self.lemmas)} lemmas)"


@dataclass(frozen=True)
class Token:
    """A word that a probe's answer is expected to hold.

    Parameters
    ----------
    text : str
        The word.
    also : tuple of str
        Other forms that count as the same token.
    """

    text: str
    also: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """All accepted forms."""
        return (self.text, *self.also)


@dataclass(frozen=True)
class Correction:
    """One taught utterance.

    Parameters
    ----------
    text : str
        What is said.
    adds : tuple of Token
        The expected tokens that it adds: exactly one in a curriculum that keeps the contract.
    line : int
        Where it stands in its file; 0 where it comes from none.
    """

    text: str
    adds: tuple[Token, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Curriculum:
    """An ordered list of corrections about one concept, and the probe that is asked after each.

    Parameters
    ----------
    concept : str
        What is taught.
    probe : str
        The fixed question.
    corrections : tuple of Correction
        In the order in which they are taught.
    opening : str
        The first turn: a correction needs a turn before it to bind to.
    shape : str
        ``chain``, ``branch``, ``mixed``, or a word of one's own.
    split : str
        ``public``, ``holdouts``, ``dev``, ``stress``, or a folder's name.
    pack : str
        Name of the pack that the words come from; ``""`` for none.
    pack_digest : str
        Digest of that pack.
    pack_source : str
        Where it is read from, see `load_pack`; ``""`` for none.
    contract : bool
        Whether it keeps the contract and counts in the contract's aggregates.
    source : str
        The file that it was read from, and the line.
    """

    concept: str
    probe: str
    corrections: tuple[Correction, ...]
    opening: str = ""
    shape: str = "mixed"
    split: str = ""
    pack: str = ""
    pack_digest: str = ""
    pack_source: str = field(default="", compare=False)
    contract: bool = True
    source: str = field(default="", compare=False)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The expected tokens, in the order in which corrections add them."""
        found: dict[str, Token] = {}
        for correction in self.corrections:
            for token in correction.adds:
                found.setdefault(token.text, token)
        return tuple(found.values())

    @property
    def introduced(self) -> tuple[int, ...]:
        """Per expected token the k of the correction that adds it."""
        first: dict[str, int] = {}
        for k, correction in enumerate(self.corrections, start=1):
            for token in correction.adds:
                first.setdefault(token.text, k)
        return tuple(first.values())

    def __len__(self) -> int:
        return len(self.corrections)

    def hits(self, *texts: str) -> tuple[bool, ...]:
        """Which expected tokens stand in the texts.

        Parameters
        ----------
        *texts : str
            Searched one by one.

        Returns
        -------
        tuple of bool
            One a token.
        """
        return hits([token.forms for token in self.tokens], *texts)

    def content(self) -> dict[str, JSON]:
        """Everything in it that can change a result, as JSON."""
        return {
            "concept": self.concept,
            "probe": self.probe,
            "opening": self.opening,
            "shape": self.shape,
            "split": self.split,
            "contract": self.contract,
            "pack": self.pack,
            "pack_digest": self.pack_digest,
            "corrections": [
                {"text": c.text, "adds": [list(t.forms) for t in c.adds]} for c in self.corrections
            ],
        }

    def __repr__(self) -> str:
        shape = f"{self.shape}, {len(self)} corrections"
        return f"Curriculum({self.concept!r}, {shape}, split={self.split!r})"

    def _repr_html_(self) -> str:
        from corecurves.specs.views import curriculum_html

        return curriculum_html(self)
