"""The grounded system and its sessions."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from corecurves.canonical import canonical_json, stable_seed
from corecurves.errors import UsageError
from corecurves.specs import Identity, Pack
from corecurves.systems.base import Turn
from corecurves.systems.grounded.memory import Fact, Memory
from corecurves.systems.grounded.parse import Proposition, Question, Reason, parse
from corecurves.systems.grounded.review import review
from corecurves.text import words

__all__ = ["GroundedSession", "GroundedSettings", "GroundedSystem"]

_REPLIES = {  # nothing of a rejected utterance is repeated
    Reason.OVERRIDE: "I stay as I am.",
    Reason.EMPTY: "There was nothing in that.",
    Reason.NO_PRIOR: "Nothing came before that.",
    Reason.COMPOUND: "Only one by one, please.",
    Reason.RELATION: "I do not have that verb.",
    Reason.NOT_IN_PACK: "I do not have all of that.",
    Reason.NEITHER: "I do not have any of that.",
    Reason.DUPLICATE: "I have that already.",
}
_UNTAUGHT = "I have not been taught {} about {}."
_SPOKEN = frozenset(words(f"Noted, which {' '.join(_REPLIES.values())} {_UNTAUGHT} anything"))


@dataclass(frozen=True)
class GroundedSettings:
    """What changes the curve of the grounded system; a UsageError if a value is out of range.

    Parameters
    ----------
    max_hops : int
        Most taught relations between a probe's subject and a word that is uttered; at least 1.
    vault_capacity : int or None
        Most teachings remembered, at least 1: for a new one the oldest is forgotten, is no longer
        walked, and may be taught again. None for no limit.
    vault_threshold : float
        Cosine from which a teaching counts as retrieved, in (0, 1].
    seed : int
        Mixed with a session's seed into that of the vault's word vectors.
    pack : str
        Name or path of the vocabulary pack of every session; empty for a curriculum's own, and the
        standard one where it has none.
    """

    max_hops: int = 16
    vault_capacity: int | None = None
    vault_threshold: float = 0.3
    seed: int = 0
    pack: str = ""

    def __post_init__(self) -> None:
        for name in ("seed", "max_hops", "vault_capacity"):
            value, bound = getattr(self, name), "" if name == "seed" else " of at least 1"
            unlimited = name == "vault_capacity" and value is None
            if not unlimited and (type(value) is not int or (bound and value < 1)):
                raise UsageError(f"`{name}` must be a whole number{bound}, not {value!r}")
        if type(self.vault_threshold) not in (int, float) or not 0 < self.vault_threshold <= 1:
            raise UsageError(f"`vault_threshold` must be in (0, 1], not {self.vault_threshold!r}")
        object.__setattr__(self, "vault_threshold", float(self.vault_threshold))
        if not isinstance(self.pack, str):
            raise UsageError(f"`pack` must be the name or path of a pack, not {self.pack!r}")


class GroundedSystem:
    """A reviewed-teaching engine: it says what it was taught, and nothing else.

    Parameters
    ----------
    settings : GroundedSettings or None
        What changes its curve; None for the defaults.
    pack : Pack or None
        The vocabulary; None loads the one that the settings name, when it is first needed.

    Examples
    --------
    >>> session = GroundedSystem().start()
    >>> session.turn("Tell me about wisdom.").surface
    'I have not been taught anything about wisdom.'
    >>> session.turn("No, wisdom is judgment.").surface
    'Noted: wisdom is judgment.'
    >>> session.turn("What is wisdom?").walk_surface
    'wisdom -is-> judgment'
    """

    stochastic = False
    """A seed changes the vectors of the vault, and no answer."""

    def __init__(self, settings: GroundedSettings | None = None, pack: Pack | None = None) -> None:
        self.settings = settings or GroundedSettings()
        self._given = pack
        self._others: dict[str, GroundedSystem] = {}

    @cached_property
    def pack(self) -> Pack:
        """The vocabulary; a UsageError if it has words that the system says untaught."""
        from corecurves.files.packs import STANDARD_PACK, load_pack

        pack = self._given or load_pack(self.settings.pack or STANDARD_PACK)
        if own := ", ".join(sorted(_SPOKEN & pack.by_form.keys())):
            raise UsageError(f"the grounded system says {own} untaught; leave it out of the pack")
        return pack

    @cached_property
    def identity(self) -> Identity:
        """Who answers; the settings hold the pack's digest."""
        pack = {"pack": self.pack.name, "pack_digest": self.pack.digest}
        return Identity("grounded", "1", asdict(self.settings) | pack)

    def over(self, pack: str) -> GroundedSystem:
        """The same system over a curriculum's own pack."""
        from corecurves.files.packs import STANDARD_PACK, load_pack

        if pack in ("", STANDARD_PACK) or self._given or self.settings.pack:
            return self
        if pack not in self._others:
            self._others[pack] = GroundedSystem(self.settings, load_pack(pack))
        return self._others[pack]

    def start(self, *, seed: int = 0, pack: str = "") -> GroundedSession:
        """Session that was taught nothing."""
        return GroundedSession(self.over(pack), seed)


class GroundedSession:
    """A conversation with the grounded system; see `GroundedSystem.start`."""

    def __init__(self, system: GroundedSystem, seed: int) -> None:
        self._settings, self._pack = system.settings, system.pack
        # "history" sorts before these two: the hash is over one canonical JSON object.
        self._tail = canonical_json({"identity": system.identity.content(), "seed": seed})[1:]
        self._history: tuple[str, ...] = ()
        self.memory = Memory(stable_seed(system.settings.seed, seed), self._settings.vault_capacity)

    def turn(self, text: str) -> Turn:
        """One turn: a question is answered, anything else is reviewed."""
        parsed = parse(text, self._pack)
        verdict = review(parsed, self.memory.held, bool(self._history))
        walked, hits = "", None
        if isinstance(parsed, Question) and verdict.accepted is None:
            facts = self.memory.walk(parsed.lemma, parsed.relation, self._settings.max_hops)
            surface, walked = _realise(parsed, facts)
            hits = self.memory.hits(parsed.content, self._settings.vault_threshold)
        elif isinstance(parsed, Proposition) and verdict.accepted:
            self.memory = self.memory.taught(Fact(parsed, len(self._history) + 1, text))
            surface = f"Noted: {parsed.text}."
        else:
            surface = _REPLIES[Reason(verdict.reason.partition(":")[0])]
        turn = Turn(surface, walked, hits, "", verdict.accepted, verdict.reason)
        record = {**vars(turn), "text": text, "kind": parsed.kind}
        del record["trace_hash"]
        self._history = (*self._history, canonical_json(record))
        trace = f'{{"history":[{",".join(self._history)}],{self._tail}'
        return replace(turn, trace_hash=hashlib.sha256(trace.encode("ascii")).hexdigest())

    def fork(self) -> GroundedSession:
        """Session in the same state, independent from here on: what it holds is never changed."""
        return copy.copy(self)


def _realise(question: Question, facts: list[Fact]) -> tuple[str, str]:
    """Sentences of at most two facts, and the walk as ``wisdom -is-> judgment; wisdom -…``."""
    if not facts:
        missing = "that" if question.relation else "anything"
        return _UNTAUGHT.format(missing, question.subject or "that"), ""
    left, sentences, strands = list(facts), [], []
    while left:
        strand = [left.pop(0).said]
        while more := [fact for fact in left if fact.said.triple[0] == strand[-1].triple[2]]:
            strand.append(more[0].said)
            left.remove(more[0])
        for first, *then in (strand[i : i + 2] for i in range(0, len(strand), 2)):
            text = first.text + "".join(f", which {x.verb} {x.object.text}" for x in then)
            sentences.append(f"{text[0].upper()}{text[1:]}.")
        hops = (f" -{said.relation.third}-> {said.object.head}" for said in strand)
        strands.append(strand[0].subject.head + "".join(hops))
    return " ".join(sentences), "; ".join(strands)
