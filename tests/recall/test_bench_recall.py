import numpy as np
import pytest

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.models.base import Completion, LogProb
from corecurves.specs import Identity, Lesson, Level, Outcome, ServedCase, Store
from corecurves.summaries.recall_transfer import UNUSED, UNUSED_AS_SERVED

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
        "both": "", "half": "not retrieved", "unused": UNUSED,
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


def test_use_is_measured_with_what_is_really_served_too():
    ds = retrieved("serve-all")
    served = cc.run_served_cases(
        BENCH, Reads(), samples=2, retrieved=ds, ledger=False, progress=False
    )
    joined = cc.join_recall_transfer(ds, served)
    has = joined.has_miss.sel(case=["both", "half", "unused"])
    assert has.sel(miss=UNUSED).values.tolist() == [0, 0, 1]
    # What "unused" needs stands in every pack, and puts the others off.
    assert has.sel(miss=UNUSED_AS_SERVED).values.tolist() == [1, 1, 1]
    assert joined.passed_as_served.sel(case=["both", "quiet"]).values.tolist() == [0, 0]
    table = cc.table_recall(joined)
    assert table.loc[UNUSED, "multi (2)"] == 0
    assert table.loc[UNUSED_AS_SERVED, "multi (2)"] == 2
    with pytest.raises(DatasetError, match="run it with retrieved=ds"):
        cc.join_recall_transfer(retrieved(), served)


class Fails(Reads):
    """Raises where the lessons of a case are in the prompt."""

    async def logprob(self, messages, text):
        if "five" in messages[-1]["content"] or "three" in messages[-1]["content"]:
            raise RuntimeError("no answer")
        return await super().logprob(messages, text)


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_what_failed_calls_leave_open_is_counted_and_not_decided():
    served = cc.run_served_cases(BENCH, Fails(), samples=2, ledger=False, progress=False)
    joined = cc.join_recall_transfer(retrieved(), served)
    unused = joined.has_miss.sel(miss=UNUSED)
    # "half" is not retrieved, so it cannot be unused, whatever failed.
    assert unused.sel(case=["both", "half"]).values.tolist() == [0, 0]
    assert np.isnan(unused.sel(case="unused"))
    assert joined["first"].sel(case="unused") == "undecided"
    assert int(joined.miss_cases.sel(miss=UNUSED).sum()) == 0
    assert int(joined.undecided_cases.sel(miss=UNUSED, case_kind="conflict")) == 1
    assert cc.table_recall(joined).loc[UNUSED, "undecided"] == 1

    def silent(task, texts):
        raise RuntimeError("no answer")

    nothing = cc.join_recall_transfer(retrieved(silent), served)
    assert nothing.right.values.tolist() == [2, 2, 2, 0, 0]
    assert np.isnan(nothing.has_miss.sel(miss="noise that cost tokens")).all()
    assert np.isnan(nothing.has_miss.sel(case="both", miss="not retrieved"))
    assert nothing.has_miss.sel(case="quiet", miss="not retrieved") == 0


def test_a_bench_has_a_whole_store_only(served):
    with pytest.raises(UsageError, match="for its cases"):
        retrieved(whole_store=False)
    with pytest.raises(DatasetError, match="has no `case` left"):
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
