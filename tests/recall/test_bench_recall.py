import numpy as np
import pytest

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.models.base import Completion, LogProb
from corecurves.specs import Identity, Lesson, Level, Outcome, ServedCase, Store

OUTCOME = Outcome(("good",), ("trap",))
CASES = (
    ServedCase("both", "multi", {"a": "amber one", "b": "birch two"}, "amber birch", OUTCOME),
    ServedCase("half", "multi", {"c": "cobalt three", "d": "dahlia four"}, "cobalt?", OUTCOME),
    ServedCase("unused", "conflict", {"e": "ember five", "f": "fjord six"}, "ember fjord", OUTCOME),
    ServedCase("noisy", "distractor", {"g": "garnet seven eight"}, "garnet?", OUTCOME),
    ServedCase("quiet", "null", {"h": "heron nine"}, "zebra?", OUTCOME),
)
BENCH = Store("bench", (Lesson("full", "Full", "x", "trap", (Level(0, "kelp"),)),), {}, CASES)


class Reads:
    """Passes where a lesson of the case is in the prompt, and the unused case never."""

    concurrency = None
    identity = Identity("reads", "1")

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        return Completion("")

    async def logprob(self, messages, text):
        prompt = " ".join(m["content"] for m in messages)
        good = not ("ember" in prompt and "five" in prompt)
        return LogProb(-1.0 if (text == "good") == good else -2.0, 1)


@pytest.fixture(scope="module")
def served():
    return cc.run_served_cases(BENCH, Reads(), samples=2, ledger=False, progress=False)


def retrieved(selector="bm25", **more):
    options = {"whole_store": True, "ledger": False, "progress": False, **more}
    return cc.run_recall_eval(BENCH, selector, **options)


def test_each_miss_is_what_it_is(served):
    joined = cc.join_recall_transfer(retrieved(), served)
    found = dict(zip(joined.case.values, joined["first"].values, strict=True))
    assert found == {
        "both": "", "half": "not retrieved", "unused": "retrieved but unused",
        "noisy": "noise that cost tokens", "quiet": "",
    }  # fmt: skip
    assert joined.retrieved.sel(case=["both", "half"]).values.tolist() == [1, 0.5]
    assert np.isnan(joined.retrieved.sel(case=["noisy", "quiet"])).all()
    assert joined.noise_tokens.sel(case="noisy") > 0
    assert int(joined.miss_cases.sel(miss="not retrieved", case_kind="multi")) == 1


def test_serving_the_whole_bench_retrieves_all_and_is_all_noise(served):
    joined = cc.join_recall_transfer(retrieved("serve-all"), served)
    assert joined.has_miss.sel(miss="noise that cost tokens").all()
    assert not joined.has_miss.sel(miss="not retrieved").any()
    # nine candidates, one to eight of them beside the point
    assert joined.noise_lessons.values.tolist() == [7, 7, 7, 9, 9]


def test_a_bench_has_a_whole_store_only(served):
    with pytest.raises(UsageError, match="for its cases"):
        retrieved(whole_store=False)
    with pytest.raises(DatasetError, match="no case in common"):
        cc.join_recall_transfer(retrieved(), served.isel(case=[]))
    with pytest.raises(DatasetError, match="a served Dataset is needed; this one is of recall"):
        cc.join_recall_transfer(retrieved(), retrieved())


def test_the_bundled_bench_has_all_its_cases(tmp_path):
    ds = cc.run_recall_eval("rose_bench", "bm25", whole_store=True, ledger=False, progress=False)
    bench = cc.open_store("rose_bench")
    assert ds.sizes["episode"] == len(bench.cases)
    assert ds.sizes["lesson"] == len(bench.lessons) + sum(len(c.lessons) for c in bench.cases)
    needing = [c for c in bench.cases if c.kind in ("multi", "conflict")]
    assert int(ds.used.sum()) == sum(len(c.lessons) for c in needing)
