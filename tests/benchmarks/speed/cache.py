"""Cache-aware order: prompt tokens that a local model evaluates, against the least possible."""

from __future__ import annotations

import time
from dataclasses import replace
from unittest.mock import patch

import corecurves as cc
from corecurves.models.llama_calls import prompt_text, token_ids
from corecurves.models.llama_server import Calls
from corecurves.models.resolve import as_model
from corecurves.rose.job import prepare
from tests.benchmarks.speed.common import Found

LESSONS = 1
ARMS = ("control", "ceiling", "treatment")
GOAL = 1.15


def distinct(prompts: list[list[int]]) -> int:
    """Nodes of the prefix tree of token lists: what must be read if nothing is read twice."""
    total, before = 0, []
    for prompt in sorted(prompts):
        common = next(
            (i for i, (a, b) in enumerate(zip(before, prompt, strict=False)) if a != b),
            min(len(before), len(prompt)),
        )
        total += len(prompt) - common
        before = prompt
    return total


def measure() -> Found:
    try:
        model = as_model("smollm2")
    except cc.UsageError as error:
        return Found(f"skipped: {error}", f"at most {GOAL} times the bound", None)
    store = cc.open_store("rose_bench").demo()
    store = replace(store, lessons=store.lessons[:LESSONS])
    job = prepare(store, model, "contrast", None, ARMS, None, 1, 0, "drop", 0.7, 512)
    prompts = list(job.stages.work.prompts.values())
    texts = sum(len(p.outcome.good) + len(p.outcome.trap) for p in prompts)
    tokens = [
        model.model._server.run_blocking(
            lambda calls, p=p: token_ids(calls, prompt_text(calls, p.messages))
        )
        for p in prompts
    ]
    least = distinct(tokens) + texts
    read = 0
    post = Calls.post

    def counted(calls: Calls, path: str, body: dict) -> object:
        nonlocal read
        if path == "/completion":
            body = {**body, "response_fields": [*body["response_fields"], "timings"]}
        reply = post(calls, path, body)
        if path == "/completion":
            read += int(reply["timings"]["prompt_n"])
        return reply

    started = time.perf_counter()
    with patch.object(Calls, "post", counted):
        ds = cc.run_rose_eval(
            store, model, grader="contrast", arms=ARMS, samples=1, ledger=False, progress=False
        )
    seconds = time.perf_counter() - started
    model.close()
    recorded = int((ds.tokens_in - ds.tokens_cached).sum())
    naive = int(ds.tokens_in.sum())
    return Found(
        f"{len(prompts)} prompts, {texts} texts: {read} prompt tokens evaluated by llama.cpp, "
        f"bound {least} ({least - texts} distinct + {texts} priming), {read / least:.3f} times; "
        f"the Dataset records {recorded}; with no cache {naive} ({seconds:.0f} s)",
        f"at most {GOAL} times the bound", read <= GOAL * least and recorded <= read,
    )  # fmt: skip
