"""The order of a plan: a local model that keeps one prompt reads nothing twice."""

import itertools

import pytest

import corecurves as cc
from corecurves.rose.job import prepare

ARMS = ("control", "ceiling", "treatment", "placebo", "scrambled")


def read(prompts):
    """Characters that are read if only what the last prompt has in common is not read again."""
    total, before = 0, ""
    for prompt in prompts:
        pairs = zip(before, prompt, strict=False)
        same = itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
        total += len(prompt) - sum(1 for _ in same)
        before = prompt
    return total


@pytest.mark.parametrize("grader", ["contrast", "checklist"])
def test_no_beginning_of_a_prompt_is_read_twice(grader):
    store = cc.open_store("rose_bench").demo()
    stages = prepare(store, "simulated", grader, None, ARMS, None, 3, 0, "drop", 0.7, 512).stages
    prompts = [
        "\0".join(message["content"] for message in stages.work.prompts[key].messages)
        for key in stages.plan.keys
    ]
    least = read(sorted(prompts))
    assert read(prompts) <= 1.001 * least
    by_cell = [
        prompt for _, prompt in sorted(zip(stages.plan.index.tolist(), prompts, strict=True))
    ]
    assert read(by_cell) > 1.05 * least, "the order matters in this plan"
