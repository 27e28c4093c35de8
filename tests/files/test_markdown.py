import json
import shutil

import pytest
from click.testing import CliRunner

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.cli.main import cli
from corecurves.errors import FileFaults, UsageError
from corecurves.files.markdown import check_markdown, load_markdown, looks_like_markdown
from corecurves.files.store import open_store

FULL = "# The broker's port\n\nIn staging the broker listens on port 6112, not on another one.\n"
SHORT = "Staging: port 6112.\n"
EPISODE = {"task": "Start a worker.", "good": "Port 6112.", "trap": "Port 5672."}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, {"port.md": FULL, "port.L1.md": SHORT, "episodes.jsonl": lines(EPISODE)})
    return tmp_path


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def lines(*episodes):
    return "".join(json.dumps(episode) + "\n" for episode in episodes)


def faults(folder):
    with pytest.raises(FileFaults) as caught:
        load_markdown(folder, shown="mine")
    return [str(fault) for fault in caught.value.faults]


def test_a_lesson_with_nothing_but_text(folder):
    store = cc.Store.from_markdown(folder)
    (lesson,) = store.lessons
    assert (lesson.id, lesson.title) == ("port", "The broker's port")
    assert [level.text for level in lesson.levels] == [FULL.strip(), SHORT.strip()]
    assert [level.subtree for level in lesson.levels] == [("port.L0",), ("port.L0", "port.L1")]
    (episode,) = store.episodes["port"]
    assert (episode.id, episode.outcome.good) == ("episode-1", ("Port 6112.",))
    assert store.skipped == ()
    assert store.path == str(folder)
    assert isinstance(open_store(folder), cc.Store)


def test_front_matter_and_every_key_of_an_episode(folder):
    write(folder, {
        "port.md": f"---\nid: 010\ntitle: no\nfamily: 13:45\nkind: detail\ndemo: true\n---\n{FULL}",
        "port.L1.md": f"---\ndropped:\n- {{claim: why, kind: rationale}}\n- how\nplanted: yes\n"
        f"created: 2025-03-04\ncompressor: scissors\ncovers_tasks: [a]\nshown: [b]\n"
        f"preserve: 6112\n---\n{SHORT}",
        "episodes.jsonl": lines({
            "id": "a", "lesson": "port", "task": "Start.", "good": ["P 6112", "Q 6112"],
            "trap": ["P 5672", "Q 5672"], "created": "2025-01-01",
            "checks": {"must": "6112", "must_not": ["5672"]},
        }),
    })  # fmt: skip
    store = load_markdown(folder)
    (lesson,) = store.lessons
    assert (lesson.id, lesson.title, lesson.family, lesson.kind) == ("010", "no", "13:45", "detail")
    assert lesson.demo
    level = lesson.level(1)
    assert [(c.claim, c.kind) for c in level.dropped] == [("why", "rationale"), ("how", "")]
    assert (level.planted, level.created, level.compressor) == ("yes", "2025-03-04", "scissors")
    assert (level.covers, level.shown, level.preserve) == (("a",), ("b",), ("6112",))
    (episode,) = store.episodes["010"]
    assert (episode.created, episode.family) == ("2025-01-01", "13:45")
    assert episode.outcome.checks == type(episode.outcome.checks)(("6112",), ("5672",))


@pytest.mark.parametrize("root", ["", "episodes:\n"])
def test_yaml_episodes_stay_text(folder, root):
    (folder / "episodes.jsonl").unlink()
    write(folder, {"episodes.yaml": f"{root}- task: Is it on?\n  good: no\n  trap: [yes]\n"
                   "- {id: 010, task: When, good: 13:45}\n"})  # fmt: skip
    first, second = load_markdown(folder).episodes["port"]
    assert (first.outcome.good, first.outcome.trap) == (("no",), ("yes",))
    assert (second.id, second.outcome.good) == ("010", ("13:45",))


def test_crlf_and_byte_order_marks_change_nothing(folder):
    plain = load_markdown(folder)
    for path in folder.iterdir():
        text = path.read_bytes().replace(b"\n", b"\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text)
    write(folder, {"port.L1.md": f"\ufeff---\r\nkept: 1\r\n---\r\n{SHORT}"})
    again = load_markdown(folder)
    assert again.lessons == plain.lessons
    assert again.episodes == plain.episodes
    assert again.skipped == ("port.L1.md: keys left alone: kept",)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Some text.\n\n## Deep ##\nMore.", "Deep"),
        ("A line\n======\nMore.", "A line"),
        ("```sh\n# no heading\n```\nText, and no heading.", "port"),
        ("#hashtag\n\nText.", "port"),
        ("~~~\n# no\n```\n# no\n~~~\n# Yes\nText.", "Yes"),
    ],
)
def test_the_first_heading_is_the_title(folder, text, title):
    write(folder, {"port.md": f"{text} {FULL.replace('#', '')}"})
    assert load_markdown(folder).lessons[0].title == title


def test_an_episode_about_several_lessons_stands_under_each(folder):
    write(folder, {"b.md": FULL, "b.L0.md": FULL})
    assert faults(folder)[0] == "mine/b.md:1: is level 0 of 'b', as mine/b.L0.md is; keep one"
    (folder / "b.md").unlink()
    write(folder, {"episodes.jsonl": lines({**EPISODE, "lesson": ["port", "b"]})})
    store = load_markdown(folder)
    assert store.episodes["b"] == store.episodes["port"]
    assert [lesson.id for lesson in store.lessons] == ["b", "port"]


def test_what_is_no_lesson_is_named(folder):
    write(folder, {"README.md": "About these.", ".hidden.md": "x", "notes.txt": "x"})
    (folder / "old.md").mkdir()
    store = load_markdown(folder)
    assert store.skipped == ("README.md: not read as a lesson",)
    assert len(store.lessons) == 1


def test_every_fault_at_once_with_file_and_line(folder):
    write(folder, {
        "port.md": f"---\ntitel: The port\nid: a/b\n---\n{FULL}",
        "port.L1.md": "---\nkind: detail\ndropped: [{kind: step}, {claim: x, kind: stop}]\n---\n"
        f"{FULL} And more.",
        "port.L3.md": SHORT,
        "lost.L1.md": SHORT,
        "open.md": "---\ntitle: x\nText.",
        "blank.md": "---\ntitle: x\n---\n\n",
        "empty.md": "",
        "latin.md": "Größe".encode("latin-1"),
        "twin.md": f"---\nid: port\n---\n{FULL}",
        "one.md": f"---\nid: port\n---\n{FULL}",
        "broken.md": f"---\na: [\n---\n{FULL}",
        "episodes.jsonl": lines(
            {"task": "Start.", "good": 6112, "lesson": "one"},
            {"id": "e", "good": [], "lesson": "one"},
            {"id": "e", "task": "Use port 6112.", "good": "port 6112.", "lesson": "one"},
            {"id": "e", "task": "Start.", "good": "Port 6112.", "trap": [], "lesson": "one",
             "check": {}},
            {"task": "Start.", "good": "Port 6112."},
            {"task": "Start.", "good": "Port 6112.", "lesson": "open"},  # was named above
        ) + "{not json}\n[1]\n",
    })  # fmt: skip
    found = faults(folder)
    for expected in (
        "mine/blank.md:3: has no text below its front matter",
        "mine/empty.md:1: is empty",
        "mine/latin.md:1: is not UTF-8",
        "mine/lost.L1.md:1: is level 1, and the full lesson is not there; write lost.md",
        "mine/open.md:1: begins with `---`, and no second `---`",
        "mine/port.L1.md:2: `kind` belongs in port.md; move it there",
        "mine/port.L1.md:1: level L1 has 25 tokens, no fewer than the 22 of L0; shorten it",
        "mine/port.L1.md:3: an entry of `dropped` lacks `claim`",
        "mine/port.L1.md:3: `kind` has no 'stop'",
        "mine/port.L3.md:1: is level 3, and level 2 is not there; write port.L2.md",
        "mine/port.md:2: the front matter has no key `titel`; did you mean `title`?",
        "mine/port.md:3: the id 'a/b' has a / in it",
        "mine/twin.md:1: the id 'port' is also that of one.md; rename one",
        "mine/broken.md:3: is not YAML",
        "mine/episodes.jsonl:1: `good` is a value of type int; write text",
        'mine/episodes.jsonl:2: an episode lacks `task`; write `"task": "…"`',
        "mine/episodes.jsonl:3: the task already holds the answer 'port 6112.'",
        "mine/episodes.jsonl:4: the id 'e' also stands at mine/episodes.jsonl:2; rename one",
        "mine/episodes.jsonl:4: an episode has no key `check`; did you mean `checks`?",
        "mine/episodes.jsonl:5: an episode lacks `lesson`, and there are several; write",
        "mine/episodes.jsonl:7: is not JSON",
        'mine/episodes.jsonl:8: an episode is a list; write `"task": "…"`',
    ):
        assert any(fault.startswith(expected) for fault in found), (expected, found)
    assert len(found) == 24
    assert sorted(found, key=lambda f: (f.split(":")[0], int(f.split(":")[1]))) == found


def test_a_lesson_without_an_episode_and_an_episode_without_a_lesson(folder):
    write(folder, {"b.md": FULL, "episodes.jsonl": lines({**EPISODE, "lesson": "port"})})
    store = load_markdown(folder)
    assert store.skipped == (
        "b.md: no episode is about it (`lesson: b` in episodes.jsonl makes one)",
    )
    assert cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    write(folder, {"episodes.jsonl": lines({**EPISODE, "lesson": "prot"})})
    assert faults(folder) == [
        "mine/episodes.jsonl:1: `lesson` has no 'prot'; it has b, port: did you mean 'port'?"
    ]
    (folder / "episodes.jsonl").unlink()
    assert faults(folder)[0].startswith("mine/episodes.jsonl: is missing; write one episode a line")


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(UsageError, match=r"there is no folder .*nowhere; give one"):
        load_markdown(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has no Markdown file in it"):
        load_markdown(tmp_path)
    with pytest.raises(UsageError, match=r"nor Markdown lessons with an episodes\.jsonl"):
        open_store(tmp_path)


def test_what_is_taken_for_one(folder):
    assert looks_like_markdown(folder)
    (folder / "episodes.jsonl").unlink()
    assert looks_like_markdown(folder)  # a level beside its lesson
    (folder / "port.L1.md").unlink()
    assert not looks_like_markdown(folder)  # any folder has a text in it
    assert not looks_like_markdown(folder / "port.md")
    inner = bundled_path("episodes", "demo_store") / "nodes" / "lab"
    assert open_store(inner).name == "demo_store"


def test_the_command_line_reads_it(folder):
    runner = CliRunner()
    result = runner.invoke(cli, ["check", str(folder)], standalone_mode=False)
    assert result.return_value == 0
    assert "read as lessons in Markdown: lessons: 1, episodes: 1" in result.stderr
    write(folder, {"port.L1.md": FULL})
    result = runner.invoke(cli, ["check", str(folder)], standalone_mode=False)
    assert result.return_value == 1
    assert "port.L1.md:1: level L1 has 22 tokens, no fewer" in result.stdout


def test_the_example_from_end_to_end_on_windows_files_too(tmp_path):
    target = tmp_path / "notes"
    shutil.copytree(bundled_path("episodes", "own_notes"), target)
    for path in target.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    before = {path: path.read_bytes() for path in target.iterdir()}
    runs = [
        cc.run_rose_eval(cc.Store.from_markdown(source), "simulated", samples=1,
                         ledger=False, progress=False)
        for source in ("own_notes", target)
    ]  # fmt: skip
    transfer = runs[0].passed.sel(arm="treatment").mean(["episode", "sample"]).mean("concept")
    assert transfer.sel(level="L1") == 1
    assert transfer.sel(level="L2") == pytest.approx(5 / 6)  # it dropped which box
    assert runs[0].passed.equals(runs[1].passed)
    assert {path: path.read_bytes() for path in target.iterdir()} == before


def test_no_trap_means_a_score_and_no_pass(folder):
    write(folder, {"episodes.jsonl": lines({"task": "Start a worker.", "good": "Port 6112."})})
    ds = cc.run_rose_eval(folder, "simulated", arms=("control", "treatment"), samples=1,
                          ledger=False, progress=False)  # fmt: skip
    assert ds.passed.isnull().all()
    assert ds.score.sel(level="L1", arm="treatment").max() > 0


def test_nothing_is_written_into_the_folder(folder):
    with pytest.raises(UsageError, match="inside the store"):
        cc.run_rose_eval(folder, "simulated", ledger=folder / "ledger.sqlite", progress=False)


def test_a_copied_episode_is_a_fault(tmp_path):
    """It would count as an observation of its own, and narrow every interval."""
    (tmp_path / "gloves.md").write_text("Wear gloves, because acid burns.")
    line = '{"task": "What do you wear?", "good": "Gloves."}\n'
    (tmp_path / "episodes.jsonl").write_text(line * 2)
    with pytest.raises(cc.FileFaults, match=r"jsonl:2: an episode is a copy of 'episode-1'"):
        cc.Store.from_markdown(tmp_path)


HEAD = "---\ntitle: The port\n---\n"


@pytest.mark.parametrize(
    "lead", ["", "\n", " \n\n", "\ufeff\ufeff", "\u200b", "<!-- mine -->\n\n", "\ufeff\r\n"]
)
def test_front_matter_is_seen_where_nothing_that_says_anything_stands_before_it(lead, folder):
    write(folder, {"port.md": lead + HEAD + FULL})
    store = load_markdown(folder)
    assert store.lessons[0].title == "The port"
    assert store.lessons[0].levels[0].text == FULL.strip()
    assert store.skipped == ()
    write(folder, {"port.md": lead + HEAD.replace("title", "titel") + FULL})
    line = 2 + lead.count("\n")
    assert faults(folder)[0].startswith(f"mine/port.md:{line}: the front matter has no key `titel`")


def test_front_matter_that_is_not_read_is_told(folder):
    write(folder, {"port.md": '+++\ntitle = "The port"\n+++\n' + FULL})
    assert faults(folder)[0].startswith("mine/port.md:1: begins with `+++`, as TOML; write the")
    for lead, line in (("# Mine\n", 2), ("Mine.\n\n", 3)):
        write(folder, {"port.md": lead + HEAD + FULL})
        (note,) = load_markdown(folder).skipped
        assert f"port.md: what looks like front matter, from line {line} on, is read as" in note
    for lead in ("\n---\n\n", "# Mine\n\n---\n\n", "Mine.\n\n---\na: b\n\n"):
        text = lead + FULL
        write(folder, {"port.md": text})
        store = load_markdown(folder)
        assert store.skipped == ()
        assert store.lessons[0].levels[0].text == text.strip()


@pytest.mark.parametrize("above", ["", "skills/"])
def test_skills_are_lessons_called_as_their_folders(above, tmp_path):
    for name, port in (("v1.2", 6112), ("other", 7)):
        folder = tmp_path / above / name
        folder.mkdir(parents=True)
        text = f"---\nname: x\n---\n# Ports\n\nIt listens on port {port}, and not on another.\n"
        write(folder, {"SKILL.md": text, "more.md": "Not read."})
    ports = (("v1.2", 6112), ("other", 7))
    told = [{**EPISODE, "lesson": name, "good": f"Port {port}."} for name, port in ports]
    write(tmp_path, {"episodes.jsonl": lines(*told)})
    store = open_store(tmp_path)
    assert [lesson.id for lesson in store.lessons] == ["other", "v1.2"]
    assert "v1.2/SKILL.md: keys left alone: name" in store.skipped
    result = CliRunner().invoke(cli, ["check", str(tmp_path / above / "other" / "SKILL.md")])
    assert result.exit_code == 0
    assert "lessons: 2" in result.output
    found = cc.compress_store(
        store, "extractive", model="simulated", holdout=0.01, depths=1, out=tmp_path.parent / "out",
        progress=False,
    )  # fmt: skip
    back = open_store(tmp_path.parent / "out")
    assert back.lessons == found.store.lessons
    shutil.rmtree(tmp_path.parent / "out")
    write(tmp_path, {"v1.2.L1.md": "Port 6112.", "episodes.jsonl": lines(*told, told[0])})
    assert "would count twice" in faults(tmp_path)[0]


def test_json_over_several_lines_is_one_fault(folder):
    pretty = json.dumps(EPISODE, indent=2)
    for text, expected in (
        (pretty, ["1: is JSON over 5 lines; write each object on one line"]),
        (f"{lines(EPISODE)}{pretty}\n{lines({**EPISODE, 'id': 'b'})}", ["2: is JSON over 5 lines"]),
        (json.dumps([EPISODE, EPISODE], indent=2), ["1: is JSON over 12 lines"]),
        (f"{pretty[:-2]}\n{lines(EPISODE)}", ["1: is JSON over 4 lines"]),
        ('{"a": 1,}\n{\n' + lines(EPISODE), ["1: is not JSON", "2: is not JSON"]),
    ):
        write(folder, {"episodes.jsonl": text})
        found = [fault for fault in faults(folder) if "JSON" in fault]
        assert len(found) == len(expected)
        for fault, start in zip(found, expected, strict=True):
            assert fault.startswith(f"mine/episodes.jsonl:{start}")


def test_a_key_that_stands_twice_is_told_with_both_lines(folder):
    write(folder, {"episodes.jsonl": '{"task": "a", "task": "b", "good": "c"}'})
    assert "`task` stands twice in an episode, in one line; keep one" in faults(folder)[0]
    (folder / "episodes.jsonl").unlink()
    write(folder, {"episodes.yaml": "- task: a\n  good: b\n  task: c\n"})
    assert "yaml:3: `task` stands twice in an episode, first in line 1" in faults(folder)[0]


def test_marks_that_nobody_sees_are_no_text(folder):
    write(folder, {"port.md": f"\ufeff\ufeff\u200b{FULL}"})
    assert load_markdown(folder).lessons[0].levels[0].text == FULL.strip()


def test_a_missing_full_lesson_hides_neither_the_levels_below_nor_an_unknown_lesson(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    episode = {"task": "Say the port.", "good": "It is 6112.", "lesson": "zzz"}
    write(folder, {"b.L2.md": "Short.", "a.md": "A lesson.", "episodes.jsonl": json.dumps(episode)})
    found = check_markdown(folder, shown="mine")[1]
    assert [str(fault) for fault in found][:1] == [
        "mine/b.L2.md:1: is level 2, and the full lesson and level 1 are not there; "
        "write b.md and b.L1.md, or rename this"
    ]
    assert any("zzz" in str(fault) for fault in found)


def test_notes_of_a_folder_in_a_mix_give_its_path(tmp_path):
    folder = tmp_path / "mix" / "skills"
    folder.mkdir(parents=True)
    episode = {"task": "Say the port.", "good": "It is 6112.", "lesson": "a"}
    write(folder, {"a.md": "A lesson.", "b.md": "Other.", "episodes.jsonl": json.dumps(episode)})
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "mix")])
    assert f"note: {folder}: b.md: no episode" in result.stderr


@pytest.mark.parametrize("given", ["", "episodes.jsonl"])
def test_lessons_given_to_the_lane_are_sent_to_rose_eval(tmp_path, given):
    folder = tmp_path / "skills"
    (folder / "deploy").mkdir(parents=True)
    write(folder / "deploy", {"SKILL.md": "Use the port 6112."})
    write(folder, {"episodes.jsonl": '{"task": "Say the port.", "good": "It is 6112."}'})
    with pytest.raises(UsageError, match=r"holds lessons .* see `corecurves rose eval`"):
        cc.load_curricula(folder / given)
