"""Copies with new levels: the store stays as it is, and the copy opens with what was made."""

import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from compress_data import lesson_of, store_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.cli import main
from corecurves.compress import Draft
from corecurves.errors import FileFaults, UsageError
from corecurves.files.bench import check_bench
from corecurves.files.bench_writer import bench_texts, dump_yaml, write_bench
from corecurves.files.layout import read_layout
from corecurves.files.store import open_store
from corecurves.files.yaml_text import Reader
from corecurves.protocol.split import leaks
from corecurves.specs import (
    DROPPED_KINDS,
    Checks,
    Dropped,
    Episode,
    Lesson,
    Level,
    Outcome,
    ServedCase,
    Store,
)

DEMO = bundled_path("episodes", "demo_store")


def files(folder):
    """Bytes of every file, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(Path(folder).rglob("*"))
    }


def passes(case):
    return bool(case.candidate)


def halves(view):
    """A draft that is the first half of the text."""
    words = view.before.split()
    return Draft(" ".join(words[: len(words) // 2]),
                 (Dropped("the second half", "step", view.holder),))  # fmt: skip


def copied(out, compressor=halves, store="demo_store", **more):
    options = {"model": lambda messages: "done", "grader": passes, "progress": False, **more}
    return cc.compress_store(store, compressor, out=out, **options)


# --- a ROSE store -------------------------------------------------------------------------------


def test_a_copy_of_the_demo_store_opens_with_the_levels_that_were_made(tmp_path):
    before = files(DEMO)
    found = copied(tmp_path / "short")
    assert files(DEMO) == before, "the store itself is only read"
    store = open_store(tmp_path / "short", strict=True)
    assert store.lessons == found.store.lessons
    assert found.without == ()
    made = {one.lesson: one.levels for one in found.compressions}
    for lesson in store.lessons:
        assert lesson.levels[1:] == made[lesson.id]
        assert [level.depth for level in lesson.levels] == [0, 1, 2]
        assert lesson.levels[2].subtree[:2] == (lesson.levels[2].node, lesson.levels[1].node)
    assert list(tmp_path.iterdir()) == [tmp_path / "short"]
    # Leaks of the copy are what the compressor was shown, and what leaks into L0.
    for one, lesson in zip(found.compressions, store.lessons, strict=True):
        for episode in store.episodes[lesson.id]:
            expected = episode.id in one.train or leaks(lesson, lesson.levels[0], episode)
            assert leaks(lesson, lesson.levels[2], episode) == expected
    shown = sum(len(one.train) for one in found.compressions)
    assert 0 < shown < sum(map(len, store.episodes.values()))


def test_every_other_byte_of_the_copy_is_that_of_the_store(tmp_path):
    copied(tmp_path / "short", lessons=["freezer-pause"], depths=1)
    old, new = files(DEMO), files(tmp_path / "short")
    assert set(new) - set(old) == {"nodes/lab/freezer-pause.l1-2.md"}
    changed = {name for name in old if new[name] != old[name]}
    assert changed == {"nodes/lab/freezer-pause.l1.md", "nodes/lab/freezer-pause.l2.md"}
    for name in changed:
        assert new[name] == old[name].replace(b"status: active", b"status: archived")
    written = new["nodes/lab/freezer-pause.l1-2.md"].decode()
    assert "derived_from:\n  - freezer-pause\n" in written
    assert "shown:\n" in written
    (lesson,) = (x for x in open_store(tmp_path / "short").lessons if x.id == "freezer-pause")
    assert [level.node for level in lesson.levels] == ["freezer-pause", "freezer-pause.l1-2"]


def test_a_level_that_stands_for_another_lesson_too_is_left(tmp_path):
    found = copied(tmp_path / "short", lessons=["truncate-open-log"], depths=1)
    graph = read_layout(tmp_path / "short").graph
    assert graph.nodes["look-what-holds-it"].status != "archived"
    assert graph.nodes["truncate-open-log.l1"].status == "archived"
    by_id = {lesson.id: lesson for lesson in found.store.lessons}
    assert by_id["truncate-open-log"].levels[-1].merged
    assert by_id["drain-before-restart"] == next(
        x for x in open_store("demo_store").lessons if x.id == "drain-before-restart"
    )
    in_memory = copied(None, lessons=["truncate-open-log"], depths=1).store
    assert [[x.text for x in lesson.levels] for lesson in in_memory.lessons] == [
        [x.text for x in lesson.levels] for lesson in found.store.lessons]  # fmt: skip


def test_a_lesson_without_a_new_level_keeps_l0_alone(tmp_path):
    folder = small_rose(
        tmp_path / "store", "---\nid: a1\nlevel: 1\nderived_from: [a]\n---\nShort.\n"
    )
    assert len(open_store(folder).lessons[0].levels) == 2
    found = copied(tmp_path / "short", lambda view: Draft(""), store=folder, tries=1)
    assert found.without == ("a",)
    (lesson,) = open_store(tmp_path / "short").lessons
    assert [level.depth for level in lesson.levels] == [0]


@pytest.mark.parametrize(
    "header",
    [
        "id: a1\nlevel: 1\nderived_from: [a]",
        "id: a1\nstatus: active # for now\nlevel: 1\nderived_from: [a]",
        "id: a1\nlevel: 1\nderived_from: [a]\n'status': merged",
        'status: "active"\nid: a1\nlevel: 1\nderived_from: [a]',
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_status_is_changed_and_nothing_else(header, newline, mark, tmp_path):
    folder = small_rose(tmp_path / "store", f"{mark}---\n{header}\n---\n\nShort.\n", newline)
    copied(tmp_path / "out", store=folder, lessons=["a"], depths=1)
    old = (folder / "nodes/lab/a1.md").read_bytes()
    new = (tmp_path / "out/nodes/lab/a1.md").read_bytes()
    assert read_layout(tmp_path / "out").graph.nodes["a1"].status == "archived"
    rest = [line for line in new.splitlines() if b"status" not in line]
    assert rest == [line for line in old.splitlines() if b"status" not in line]
    assert new.count(newline.encode()) == new.count(b"\n")


def small_rose(folder, upper, newline="\n"):
    lab, episodes = folder / "nodes" / "lab", folder / "episodes"
    lab.mkdir(parents=True)
    episodes.mkdir()
    full = (
        "---\nid: a\nlevel: 0\ncreated: 2025-01-01\n---\nWear gloves when you pour acid, please.\n"
    )
    (lab / "a.md").write_text(full)
    (lab / "a1.md").write_bytes(upper.replace("\n", newline).encode())
    for i in range(6):
        (episodes / f"e{i}.json").write_text(
            f'{{"id": "e{i}", "prompt": "Pour.", "outcome": "success", "used": ["a"], '
            '"accepted_summary": "With gloves.", "created": "2025-02-01"}'
        )
    return folder


def test_a_status_that_cannot_be_changed_leaves_nothing_behind(tmp_path):
    upper = "---\n{id: a1, level: 1, status: active, derived_from: [a]}\n---\nShort.\n"
    folder = small_rose(tmp_path / "store", upper)
    with pytest.raises(UsageError, match=r"the status in a1\.md cannot be changed"):
        copied(tmp_path / "out", store=folder, depths=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_links_of_a_store_are_copied_as_what_they_lead_to(tmp_path):
    folder = small_rose(
        tmp_path / "store", "---\nid: a1\nlevel: 1\nderived_from: [a]\n---\nShort.\n"
    )
    real = tmp_path / "elsewhere.md"
    (folder / "nodes/lab/a1.md").rename(real)
    (folder / "nodes/lab/a1.md").symlink_to(real)
    before = real.read_bytes()
    copied(tmp_path / "out", store=folder, depths=1)
    assert real.read_bytes() == before
    assert not (tmp_path / "out/nodes/lab/a1.md").is_symlink()
    (folder / "nodes" / "again").symlink_to(folder / "nodes")
    with pytest.raises(UsageError, match="the copy has no end"):
        copied(tmp_path / "out2", store=folder, depths=1)
    assert not (tmp_path / "out2").exists()


# --- where a copy may not be --------------------------------------------------------------------


def test_targets_are_refused_before_anything_is_spent(tmp_path):
    folder = small_rose(
        tmp_path / "store", "---\nid: a1\nlevel: 1\nderived_from: [a]\n---\nShort.\n"
    )
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").touch()
    for out, message in (
        (folder, "lies inside the store"),
        (folder / "nodes" / "new", "lies inside the store"),
        (tmp_path, "has something in it"),
        (full, "has something in it"),
        (full / "x", "a file; give a folder"),
        (full / "x" / "y", "cannot be made"),
    ):
        with pytest.raises(UsageError, match=message):
            copied(out, lambda view: pytest.fail("spent"), store=folder)
    (tmp_path / "empty").mkdir()
    assert copied(tmp_path / "empty", store=folder, depths=1).path == str(tmp_path / "empty")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written to"):
        copied(tmp_path / "out")
    tmp_path.chmod(0o700)


# --- benches ------------------------------------------------------------------------------------


def test_a_store_in_memory_is_written_as_a_bench(tmp_path):
    store = store_of(lesson_of(), lesson_of("relay"))
    found = cc.compress_store(
        store, "prune", model="simulated", depths=2, out=tmp_path / "out", progress=False
    )
    back = open_store(tmp_path / "out")
    assert back.lessons == found.store.lessons
    assert back.episodes == store.episodes
    assert back.lessons[0].levels[1] == found.compressions[0].levels[0]
    assert back.lessons[0].levels[1].shown == found.compressions[0].train


@pytest.mark.slow
def test_the_bundled_bench_is_written_and_read_back_equal(tmp_path):
    store = open_store("rose_bench")
    write_bench(store, tmp_path)
    back, faults = check_bench(tmp_path, strict=True)
    assert faults == ()
    assert (back.lessons, back.episodes, back.cases) == (
        store.lessons, store.episodes, store.cases)  # fmt: skip


def test_what_a_bench_cannot_hold_is_said(tmp_path):
    store = store_of()
    used = {key: tuple(replace(e, used=("x",)) for e in es) for key, es in store.episodes.items()}
    for bad, message in (
        (replace(store, episodes=used), "an episode of broker has what"),
        (replace(store, lessons=(lesson_of(created="today", covers=("e",)),)), "lesson broker has"),
        (replace(store, lessons=(replace(lesson_of(), family=""),)), "`family` is empty"),
        (replace(store, lessons=(replace(lesson_of(), kind=""),)), "`kind` is empty"),
    ):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with pytest.raises(UsageError, match=message):
            write_bench(bad, folder)


def test_a_store_that_no_bench_holds_is_refused_before_anything_is_spent(tmp_path):
    store = replace(store_of(), lessons=(replace(lesson_of(), kind=""),))
    with pytest.raises(UsageError, match="cannot be written as a bench"):
        cc.compress_store(
            store, lambda view: pytest.fail("spent"), model="simulated", out=tmp_path / "x"
        )
    assert list(tmp_path.iterdir()) == []


def test_lessons_in_markdown_are_copied_with_their_new_levels(tmp_path):
    folder = bundled_path("episodes", "own_notes")
    before = files(folder)
    found = cc.compress_store(
        "own_notes", "prune", model="simulated", lessons=["frozen-samples"], depths=1,
        out=tmp_path / "short", progress=False,
    )  # fmt: skip
    assert files(folder) == before
    new = files(tmp_path / "short")
    old = {name.replace("frozen-samples.L", ".frozen-samples.L"): x for name, x in before.items()}
    assert {name: x for name, x in new.items() if name != "frozen-samples.L1.md"} == old
    store = open_store(tmp_path / "short", strict=True)
    assert store.lessons == found.store.lessons
    assert store.lessons[0].levels[1:] == found.compressions[0].levels
    assert len(store.lessons[0].levels) == 2
    assert len(store.lessons[1].levels) == 3


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip)
NAME = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=9).filter(
    str.strip
)


@given(TEXT)
def test_any_text_survives_yaml(text):
    faults = []
    reader = Reader("x", faults)
    root = reader.parse(dump_yaml({"key": [text]}))
    assert faults == []
    assert root.value[0][1].value[0].value == text


@st.composite
def stores(draw):
    found, episodes = [], {}
    for name in draw(st.lists(NAME, unique=True, min_size=1, max_size=2)):
        levels = []
        for depth in range(draw(st.integers(1, 3))):
            claims = st.builds(Dropped, TEXT, st.sampled_from(DROPPED_KINDS),
                               st.sampled_from(["", *(f"L{i}" for i in range(depth))]))  # fmt: skip
            levels.append(
                Level(
                    depth,
                    "word " * (40 // 4**depth) + "end" + draw(st.sampled_from(["", " \n", ": #"])),
                    f"{name}.L{depth}",
                    tuple(draw(st.lists(claims, min_size=1, max_size=2))) if depth else (),
                    planted=draw(st.just("") | TEXT),
                    created=draw(st.just("") | TEXT),
                    compressor=draw(st.just("") | TEXT),
                    subtree=tuple(f"{name}.L{i}" for i in range(depth + 1)),
                    shown=draw(st.none() | st.lists(TEXT, max_size=2).map(tuple)),
                    load_bearing=tuple(draw(st.lists(TEXT, max_size=2))),
                    preserve=tuple(draw(st.lists(TEXT, max_size=2))),
                )
            )
        kind = draw(st.sampled_from(("trap", "detail", "principle")))
        family = draw(TEXT)
        found.append(Lesson(name, draw(TEXT), family, kind, tuple(levels), draw(st.booleans())))
        episodes[name] = tuple(
            Episode(f"{name}/{own}", "Do it.", Outcome((good,), (), Checks()), family=family)
            for own, good in draw(st.dictionaries(NAME, TEXT, max_size=2)).items()
            if good not in "Do it."
        )
    cases = draw(st.lists(NAME, unique=True, max_size=1))
    found.sort(key=lambda lesson: lesson.id)
    return Store(
        "any", tuple(found), episodes,
        tuple(
            ServedCase(f"case {name}", "null", {"a": "Wear gloves."}, "Do it.",
                       Outcome(("It is done.",), ("It is lost.",)))
            for name in cases
        ),
    )  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=20, deadline=None)
@given(store=stores())
def test_any_store_is_written_and_read_back_equal(tmp_path_factory, store):
    folder = tmp_path_factory.mktemp("bench")
    try:
        write_bench(store, folder)
    except UsageError as error:
        assert "the task already holds the answer" in str(error)  # noqa: PT017
        return
    back = open_store(folder)
    assert back.lessons == store.lessons
    assert back.cases == store.cases
    assert {k: v for k, v in back.episodes.items() if v} == {
        k: v for k, v in store.episodes.items() if v}  # fmt: skip


def test_families_with_like_names_have_files_of_their_own():
    store = store_of(
        replace(lesson_of("a"), family="A b"), replace(lesson_of("b"), family="a-b"),
        replace(lesson_of("c"), family="cases"), replace(lesson_of("d"), family="…"),
    )  # fmt: skip
    assert sorted(bench_texts(store)) == ["a-b-2.yaml", "a-b.yaml", "cases-2.yaml", "lessons.yaml"]


# --- what was shown, and the closed list --------------------------------------------------------


def test_shown_is_the_exact_answer():
    full = Level(0, "full", "n0", created="2025-01-01", covers=("born",), origins=("born",),
                 subtree=("n0",))  # fmt: skip
    one = Level(1, "short", "n1", created="2025-03-01", covers=("born", "old"), origins=("born",),
                subtree=("n1", "n0"), shown=("told",))  # fmt: skip
    two = replace(one, depth=2, node="n2", subtree=("n2", "n1", "n0"), shown=())
    lesson = Lesson("x", "", "", "", (full, one, two))

    def leaked(name, level, **more):
        return leaks(lesson, level, Episode(name, "t", Outcome(("g",)), **more))

    assert leaked("told", one, created="2030-01-01")
    assert not leaked("told", full, created="2030-01-01")
    assert not leaked("old", one, created="2025-02-01"), "covered, but not shown"
    assert not leaked("other", one, created="2025-02-01", used=("n0",))
    assert leaked("born", one, created="2025-01-02")
    assert leaked("told", two, created="2030-01-01"), "what it was made from was shown it"
    silent = replace(one, shown=None)
    lesson = Lesson("x", "", "", "", (full, silent))
    assert leaked("old", silent, created="2025-02-01")


def test_kinds_and_holders_of_a_bench_are_checked(tmp_path):
    level = "    - {text: Port., dropped: [{claim: 6112, kind: %s, holder: %s}], shown: [], " \
            "compressor: someone, created: 2025-01-01}\n"  # fmt: skip
    head = (
        "family: f\nlessons:\n  - id: a\n    title: A\n    kind: trap\n    levels:\n"
        "    - text: The port is 6112 and no other one.\n"
    )
    tail = "    episodes: []\n"
    for kind, holder, message in (
        ("paramter", "L0", "b.yaml:8: `kind` has no 'paramter'; it has parameter, edge-case"),
        ("parameter", "L1", "b.yaml:8: `holder` has no 'L1'; it has L0, a.L0"),
    ):
        (tmp_path / "b.yaml").write_text(head + level % (kind, holder) + tail)
        with pytest.raises(FileFaults) as error:
            open_store(tmp_path)
        assert message in str(error.value).replace(f"{tmp_path}/", "")
    for holder in ("L0", "a.L0"):
        (tmp_path / "b.yaml").write_text(head + level % ("parameter", holder) + tail)
        made = open_store(tmp_path).lessons[0].levels[1]
        assert (made.compressor, made.shown, made.created) == ("someone", (), "2025-01-01")


def test_kinds_and_holders_of_a_store_are_noted_and_stop_nothing(tmp_path, capsys):
    upper = (
        "---\nid: a1\nlevel: 1\nderived_from: [a]\ncompressor: someone\nshown: [e1, e2]\ndropped:\n"
        "- {claim: x, kind: rational, holder: aa}\n- {claim: y, holder: L0}\n- z\n"
        "- {claim: w, holder: L1}\n---\nShort.\n"
    )
    folder = small_rose(tmp_path / "store", upper)
    store = open_store(folder)
    assert store.lessons[0].levels[1].shown == ("e1", "e2")
    notes = [note for note in store.skipped if "dropped claim" in note]
    assert len(notes) == 3
    assert "node a1: the dropped claim 'x': `kind` has no 'rational'" in notes[0]
    assert "did you mean 'rationale'?" in notes[0]
    assert "'x' is held by 'aa', which is no node of the store and no level below L1" in notes[1]
    assert "'w' is held by 'L1'" in notes[2]
    with pytest.raises(SystemExit) as end:
        main(["check", str(folder)])
    assert end.value.code == 0
    assert "is held by 'aa'" in capsys.readouterr().err


def test_bundled_claims_are_of_the_closed_list_and_held_by_something():
    assert not [note for note in open_store("demo_store", strict=True).skipped if "claim" in note]


# --- the command line ---------------------------------------------------------------------------


def run(capsys, *args):
    with pytest.raises(SystemExit) as end:
        main(["rose", "compress", *map(str, args)])
    return end.value.code, *capsys.readouterr()


def test_the_command_prints_levels_tries_and_claims(tmp_path, capsys):
    bench = tmp_path / "bench"
    bench.mkdir()
    write_bench(store_of(lesson_of(), lesson_of("useless", full="Nothing is said here at all.")),
                bench)  # fmt: skip
    before = hashlib.sha256(str(files(bench)).encode()).hexdigest()
    out = tmp_path / "out"
    code, told, err = run(capsys, bench, "-o", out, "--model", "simulated", "--depths", 1,
                          "--compressor", "prune", "--quiet")  # fmt: skip
    assert code == 3
    assert hashlib.sha256(str(files(bench)).encode()).hexdigest() == before
    lines = told.splitlines()
    assert lines[0].split() == ["lesson", "level", "tokens", "share", "tries", "calls", "outcome"]
    assert lines[1].split()[:2] == ["broker", "L1"]
    assert "accepted" in lines[1]
    assert "refused" in lines[2]
    assert "SIMULATED" in told
    assert "(held by L0)" in told
    assert "refused: L0 passes no train episode" in told
    assert "1 of 2 lessons have a new level" in told
    assert str(out) in err
    code, told, err = run(capsys, bench, "-o", tmp_path / "two", "--model", "simulated",
                          "--lesson", "broker", "--depths", 1, "--quiet")  # fmt: skip
    assert code == 0
    assert "useless" not in told
    code, told, err = run(capsys, bench, "-o", out, "--model", "simulated", "--quiet")
    assert (code, told) == (2, "")
    assert "has something in it" in err
