"""What a descent run may cost: it is adaptive, so there are a least and a most."""

from __future__ import annotations

from collections.abc import Sequence

from corecurves.descent.design import Case
from corecurves.descent.states import Opened
from corecurves.descent.trails import Rung, patched
from corecurves.descent.walk import Walk
from corecurves.replay.work import Prompt
from corecurves.text import count_tokens

__all__ = ["cost_of"]


def cost_of(walk: Walk, first: Opened, wants: str) -> dict[str, int]:
    """What is spent for certain, and at the most; each wording that is scored is a call."""
    design = walk.design
    most: dict[str, Prompt] = dict(first.prompts)

    def add(case: Case, texts: Sequence[Rung]) -> None:
        for s in range(design.samples):
            most.update(walk.replay(case, rung, s) for rung in texts)

    for case in design.trains:
        add(case, [patched(case.trail, [claim]) for claim in case.trail.claims])
    for case in design.tests:
        trail = case.trail
        add(case, [trail.full])
        if "stepwise" in design.strategies:
            add(case, trail.children)
        if "delta-jump" in design.strategies:
            add(case, [claim.holder for claim in trail.claims])
    calls = {key: prompt.calls(wants) for key, prompt in most.items()}
    patches = 0
    if "delta-patch" in design.strategies:
        patches = sum(
            min(design.claims, len(case.trail.claims)) * design.samples
            * Prompt((), case.episode.outcome, 0).calls(wants)
            for case in design.tests
        )  # fmt: skip
    return {
        "test_episodes": len(design.tests),
        "train_episodes": len(design.trains),
        "calls_at_least": sum(calls[key] for key in first.prompts),
        "calls_at_most": sum(calls.values()) + patches,
        "judgements_at_most": len(design.tests) if walk.judge is not None else 0,
        "prompt_tokens_at_least": sum(
            count_tokens(message["content"])
            for prompt in first.prompts.values()
            for message in prompt.messages
        ),
    }
