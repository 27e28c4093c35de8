import asyncio
import itertools
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import corecurves as cc
from corecurves.errors import CellFailure, DatasetError, LedgerError, PermanentFailure, UsageError
from corecurves.models.base import Completion, LogProb
from corecurves.protocol.framings import EVALUATION, SCREENING
from corecurves.protocol.rose_arms import ROSE_ARMS, fit, served_text, within_length
from corecurves.schema import ROSE
from corecurves.specs import Checks, Episode, Identity, Lesson, Level, Outcome, ServedCase, Store
from corecurves.text import count_tokens


def lesson(i):
    port = f"61{i:02d}"
    texts = (
        f"The staging broker of line {i} listens on port {port}, because a sidecar holds the "
        f"usual one on every staging host; set PORT={port} before a worker is started there.",
        f"Broker of line {i}: port {port}; set PORT={port} before starting a worker.",
        f"The broker of line {i} has an unusual port; look it up.",
    )
    levels = tuple(
        Level(k, text, planted="loses-the-detail" if k == 2 else "") for k, text in enumerate(texts)
    )
    return Lesson(f"line{i}", f"Line {i}", f"family{i % 3}", "detail", levels, demo=i < 2)


def episode(i, j):
    good, trap = f"PORT=61{i:02d}", "PORT=5672"
    outcome = Outcome(
        (f"{good} worker", f"Use {good}."), (f"{trap} worker", f"Use {trap}."),
        Checks((f"61{i:02d}",)),
    )  # fmt: skip
    return Episode(f"line{i}/task{j}", f"Start worker {j} of line {i}.", outcome)


def store(n=4, **more):
    lessons = tuple(lesson(i) for i in range(n))
    episodes = {x.id: tuple(episode(i, j) for j in range(2)) for i, x in enumerate(lessons)}
    return Store("lines", lessons, episodes, **more)


class Scored:
    """Finds a text likelier whose port stands in the prompt; counts its calls."""

    concurrency = 1

    def __init__(self, name="scored", fails=None):
        self.identity = Identity(name, "1")
        self.calls = []
        self.fails = fails

    async def logprob(self, messages, text):
        prompt = " ".join(m["content"] for m in messages)
        self.calls.append((prompt, text))
        if self.fails is not None and self.fails(prompt, len(self.calls)):
            raise CellFailure("call_failed", "no answer")
        port = text.partition("PORT=")[2].split()[0].strip(".")
        return LogProb(-1.0 if port in prompt else -1.5 - 0.1 * (port != "5672"), 1, 10, 4)

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        return Completion(f"answer {seed}", tokens_in=3, tokens_out=2)


def rose(of=None, model=None, **more):
    arguments = {"ledger": False, "progress": False, "arms": ROSE_ARMS, **more}
    return cc.run_rose_eval(of or store(), model or Scored(), **arguments)


def transfer(ds):
    return ds.passed.mean(("concept", "episode", "sample"))


def test_the_curve_of_a_lesson_that_loses_its_detail():
    found = transfer(rose())
    assert found.sel(level="none", arm="control") == 0
    assert found.sel(level="L0", arm="ceiling") == 1
    assert found.sel(arm="treatment").values.tolist()[2:] == [1, 0]
    assert found.sel(level="L1", arm="placebo") == 0
    assert found.sel(level="L1", arm="scrambled") == 1


def test_every_cell_stands_at_one_place():
    ds = rose()
    planned = ds.status != ""
    places = {
        (str(level), str(arm))
        for level in ds.level.values
        for arm in ds.arm.values
        if planned.sel(level=level, arm=arm).any()
    }
    lower = {(f"L{k}", arm) for k in (1, 2) for arm in ROSE_ARMS[2:]}
    assert places == {("none", "control"), ("L0", "ceiling"), *lower}
    assert np.isnan(ds.passed.where(~planned)).all()
    for variable in ROSE.variables:
        assert variable.name in ds, variable.name


def test_framings_are_balanced_and_the_same_in_every_arm():
    model = Scored()
    ds = rose(model=model, samples=len(EVALUATION))
    names = {framing.name for framing in EVALUATION}
    assert all(set(ds.framing.values[0, e]) == names for e in range(2))
    assert names.isdisjoint(framing.name for framing in SCREENING)
    with pytest.raises(UsageError, match="there are 6 framings"):
        rose(samples=7)


def test_the_control_says_that_there_is_no_lesson():
    model = Scored()
    rose(model=model, arms="control", samples=6)
    prompts = {prompt for prompt, _ in model.calls}
    assert not any("broker" in prompt for prompt in prompts)
    assert sum("no" in prompt.lower() for prompt in prompts) == len(prompts)


def test_arms_of_one_level_have_its_length():
    x = lesson(1)
    donors = [lesson(i) for i in range(4)]
    for level in x.levels[1:]:
        tokens = count_tokens(level.text)
        for arm in ("placebo", "scrambled", "truncation"):
            text = served_text(arm, x, level, donors, 0)
            assert within_length(text, tokens), (arm, level.name)
            assert text != level.text
        assert sorted(served_text("scrambled", x, level, donors, 0).split()) == sorted(
            level.text.split()
        )
        assert x.levels[0].text.startswith(served_text("truncation", x, level, donors, 0))


def test_a_placebo_comes_from_another_family_and_joins_donors():
    x = lesson(0)
    long = replace(x, levels=(x.levels[0], Level(1, " ".join([x.levels[0].text] * 2))))
    text = served_text("placebo", long, long.levels[1], [lesson(i) for i in range(4)], 0)
    assert "line 3" not in text  # its own family
    assert "line 1" in text or "line 2" in text


@pytest.mark.parametrize("times", [1, 60])
def test_a_placebo_of_the_only_lesson_is_neutral_text(times):
    x = lesson(0)
    level = Level(1, " ".join([x.levels[0].text] * times))
    text = served_text("placebo", replace(x, levels=(x.levels[0], level)), level, [x], 0)
    assert within_length(text, count_tokens(level.text))
    assert text.startswith("A kettle is a small vessel.")


def test_arms_keep_the_line_breaks_of_what_they_serve():
    text = "# Ports\n\n- dev is 5173\n- live is 80\n\n    code = 1\n    more = 2"
    x = lesson(0)
    x = replace(x, levels=(Level(0, text), Level(1, "- dev is 5173\n- live is 80\n- test is 7")))
    level = x.levels[1]
    cut = served_text("truncation", x, level, [x], 0)
    assert text.startswith(cut)
    assert cut.startswith("# Ports\n\n- dev")
    mixed = served_text("scrambled", x, level, [x], 0)
    assert mixed != level.text
    assert sorted(mixed.split()) == sorted(level.text.split())
    assert [len(line.split()) for line in mixed.split("\n")] == [4, 4, 4]
    other = replace(lesson(1), family="other", levels=(Level(0, "One two.\n- three"),))
    joined = fit(
        [other.levels[0].text, "Four five."], count_tokens("One two.\n- three\n\nFour five.")
    )
    assert joined == "One two.\n- three\n\nFour five."


def test_cutting_is_at_word_boundaries():
    text = fit(["One two three four five six seven eight."], 4)
    assert text == "One two three four"


def test_grades_are_shared_by_identical_candidates_and_blind():
    seen = []

    def grader(case):
        seen.append(case)
        return "answer" in case.candidate

    class Asked(Scored):
        logprob = None

        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
            return Completion("the same answer")

    model = Asked()
    del Asked.logprob
    ds = rose(model=model, grader=grader)
    planted, *seen = seen
    assert planted.candidate == planted.outcome.good[0]
    assert len(seen) == 8  # an episode each: the candidates are the same in all arms
    assert transfer(ds).min() == 1
    assert not any("broker" in str(case.candidate) for case in seen)


def test_gain_is_nats_a_token_over_no_lesson_in_the_same_framing():
    ds = rose(grader="gain")
    assert (ds.score.sel(level="none", arm="control") == 0).all()
    np.testing.assert_allclose(ds.score.sel(level="L0", arm="ceiling"), 0.6)
    assert np.isnan(ds.passed).all()
    with pytest.raises(UsageError, match="add the arm 'control'"):
        rose(grader="gain", arms=("ceiling", "treatment"))


def test_failed_calls_are_missing_and_said():
    model = Scored(fails=lambda prompt, n: "line 2" in prompt)
    with pytest.warns(UserWarning, match="cells have no result"):
        ds = rose(model=model)
    assert (ds.status.sel(concept="line2", level="L0", arm="ceiling") == "call_failed").all()
    assert np.isnan(ds.passed.sel(concept="line2", level="L0")).all()
    assert (transfer(ds).sel(level="L0", arm="ceiling")) == 1


def test_a_cut_off_answer_is_no_answer_and_an_empty_one_is():
    class Cut(Scored):
        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
            return Completion("6112 and", finish="length") if seed % 2 else Completion("")

    with pytest.warns(UserWarning, match="cut_off"):
        ds = rose(model=Cut(), grader="checklist")
    assert set(np.unique(ds.status)) == {"", "ok", "cut_off"}
    assert set(np.unique(ds.passed.values[ds.status.values == "ok"])) == {0.0}
    assert np.isnan(ds.passed.values[ds.status.values == "cut_off"]).all()


def test_a_resume_asks_only_for_what_is_missing(tmp_path):
    ledger = tmp_path / "rose.sqlite"
    broken = Scored()

    def stop(prompt, n):
        if n > 100:
            raise PermanentFailure("the quota is used up")
        return False

    broken.fails = stop
    with pytest.raises(PermanentFailure):
        rose(model=broken, ledger=ledger)
    rest = Scored()
    resumed = rose(model=rest, ledger=ledger)
    whole = Scored()
    expected = rose(model=whole)
    costs = [v.name for v in ROSE.variables if v.role == "cost"]
    xr.testing.assert_identical(resumed.drop_vars(costs), expected.drop_vars(costs))
    assert len(rest.calls) <= len(whole.calls) - 100 + 4
    again = Scored()
    rose(model=again, ledger=ledger)
    assert again.calls == []
    with pytest.raises(LedgerError, match="belongs to another plan"):
        rose(model=Scored("another"), ledger=ledger)


def test_a_ledger_inside_the_store_is_refused(tmp_path):
    inside = replace(store(), path=str(tmp_path))
    with pytest.raises(UsageError):
        rose(inside, ledger=tmp_path / "rose.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_equal_beginnings_stand_together():
    plan = cc.plan_rose(store(), Scored(), arms=ROSE_ARMS)
    model = Scored()
    rose(model=model)
    prompts = [prompt for prompt, _ in model.calls]
    changes = sum(a != b for a, b in itertools.pairwise(prompts))
    assert changes == len(set(prompts)) - 1
    assert plan.cost["calls"] == len(prompts)


def test_levels_holdout_and_leaks():
    assert rose(levels=["L1"]).level.values.tolist() == ["none", "L0", "L1"]
    half = rose(holdout=0.5)
    assert set(np.unique(half.half)) <= {"test", "train", ""}
    assert (half.status.values[half.half.values == "train"] == "").all()
    x = lesson(0)
    made = replace(x, levels=(x.levels[0], replace(x.levels[1], covers=("line0/task0",))))
    covered = replace(store(1), lessons=(made, lesson(1)), episodes=store(2).episodes)
    ds = rose(covered, arms=("control", "ceiling", "treatment"), holdout=1)
    cell = {"concept": "line0", "episode": 0, "level": "L1"}
    assert ds.leaked.sel(cell)
    assert (ds.status.sel(cell) == "").all()
    kept = rose(covered, arms=("control", "ceiling", "treatment"), holdout=1, leaks="keep")
    assert (kept.status.sel(cell | {"arm": "treatment"}) == "ok").all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"levels": ["L7"]}, "`level` has no 'L7'; it has L0, L1, L2"),
        ({"holdout": 0}, "`holdout` is 0"),
        ({"holdout": 0.001}, "no episode of lines is in the test half"),
        ({"samples": 0}, "`samples` is 0"),
        ({"arms": ["plcebo"]}, "did you mean 'placebo'"),
        ({"leaks": "kep"}, "did you mean 'keep'"),
        ({"grader": "contrst"}, "did you mean 'contrast'"),
    ],
)
def test_wrong_arguments_are_named(more, message):
    with pytest.raises(UsageError, match=message):
        rose(**more)


def test_the_awaitable_twin_inside_a_running_loop():
    async def notebook():
        return await cc.arun_rose_eval(store(), Scored(), ledger=False, progress=False), rose()

    one, two = asyncio.run(notebook())
    assert (one.passed.sum() > 0).all()
    assert transfer(two).sel(level="L0", arm="ceiling") == 1


def test_a_value_swapped_lesson_swaps_the_preference():
    swapped = store()
    lessons = tuple(
        replace(x, levels=tuple(replace(v, text=v.text.replace("61", "62")) for v in x.levels))
        for x in swapped.lessons
    )
    ds = rose(replace(swapped, lessons=lessons), arms=("control", "ceiling"))
    assert transfer(ds).sel(level="L0", arm="ceiling") == 0


CASES = (
    ServedCase("both", "multi", {"a": "PORT=6101", "b": "worker"}, "Start it.",
               Outcome(("Use PORT=6101.",), ("Use PORT=5672.",))),
    ServedCase("nothing", "null", {"a": "Wash the PORT=5672 cups."}, "Start it.",
               Outcome(("Use PORT=6101.",), ("Use PORT=5672.",))),
)  # fmt: skip


def test_served_cases():
    ds = cc.run_served_cases(store(cases=CASES), Scored(), ledger=False, progress=False)
    both = ds.passed.sel(case="both").mean("sample")
    assert both.sel(served=["none", "first", "second", "all"]).values.tolist() == [0, 1, 0, 1]
    assert np.isnan(ds.passed.sel(case="nothing", served=["second", "all"])).all()
    with pytest.raises(UsageError, match="has no case"):
        cc.run_served_cases(store(), Scored(), ledger=False, progress=False)


def test_screening_drops_what_the_control_passes():
    table = cc.run_screen(store(cases=CASES), Scored(), ledger=False, progress=False)
    kept = table[table.kind == "detail"]
    assert (kept.decision == "keep").all()
    assert len(kept) == 8

    class Knows(Scored):
        async def logprob(self, messages, text):
            return LogProb(-1.0 if "PORT=61" in text else -2.0, 1)

    known = cc.run_screen(store(), Knows(), ledger=False, progress=False)
    assert (known.decision == "drop: passes with no lesson").all()
    assert table.set_index("episode").decision["nothing"].startswith("drop")


def test_the_plan_counts_and_calibrates():
    plan = cc.plan_rose(store(), Scored(), arms=("control", "ceiling"), calibrate=True)
    assert plan.cost["cells"] == 4 * 2 * 2 * 3
    assert plan.cost["calls"] == 4 * plan.cost["cells"]
    assert plan.cost["estimated_seconds"] >= 0


def test_it_saves_and_loads(tmp_path):
    ds = rose()
    xr.testing.assert_identical(cc.load(cc.save(ds, tmp_path / "rose.nc")), ds)
    assert cc.provenance(ds)["model"] == "scored"


def test_the_bench_is_summarised_on_its_axes():
    ds = rose()
    served = cc.run_served_cases(store(cases=CASES), Scored(), ledger=False, progress=False)

    class Answers(Scored):
        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
            return Completion(" ".join(m["content"] for m in messages))

    answered = rose(model=Answers(), grader="checklist")
    found = cc.bench_summary(ds, served, answered)
    assert found.served_rate.sel(case_kind="multi", served="all") == 1
    assert found.agreement.sel(level="L1", arm="treatment") == 1
    assert found.agreement_n.sel(level="L1", arm="treatment") == 4 * 2 * 3
    assert found.transfer.sel(kind="detail", level="L1", arm="treatment") == 1


def test_an_arm_alone_has_a_table():
    ds = rose(arms=("placebo",))
    assert cc.table_rose(cc.summarize_rose(ds)).index.tolist() == [
        ("L1", "placebo"), ("L2", "placebo"),
    ]  # fmt: skip


def test_a_bench_summary_is_of_one_model_and_of_a_checklist():
    arguments = {"samples": 1, "ledger": False, "progress": False}
    demo = cc.open_store("rose_bench").demo()
    ds = cc.run_rose_eval(demo, "simulated", **arguments)
    served = cc.run_served_cases("rose_bench", "simulated", **arguments)
    with pytest.raises(DatasetError, match="checklist"):
        cc.bench_summary(ds, served, ds)
    with pytest.raises(DatasetError, match="of the model"):
        cc.bench_summary(ds, served.assign_attrs(model="another"))


def test_a_plan_foresees_the_prompts_beyond_the_context():
    class Narrow:
        identity, concurrency = cc.Identity("narrow", "1"), None

        def __init__(self, context):
            self.context = context

        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
            raise NotImplementedError

    def beyond(context):
        plan = cc.plan_rose(
            "own_notes", Narrow(context), grader="checklist", samples=1, max_tokens=50
        )
        return plan.cost["prompts_beyond_context"], plan.cost["cells"]

    assert beyond(100_000)[0] == 0
    none, cells = beyond(50)
    assert none == cells
    assert 0 < beyond(140)[0] < cells
    plan = cc.plan_rose("own_notes", "simulated", grader="checklist", samples=1)
    assert "prompts_beyond_context" not in plan.cost
