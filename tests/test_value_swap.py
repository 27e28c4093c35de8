"""What a real model takes from a detail lesson: its value, or only words that lie about."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest

import corecurves as cc
from corecurves.models.weights import CACHE_VARIABLE, cache_folder
from corecurves.specs import Outcome

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
REAL_CACHE = cache_folder()  # each test is given an empty one
LESSONS = int(os.environ.get("SWAP_LESSONS", "4"))  # the published figure is over 12


def other(value):
    """The next value: 6112 becomes 6113."""
    digit = str(int(value[-1]) + 1) if value[-1] != "9" else "8"
    return value[:-1] + digit


def swapped(text, value):
    """A text with the other value in place of this one, as a whole number."""
    return re.sub(rf"(?<![\d.]){re.escape(value)}(?![\d])", other(value), text)


def detail_store():
    """Detail lessons with one number at stake; an episode each, one wording."""
    store = cc.open_store("rose_bench")
    lessons, episodes = [], {}
    for lesson in store.lessons:
        for episode in store.episodes[lesson.id]:
            value = next(iter(episode.outcome.checks.must), "")
            text, good = lesson.levels[0].text, episode.outcome.good[0]
            if lesson.kind == "detail" and value[-1:].isdigit() and value in text and value in good:
                outcome = Outcome((good,), (swapped(good, value),), episode.outcome.checks)
                lessons.append(lesson)
                episodes[lesson.id] = [replace(episode, outcome=outcome)]
                break
    lessons = lessons[:LESSONS]
    return replace(store, lessons=tuple(lessons), episodes=episodes, cases=())


def with_swapped_lessons(store):
    lessons = []
    for lesson in store.lessons:
        value = store.episodes[lesson.id][0].outcome.checks.must[0]
        levels = tuple(replace(v, text=swapped(v.text, value)) for v in lesson.levels)
        lessons.append(replace(lesson, levels=levels))
    return replace(store, lessons=tuple(lessons))


def nats(store, *arms):
    ds = cc.run_rose_eval(
        store, "smollm2", levels=["L0", "L1"], arms=arms, samples=1, ledger=False, progress=False
    )
    assert (ds.status != "call_failed").all()
    return {arm: ds.score.sel(arm=arm).max(("level", "episode", "sample")).values for arm in arms}


def test_the_value_in_the_lesson_decides_and_not_its_words(monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(REAL_CACHE))
    store = detail_store()
    assert len(store.lessons) == LESSONS
    own = nats(store, "control", "ceiling", "treatment", "scrambled")
    other_value = nats(with_swapped_lessons(store), "ceiling")["ceiling"]
    gain = own["treatment"] - own["control"]
    words = own["scrambled"] - own["control"]
    print(
        f"\n{LESSONS} detail lessons, nats a token for the value over the next one: "
        f"no lesson {own['control'].mean():+.2f}, L0 {own['ceiling'].mean():+.2f}, "
        f"L0 with the next value {other_value.mean():+.2f}; "
        f"L0 prefers its value in {(own['ceiling'] > 0).sum()}, "
        f"the other lesson the other value in {(other_value < 0).sum()}; "
        f"L1 {own['treatment'].mean():+.2f}, its words scrambled {own['scrambled'].mean():+.2f}: "
        f"{words.mean() / gain.mean():.0%} of the gain is in the words alone"
    )
    assert (own["ceiling"] > 0).mean() >= 0.9
    assert (other_value < 0).mean() >= 0.9
    assert np.mean(own["ceiling"] - other_value) > 0.3
