from copy import deepcopy

import pytest
import yaml

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.errors import FileFaults, UsageError
from corecurves.files.bench import check_bench, load_bench
from corecurves.files.pairs import unlike
from corecurves.files.store import open_store, refuse_inside
from corecurves.specs import Outcome
from corecurves.text import count_tokens

LESSON = {
    "id": "port",
    "title": "An unusual port",
    "kind": "detail",
    "demo": True,
    "levels": [
        {"text": "In staging the broker listens on port 6112, not 5672, because of the sidecar."},
        {"text": "Staging: port 6112.", "dropped": [{"claim": "The sidecar", "kind": "rationale"}]},
        {
            "text": "Unusual port.",
            "dropped": [{"claim": "6112", "kind": "parameter", "holder": "L1"}],
            "planted": "loses-the-detail",
        },
    ],
    "episodes": [
        {
            "id": "start",
            "task": "Start a worker in staging.",
            "good": ["PORT=6112 worker", "worker --port 6112"],
            "trap": ["PORT=5672 worker", "worker --port 5672"],
            "checks": {"must": ["6112"], "must_not": ["5672"]},
            "ceiling": "fails",
        }
    ],
}
CASE = {
    "id": "multi-a",
    "kind": "multi",
    "lessons": [{"id": "a", "text": "Hall 9 is amber."}, {"id": "b", "text": "Amber uses x."}],
    "task": "Which one in hall 9?",
    "good": ["Take x.", "It is x."],
    "trap": ["Take y.", "It is y."],
}


def changed(where, value, source=LESSON):
    """A copy with one value replaced; the key ``None`` removes it."""
    found = deepcopy(source)
    inner = found
    for key in where[:-1]:
        inner = inner[key]
    if value is None:
        del inner[where[-1]]
    else:
        inner[where[-1]] = value
    return found


def bench(tmp_path, lessons=(LESSON,), cases=(), *, strict=True, **more):
    table = {"family": "messaging", "lessons": list(lessons), **more}
    if cases:
        table["cases"] = list(cases)
    (tmp_path / "b.yaml").write_text(yaml.dump(table, Dumper=Plain, sort_keys=False))
    store, faults = check_bench(tmp_path, shown="bench", strict=strict)
    return store, [str(fault) for fault in faults]


class Plain(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def test_a_lesson_is_read_whole(tmp_path):
    store, faults = bench(tmp_path, cases=[CASE])
    assert faults == []
    (lesson,) = store.lessons
    assert (lesson.id, lesson.kind, lesson.family, lesson.demo) == (
        "port", "detail", "messaging", True)  # fmt: skip
    assert [level.name for level in lesson.levels] == ["L0", "L1", "L2"]
    assert lesson.levels[2].planted == "loses-the-detail"
    assert lesson.levels[2].dropped[0].holder == "L1"
    assert lesson.levels[1].dropped[0].holder == ""
    (episode,) = store.episodes["port"]
    assert (episode.id, episode.ceiling, episode.used) == ("port/start", "fails", ())
    assert episode.outcome == Outcome(
        ("PORT=6112 worker", "worker --port 6112"), ("PORT=5672 worker", "worker --port 5672"),
        episode.outcome.checks)  # fmt: skip
    assert episode.outcome.checks.must_not == ("5672",)
    (case,) = store.cases
    assert (case.kind, dict(case.lessons)) == (
        "multi", {"a": "Hall 9 is amber.", "b": "Amber uses x."})  # fmt: skip
    assert store.path == str(tmp_path)


EPISODE = ("episodes", 0)
LONG = "Staging: the broker there listens on the port 6112, because of it."


@pytest.mark.parametrize(
    ("lesson", "line", "message"),
    [
        (changed(("kind",), "tip"), 5, "`kind` has no 'tip'; it has trap, detail, principle"),
        (changed(("demo",), "yes"), 6, "`demo` is 'yes'; write true or false"),
        (changed(("id",), "a/b"), 3, "the id 'a/b' has a / in it"),
        (changed(("title",), None), 3, "a lesson lacks `title`"),
        (changed(("levels",), []), 7, "`levels` has no level"),
        (changed(("levels", 1, "text"), LONG),
         9, "more than 75 % of the 22 of L0; write at most 16"),
        (changed(("levels", 1, "dropped"), None), 9, "level L1 has no `dropped`; list the claims"),
        (changed(("levels", 1, "dropped"), []), 10, "level L1 has no `dropped`"),
        (changed(("levels", 1, "dropped", 0, "claim"), None), 11, "dropped claim lacks `claim`"),
        (changed(("levels", 1, "dropped", 0, "kind"), "colour"), 12, "`kind` has no 'colour'"),
        (changed((*EPISODE, "good"), ["PORT=6112 worker"]), 23, "has only one wording; write"),
        (changed((*EPISODE, "trap"), None), 23, "`trap` has no wording; write"),
        (changed((*EPISODE, "good"), []), 22, "`good` has no wording"),
        (changed((*EPISODE, "trap", 1), "worker --port 5672 --wait 60"),
         27, "the trap has 10 tokens and its known-good 6; write lengths within 25 %"),
        (changed((*EPISODE, "trap", 1), "worker  --port 6112"), 27, "the trap says the same"),
        (changed((*EPISODE, "trap", 1), "worker --port 6112"), 27, "trap holds the token '6112'"),
        (changed((*EPISODE, "good", 0), "PORT=6113 worker"), 23, "known-good lacks the token '6"),
        (changed((*EPISODE, "good", 0), "PORT=5672 6112"), 23, "`must_not`; write it without"),
        (changed((*EPISODE, "task"), "Say PORT=6112 worker now."), 23, "the task already holds"),
        (changed((*EPISODE, "checks", "must"), ["--"]), 29, "the token '--' has no word in it"),
        (changed((*EPISODE, "good", 0), ""), 23, "`good` is empty; write text"),
        (changed((*EPISODE, "good"), "text"), 22, "`good` is text; write a list"),
        (changed((*EPISODE, "goood"), ["x"]), 34, "an episode has no key `goood`; did you mean"),
    ],
)  # fmt: skip
def test_each_rule_has_its_fault_and_line(tmp_path, lesson, line, message):
    _, faults = bench(tmp_path, [lesson])
    at = f"bench/b.yaml:{line}: "
    assert any(found.startswith(at) and message in found for found in faults), faults


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (changed(("kind",), "double", CASE), "`kind` has no 'double'; it has multi, distractor"),
        (changed(("lessons",), CASE["lessons"][:1], CASE), "a multi case has 1 of at least 2"),
        (changed(("lessons", 1, "id"), "a", CASE), "the id 'a' also stands at bench/b.yaml:"),
        (changed(("id",), "port", CASE), "the id 'port' also stands at bench/b.yaml:3"),
        (changed(("trap",), ["Take y."], CASE), "`good` and `trap` have 2 and 1 wordings"),
    ],
)
def test_cases_are_held_to_their_rules(tmp_path, case, message):
    _, faults = bench(tmp_path, cases=[case])
    assert any(message in fault for fault in faults), faults


def test_null_is_a_kind_and_not_nothing(tmp_path):
    store, faults = bench(tmp_path, cases=[changed(("kind",), "null", CASE)])
    assert faults == []
    assert store.cases[0].kind == "null"


def test_lengths_at_the_limits_are_fine(tmp_path):
    good, trap = "one two three four", "one two three"
    assert (count_tokens(good), count_tokens(trap)) == (4, 3)
    episode = changed((*EPISODE, "good"), [good, "x y"])
    episode = changed((*EPISODE, "trap"), [trap, "x z"], episode)
    episode = changed((*EPISODE, "checks"), None, episode)
    assert bench(tmp_path, [episode])[1] == []
    levels = [{"text": "a b c d"}, {"text": "a b c", "dropped": [{"claim": "d", "kind": "step"}]}]
    assert [count_tokens(level["text"]) for level in levels] == [4, 3]
    assert bench(tmp_path, [changed(("levels",), levels)])[1] == []


def test_ids_stand_once_over_all_files_and_within_a_lesson(tmp_path):
    (tmp_path / "a.yaml").write_text(yaml.dump({"family": "x", "lessons": [LESSON]}))
    twice = changed(("episodes",), LESSON["episodes"] * 2)
    _, faults = bench(tmp_path, [twice])
    assert sum("the id 'port' also stands at bench/a.yaml:" in fault for fault in faults) == 1
    assert sum("the id 'start' also stands at bench/b.yaml:" in fault for fault in faults) == 1


def test_wordings_and_traps_are_asked_of_the_bundled_bench_only(tmp_path):
    one = changed((*EPISODE, "good"), ["PORT=6112 worker"])
    one = changed((*EPISODE, "trap"), None, one)
    assert bench(tmp_path, [one], strict=False)[1] == []
    assert len(bench(tmp_path, [one], strict=True)[1]) == 2
    assert len(open_store(tmp_path).episodes["port"]) == 1
    with pytest.raises(FileFaults, match="write two or more"):
        open_store(tmp_path, strict=True)


def test_every_fault_is_raised_at_once(tmp_path):
    bad = changed(("kind",), "tip", changed((*EPISODE, "good", 0), "PORT=6113 worker"))
    bench(tmp_path, [bad])
    (tmp_path / "c.yaml").write_text("cases: [\n")
    (tmp_path / "d.yml").write_bytes(b"lessons: \xff")
    with pytest.raises(FileFaults) as caught:
        load_bench(tmp_path)
    assert [fault.file.rpartition("/")[2] for fault in caught.value.faults] == [
        "b.yaml", "b.yaml", "c.yaml", "d.yml"]  # fmt: skip


def test_texts_are_what_the_file_says(tmp_path):
    (tmp_path / "b.yaml").write_bytes(
        b"\xef\xbb\xbffamily: no\r\nlessons:\r\n- id: 010\r\n  title: off\r\n  kind: trap\r\n"
        b"  levels:\r\n  - text: 13:45\r\n  episodes:\r\n  - id: 089\r\n    task: When?\r\n"
        b"    good: [yes]\r\n    trap: [no]\r\n"
    )
    store = load_bench(tmp_path)
    (episode,) = store.episodes["010"]
    assert (store.lessons[0].family, store.lessons[0].levels[0].text) == ("no", "13:45")
    assert (episode.id, episode.outcome.good, episode.outcome.trap) == (
        "010/089",
        ("yes",),
        ("no",),
    )


def test_one_file_is_a_bench_and_other_files_are_none(tmp_path):
    bench(tmp_path)
    assert open_store(tmp_path / "b.yaml").name == "b"
    (tmp_path / "empty.yaml").write_text("lessons: []\nfamily: x\n")
    with pytest.raises(UsageError, match="has neither a lesson nor a case"):
        open_store(tmp_path / "empty.yaml")
    (tmp_path / "notes.txt").write_text("lessons:")
    with pytest.raises(UsageError, match="is no store"):
        open_store(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="holds no bench"):
        check_bench(tmp_path / "notes.txt")


def test_the_bundled_bench_keeps_its_rules():
    store, faults = check_bench(bundled_path("episodes", "rose_bench"), strict=True)
    assert faults == ()
    assert len(store.lessons) >= 40
    assert {lesson.kind for lesson in store.lessons} == {"trap", "detail", "principle"}
    assert all(len(store.episodes[lesson.id]) >= 3 for lesson in store.lessons)
    assert all([x.depth for x in lesson.levels] == [0, 1, 2, 3] for lesson in store.lessons)
    assert sum(lesson.demo for lesson in store.lessons) == 6
    kinds = [case.kind for case in store.cases]
    assert all(kinds.count(kind) >= 8 for kind in ("multi", "distractor", "conflict", "null"))


# --- the form of ROSE-Bench -----------------------------------------------------------------------

ROSE_BENCH = """
version: 1
cases:
  - id: soft-delete
    kind: trap
    family: api
    lesson: |
      DELETE only marks a record. Pass `?hard=1` to remove it.
    task: Remove the record.
    expected: |
      Passes `?hard=1`, noting that a plain DELETE only marks the record and would not remove it.
    trap: Calls plain DELETE.
  - {id: port, kind: detail, family: db, lesson: The port is 6112., task: 'Which port?',
     expected: It is 6112., trap: It is 5672.}
  - {id: both, kind: multi, family: db, requires: [port, soft-delete], task: Do both.,
     expected: Does both., trap: Does one.}
  - {id: alone, kind: multi, family: db, lesson: Page by key., task: Export.,
     expected: By key., trap: By offset.}
  - {id: other, kind: distractor, family: ci, distractor_for: [gone, port], task: 'Which harbour?',
     expected: Asks which., trap: It is 6112.}
  - id: moved
    kind: conflict
    family: db
    conflicting: [port, port-moved]
    extra_lesson: |
      id: port-moved
      The port is now 6113.
    task: Which port now?
    expected: Says that both stand there.
    trap: Says the first.
  - {id: nothing, kind: 'null', family: none, task: Name a flag., expected: A name., trap: A port.}
"""


@pytest.fixture
def rose_bench(tmp_path):
    path = tmp_path / "rmc-bench.yaml"
    path.write_text(ROSE_BENCH, encoding="utf-8")
    return path


def test_rose_bench_reads_in_one_step(rose_bench):
    store = open_store(rose_bench, strict=True)
    assert [(x.id, x.kind, x.family) for x in store.lessons] == [
        ("port", "detail", "db"), ("soft-delete", "trap", "api")]  # fmt: skip
    assert store.lessons[0].levels[0].text == "The port is 6112."
    (episode,) = store.episodes["port"]
    assert (episode.id, episode.task) == ("port/task", "Which port?")
    assert episode.outcome == Outcome(("It is 6112.",), ("It is 5672.",))
    assert {case.id: (case.kind, list(case.lessons)) for case in store.cases} == {
        "both": ("multi", ["port", "soft-delete"]), "alone": ("multi", ["alone"]),
        "other": ("distractor", ["port"]), "moved": ("conflict", ["port", "port-moved"]),
        "nothing": ("null", [])}  # fmt: skip
    assert store.cases[3].lessons["port-moved"] == "The port is now 6113."
    gone, apart = store.skipped
    assert gone == "case other: the lesson 'gone' is not there to be served"
    assert apart.startswith("1 of 7 traps differ in length")
    assert "(soft-delete/task: 4 and 23 tokens)" in apart


def test_a_single_file_is_the_store_and_not_its_folder(rose_bench):
    store = open_store(rose_bench)
    refuse_inside(store, rose_bench.parent / "result.nc")
    with pytest.raises(UsageError, match="lies inside the store"):
        refuse_inside(store, rose_bench)


def test_traps_that_describe_are_one_warning_and_for_models_that_answer(rose_bench):
    quiet = {"ledger": False, "progress": False, "samples": 1, "arms": ("control", "ceiling")}
    with pytest.warns(UserWarning, match="1 of 2 traps differ in length") as caught:
        ds = cc.run_rose_eval(rose_bench, "simulated", **quiet)
    assert len(caught) == 1
    assert ds.attrs["grader"] != "contrast"
    with pytest.warns(UserWarning, match="1 of 2 traps"):
        ds = cc.run_rose_eval(rose_bench, "simulated", grader="contrast", **quiet)
    assert int((ds.status == "ok").sum()) == 4
    cc.run_rose_eval(rose_bench, lambda messages: "6112", grader=lambda case: True, **quiet)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("kind: trap", "kind: tarp"),
            "`kind` has no 'tarp'; it has trap, detail, principle, multi",
        ),
        (("expected: A name., ", ""), "a case lacks `expected`; write `expected: …`"),
        (("requires: [port, soft-delete], ", ""), "a multi case lacks `requires`"),
        (("requires:", "require:"), "a case has no key `require`; did you mean `requires`?"),
        (("lesson: The port is 6112., ", ""), "a detail case lacks `lesson`"),
        (("trap: It is 5672.", "trap: It is 6112."), "the trap says the same as the known-good"),
        (("id: alone", "id: port"), "the id 'port' also stands at"),
    ],
)
def test_faults_of_rose_bench(rose_bench, change, message):
    assert change[0] in ROSE_BENCH
    rose_bench.write_text(ROSE_BENCH.replace(*change, 1), encoding="utf-8")
    _, faults = check_bench(rose_bench)
    assert any(message in str(fault) for fault in faults), faults


def test_cases_of_rose_bench_are_served_what_they_name(rose_bench):
    quiet = {"ledger": False, "progress": False, "samples": 1}
    ds = cc.run_served_cases(rose_bench, lambda messages: "x", grader=lambda case: True, **quiet)
    done = (ds.status == "ok").sel(sample=0)
    found = {str(c): ds.served.values[done.sel(case=c).values].tolist() for c in ds.case.values}
    assert found == {"both": ["none", "first", "second", "all"], "alone": ["none", "first"],
                     "other": ["none", "first"], "moved": ["none", "first", "second", "all"],
                     "nothing": ["none"]}  # fmt: skip
    ds = cc.run_recall_eval(rose_bench, "bm25", whole_store=True, ledger=False, progress=False)
    useful = {str(e): int(ds.used.sel(episode=e).sum()) for e in ds.episode.values}
    assert useful == {"both": 2, "alone": 1, "other": 0, "moved": 2, "nothing": 0}


def test_short_names_are_a_pair(tmp_path):
    episode = changed((*EPISODE, "good"), ["Use Poppins 6112.", "Poppins 6112."])
    episode = changed((*EPISODE, "trap"), ["Use Helvetica 56.", "Helvetica 56."], episode)
    episode = changed((*EPISODE, "checks"), None, episode)
    assert bench(tmp_path, [episode])[1] == []
    assert unlike(Outcome(("a b c d e f g h",), ("a b c d e",))) == (0, 8, 5)
    assert unlike(Outcome(("a b c",), ("a",))) is None
    assert unlike(Outcome(("a b c d",), ("a",))) == (0, 4, 1)


def test_lengths_of_an_own_bench_are_a_note_unless_it_must_be_strict(tmp_path):
    lesson = changed((*EPISODE, "trap", 1), "worker --port 5672 --wait 60 --retry 5")
    store, faults = bench(tmp_path, [lesson], strict=False)
    assert faults == []
    assert "1 of 1 trap differ in length" in store.skipped[0]
