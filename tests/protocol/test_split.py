import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.errors import UsageError
from corecurves.protocol.split import half, leaks
from corecurves.specs import Episode, Lesson, Level, Outcome
from corecurves.specs.dates import time_span

KNOWN = {"start-worker": 747, "handshake": 345, "staging-broker-port/start-worker": 721,
         "e1": 735, "ep-7": 207, "a": 610}  # fmt: skip


@pytest.mark.parametrize(("name", "place"), KNOWN.items())
def test_known_ids(name, place):
    assert half(name, (place + 1) / 1000) == "test"
    assert half(name, place / 1000) == "train"
    assert half(name, 1) == "test"


@pytest.mark.parametrize("holdout", [0, -0.1, 1.0001, float("nan"), float("inf")])
def test_shares_that_are_none(holdout):
    with pytest.raises(UsageError, match="give a number above 0 and at most 1"):
        half("a", holdout)


@given(st.text(st.characters()), st.floats(0.001, 1), st.floats(0.001, 1))
def test_a_larger_share_keeps_what_was_held_out(name, one, other):
    small, large = sorted([one, other])
    assert half(name, small) == "train" or half(name, large) == "test"


def test_lone_surrogates_have_a_half():
    assert half("\ud800", 0.5) in ("test", "train")


def test_the_share_is_what_was_asked_for():
    names = [hashlib.md5(str(i).encode()).hexdigest() for i in range(4000)]
    share = sum(half(name, 0.3) == "test" for name in names) / len(names)
    assert abs(share - 0.3) < 0.03


# --- leaks --------------------------------------------------------------------------------------


def lesson(*, made="2025-03-01", covers=("told",), full_made="2025-01-10"):
    full = Level(0, "full", "n0", created=full_made, covers=("born",), subtree=("n0",),
                 origins=("born",))  # fmt: skip
    short = Level(1, "short", "n1", created=made, covers=("born", *covers), subtree=("n1", "n0"),
                  origins=("born",))  # fmt: skip
    return Lesson("x", "", "", "", (full, short))


def leaked(name="told", created="2025-02-01", used=(), depth=1, **more):
    made = lesson(**more)
    episode = Episode(name, "task", Outcome(("good",)), used=used, created=created)
    return leaks(made, made.level(depth), episode)


def test_covered_and_earlier_leaks():
    assert leaked()
    assert not leaked("other")
    assert not leaked(depth=0)


def test_what_came_later_does_not():
    assert not leaked(created="2025-03-02")
    assert not leaked(used=("n0",), created="2025-03-02")


def test_use_of_the_subtree_leaks():
    assert leaked("other", used=("n0",))
    assert leaked("other", used=("elsewhere", "n1"))
    assert not leaked("other", used=("n1",), depth=0, created="2025-01-01")
    assert leaked("other", used=("n0",), depth=0, created="2025-01-01")
    assert not leaked("other", used=("elsewhere",))


@pytest.mark.parametrize("created", ["", "once", "2025-02-30"])
def test_undated_episodes_existed(created):
    assert leaked(created=created)


@pytest.mark.parametrize("made", ["", "soon"])
def test_an_undated_level_may_have_seen_everything(made):
    assert leaked(created="2030-01-01", made=made)


def test_what_an_L0_covers_later_is_no_source_of_it():
    full = Level(0, "full", "n0", created="2025-01-10", covers=("first", "before"), subtree=("n0",))
    short = Level(1, "short", "n1", created="2025-03-01", covers=("first",), subtree=("n1", "n0"))
    made = Lesson("x", "", "", "", (full, short))

    def leaked(name, created, depth):
        episode = Episode(name, "task", Outcome(("good",)), used=("n0",), created=created)
        return leaks(made, made.level(depth), episode)

    assert not leaked("first", "2025-01-11", 0)
    assert leaked("first", "2025-01-11", 1), "its compressor may have seen it"
    assert leaked("before", "2025-01-09", 0), "covered before it was written: no other reading"


def test_what_an_L0_was_shown_leaks_into_every_level():
    full = Level(0, "full", "x.L0", shown=("told",))
    short = Level(1, "short", "x.L1", subtree=("x.L0", "x.L1"))
    made = Lesson("x", "", "", "", (full, short))
    told = Episode("told", "task", Outcome(("good",)), created="2030-01-01")
    assert leaks(made, full, told)
    assert leaks(made, short, told)


def test_the_episode_that_a_lesson_was_written_from_always_leaks():
    assert leaked("born", created="2025-01-11", depth=0)
    assert leaked("born", created="2030-01-01", depth=1)


@pytest.mark.parametrize(
    ("created", "made", "expected"),
    [
        ("2025-03-01T23:00:00Z", "2025-03-01", True),
        ("2025-03-01", "2025-03-01T00:00:01Z", True),
        ("2025-03-01T10:00:00Z", "2025-03-01T09:00:00Z", False),
        ("2025-03-01T10:00:00+02:00", "2025-03-01T09:00:00Z", True),
        ("2025-03-01 10:00", "2025-03-01T09:59:59Z", False),
        ("1740823200", "2025-03-01T10:00:00Z", True),
        ("1740823201.5", "2025-03-01T10:00:00Z", False),
        ("1740823201500", "2025-03-01T10:00:00Z", False),
    ],
)
def test_dates_are_compared_as_moments(created, made, expected):
    assert leaked(created=created, made=made) is expected


def test_a_bench_leaks_nothing():
    level = Level(1, "short", "x.L1", subtree=("x.L0", "x.L1"))
    made = Lesson("x", "", "", "", (Level(0, "full", "x.L0"), level))
    episode = Episode("x/e", "task", Outcome(("good",)), used=())
    assert not leaks(made, level, episode)


def test_levels_made_by_hand_inherit_from_their_full_text():
    made = lesson()
    bare = Level(2, "bare", created="2025-04-01")
    whole = Lesson("x", "", "", "", (*made.levels, bare))
    assert leaks(
        whole, bare, Episode("e", "t", Outcome(("g",)), used=("n0",), created="2025-02-01")
    )
    assert not leaks(whole, bare, Episode("e", "t", Outcome(("g",)), used=("",)))


@given(st.text())
def test_any_text_is_a_date_or_none(text):
    span = time_span(text)
    assert span is None or span[0] <= span[1]
