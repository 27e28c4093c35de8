"""Blocks of Markdown: which lines stand or fall together, and under what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.blocks import blocks, code_of, headings, lines_of, pair_of

NOTE = """\
---
name: ports
---
# Ports

These are the ports:

- dev: 5173
  - and its twin
- live: 80

| name | port |
|---|---|
| dev | 5173 |
| live | 80 |

**Never:**
```sh
rm -rf /
```

<details>

Inside.

</details>

    indented code

> quoted
lazily

[docs]: http://example.org
Host: a
Port: 6112
***
One line \\
another line
✅ do
❌ don't
"""


def shown(text):
    lines = lines_of(text)
    return [(b.kind, "\n".join(lines[b.start : b.end]), b.under) for b in blocks(text)]


def test_every_kind_of_block_and_what_it_is_under():
    assert shown(NOTE) == [
        ("other", "---\nname: ports\n---", ()),
        ("heading", "# Ports", ()),
        ("prose", "These are the ports:", (1,)),
        ("item", "- dev: 5173\n  - and its twin", (1, 2)),
        ("item", "- live: 80", (1, 2)),
        ("head", "| name | port |\n|---|---|", (1,)),
        ("row", "| dev | 5173 |", (1, 5)),
        ("row", "| live | 80 |", (1, 5)),
        ("prose", "**Never:**", (1,)),
        ("other", "```sh\nrm -rf /\n```", (1, 8)),
        ("html", "<details>\n\nInside.\n\n</details>", (1,)),
        ("other", "    indented code", (1,)),
        ("other", "> quoted\nlazily", (1,)),
        ("other", "[docs]: http://example.org", (1,)),
        ("pair", "Host: a", (1,)),
        ("pair", "Port: 6112", (1,)),
        ("rule", "***", (1,)),
        ("prose", "One line \\", (1,)),
        ("prose", "another line", (1,)),
        ("pair", "✅ do", (1,)),
        ("pair", "❌ don't", (1,)),
    ]
    opens = [b.start for b in blocks(NOTE) if b.opens]
    assert [lines_of(NOTE)[n] for n in opens] == [
        "# Ports", "These are the ports:", "| name | port |", "**Never:**"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "under"),
    [
        ("# A\n## B\nb\n# C\nc", [(), (0,), (0, 1), (), (3,)]),
        ("A\n=\nB\n-\nb", [(), (0,), (0, 1)]),
        ("**Sub**\n\na\n\nb\n\n**Next**\n\nc", [(), (0,), (0,), (), (3,)]),
        ("**Never:**\n- a\n\nb", [(), (0,), ()]),
        ("**Never**\ndo it. Ever.", [(), (0,)]),
        ("Run:\n\n**Local:**\n```\nx\n```", [(), (0,), (0, 1)]),
        ("1. Run:\n```\nx\n```\n2. Go", [(), (0,), ()]),
        ("Never these\n- a\n- b", [(), (0,), (0,)]),
        ("So it is.\n\n- a", [(), ()]),
        ("只做这些：\n\n- 甲\n- 乙", [(), (0,), (0,)]),
        ("<!-- not run -->\n```\nx\n```", [(), (0,)]),
        ("# A\n# B", [(), ()]),
    ],
)
def test_what_a_block_is_under(text, under):
    assert [block.under for block in blocks(text)] == under


def test_a_line_that_goes_on_is_no_pair():
    assert [b.kind for b in blocks("Keep one thing in mind: never\nrestart it. Wait.")] == ["prose"]
    assert [b.kind for b in blocks("We say two things:\nname: a\nport: 1")] == [
        "prose", "pair", "pair"]  # fmt: skip
    assert [b.kind for b in blocks("c = canvas")] == ["pair"]


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("Port: 6112", ("Port", "6112")),
        ("  - **Orange**: `#d97757`", ("Orange", "`#d97757`")),
        ("**Orange:** #d97757", ("Orange", "#d97757")),
        ("橙色：#d97757", ("橙色", "#d97757")),
        ("c = canvas", ("c", "canvas")),
        ("http://example.org", None),
        ("at 13:45", None),
        ("One thing that never changes: wait", None),
        ("a sentence.", None),
    ],
)
def test_pairs(line, pair):
    assert pair_of(line) == pair


def test_headings_are_those_outside_code_and_quotes():
    text = "```\n# no\n```\n> # no\n\n- # no\n\n# One ##\r\n\r\nTwo\nlines\n---\n    # no"
    assert list(headings(text)) == ["One", "Two lines"]


def test_whether_a_fence_ends():
    for text in (
        "```\na\n```",
        "````\n```\n````",
        "- x\n  ~~~py\n  a\n  ~~~",
        "> ```\n> a\n> ```",
        "a",
    ):
        assert code_of(text)[1], text
    for text in ("```\na", "````\na\n```", "~~~\na\n```", "- x\n  ```\n  a", "```"):
        assert not code_of(text)[1], text


@given(st.text(alphabet="ab #->|`~:*.\n\t1<>/=\r", max_size=120))
def test_every_line_that_is_not_blank_is_in_one_block(text):
    found = blocks(text)
    covered = [n for block in found for n in range(block.start, block.end)]
    assert covered == sorted(set(covered))
    lines = lines_of(text)
    assert {n for n, line in enumerate(lines) if line.strip(" \t")} <= set(covered)
    for number, block in enumerate(found):
        assert all(n < number and found[n].opens for n in block.under)
