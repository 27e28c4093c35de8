import pytest
from helpers import curriculum
from hypothesis import example, given, settings
from hypothesis import strategies as st

import corecurves as cc
from corecurves.errors import FileFaults, UsageError
from corecurves.explore.edits import Edits, adds_text, curriculum_yaml, read_adds, save_curriculum
from corecurves.specs import Correction, Curriculum, Token


@pytest.fixture
def edits():
    return Edits.of(curriculum(split="own"))


def texts(edits):
    return [c.text for c in edits.corrections]


def test_steps_make_new_tables(edits):
    first, second, third = texts(edits)
    assert texts(edits.drop(1)) == [first, third]
    assert texts(edits.move(0, 1)) == [second, first, third]
    assert texts(edits.move(2, -1)) == [first, third, second]
    assert edits.move(0, -1) is edits
    assert edits.move(2, 1) is edits
    assert texts(edits.add(1)) == [first, "", second, third]
    assert texts(edits.say(1, "new")) == [first, "new", third]
    assert edits.expect(1, "calm | calmness, rest").corrections[1].adds == (
        Token("calm", ("calmness",)),
        Token("rest"),
    )
    assert texts(edits) == [first, second, third], "the table itself is as it was"


def test_the_unedited_curriculum_is_the_original(edits):
    assert edits.curriculum() is edits.original
    assert edits.move(0, 1).move(0, 1).curriculum() is edits.original


def test_an_edited_curriculum_is_outside_the_contract(edits):
    assert edits.original.contract
    assert not edits.drop(0).curriculum().contract


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda e: e.say(1, " "), "correction 2: it is empty"),
        (lambda e: e.say(1, "other"), "correction 2: the correction does not contain the token"),
        (lambda e: e.expect(0, "about").say(0, "about"), "already contains the expected token"),
        (lambda e: e.drop(0).drop(0).drop(0), "no correction is left"),
        (lambda e: e.expect(0, "").expect(1, "").expect(2, ""), "no correction adds a token"),
    ],
)
def test_faults_name_the_correction(edits, edit, said):
    with pytest.raises(FileFaults, match=said) as caught:
        edit(edits).curriculum()
    assert len(str(caught.value).splitlines()) == 1


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
WORD = st.sampled_from(
    ["no", "010", "13:45", "true", "null", "2.10", "- x", "a: b", "#c", "'", '"']
)


@example([("a\u2028b", "no")], "\x85")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.one_of(TEXT, WORD), WORD), min_size=1, max_size=4), st.one_of(TEXT))
def test_yaml_reads_back(tmp_path_factory, rows, other):
    corrections = tuple(Correction(f"{t} x", (Token("x", (a,)),) if i == 0 else ())
                        for i, (t, a) in enumerate(rows))  # fmt: skip
    made = Curriculum("calm", "What is it?", corrections, opening="Tell me.", pack="", split="s",
                      shape=f"a{other}b".strip(), contract=False)  # fmt: skip
    file = tmp_path_factory.mktemp("yaml") / "made.yaml"
    file.write_text(curriculum_yaml(made), encoding="utf-8")
    try:
        (back,) = cc.load_curricula(file)
    except FileFaults as error:
        # A token without a word in it is at fault, however it is written.
        assert "no word in it" in str(error)  # noqa: PT017
        return
    assert back.content() == made.content()


@pytest.mark.parametrize("split", ["dev", "stress"])
def test_bundled_curricula_read_back(split, tmp_path):
    for made in cc.load_curricula(split):
        file = tmp_path / "made.yaml"
        file.write_text(curriculum_yaml(made), encoding="utf-8")
        assert cc.load_curricula(file)[0].content() == made.content()


def test_adds_read_back():
    tokens = (Token("judgment", ("judgments", "judge")), Token("doubt"))
    assert read_adds(adds_text(tokens)) == tokens
    assert read_adds(" , |") == ()


def test_yaml_of_the_table_is_read_into_it(edits):
    text = curriculum_yaml(edits.original)
    assert edits.read(text) == edits
    assert texts(edits.read(text.replace("doubt", "calm"))) == [
        *texts(edits)[:2],
        "No, wisdom needs calm.",
    ]
    with pytest.raises(UsageError, match="`probe` of the YAML differs"):
        edits.read(text.replace("What is wisdom?", "Is it?"))
    with pytest.raises(FileFaults, match=r"^YAML:1:"):
        edits.read("concept: [")


def test_without_a_split_the_folder_gives_one(tmp_path):
    edits = Edits.of(curriculum())
    assert "split:" not in curriculum_yaml(edits.original)
    assert edits.read(curriculum_yaml(edits.original)) == edits
    target = save_curriculum(edits.original, tmp_path / "edited.yaml")
    assert cc.load_curricula(target)[0].split == tmp_path.name


def test_saving(edits, tmp_path):
    made = edits.move(0, 2).curriculum()
    target = save_curriculum(made, tmp_path / "edited.yaml")
    assert cc.load_curricula(target)[0].content() == made.content()
    with pytest.raises(UsageError, match="is there already"):
        save_curriculum(edits.original, target)
    assert cc.load_curricula(target)[0].content() == made.content()
    save_curriculum(edits.original, target, replaces=True)
    assert len(list(tmp_path.iterdir())) == 1, "nothing else is left"


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "no file name"), ("edited.txt", "is no YAML file"), ("no/folder/x.yaml", "No such file")],
)
def test_names_that_cannot_be_saved_to(edits, tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        save_curriculum(edits.original, name)
    assert list(tmp_path.iterdir()) == []


def test_what_would_not_be_read_back_is_not_saved(edits, tmp_path):
    wrong = curriculum(pack="nowhere")
    with pytest.raises(FileFaults, match="nowhere"):
        save_curriculum(wrong, tmp_path / "edited.yaml")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_saved_into_a_store(edits, tmp_path):
    """Neither into a ROSE store nor into a folder of lessons in Markdown."""
    (tmp_path / "rose" / "nodes" / "lab").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "gloves.md").write_text("Wear gloves.")
    (tmp_path / "notes" / "episodes.jsonl").write_text("")
    for folder in ("rose/nodes/lab", "rose", "notes"):
        with pytest.raises(UsageError, match=r"lies inside the store .*, which is read-only"):
            save_curriculum(edits.original, tmp_path / folder / "edited.yaml")
        assert not list((tmp_path / folder).glob("*.yaml"))
