import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.files.yaml_text import Reader, read_text


def reader():
    return Reader("f.yaml", [])


def scalars(text):
    read = reader()
    root = read.parse(text)
    return {key.value: read.text(value, key.value) for key, value in root.value}, read.faults


@pytest.mark.parametrize(
    "text", ["no", "010", "089", "13:45", "2.10", "2025-03-04", "null", "~", "off", "1e3", "0x1F"]
)
def test_text_is_what_the_file_says(text):
    assert scalars(f"answer: {text}") == ({"answer": text}, [])


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x85\ufeff"), min_size=1))
def test_quoted_text_survives(text):
    import yaml

    written = yaml.safe_dump({"a": text}, allow_unicode=True)
    found, faults = scalars(written)
    assert faults if not text.strip() else found == {"a": text}


def messages(text, required=("a",), optional=("b",)):
    read = reader()
    root = read.parse(text)
    if root is not None:
        read.mapping(root, "a thing", required=required, optional=optional)
    return [str(fault) for fault in read.faults]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "f.yaml:2: `a` stands twice in a thing, first in line 1; keep one"),
        ("a: 1\nbb: 2", "f.yaml:2: a thing has no key `bb`; did you mean `b`?"),
        ("\n\nb: 1", "f.yaml:3: a thing lacks `a`; write `a: …`"),
        ("- 1", "f.yaml:1: a thing is a list; write `a: …`"),
        ("a: 1\n b: 2", "f.yaml:2: is not YAML"),
        ("a: [1", "f.yaml:1: is not YAML"),
        ("a: 1\n---\na: 2", "f.yaml:2: is not YAML"),
        ("a:\n\t- 1", "f.yaml:2: is not YAML"),
        ("a: x\x00y", "f.yaml:1: holds the character"),
        ("a: " + "[" * 5000, "f.yaml:1: is nested too deeply"),
        ("# only a comment", "f.yaml:1: is empty"),
    ],
)
def test_each_fault_has_its_line(text, message):
    assert any(found.startswith(message) for found in messages(text)), messages(text)


def test_a_recursive_alias_ends():
    assert messages("a: &x [*x]") == []


def test_flags_are_true_or_false_only():
    read = reader()
    root = read.parse("a: yes")
    assert read.flag(root.value[0][1], "a") is None
    assert str(read.faults[0]) == "f.yaml:1: `a` is 'yes'; write true or false"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (b"a: 1\nb: \xff", "2: is not UTF-8"),
    ],
)
def test_unreadable_files_are_faults(tmp_path, raw, message):
    path = tmp_path / "f.yaml"
    path.write_bytes(raw)
    faults = []
    assert read_text(path, "f.yaml", faults) is None
    assert message in str(faults[0])


def test_byte_order_mark_and_crlf_are_read(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: no\r\nb: 010\r\n")
    faults = []
    assert scalars(read_text(path, "f", faults))[0] == {"a": "no", "b": "010"}
    assert read_text(tmp_path / "gone.yaml", "gone", faults) is None
    assert "cannot be read" in str(faults[-1])
