import hashlib
import json
import os
import sys
import time

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.errors import FileFaults, UsageError
from corecurves.files.front_matter import plain, read_node
from corecurves.files.layout import read_layout
from corecurves.files.recorded import read_episode
from corecurves.files.store import find_store, open_store, refuse_inside
from corecurves.specs import Store


def write(root, nodes=(), episodes=()):
    """A store of small nodes and episodes, each a mapping whose ``text`` is the body."""
    for given_node in nodes:
        table = {"level": 0, **given_node}
        body = table.pop("text", f"Text of {table['id']}.")
        path = root / "nodes" / "lab" / f"{table['id']}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{yaml.safe_dump(table)}---\n{body}\n", encoding="utf-8")
    for given_episode in episodes:
        table = {
            "prompt": "Do it.", "outcome": "success", "accepted_summary": "Done.",
            **given_episode,
        }  # fmt: skip
        path = root / "episodes" / f"{table['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(table), encoding="utf-8")
    (root / "nodes").mkdir(parents=True, exist_ok=True)
    return root


def raw(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def levels(store, lesson):
    found = next(item for item in store.lessons if item.id == lesson)
    return [(level.name, level.node, level.merged) for level in found.levels]


CHAIN = [
    {"id": "a", "parents": ["a1"], "created": "2025-01-01"},
    {"id": "a1", "level": 1, "derived_from": ["a"], "created": "2025-02-01"},
]


# --- the bundled store --------------------------------------------------------------------------


def test_the_demo_store_has_what_its_readme_says():
    store = open_store("demo_store", strict=True)
    assert len(store.lessons) == 10
    assert all([x.depth for x in lesson.levels][:3] == [0, 1, 2] for lesson in store.lessons)
    assert all(len(store.episodes[lesson.id]) >= 3 for lesson in store.lessons)
    assert {lesson.id for lesson in store.lessons if lesson.levels[-1].merged} == {
        "truncate-open-log", "drain-before-restart"}  # fmt: skip
    assert list(store.skipped) == [
        "node tag-before-build.l1-old: its status is archived",
        "node interpreter-slot.l1-short: level 1 of lesson interpreter-slot is interpreter-slot.l1",
        "node late-day-partition.l2: "
        "level 2 of lesson late-day-partition is late-day-partition.l2b",
        "1 episode: it is not recorded what was used (2025-07-02-unjudged)",
        "1 episode: no accepted summary is recorded (2025-07-04-no-summary)",
        "1 episode: nothing was used (2025-06-30-chart-colours)",
        "1 episode: the outcome is 'abandoned' (2025-07-01-badge)",
        "2 episodes: the outcome is 'failure' (2025-04-24-short-slot, 2025-05-02-yesterday)",
        "1 episode: what it used is in no lesson of this store (2025-07-03-old-note)",
    ]


def test_the_demo_store_is_as_untidy_as_real_ones():
    folder = bundled_path("episodes", "demo_store")
    files = [path.read_bytes() for path in folder.rglob("*.md")]
    assert any(text.startswith(b"\xef\xbb\xbf---\r\n") for text in files)
    assert any(b"\nparents:" in text for text in files)
    assert any(b"\ncompressed_into:" in text for text in files)
    layout = read_layout(folder)
    assert len(layout.recorded) >= 25
    assert any(len(r.episode.served) > len(r.episode.used) > 1 for r in layout.recorded.values())
    assert {n.status for n in layout.graph.nodes.values()} == {
        "active", "merged", "disputed", "archived"}  # fmt: skip
    shorter = [
        (len(a.text), len(b.text))
        for lesson in open_store(folder).lessons
        for a, b in zip(lesson.levels, lesson.levels[1:], strict=False)
        if not b.merged
    ]
    assert all(after <= 0.75 * before for before, after in shorter)


def test_an_episode_stands_under_each_lesson_it_used():
    store = open_store("demo_store")
    both = "2025-06-24-blood-and-words"
    assert [k for k, found in store.episodes.items() if both in [e.id for e in found]] == [
        "interpreter-slot", "label-at-bedside"]  # fmt: skip
    episode = next(e for e in store.episodes["label-at-bedside"] if e.id == both)
    assert episode.outcome.trap == ()
    assert episode.outcome.good[0].startswith("Type R with Tamil")
    assert episode.outcome.checks.must == ("R", "bedside")
    assert len(episode.served) == 3


# --- read-only ----------------------------------------------------------------------------------


def fingerprint(folder):
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        status = path.stat()
        found[str(path)] = (content, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return found


WATCHED = []
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink",
           "os.chmod", "os.utime", "shutil.")  # fmt: skip


def watch(event, args):
    if not WATCHED:
        return
    if event == "open":
        path, mode, flags = args
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        writes = writes or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if writes:
            WATCHED.append(f"{event} {path} {mode} {flags}")
    elif event.startswith(CHANGES):
        WATCHED.append(f"{event} {args}")


@pytest.fixture(scope="module")
def watching():
    sys.addaudithook(watch)  # it cannot be taken away again, and is silent while nobody watches


@pytest.fixture
def written(watching):
    """Everything that was opened for writing, or changed on disk, from here on."""
    WATCHED.append("begin")
    yield lambda: WATCHED[1:]
    WATCHED.clear()


def test_the_watch_sees_a_write(tmp_path, written):
    (tmp_path / "x").write_text("x")
    assert len(written()) == 1
    os.close(os.open(tmp_path / "y", os.O_CREAT))
    assert len(written()) == 2


@pytest.mark.parametrize("name", ["demo_store", "rose_bench"])
def test_opening_changes_nothing_and_opens_nothing_for_writing(name, written):
    folder = bundled_path("episodes", name)
    before = fingerprint(folder)
    refuse_inside(open_store(name), "results.nc")
    assert written() == []
    assert fingerprint(folder) == before


def test_a_folder_without_write_permission_is_read(tmp_path, written):
    root = write(tmp_path / "s", CHAIN, [{"id": "e", "used": ["a"]}])
    WATCHED[1:] = []
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    WATCHED[1:] = []
    try:
        assert len(open_store(root).episodes["a"]) == 1
        assert written() == []
    finally:
        for path in paths:
            path.chmod(0o700)


@pytest.fixture
def store(tmp_path):
    return open_store(write(tmp_path / "s", CHAIN))


@pytest.mark.parametrize("inner", [".", "runs.sqlite", "episodes/new/x.json", "../s/nodes/../y.nc"])
def test_outputs_inside_are_refused(store, tmp_path, inner):
    with pytest.raises(UsageError, match=r"the ledger .* lies inside the store .*read-only"):
        refuse_inside(store, tmp_path / "s" / inner, "ledger")


def test_links_do_not_lead_inside(store, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path / "s" / "nodes")
    (tmp_path / "file.nc").symlink_to(tmp_path / "s" / "not-there-yet.nc")
    for path in ("link/lab/x.nc", "file.nc"):
        with pytest.raises(UsageError, match="inside the store"):
            refuse_inside(store, tmp_path / path)
    linked = tmp_path / "t"
    linked.mkdir()
    (linked / "nodes").symlink_to(tmp_path / "s" / "nodes")
    with pytest.raises(UsageError, match="inside the store"):
        refuse_inside(open_store(linked), tmp_path / "s" / "nodes" / "x.nc")
    refuse_inside(open_store(linked), tmp_path / "s" / "x.nc")
    for path in ("s2/x.nc", "x.nc", "sx"):
        refuse_inside(store, tmp_path / path)
    refuse_inside(Store("m", (), {}), tmp_path)
    monkeypatch.chdir(tmp_path)
    relative = open_store("s")
    monkeypatch.chdir(tmp_path / "s")
    with pytest.raises(UsageError, match="inside the store"):
        refuse_inside(relative, "x.nc")


# --- finding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [".rose", ".rmc"])
def test_a_store_is_found_upward(tmp_path, hidden):
    root = write(tmp_path / "project" / hidden, CHAIN)
    deep = tmp_path / "project" / "src" / "deep"
    deep.mkdir(parents=True)
    raw(deep, "settings.yaml", "port: 1\n")
    for start in (deep, tmp_path / "project", root, root / "nodes" / "lab"):
        assert find_store(start).resolve() == root.resolve()
        found = open_store(start)
        assert (found.name, len(found.lessons)) == ("project", 1)


def test_a_folder_called_nodes_above_is_no_store(tmp_path):
    write(tmp_path, CHAIN)
    (tmp_path / "src").mkdir()
    with pytest.raises(UsageError, match=r"src is no store: .*\.rose or \.rmc"):
        find_store(tmp_path / "src")
    assert find_store(tmp_path / "nodes" / "lab") == tmp_path


def test_names_that_are_nothing(tmp_path):
    with pytest.raises(UsageError, match=r"did you mean 'demo_store'.*nor is it a file or folder"):
        open_store("demo_stor")
    with pytest.raises(UsageError, match="is no store"):
        open_store(tmp_path)
    with pytest.raises(UsageError, match="has no lesson that could be used; a lesson is a node"):
        open_store(write(tmp_path))
    store = open_store("demo_store")
    assert open_store(store) is store


def test_no_lesson_left_says_why(tmp_path):
    write(tmp_path, [{"id": "a", "status": "archived"}, {"id": "b", "level": 1}])
    with pytest.raises(
        UsageError, match="node a: its status is archived; node b: no L0 lies below"
    ):
        open_store(tmp_path)


# --- the graph ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ({"parents": ["b"]}, {}),
        ({"compressed_into": ["b"]}, {}),
        ({"compressed_into": "b"}, {}),
        ({}, {"derived_from": ["a"]}),
        ({"parents": [], "compressed_into": ["b"]}, {"derived_from": None}),
        ({"parents": ["b"], "compressed_into": ["b"]}, {"derived_from": ["a"]}),
    ],
)
def test_an_edge_may_be_named_at_either_end(tmp_path, lower, upper):
    write(tmp_path, [{"id": "a", **lower}, {"id": "b", "level": 1, **upper}])
    store = open_store(tmp_path)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "b", False)]
    assert store.skipped == ()


def test_cycles_end(tmp_path):
    write(tmp_path, [
        {"id": "a", "parents": ["b", "a"], "derived_from": ["c", "a"]},
        {"id": "b", "level": 1, "parents": ["c"], "derived_from": ["c"]},
        {"id": "c", "level": 2, "parents": ["b", "a"]},
    ])  # fmt: skip
    store = open_store(tmp_path)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "b", False), ("L2", "c", False)]
    assert "node c: its edge up to b leads from level 2 to level 1; not followed" in store.skipped


def test_a_thousand_levels_and_a_wide_graph_end_soon(tmp_path):
    deep = [
        {"id": f"n{i}", "level": min(i, 999), "derived_from": [f"n{i - 1}"] if i else []}
        for i in range(1000)
    ]
    wide = [
        {"id": f"w{i}", "level": i // 10,
         "derived_from": [f"w{i // 10 * 10 - k}" for k in range(1, 11) if i > 9]}
        for i in range(200)
    ]  # fmt: skip
    began = time.monotonic()
    store = open_store(write(tmp_path, [*deep, *wide]))
    assert time.monotonic() - began < 60
    assert len(levels(store, "n0")) == 1000
    assert levels(store, "w0")[-1][0] == "L19"


def test_edges_that_lead_nowhere_are_named(tmp_path):
    write(tmp_path, [{"id": "a", "parents": ["gone"], "derived_from": ["lost"]}])
    assert open_store(tmp_path).skipped == (
        "node a: an edge leads to gone, lost, not in the store",)  # fmt: skip


def test_the_newest_active_one_is_taken(tmp_path):
    made = {"old": "2025-02-01T23:00:00-05:00", "new": "2025-02-02T05:00:00Z", "undated": None,
            "archived": "2025-09-01", "disputed": "2025-09-01", "superseded": "2025-09-01",
            "demoted": "2025-09-01"}  # fmt: skip
    write(tmp_path, [
        {"id": "a"},
        *({"id": key, "level": 1, "derived_from": ["a"], "created": when,
           "status": "active" if key in ("old", "new", "undated") else key}
          for key, when in made.items()),
    ])  # fmt: skip
    store = open_store(tmp_path)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "new", False)]
    assert set(store.skipped) == {
        "node archived: its status is archived", "node superseded: its status is superseded",
        "node disputed: level 1 of lesson a is new", "node demoted: level 1 of lesson a is new",
        "node old: level 1 of lesson a is new",
        "node undated: level 1 of lesson a is new"}  # fmt: skip


def test_levels_above_an_archived_one_still_belong(tmp_path):
    write(tmp_path, [
        {"id": "a", "parents": ["b"]},
        {"id": "b", "level": 1, "status": "archived", "parents": ["c"]},
        {"id": "c", "level": 2},
    ], [{"id": "e", "used": ["b"]}])  # fmt: skip
    store = open_store(tmp_path)
    assert levels(store, "a") == [("L0", "a", False), ("L2", "c", False)]
    assert [e.id for e in store.episodes["a"]] == ["e"]


@pytest.mark.parametrize("status", ["merged", "active"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_merged_node_is_a_level_of_each(tmp_path, status, depth):
    write(tmp_path, [
        *CHAIN, {"id": "b", "parents": ["b1"]}, {"id": "b1", "level": 1},
        {"id": "m", "level": depth, "derived_from": ["a1", "b1"], "status": status,
         "created": "2025-09-01"},
    ])  # fmt: skip
    store = open_store(tmp_path)
    own = [("L0", "a", False), ("L1", "a1", False)]
    if depth == 2:
        assert levels(store, "a") == [*own, ("L2", "m", True)]
        assert levels(store, "b")[-1] == ("L2", "m", True)
    else:  # newer, but not the lesson's own
        assert levels(store, "a") == own
        assert "node m: level 1 of lesson a is a1" in store.skipped


def test_two_full_lessons_merged_into_one(tmp_path):
    write(tmp_path, [
        {"id": "a", "status": "merged", "parents": ["m"]}, {"id": "b", "parents": ["m"]},
        {"id": "m", "parents": ["m1"]}, {"id": "m1", "level": 1},
    ])  # fmt: skip
    store = open_store(tmp_path)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "m1", True)]
    assert levels(store, "m") == [("L0", "m", True), ("L1", "m1", True)]
    assert "node m: level 0 of lesson a is a" in store.skipped


@pytest.mark.parametrize("status", ["disputed", "demoted"])
def test_a_lesson_in_doubt_is_served_as_rose_does(tmp_path, status):
    write(tmp_path, [
        {"id": "a", "status": status, "parents": ["a1", "old"]},
        {"id": "a1", "level": 1, "status": status, "created": "2025-01-01"},
        {"id": "old", "level": 1, "status": "superseded", "created": "2025-09-01"},
    ], [{"id": "e", "used": ["a1"]}])  # fmt: skip
    store = open_store(tmp_path, strict=True)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "a1", False)]
    assert [e.id for e in store.episodes["a"]] == ["e"]
    assert store.skipped == ("node old: its status is superseded",)


def test_rose_says_which_levels_a_compressor_made(tmp_path):
    write(tmp_path, [
        {"id": "a", "origin": "reflection", "parents": ["a1"]},
        {"id": "a1", "level": 1, "origin": "compression", "parents": ["a2", "m"]},
        {"id": "a2", "level": 2, "origin": "manual"},
        {"id": "m", "level": 3, "origin": "merge", "status": "merged"},
        {"id": "b", "origin": "compression"},
    ], [{"id": "ep-7", "used": ["a1"]}, {"id": "a", "used": ["a1"]}])  # fmt: skip
    store = open_store(tmp_path)
    assert [level.compressor for level in store.lessons[0].levels] == [
        "", "ROSE compression", "", "ROSE merge"]  # fmt: skip
    assert store.lessons[1].levels[0].compressor == "", "an L0 is what a compressor starts from"
    plan = cc.plan_rose(tmp_path, "simulated", leaks="keep")
    assert plan.config["holdout"] == 0.3


def test_the_claim_kinds_of_rose_are_known(tmp_path):
    kinds = ("parameter", "example", "precondition", "edge-case", "rationale", "counter-example",
             "procedure-step", "naming", "reference")  # fmt: skip
    claims = [{"claim": kind, "kind": kind, "holder": "a"} for kind in kinds]
    write(tmp_path, [{"id": "a", "parents": ["a1"]}, {"id": "a1", "level": 1, "dropped": claims}])
    assert open_store(tmp_path).skipped == ()


def test_a_lesson_that_was_used_and_not_served_is_named(tmp_path):
    write(tmp_path, [{"id": "a"}, {"id": "b"}], [
        {"id": "e", "served": ["a"], "used": ["a", "b"]},
        {"id": "f", "served": [], "used": ["b"]},
    ])  # fmt: skip
    store = open_store(tmp_path)
    assert "2 lessons, 2 episodes" in repr(store), "one that used both is one"
    (note,) = store.skipped
    assert note.startswith("1 episode used a lesson that was not served")
    assert note.endswith("(e: b)")


def test_a_superseded_lesson_is_left_out_with_its_levels_and_episodes(tmp_path):
    write(tmp_path, [{"id": "x"}, {"id": "a", "status": "superseded", "parents": ["a1"]},
                     {"id": "a1", "level": 1}], [{"id": "e", "used": ["a1"]}])  # fmt: skip
    store = open_store(tmp_path)
    assert [lesson.id for lesson in store.lessons] == ["x"]
    assert store.skipped == (
        "node a: its status is superseded",
        "node a1: its L0 a is left out",
        "1 episode: what it used is in no lesson of this store (e)",
    )


def test_what_the_leaks_are_told_from(tmp_path):
    write(tmp_path, [
        {"id": "a", "parents": ["a1"], "covers_tasks": ["late", "first", "same-day"],
         "shown": ["told"]},
        {"id": "b", "parents": ["m"], "covers_tasks": ["other", "unknown"]},
        {"id": "old", "level": 1, "status": "archived", "derived_from": ["a"], "parents": ["a1"],
         "covers_tasks": ["shown"]},
        {"id": "a1", "level": 1, "parents": ["m"], "created": "2025-05-01"},
        {"id": "m", "level": 2, "status": "merged"},
    ], [
        {"id": "first", "created": "2025-01-02T10:00:00Z", "used": []},
        {"id": "same-day", "created": "2025-01-02", "used": []},
        {"id": "late", "created": "2025-02-01", "used": []},
        {"id": "other", "created": "2025-03-01", "used": [], "session_id": "s1"},
        {"id": "another", "created": "2025-03-01", "used": [], "session_id": "s2"},
    ])  # fmt: skip
    (tmp_path / "events.jsonl").write_text(
        '{"kind": "mint", "node": "b", "session": "s1"}\n'
        '{"kind": "mint", "node": "b", "session": "nowhere"}\n'
        '{"kind": "placement", "node": "b", "session": "s2", "action": "mint"}\n{"kind": "mint"'
    )
    lesson = open_store(tmp_path).lessons[0]
    full, short, merged = lesson.levels
    assert full.origins == ("told",), "what it covers later is no source of it"
    assert set(short.covers) == {"late", "first", "same-day", "shown"}
    assert set(short.subtree) == {"a1", "a", "old"}
    assert short.created == "2025-05-01"
    assert set(merged.subtree) == {"m", "a1", "a", "old", "b"}
    assert set(merged.origins) == {"told", "other"}
    assert "unknown" in merged.covers


# --- front matter -------------------------------------------------------------------------------


def node(header, body="Body.", **more):
    faults = []
    return read_node(f"---\n{header}\n---\n{body}", "n.md", faults, **more), list(map(str, faults))


def test_text_is_what_the_file_says():
    found, faults = node(
        "id: 010\nlevel: 0\ntitle: no\ncreated: 2025-03-04\nversion: 2.10\nstart: 13:45\n"
        "covers_tasks: [089, on, null]"
    )
    assert faults == []
    assert (found.id, found.title, found.created) == ("010", "no", "2025-03-04")
    assert found.extra == {"version": "2.10", "start": "13:45"}
    assert found.covers_tasks == ("089", "on", "null")
    assert node("id: null\nlevel: 0")[0].id == "null"


@pytest.mark.parametrize("level", ["1", "'1'", "L1", '"L1"'])
def test_levels_may_be_quoted_or_named(level):
    assert node(f"id: a\nlevel: {level}")[0].level == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_byte_order_mark_and_line_ends(tmp_path, newline, mark):
    text = "---\nid: a\nlevel: 0\ngist: >\n  one\n  two\n---\n\nA line.\n---\nAnother.\n\n"
    raw(tmp_path, "nodes/a.md", mark + text.replace("\n", newline).encode())
    found = read_layout(tmp_path).graph.nodes["a"]
    assert (found.text, found.gist) == ("A line.\n---\nAnother.", "one two\n")


def test_missing_and_empty_keys():
    header = "level: 0\nstatus:\ncreated: ~\nparents:\nderived_from: null\ndropped: []\nstats: {}"
    found, faults = node(header, stem="named-by-file", family="lab")
    assert faults == []
    assert (found.id, found.family, found.status) == ("named-by-file", "lab", "active")
    assert (found.created, found.parents, found.dropped, found.stats) == ("", (), (), {})


def test_dropped_without_holder_and_in_short():
    found, faults = node(
        "id: a\nlevel: 1\ndropped:\n- {claim: x, kind: parameter}\n- just text\n- claim: y\n"
        "  holder: a0\n  since: 3"
    )
    assert faults == []
    assert [(d.claim, d.kind, d.holder) for d in found.dropped] == [
        ("x", "parameter", ""), ("just text", "", ""), ("y", "", "a0")]  # fmt: skip


def test_stats_are_finite_numbers():
    found, _ = node("id: a\nlevel: 0\nstats: {shown: 4, rate: .5, bad: .nan, text: many, list: []}")
    assert found.stats == {"shown": 4.0, "rate": 0.5}


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("id: a", "n.md:1: the front matter lacks `level`"),
        ("id: a\nlevel: deep", "n.md:3: `level` is deep; write 0, 1, 2"),
        ("id: a\nlevel: -1", "n.md:3: `level` is -1"),
        ("id: a\nlevel: 1.0", "n.md:3: `level` is 1.0"),
        ("id: a\nlevel: [1]", "n.md:3: `level` is no number"),
        (f"id: a\nlevel: {'9' * 5000}", "n.md:3: `level` is 999"),
        ("id: a\nlevel: ٣", "n.md:3: `level` is ٣"),
        (
            "id: a\nlevel: 0\nid: b",
            "n.md:4: `id` stands twice in the front matter, first in line 2",
        ),
        (
            "id: a\nlevel: 0\nx: 1\nx: 2",
            "n.md:5: `x` stands twice in the front matter, first in line 4",
        ),
        ("id: [a]\nlevel: 0", "n.md:2: `id` is a list; write text"),
        ("id: a\nlevel: 0\nstatus: draft", "n.md:4: `status` is 'draft'; it may be active, merg"),
        ("id: a\nlevel: 0\nparents: {b: 1}", "n.md:4: `parents` is a mapping; write a list"),
        ("id: a\nlevel: 0\ncovers_tasks:\n- [x]", "n.md:5: `covers_tasks` is a list; write text"),
        ("id: a: b\nlevel: 0", "n.md:2: is not YAML"),
        ("id: a\nlevel: 0\ntitle: 'open", "is not YAML"),
        ("- a", "n.md:2: the front matter is no mapping"),
        ("", "n.md:1: is empty"),
        ("id: &x [*x]\nlevel: 0", "n.md:2: `id` is a list"),
    ],
)
def test_what_cannot_be_placed_is_a_fault_with_its_line(header, fault):
    found, faults = node(header)
    assert found is None
    assert any(fault in line for line in faults), faults


def test_a_fault_elsewhere_leaves_that_key_empty():
    found, faults = node("id: a\nlevel: 0\ntitle: [x]\ndropped:\n- {kind: k}\n- [z]\n- fine")
    assert found.title == ""
    assert [d.claim for d in found.dropped] == ["fine"]
    assert [line.split(":")[1] for line in faults] == ["4", "6", "7"]


def test_texts_without_front_matter_or_body():
    for text in ("# Title\n", "---\nid: a\nlevel: 0\n", "text\n---\nid: a\n---\nx"):
        faults = []
        assert read_node(text, "n.md", faults) is None
        assert "has no front matter" in str(faults[0])
    assert node("id: a\nlevel: 0", body=" \n") == (
        None, ["n.md:4: has no text below its front matter"])  # fmt: skip


def test_values_that_hold_themselves_and_aliases_end():
    found, faults = node("id: a\nlevel: 0\nself: &x [1, *x]\nkey: {? &k [*k] : 1}")
    assert faults == []
    assert found.extra["self"] == ["1", None]
    bomb = "\n".join(f"l{i}: &l{i} [*l{i - 1}, *l{i - 1}]" for i in range(1, 60))
    began = time.monotonic()
    assert node(f"id: a\nlevel: 0\nl0: &l0 [x]\n{bomb}")[0] is not None
    assert time.monotonic() - began < 5


TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), min_size=1
).filter(str.strip)
VALUES = st.recursive(
    TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    title=TEXT,
    covers=st.lists(TEXT, unique=True, max_size=4),
    claims=st.lists(st.fixed_dictionaries({"claim": TEXT}, optional={"kind": TEXT}), max_size=3),
    extra=st.dictionaries(TEXT.map("x_{}".format), VALUES, max_size=3),
    newline=st.sampled_from(["\n", "\r\n"]),
    style=st.sampled_from([None, "'", '"', "|", ">"]),
)
@example("---", ["..."], [{"claim": "a: b #c"}], {"x_": "no"}, "\r\n", None)
def test_front_matter_survives(title, covers, claims, extra, newline, style):
    table = {"id": "a", "level": 1, "title": title, "covers_tasks": covers, "dropped": claims}
    header = yaml.safe_dump(
        table | extra, allow_unicode=True, sort_keys=False, default_style=style
    ).replace("\n", newline)
    faults = []
    found = read_node(f"---{newline}{header}---{newline}Body.{newline}", "n.md", faults)
    assert faults == []
    assert (found.title, found.covers_tasks, found.text) == (title, tuple(covers), "Body.")
    assert [(d.claim, d.kind) for d in found.dropped] == [
        (c["claim"], c.get("kind", "")) for c in claims]  # fmt: skip
    assert found.extra == extra


@given(st.text())
def test_any_text_is_a_node_or_a_fault(text):
    faults = []
    found = read_node(f"---\n{text}\n---\nBody.", "n.md", faults)
    assert found is not None or faults
    assert plain(yaml.compose("a")) == "a"


# --- episodes -----------------------------------------------------------------------------------


def episode(text):
    faults = []
    return read_episode(text, "e.json", faults, stem="stem"), list(map(str, faults))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"id": "a",\n"id": "b"}', "e.json:2: `id` stands twice, first in line 1; keep one"),
        ('{"a": "\\"id\\": {",\n"check": {"must": [],\n"m\\u0075st": []}}', "e.json:3: `must` sta"),
        ('{"id": "a",\n\n"score": NaN}', "e.json:3: NaN is no JSON number"),
        ('{"x": [1, -Infinity]}', "e.json:1: -Infinity is no JSON number"),
        ('{"id": "a",\n"prompt": "half', "e.json:2: is not JSON (Unterminated string"),
        ('{"id": "a",}', "e.json:1: is not JSON"),
        ('{"id": 010}', "e.json:1: is not JSON"),
        ("", "e.json:1: is not JSON"),
        ('[{"id": "a"}]', "e.json:1: is no JSON object"),
        ("[" * 100_000, "e.json:1: is n"),
        ('{"x": ' * 100_000, "e.json:1: is n"),
        ('{\n"prompt": ["a"]}', "e.json:2: `prompt` is of the wrong type; write text"),
        ('{"id": true}', "e.json:1: `id` is of the wrong type"),
        ('{"used": "x",\n"served": [1, null]}', "e.json:2: `served` is of the wrong type"),
        ('{"used": {"a": 1}}', "e.json:1: `used` is of the wrong type; write a list of texts"),
        ('{"check":\n{"must": 6112,\n"must_not": {}}}', "e.json:3: `must_not` is of the wrong"),
    ],
)
def test_broken_episodes_are_faults_with_their_line(text, fault):
    found, faults = episode(text)
    assert found is None
    assert any(line.startswith(fault) for line in faults), faults


def test_texts_that_look_like_faults_are_fine():
    text = '{"prompt": "NaN, {\\"id\\": Infinity}", "accepted_summary": "\\ud800 \\u2028 \\u0000"}'
    found, faults = episode(text)
    assert faults == []
    assert found.episode.outcome.good == ("\ud800 \u2028 \0",)


def test_numbers_are_the_text_of_the_file():
    found, _ = episode(
        '{"id": 7, "created": 1741081234.50, "used": [12, 12], "check": {"must": 6112}}'
    )
    assert (found.episode.id, found.episode.created, found.episode.used) == (
        "7", "1741081234.50", ("12",))  # fmt: skip
    assert found.episode.outcome.checks.must == ("6112",)


@pytest.mark.parametrize("check", ["null", '"pytest -q"', "[]", "{}", "true", '{"run": "make"}'])
def test_checks_that_check_no_words(check):
    found, faults = episode(f'{{"check": {check}}}')
    assert faults == []
    assert found.episode.outcome.checks.must == ()
    assert found.episode.id == "stem"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"outcome": "failure"}, "the outcome is 'failure'"),
        ({"outcome": "Success"}, "the outcome is 'Success'"),
        ({"outcome": None}, "no outcome is recorded"),
        ({"used": None}, "it is not recorded what was used"),
        ({"used": []}, "nothing was used"),
        ({"used": [" "]}, "nothing was used"),
        ({"accepted_summary": None}, "no accepted summary is recorded"),
        ({"accepted_summary": " \n"}, "no accepted summary is recorded"),
        ({"prompt": ""}, "no prompt is recorded"),
        ({"used": ["gone"]}, "what it used is in no lesson of this store"),
    ],
)
def test_unusable_episodes_are_counted_with_the_reason(tmp_path, more, reason):
    rows = [{"id": "e1", "used": ["a"]}, {"id": "e2", "used": ["a"], **more}]
    store = open_store(write(tmp_path, CHAIN, [*rows, {**rows[1], "id": "e3"}]))
    assert [e.id for e in store.episodes["a"]] == ["e1"]
    assert store.skipped == (f"2 episodes: {reason} (e2, e3)",)


# --- files with faults --------------------------------------------------------------------------


@pytest.fixture
def broken(tmp_path):
    write(tmp_path, CHAIN, [{"id": "e", "used": ["a", "gone"]}])
    raw(tmp_path, "nodes/lab/bad.md", "---\nid: bad\n---\nx")
    raw(tmp_path, "nodes/lab/latin.md", b"---\nid: x\ntitle: caf\xe9\n---\nx")
    raw(tmp_path, "nodes/lab/empty.md", "")
    raw(tmp_path, "nodes/lab/zz.md", "---\nid: a\nlevel: 0\n---\nAgain.")
    raw(tmp_path, "nodes/README.md", "Notes on this store.\n")
    raw(tmp_path, "nodes/lab/._a.md", b"\x00\x05\x16\x07")
    raw(tmp_path, "nodes/lab/.#a.md", "lock")
    raw(tmp_path, "episodes/half.json", '{"id": "half",\n "prompt": "a')
    raw(tmp_path, "episodes/other.json", '{"id": "e"}')
    raw(tmp_path, "episodes/notes.txt", "{")
    (tmp_path / "nodes" / "folder.md").mkdir()
    (tmp_path / "episodes" / "lost.json").symlink_to(tmp_path / "nowhere.json")
    return tmp_path


def test_broken_files_are_named_and_the_others_used(broken):
    store = open_store(broken)
    assert levels(store, "a") == [("L0", "a", False), ("L1", "a1", False)]
    assert store.lessons[0].levels[0].text == "Text of a."
    assert [e.id for e in store.episodes["a"]] == ["e"]
    expected = [
        "episodes/half.json:2: is not JSON",
        "episodes/lost.json:1: is a link that leads nowhere",
        "episodes/other.json:1: the id 'e' also stands in",
        "nodes/README.md:1: has no front matter",
        "nodes/lab/bad.md:1: the front matter lacks `level`",
        "nodes/lab/empty.md:1: is empty",
        "nodes/lab/latin.md:3: is not UTF-8",
        "nodes/lab/zz.md:1: the id 'a' also stands in",
    ]
    assert len(store.skipped) == len(expected)
    for line, start in zip(store.skipped, expected, strict=True):
        assert line.startswith(f"{broken}/{start}")


def test_strict_raises_them_all_at_once(broken):
    with pytest.raises(FileFaults) as caught:
        open_store(broken, strict=True)
    assert len(caught.value.faults) == 8


def test_faults_are_raised_where_nothing_is_left(tmp_path):
    raw(tmp_path, "nodes/a.md", "---\nid: a\n---\nx")
    with pytest.raises(FileFaults, match=r"nodes/a\.md:1: the front matter lacks `level`"):
        open_store(tmp_path)
