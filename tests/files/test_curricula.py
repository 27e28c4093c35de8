import json
from pathlib import Path

import pytest

import corecurves as cc
from corecurves.errors import FileFaults, UsageError
from corecurves.files.contract import contract_notes
from corecurves.files.curricula import check_curricula, load_filler, splits
from corecurves.protocol.reviewed import check_reviewed
from corecurves.specs import Curriculum, Token

GOOD = """\
concept: honesty
shape: branch
probe: What is honesty?
corrections:
  - text: No, honesty is trust.
    adds: {token: trust, also: [trusts]}
  - text: Honesty requires courage.
    adds: courage
"""


def faults_of(tmp_path, text, name="f.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [str(fault).removeprefix(str(tmp_path) + "/") for fault in check_curricula(path)[1]]


def test_a_good_file(tmp_path):
    assert faults_of(tmp_path, GOOD) == []
    (curriculum,) = cc.load_curricula(tmp_path / "f.yaml")
    assert curriculum.opening == "Tell me about honesty."
    assert curriculum.tokens == (Token("trust", ("trusts",)), Token("courage"))
    assert curriculum.introduced == (1, 2)
    assert curriculum.split == tmp_path.name
    assert len(curriculum.pack_digest) == 64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("    adds: courage\n", ""), 'f.yaml:7: "Honesty requires courage." adds no new expected'),
        (("requires courage", "requires trust"), "f.yaml:7: the correction does not contain the"),
        (
            ("Honesty requires courage.", "Trust requires courage and truth.\n    adds: [truth]"),
            "f.yaml:9: `adds` stands twice",
        ),
        (
            ("adds: courage", "adds: [courage, honesty]"),
            "f.yaml:7: the correction adds more than one new expected token ('courage', 'honesty')",
        ),
        (("is trust.", "is trust and courage."), "f.yaml:5: the correction adds more than one"),
        (
            ("What is honesty?", "Is honesty trusts?"),
            "f.yaml:3: the probe already contains the expected token 'trust'; ask without it",
        ),
        (
            ("shape: branch", "opening: Speak of courage."),
            "f.yaml:2: the opening already contains the expected token 'courage'",
        ),
        (
            ("concept: honesty", "concept: courage"),
            "f.yaml:1: the opening already contains the expected token 'courage'; write an "
            "`opening:` without it",
        ),
        (
            ("concept: honesty", "pack: en_core_cognition_v1\nconcept: honestly"),
            "f.yaml:2: the concept 'honestly' is not in the pack",
        ),
        (
            (
                "Honesty requires courage.\n    adds: courage",
                "Honesty is x.\n    adds: x\npack: en_core_cognition_v1",
            ),
            "f.yaml:7: the token 'x' is not in the pack",
        ),
        (("adds: courage", 'adds: "!!"'), "f.yaml:7: the token '!!' does not match itself"),
        (("adds: courage", "adds: {token: courage, also: [trust]}"), "f.yaml:7: 'trust' stands"),
        (("probe: What is honesty?\n", ""), "f.yaml:1: a curriculum lacks `probe`"),
        (("shape:", "shap:"), "f.yaml:2: a curriculum has no key `shap`; did you mean `shape`?"),
        (("shape: branch", "contract: maybe"), "f.yaml:2: `contract` is 'maybe'; write true or"),
        (("shape: branch", "pack: en_core"), "f.yaml:2: `pack` has no 'en_core'"),
        (("adds: courage", "adds: {tokn: courage}"), "f.yaml:8: a token has no key `tokn`"),
        (("adds: courage", "adds: []"), 'f.yaml:7: "Honesty requires courage." adds no new'),
        (("No, honesty is trust.", "[a, b]"), "f.yaml:5: `text` is a list; write text"),
    ],
)
def test_each_fault_is_named_with_its_line(tmp_path, change, message):
    assert change[0] in GOOD
    found = faults_of(tmp_path, GOOD.replace(*change))
    assert any(fault.startswith(message) for fault in found), found


def test_all_faults_come_at_once(tmp_path):
    text = GOOD.replace("What is honesty?", "Is it courage?").replace(
        "concept: h", "pack: en_core_cognition_v1\nconcept: zz"
    )
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(FileFaults) as caught:
        cc.load_curricula(tmp_path)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.faults) == 3
    assert [line.split(":")[0].rsplit("/")[-1] for line in lines] == ["a.yaml"] * 2 + ["empty.yaml"]


def test_outside_the_contract_only_what_a_curve_needs(tmp_path):
    free = GOOD.replace("shape: branch", "contract: false").replace("    adds: courage\n", "")
    assert faults_of(tmp_path, free) == []
    none = "concept: x\nprobe: What?\ncontract: false\ncorrections: [A is b., C is d.]\n"
    assert faults_of(tmp_path, none, "g.yaml") == [
        "g.yaml:4: no correction adds a token; write `adds:` on one"
    ]


def test_concepts_are_unique_within_and_between_splits(tmp_path):
    for split in ("one", "two"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "f.yaml").write_text(GOOD)
    (tmp_path / "one" / "g.yaml").write_text(GOOD.replace("honesty", "Honesty"))
    found = [str(fault) for fault in check_curricula(tmp_path)[1]]
    assert len(found) == 2
    assert "one/g.yaml:1: the concept 'Honesty' stands twice" in found[0]
    assert "two/f.yaml:1: the concept 'honesty' is also in the split 'one'" in found[1]


CASE = {
    "concept": "honesty",
    "seed": "What is honesty?",
    "curriculum": ["Actually honesty is trust.", "Actually trust is courage."],
    "probe": "What is honesty?",
    "expected_tokens": ["trust", "courage"],
}


def test_cases_read_too(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE) + "\n\n", encoding="utf-8")
    (curriculum,) = cc.load_curricula(path)
    assert curriculum.opening == "What is honesty?"
    assert [c.adds[0].text for c in curriculum.corrections] == ["trust", "courage"]
    assert cc.load_curricula([CASE])[0] == cc.load_curricula(CASE)[0]


# The form of the lane that the contract comes from: no pack is named, words are the author's own.
FOREIGN = (
    CASE | {"concept": "tidewater", "probe": "What is tidewater?", "seed": "What is tidewater?"},
    {"concept": "lantern", "seed": "What is lantern?", "probe": "What is lantern?",
     "curriculum": ["Actually lantern is glasswork.", "Actually glasswork is furnace and sand."],
     "expected_tokens": ["glasswork", "furnace", "sand"]},
)  # fmt: skip


def test_words_outside_our_pack_are_no_fault_where_no_pack_is_named(tmp_path):
    path = tmp_path / "public" / "v1" / "cases.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(case) + "\n" for case in FOREIGN), encoding="utf-8")
    curricula = cc.load_curricula(path)
    assert [(c.contract, c.pack, c.split) for c in curricula] == [(True, "", "public")] * 2
    own, breach = contract_notes(curricula, cc.load_pack())
    assert "4 of 7 words are not in en_core_cognition_v1" in own
    assert "(furnace, glasswork, lantern, tidewater): they matter to `grounded` alone" in own
    assert "1 correction break" in breach
    assert "more than one new expected token ('furnace', 'sand')" in breach
    ds = cc.run_lane(path, "in-context:simulated", ledger=False, progress=False)
    assert cc.summarize_lane(ds).attrs["aggregates_over"] == "contract"
    assert contract_notes(cc.load_curricula([CASE]), cc.load_pack()) == []
    (case,) = cc.load_curricula([CASE | {"curriculum": ["Trust!", "Courage!"]}])
    assert (case.pack, check_reviewed([case])) == ("", []), "no review stands above a case"
    (mine,) = cc.load_curricula(
        {
            "concept": "lantern",
            "probe": "What is lantern?",
            "corrections": [{"text": "It is glass.", "adds": "glass"}],
        }
    )
    assert (mine.pack, mine.contract) == ("", True)


def test_a_pack_that_is_named_is_a_promise(tmp_path):
    text = json.dumps(FOREIGN[0] | {"pack": "en_core_cognition_v1"})
    (found,) = faults_of(tmp_path, text, "cases.jsonl")
    assert found.startswith("cases.jsonl:1: the concept 'tidewater' is not in the pack")
    assert found.endswith('name another `"pack"`, or write `"contract": false`')


def test_faults_of_form_and_of_content_come_together(tmp_path):
    text = GOOD.replace("probe: What is honesty?\n", "").replace("is trust.", "is hope.")
    assert faults_of(tmp_path, text.replace("shape:", "shap:")) == [
        "f.yaml:1: a curriculum lacks `probe`; write `probe: …`",
        "f.yaml:2: a curriculum has no key `shap`; did you mean `shape`?",
        'f.yaml:4: "No, honesty is hope." adds no new expected token; add one with `adds:`, or '
        "write `contract: false`",
        "f.yaml:4: the correction does not contain the token 'trust' that it adds; write it into "
        "the text, or list the form that stands there under `also`",
    ]


def test_a_JSON_file_is_advised_in_JSON(tmp_path):
    rows = [{"concept": "x"}, CASE | {"expected_tokens": "trust"}, 7]
    found = faults_of(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "f.jsonl")
    assert 'f.jsonl:1: a curriculum lacks `probe`; write `"probe": "…"`' in found
    assert "f.jsonl:2: `expected_tokens` is text; write a list, […, …]" in found
    assert 'f.jsonl:3: a curriculum is a value of type int; write `"concept": "…"`' in found
    assert not [fault for fault in found if "- `" in fault or ": …`" in fault.replace('": "', "")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expected_tokens": ["trust", "truth"]}, "no correction introduces the token 'truth'"),
        ({"curriculum": []}, "`curriculum` is empty"),
        ({"curriculum": ["Honesty is trust.", 7]}, "`curriculum` is a value of type int"),
        ({"expected_tokens": None}, "`expected_tokens` is a value of type null; write a list"),
        ({"curiculum": []}, "a curriculum has no key `curiculum`; did you mean `curriculum`?"),
        ({"probe": ""}, "`probe` is empty"),
    ],
)
def test_faults_of_cases(tmp_path, change, message):
    text = json.dumps(CASE) + "\n" + json.dumps(CASE | {"concept": "patience"} | change) + "\n"
    found = faults_of(tmp_path, text, "cases.jsonl")
    assert any(f.startswith("cases.jsonl:2: ") and message in f for f in found), found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ('{"concept": NaN}', "NaN is no JSON number"),
        ('{"concept": "a", "concept": "b"}', "`concept` stands twice"),
        ("[" * 100_000, "is not JSON"),
        ("7", "a curriculum is a value of type int"),
    ],
)
def test_lines_that_are_no_cases(tmp_path, line, message):
    found = faults_of(tmp_path, line + "\n", "cases.jsonl")
    assert any(message in fault for fault in found), found


def test_mappings_have_faults_without_a_line():
    with pytest.raises(FileFaults, match=r"\ncurricula\[1\]: a curriculum lacks `probe`"):
        cc.load_curricula([CASE | {"concept": "trust", "curriculum": ["Trust is courage."],
                                   "expected_tokens": ["courage"], "probe": "What?"},
                           {"concept": "x", "corrections": []}])  # fmt: skip


@pytest.mark.parametrize("source", ["publik", "nowhere/f.yaml", 7, [], [7]])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(UsageError):
        cc.load_curricula(source)


def test_a_repeated_token_has_one_list_of_forms(tmp_path):
    text = GOOD + "  - {text: Trust is old., adds: {token: trust, also: [a]}}\n"
    found = faults_of(tmp_path, text)
    assert "f.yaml:9: the token 'trust' stands twice with other forms" in "\n".join(found)


def test_a_flag_of_a_mapping_is_no_text():
    with pytest.raises(FileFaults, match="`contract` is 'false'; write true or false"):
        cc.load_curricula(CASE | {"contract": "false"})
    assert cc.load_curricula(CASE | {"contract": False})[0].contract is False


def test_a_folder_without_curricula_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no \.yaml or"):
        cc.load_curricula(tmp_path)


def test_curricula_pass_through():
    loaded = cc.load_curricula("dev")
    assert cc.load_curricula([loaded[0], loaded[1]]) == loaded[:2]
    assert all(isinstance(curriculum, Curriculum) for curriculum in loaded)


def test_filler_reads_and_names_its_faults(tmp_path):
    assert len(load_filler()) >= 8
    path = tmp_path / "filler.yaml"
    path.write_text("filler:\n  - ok\n  - []\n")
    with pytest.raises(FileFaults, match=r"filler\.yaml:3: `filler` is a list; write text"):
        load_filler(path)


def test_bundled_names_are_shown_from_the_data_folder_on():
    assert splits() == ["dev", "holdouts", "public", "stress"]
    assert cc.load_curricula("dev")[0].source.startswith("curricula/dev/")
    assert not Path(cc.load_curricula("dev")[0].source).is_absolute()
