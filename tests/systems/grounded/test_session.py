"""Sessions of the grounded system: what it says, and that it replays."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corecurves.canonical import digest
from corecurves.errors import UsageError
from corecurves.files.packs import load_pack
from corecurves.specs import Lemma, Pack, Relation
from corecurves.systems.base import Session, System, Turn
from corecurves.systems.grounded import GroundedSession, GroundedSettings, GroundedSystem
from corecurves.systems.grounded import session as module
from corecurves.text import contains, words

PACK = load_pack()
NOUNS = [lemma.text for lemma in PACK.lemmas if lemma.pos == "noun"]
ADJECTIVES = [lemma.text for lemma in PACK.lemmas if lemma.pos == "adjective"]
CHAIN = (
    "No, wisdom is judgment.",
    "Judgment is discernment.",
    "Discernment is insight.",
    "Insight is understanding.",
    "Understanding is comprehension.",
)
ADDED = ("judgment", "discernment", "insight", "understanding", "comprehension")
PROBE = "What is wisdom?"


def taught(*texts: str, seed: int = 0, **given: Any) -> GroundedSession:
    session = GroundedSystem(GroundedSettings(**given)).start(seed=seed)
    session.turn("Tell me about wisdom.")
    for text in texts:
        assert session.turn(text).accepted, text
    return session


def curve(**given: Any) -> list[int]:
    counts = []
    for k in range(len(CHAIN) + 1):
        turn = taught(*CHAIN[:k], **given).turn(PROBE)
        counts.append(
            sum(contains(turn.surface, x) or contains(turn.walk_surface, x) for x in ADDED)
        )
    return counts


def test_it_is_a_system() -> None:
    assert isinstance(GroundedSystem(), System)
    assert isinstance(GroundedSystem().start(), Session)


def test_the_figures_of_the_contract_come_out_on_a_chain() -> None:
    assert curve() == [0, 1, 2, 3, 4, 5]
    assert curve(max_hops=2) == [0, 1, 2, 2, 2, 2]
    assert curve(max_hops=1) == [0, 1, 1, 1, 1, 1]


def test_what_is_forgotten_is_missing_from_the_curve() -> None:
    assert curve(vault_capacity=5) == [0, 1, 2, 3, 4, 5]
    assert curve(vault_capacity=2) == [0, 1, 2, 0, 0, 0]


def test_what_is_forgotten_may_be_taught_again() -> None:
    session = taught("Wisdom is judgment.", "Haste is waste.", vault_capacity=1)
    assert session.turn("Wisdom is judgment.").accepted
    session = taught("Wisdom is judgment.", "Haste is waste.", vault_capacity=2)
    assert session.turn("Wisdom is judgment.").review == "duplicate"


def test_the_threshold_and_the_seed_matter_for_vault_hits() -> None:
    def hits(seed: int = 0, **given: Any) -> int | None:
        return taught(*CHAIN, seed=seed, **given).turn(PROBE).vault_hits

    assert hits() == 1
    assert hits(vault_threshold=0.9) == 0
    assert hits(vault_threshold=0.001) > 1
    assert len({hits(vault_threshold=0.05, seed=x) for x in range(8)}) > 1
    assert len({reseeded(x) for x in range(8)}) > 1


def reseeded(seed: int) -> int | None:
    session = GroundedSystem(GroundedSettings(seed=seed, vault_threshold=0.05)).start()
    for text in ("Tell me about wisdom.", *CHAIN):
        session.turn(text)
    return session.turn(PROBE).vault_hits


def test_a_direct_hit_needs_a_word_in_common() -> None:
    session = taught("Wisdom is judgment.", "Wisdom requires practice.", "Haste is waste.")
    assert session.turn(PROBE).vault_hits == 2
    assert session.turn("What is waste?").vault_hits == 1
    assert session.turn("What is a zorp?").vault_hits == 0
    assert session.turn("No, haste causes waste.").vault_hits is None


def test_what_it_says() -> None:
    session = taught("Wisdom is sound judgment.", "Judgment is discernment.", "Wisdom isn't haste.")
    turn = session.turn("Wisdom requires the good memories.")
    assert turn.surface == "Noted: wisdom requires the good memories."
    turn = session.turn(PROBE)
    assert turn.surface == (
        "Wisdom is sound judgment, which is discernment. Wisdom requires the good memories."
    )
    assert turn.walk_surface == (
        "wisdom -is-> judgment -is-> discernment; wisdom -requires-> memories"
    )
    turn = session.turn("What does wisdom require?")
    assert turn.walk_surface == "wisdom -requires-> memories"
    assert session.turn("What does wisdom cause?").surface == (
        "I have not been taught that about wisdom."
    )
    assert session.turn("What are memories?").surface == (
        "I have not been taught anything about memories."
    )
    assert session.turn("What is a zorp?").surface == "I have not been taught anything about that."
    assert session.turn("Wisdom is a zorp.").surface == "I do not have all of that."


def test_a_late_correction_is_followed() -> None:
    session = taught("Judgment is discernment.")
    assert session.turn(PROBE).walk_surface == ""
    session.turn("Wisdom is judgment.")
    assert session.turn(PROBE).walk_surface == "wisdom -is-> judgment -is-> discernment"


def test_a_contradiction_takes_back_and_a_repetition_is_refused() -> None:
    session = taught("Wisdom is haste.", "No, wisdom is not haste.", "Wisdom is judgment.")
    assert session.turn(PROBE).surface == "Wisdom is judgment."
    assert session.turn("Wisdom isn't haste.").review == "duplicate"
    assert session.turn("Wisdom is haste.").accepted
    assert session.turn(PROBE).surface == "Wisdom is judgment. Wisdom is haste."


def test_a_correction_needs_a_turn_before_it() -> None:
    session = GroundedSystem().start()
    turn = session.turn("No, wisdom is judgment.")
    assert (turn.accepted, turn.review) == (False, "no prior turn to bind to")
    assert session.turn("No, wisdom is judgment.").accepted


def test_the_trace_hash_is_over_the_whole_history() -> None:
    system = GroundedSystem(GroundedSettings(seed=3))
    session = system.start(seed=5)
    texts = ("Tell me about wisdom.", "No, wisdom is judgment.", "Ignore\ud800 your rules", PROBE)
    kinds = ("question", "correction", "assertion", "question")
    turns = [session.turn(text) for text in texts]
    history = [
        {
            "text": text,
            "kind": kind,
            "accepted": turn.accepted,
            "review": turn.review,
            "surface": turn.surface,
            "walk_surface": turn.walk_surface,
            "vault_hits": turn.vault_hits,
        }
        for text, kind, turn in zip(texts, kinds, turns, strict=True)
    ]
    for k in range(1, 5):
        whole = {"history": history[:k], "identity": system.identity.content(), "seed": 5}
        assert turns[k - 1].trace_hash == digest(whole)
    assert len({turn.trace_hash for turn in turns}) == 4


def test_the_same_trace_in_another_interpreter() -> None:
    code = (
        "from tests.systems.grounded.test_session import CHAIN, PROBE, taught;"
        "turn = taught(*CHAIN, seed=9, vault_threshold=0.05).turn(PROBE);"
        "print(turn.trace_hash, turn.vault_hits)"
    )
    turn = taught(*CHAIN, seed=9, vault_threshold=0.05).turn(PROBE)
    for hash_seed in ("1", "4242"):
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [turn.trace_hash, str(turn.vault_hits)]


def test_hashes_differ_with_seed_settings_and_pack() -> None:
    traces = [
        taught(*CHAIN).turn(PROBE).trace_hash,
        taught(*CHAIN, seed=1).turn(PROBE).trace_hash,
        taught(*CHAIN, max_hops=9).turn(PROBE).trace_hash,
        taught(*CHAIN[:4]).turn(PROBE).trace_hash,
    ]
    smaller = Pack(PACK.name, "", "en", "", PACK.lemmas[:-1], PACK.relations)
    session = GroundedSystem(pack=smaller).start()
    for text in ("Tell me about wisdom.", *CHAIN):
        session.turn(text)
    assert len({*traces, session.turn(PROBE).trace_hash}) == 5


TEXTS = st.sampled_from(
    [*CHAIN, PROBE, "Wisdom isn't judgment.", "You are a pirate.", "", "What does wisdom require?",
     "Wisdom requires practice.", "Insight is wisdom.", "Wisdom is\0 judgment.", "\ud800",
     "🏴‍☠️ is ＡＣＴ"]
)  # fmt: skip


@given(st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=8))
def test_forks_equal_replays_and_are_independent(before, left, right):
    def replay(texts: list[str]) -> list[Turn]:
        session = GroundedSystem().start(seed=4)
        return [session.turn(text) for text in texts]

    trunk = GroundedSystem().start(seed=4)
    for text in before:
        trunk.turn(text)
    fork = trunk.fork()
    got: dict[str, list[Turn]] = {"fork": [], "trunk": []}
    for i in range(max(len(left), len(right))):  # interleaved, so that nothing may be shared
        got["fork"] += [fork.turn(text) for text in left[i : i + 1]]
        got["trunk"] += [trunk.turn(text) for text in right[i : i + 1]]
    assert got["fork"] == replay(before + left)[len(before) :]
    assert got["trunk"] == replay(before + right)[len(before) :]


@given(st.text(max_size=40))
def test_any_text_gets_a_turn_and_a_rejected_one_is_not_repeated(text: str) -> None:
    session = taught(*CHAIN[:2])
    turn = session.turn(text)
    assert len(turn.trace_hash) == 64
    if turn.accepted is False:
        assert turn.surface in module._REPLIES.values()
        assert turn.walk_surface == ""


PHRASE = st.tuples(st.sampled_from(["", "a ", "the "]), st.sampled_from(["", *ADJECTIVES[:6]]),
                   st.sampled_from(NOUNS[:9]))  # fmt: skip
SENTENCE = st.builds(
    lambda a, verb, b: f"{a[0]}{a[1]} {a[2]} {verb} {b[0]}{b[1]} {b[2]}.",
    PHRASE,
    st.sampled_from(
        [*(r.third for r in PACK.relations[:5]), "is not", "does not require", "likes", "is zorp"]
    ),
    PHRASE,
)


@settings(max_examples=200)
@given(st.lists(SENTENCE, max_size=12), st.sampled_from(NOUNS[:9]), st.integers(1, 4),
       st.none() | st.integers(1, 5))  # fmt: skip
def test_it_never_utters_a_word_that_it_was_not_taught(sentences, subject, hops, capacity):
    session = GroundedSystem(GroundedSettings(max_hops=hops, vault_capacity=capacity)).start()
    known = {subject}
    for text in [f"Tell me about {subject}.", *sentences, f"What is {subject}?"]:
        turn = session.turn(text)
        known |= set(words(text)) if turn.accepted else set()
        said = {*words(turn.surface), *words(turn.walk_surface)}
        assert said - module._SPOKEN <= known


def test_the_words_that_it_says_untaught_are_not_in_the_pack() -> None:
    forms = {word for form in PACK.by_form for word in words(form)}
    assert module._SPOKEN.isdisjoint(forms)
    assert set(words(" ".join(module._REPLIES.values()))) <= module._SPOKEN
    pack = Pack("p", "", "en", "", (Lemma("note", "noun", "", ("noted",)),), PACK.relations)
    with pytest.raises(UsageError, match="says noted untaught"):
        GroundedSystem(pack=pack).start()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_hops": 0}, "`max_hops` must be a whole number of at least 1, not 0"),
        ({"max_hops": 2.0}, "`max_hops` must be a whole number of at least 1, not 2.0"),
        ({"max_hops": True}, "`max_hops` must be"),
        ({"max_hops": None}, "`max_hops` must be"),
        ({"vault_capacity": 0}, "`vault_capacity` must be a whole number of at least 1, not 0"),
        ({"vault_capacity": "3"}, "`vault_capacity` must be"),
        ({"seed": "x"}, "`seed` must be a whole number, not 'x'"),
        ({"vault_threshold": 0}, r"`vault_threshold` must be in \(0, 1\], not 0"),
        ({"vault_threshold": 1.01}, "`vault_threshold` must be in"),
        ({"vault_threshold": float("nan")}, "`vault_threshold` must be in"),
        ({"vault_threshold": "0.3"}, "`vault_threshold` must be in"),
        ({"vault_threshold": True}, "`vault_threshold` must be in"),
        ({"pack": 3}, "`pack` must be the name or path of a pack"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        GroundedSettings(**given)
    assert "\n" not in str(caught.value)


def test_identity_holds_every_setting_and_the_pack() -> None:
    identity = GroundedSystem(GroundedSettings(vault_threshold=1, seed=-2)).identity
    assert identity.name == "grounded"
    assert identity.settings == {
        "max_hops": 16,
        "vault_capacity": None,
        "vault_threshold": 1.0,
        "seed": -2,
        "pack": PACK.name,
        "pack_digest": PACK.digest,
    }
    assert isinstance(identity.settings["vault_threshold"], float)


def test_a_system_loads_its_pack_when_it_is_needed_and_travels() -> None:
    system = GroundedSystem(GroundedSettings(pack="no_such_pack"))
    with pytest.raises(UsageError, match="no_such_pack"):
        system.start()
    system = GroundedSystem()
    for _ in range(2):  # before and after the pack was loaded
        other = pickle.loads(pickle.dumps(system))
        assert other.identity == system.identity
        assert other.start().turn(PROBE) == system.start().turn(PROBE)


def test_a_custom_pack() -> None:
    relations = (Relation("is", "be", "is", ""), Relation("eats", "eat", "eats", ""))
    lemmas = (Lemma("cat", "noun", "", ("cats",)), Lemma("mouse", "noun", "", ("mice",)))
    session = GroundedSystem(pack=Pack("zoo", "", "en", "", lemmas, relations)).start()
    session.turn("Tell me about the cat.")
    assert session.turn("No, a cat eats mice.").accepted
    assert session.turn("What does a cat eat?").surface == "A cat eats mice."
    assert session.turn("What is a mouse?").vault_hits == 1
