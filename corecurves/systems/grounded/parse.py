"""What an utterance says: a question, one proposition, or neither, and then why.

A proposition is ``[marker] NP VP NP``; an NP is ``[a|an|the] [adjective]* noun``, all pack words; a
VP is one of the pack's relations in the present tense, or its denial. Nothing else passes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import product

from corecurves.specs import Pack, Relation
from corecurves.text import normalise, words

__all__ = ["Phrase", "Proposition", "Question", "Reason", "Unparsed", "explained", "parse"]

_ARTICLES = ("a", "an", "the")
_ASKS = frozenset(words("what what's who how why tell describe explain define"))
_JOINS = frozenset(words("and or but nor because so while although if unless which that then"))
_PUNCTUATION = re.compile(r"[,;:.?!()\[\]{}/|&+—–]|(?<!\S)-")
_LOOSE = r"(?:actually|in fact|more precisely|rather|also)\s*[\s,:]\s*"
MARKER = re.compile(rf"(?:{_LOOSE}|(?:no|correction|not quite|remember)\s*[,:]\s*)*")
_LONGEST = 40  # words among which a verb is looked for
_HIDDEN = 8  # format characters in an utterance: more of them can spell a hidden text


class Reason(StrEnum):
    """Why an utterance is not taken as a teaching, in the order in which they are tried."""

    OVERRIDE = "identity override"
    EMPTY = "empty"
    NO_PRIOR = "no prior turn to bind to"
    COMPOUND = "compound"
    RELATION = "unknown relation"
    NOT_IN_PACK = "not in the pack"
    NEITHER = "neither side in the pack"
    DUPLICATE = "duplicate"


_EXPLAINED = {
    Reason.OVERRIDE: "it speaks to the system, of who it is or of what it has to do",
    Reason.EMPTY: "there is no word in it",
    Reason.NO_PRIOR: "a correction needs a turn before it",
    Reason.COMPOUND: "it is no single plain claim, such as 'wisdom needs judgment': it has a "
    "second clause, a joining word, a comma, or more than two sides",
    Reason.RELATION: "it has no verb that the vocabulary pack knows; the standard pack has "
    "is, requires, depends on, leads to, precedes, supports, reveals, causes, contrasts with, "
    "guides, corrects, includes, prevents, produces",
    Reason.NOT_IN_PACK: "a word of it is not in the vocabulary pack",
    Reason.NEITHER: "no side of it is in the vocabulary pack",
    Reason.DUPLICATE: "it was taught before",
}


def explained(reason: str) -> str:
    """What a reason means, behind a colon; empty for one that is not the review's."""
    return next((f": {text}" for known, text in _EXPLAINED.items() if known == reason), "")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: its text and head as said, and the lemmas in it, the head's last."""

    text: str
    head: str
    lemmas: tuple[str, ...]


@dataclass(frozen=True)
class Proposition:
    """One claim or denial over pack words; its kind is ``correction`` where it has a marker."""

    subject: Phrase
    verb: str
    relation: Relation
    object: Phrase
    denies: bool
    kind: str

    @property
    def triple(self) -> tuple[str, str, str]:
        """Subject, relation and object, as lemmas."""
        return self.subject.lemmas[-1], self.relation.name, self.object.lemmas[-1]

    @property
    def text(self) -> str:
        """The sentence without its marker, in normal form."""
        return f"{self.subject.text} {self.verb} {self.object.text}"


@dataclass(frozen=True)
class Question:
    """A question on a subject (empty where none is known), or on one relation of it only."""

    text: str
    subject: str
    lemma: str
    relation: str
    content: tuple[str, ...]
    kind: str = "question"


@dataclass(frozen=True)
class Unparsed:
    """Neither of them: why, which words, and the text in normal form."""

    reason: Reason
    detail: str
    text: str
    kind: str


class _Lexicon:
    def __init__(self, pack: Pack) -> None:
        self.forms = {k: x for k, x in pack.by_form.items() if x.pos in ("noun", "adjective")}
        self.verbs: dict[str, tuple[Relation, bool]] = {}
        for relation in pack.relations:
            claims, tail = {"does": relation.third, "do": relation.base}, f" {relation.base}"
            if relation.third == "is":
                claims, tail = {"is": "is", "are": "are"}, ""
            for stem, claim in claims.items():
                self.verbs[claim] = relation, False
                self.verbs[f"{stem} not{tail}"] = self.verbs[f"{stem}n't{tail}"] = relation, True

    def phrase(self, said: list[str], *, bare: bool = False) -> Phrase | None:
        article = said[:1] != [] and said[0] in _ARTICLES
        found = [self.forms[word] for word in said[article:] if word in self.forms]
        kinds = "".join(lemma.pos[0] for lemma in found)
        alone = bare and kinds == "a" and not article  # "wisdom is open"
        if len(found) < len(said) - article or not (alone or re.fullmatch("a{0,9}n", kinds)):
            return None
        return Phrase(" ".join(said), said[-1], tuple(lemma.text for lemma in found))


_LEXICONS: dict[str, _Lexicon] = {}


def parse(text: str, pack: Pack) -> Question | Proposition | Unparsed:
    """What an utterance says.

    Examples
    --------
    >>> from corecurves.files.packs import load_pack
    >>> parse("No, wisdom isn’t a habit.", load_pack()).text
    "wisdom isn't a habit"
    """
    lexicon = _LEXICONS.get(pack.digest) or _LEXICONS.setdefault(pack.digest, _Lexicon(pack))
    return (_parse if len(text) <= 400 else _parse.__wrapped__)(text, lexicon)


@lru_cache(maxsize=16384)
def _parse(text: str, lexicon: _Lexicon) -> Question | Proposition | Unparsed:
    normal = normalise(text).strip()
    start = match.end() if (match := MARKER.match(normal)) else 0
    body, kind = normal[start:].rstrip(" .!"), "correction" if start else "assertion"
    said = body.split()
    if not text.isascii() and sum(unicodedata.category(c) == "Cf" for c in text) > _HIDDEN:
        return Unparsed(Reason.OVERRIDE, "", normal, kind)
    if not any(char.isalnum() for char in body):
        return Unparsed(Reason.EMPTY, "", normal, kind)
    if body.endswith("?") or (not start and said[0] in _ASKS):
        several = re.search(r"[.?!;]\s*\w", body)
        return Unparsed(Reason.COMPOUND, "", normal, kind) if several else _ask(normal, lexicon)
    verbs, forms, spans = lexicon.verbs, lexicon.forms, {}
    for i, n in product(range(len(said[:_LONGEST])), range(1, 6)):
        if (verb := " ".join(said[i : i + n])) in verbs:
            spans[i] = i + n, verb  # the longest verb that begins here
    found: list[Proposition] = []
    failing: list[list[str]] = []
    for i, (j, verb) in spans.items():
        relation, denies = verbs[verb]
        subject = lexicon.phrase(said[:i])
        object_ = lexicon.phrase(said[j:], bare=relation.third == "is")
        if subject and object_:
            found.append(Proposition(subject, verb, relation, object_, denies, kind))
        if not failing or said[i] not in forms:  # "support" is a verb and a noun
            failing = [side for side, ok in ((said[:i], subject), (said[j:], object_)) if not ok]
    if len(found) == 1:
        return found[0]
    unknown = [x for side in failing for x in side if x not in _ARTICLES and x not in forms]
    crowded = any(sum(x in forms and forms[x].pos == "noun" for x in side) > 1 for side in failing)
    joined = _PUNCTUATION.search(body) or not _JOINS.isdisjoint(said)
    if joined or sum(said[i] not in forms for i in spans) > 1 or (crowded and not unknown):
        return Unparsed(Reason.COMPOUND, "", normal, kind)
    if not spans:
        return Unparsed(Reason.RELATION, "", normal, kind)
    reason = Reason.NEITHER if len(failing) == 2 else Reason.NOT_IN_PACK
    detail = ", ".join(word[:30] for word in unknown[:5]) or "a noun is missing"
    return Unparsed(reason, "".join(c if c.isprintable() else "?" for c in detail), normal, kind)


def _ask(normal: str, lexicon: _Lexicon) -> Question:
    said, forms = words(normal), lexicon.forms
    known = [word for word in said if word in forms]
    subject = next((x for x in known if forms[x].pos == "noun"), known[0] if known else "")
    before, _, after = f" {' '.join(said)} ".partition(f" {subject} ")
    does = not {"do", "does", "did"}.isdisjoint(before.split())
    asked, verbs = "", {word: forms[word].text for word in known}
    for relation, _ in lexicon.verbs.values():
        verb = relation.base.split()[0]
        verbs = {verb: verb, relation.third.split()[0]: verb} | verbs
        # "What does wisdom require?" asks for one relation; "What requires wisdom?" does not.
        if does and after.startswith(f"{relation.base} "):
            asked = relation.name
    content = tuple(verbs[word] for word in said if word in verbs and verbs[word] != "be")
    return Question(normal, subject, verbs.get(subject, ""), asked, content)
