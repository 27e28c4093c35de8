"""Drafts of Markdown: what is kept is as in the source, and what is gone is declared."""

import asyncio
import random
import re
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corecurves.blocks import blocks, code_of, lines_of
from corecurves.compress import Draft, Extractive, Prune, TrainEpisode, TrainView
from corecurves.compress.accept import form_fault
from corecurves.compress.claims import claims_of, telling
from corecurves.compress.cuts import by_clause
from corecurves.compress.extractive import groups
from corecurves.compress.units import Note
from corecurves.models.base import LogProb
from corecurves.models.resolve import as_model
from corecurves.specs import Dropped, Identity, Outcome
from corecurves.text import count_tokens, normalise


class Whim:
    """Scores that follow from the text and a salt alone, so that anything may be dropped first."""

    concurrency = 1

    def __init__(self, salt=0):
        self.identity = Identity("whim", str(salt))
        self.salt = salt

    async def generate(self, messages, **options):
        raise AssertionError

    async def logprob(self, messages, text):
        told = random.Random(f"{self.salt}{messages}{text}").random()
        return LogProb(-len(text) - 30 * told, len(text.split()) or 1)


EPISODE = TrainEpisode("What now?", Outcome(("Wait.",), ("Go.",)))


def view_of(text, share=0.75, **more):
    budget = int(share * count_tokens(text))
    return TrainView("a", "Title", text, text, "L0", 1, budget, (EPISODE,), **more)


def draft_of(make, text, share=0.75, salt=0, **more):
    return asyncio.run(make(as_model(Whim(salt)), **more).compress(view_of(text, share)))


# --- clauses and words --------------------------------------------------------------------------


def clauses(text):
    note = Note(text, by_clause)
    return [unit.text for unit in note.units]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Use it, e.g. Port 6112 at night. Then go.",
         ["Use it,", "e.g. Port 6112 at night.", "Then go."]),
        ("It is in v1.2. Take it.", ["It is in v1.2.", "Take it."]),
        ("See fig. 3 of it. 3 of them fail.", ["See fig. 3 of it.", "3 of them fail."]),
        ("Set `a. B, c` first, when it is on.", ["Set `a. B, c` first,", "when it is on."]),
        ("See [a, b. C](http://x.y/z_(w)), then stop it.",
         ["See [a, b. C](http://x.y/z_(w)),", "then stop it."]),
        ("Wait (two, or three) hours, then go on.", ["Wait (two, or three) hours,", "then go on."]),
        ("**Never, ever. Do** it.", ["**Never, ever. Do** it."]),
        ("We say orange: #d97757, blue: #6a9bcc.", ["We say orange: #d97757, blue: #6a9bcc."]),
        ("The staging port of it all: 6112, 7000.", ["The staging port of it all:", "6112, 7000."]),
        ("The one that we call orange: red a, and so is the one we call blue: red b.",
         ["The one that we call orange: red a, and so is the one we call blue: red b."]),
        ("A list of our colours is here: dark red, light blue; that is it.",
         ["A list of our colours is here:", "dark red,", "light blue;", "that is it."]),
        ("用端口6112，不要重启服务。然后等待一下，直到结束。",
         ["用端口6112，", "不要重启服务。", "然后等待一下，", "直到结束。"]),
        ("Then", ["Then"]),
    ],
)  # fmt: skip
def test_where_a_text_is_cut(text, parts):
    assert clauses(text) == parts


def test_a_clause_falls_with_what_it_rests_on():
    note = Note(
        "Use the port because it is free, which helps. Do this one thing: a b, c d.", by_clause
    )
    left = [
        [note.units[i].text for i in note.without(note.free, [n])] for n in range(len(note.units))
    ]
    assert left == [
        ["Do this one thing:", "a b,", "c d."],
        ["Use the port", "Do this one thing:", "a b,", "c d."],
        ["Use the port", "because it is free,", "Do this one thing:", "a b,", "c d."],
        ["Use the port", "because it is free,", "which helps."],
        ["Use the port", "because it is free,", "which helps.", "Do this one thing:"],
        ["Use the port", "because it is free,", "which helps.", "Do this one thing:", "a b,"],
    ]


def test_unless_falls_with_what_it_limits_in_chinese_too():
    note = Note("使用六号端口，不要重启服务，除非队列为空。", by_clause)
    assert note.text(note.without(note.free, [1])) == "使用六号端口。"


def test_what_follows_a_label_falls_with_it():
    note = Note("**Old:** take the key. Give it back.", by_clause)
    assert note.without(note.free, [0]) == []
    assert note.without(note.free, [1]) == [0]


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("Use it, when it is on. Then go.", [1, 2], "When it is on. Then go."),
        ("Use it now, when it is on.", [0], "Use it now."),
        ("Is it done, or is it on?", [0], "Is it done?"),
        ("use it now, when it is on", [1], "when it is on"),
        ("use it now, when it is on", [0], "use it now"),
        ("Set it now, c = canvas", [1], "c = canvas"),
        ("使用端口六一一二，不要重启服务。", [0], "使用端口六一一二。"),
        ("再起動する前に，キューを空に\nしてください。\n次を待ちます。", [1, 2],
         "キューを空にしてください。次を待ちます。"),
        ("One is\nhere. Two is\nthere.", [0, 1], "One is\nhere. Two is\nthere."),
        ("One is\nhere. Two is\nthere.", [1], "Two is there."),
        ("a b.\n\nc d.\n\ne f.", [0, 2], "a b.\n\ne f."),
        ("Host: a\nPort: 1\nUser: c", [0, 2], "Host: a\nUser: c"),
        ("# A\ntext.\n\n```\nx\n```\nmore.", [1, 3], "# A\ntext.\n\nmore."),
        ("- a\n\n- b\n- c", [0, 2], "- a\n\n- c"),
        ("    code\n\ntext.", [0], "    code"),
        ("它使用 npm 来安装它，然后就结束。", [0], "它使用 npm 来安装它。"),
    ],
)  # fmt: skip
def test_how_what_is_kept_is_put_together(text, kept, expected):
    assert Note(text, by_clause).text(kept) == expected


def test_units_are_joined_until_there_are_few():
    note = Note("# A\n\nSo it is. Or not, or in part.\n\n- x\n- y\n\n# B\n\n- z", by_clause)
    named = [
        ["".join(note.units[i].text for i in group) for group in groups(note, n)] for n in (9, 4, 2)
    ]
    assert named == [
        ["So it is.", "Or not,", "or in part.", "- x", "- y", "- z"],
        ["So it is.", "Or not,or in part.", "- x- y", "- z"],
        ["So it is.Or not,or in part.- x- y", "- z"],
    ]


@pytest.mark.parametrize(
    "kept", ["`make  all`", "http://a.b/c", "10 000", "port: 6112", "**not now**"]
)
def test_prune_never_cuts_inside(kept):
    text = f"please do take {kept} at once, there is no more to be said of it all today."
    for share in (0.7, 0.5, 0.3):
        for salt in range(4):
            draft = draft_of(Prune, text, share, salt)
            assert kept in draft.text or not set(kept.split()) & set(draft.text.split())


def test_prune_takes_a_block_whole():
    text = "# Ports\n\nWe have these two ports here:\n\n- dev is 1\n- live is 2\n\nAnd some more."
    for salt in range(6):
        draft = draft_of(Prune, text, 0.6, salt)
        kept = [line for line in text.split("\n") if line.startswith("- ") and line in draft.text]
        assert draft.text.count("- ") == len(kept)
        assert ("these two ports here:" in draft.text) == bool(kept)


# --- any Markdown -------------------------------------------------------------------------------

LATIN = (
    ("Wait for the gate,", "e.g. at Port 9,", "because it is slow."),
    ("It needs v1.2. of the tool,", "which is here."),
    ("Run `make  all, fast. Now` first,", "or it fails!"),
    ("See [the docs, part 2. Here](http://a.b/c_(d)),", "then go on?"),
    ("The ports are two:", "first the low one,", "then the high one."),
    ("Colours: red #f00, blue #00f.",),
    ("No stop at the end",),
    ('Dr. Who said "stop it. Now" to us,', "and we did."),
)
UNSPACED = (
    ("在测试环境中使用端口6112，", "不要重启服务，", "除非队列为空。"),
    ("橙色：#d97757，蓝色：#6a9bcc。",),
    ("再起動する前に、キューを空にしてください。",),
    ("它使用 npm 来安装，", "然后就结束了！"),
)  # fmt: skip


@st.composite
def notes(draw):
    """A Markdown text, and its paragraphs: each a list of sentences, each a list of clauses."""
    count = iter(range(10**6))
    parts, paragraphs = [], []

    def one(kind):
        n = next(count)
        if kind == "prose":
            pool, gap = draw(st.sampled_from(((LATIN, " "), (UNSPACED, ""))))
            said = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
            paragraphs.append((said, gap))
            wrap = draw(st.sampled_from((gap, "\n")))
            return wrap.join(gap.join(s) for s in said)
        lead = draw(
            st.sampled_from(("Now these:", f"**Only {n}:**", "做这些：", "<!-- see -->", ""))
        )
        lead += draw(st.sampled_from(("\n", "\n\n"))) if lead else ""
        return {
            "heading": f"{'#' * draw(st.integers(1, 3))} Part {n}",
            "setext": f"Part {n}\n---",
            "list": f"{lead}"
            f"- item {n}. It is `a. b`\n  - nested {n}, c\n\n    more {n}\n- item {n}b: c",
            "ordered": f"{lead}1. step {n}\n2. step {n}b\n   ```\n   x {n}\n   ```",
            "fence": f"{lead}```sh\nrun {n}\n# not a heading {n}\n\n- c = canvas\n```",
            "tilde": f"{lead}~~~~\n```\n~~~\ntext {n}. Text, a\n~~~~",
            "table": f"{lead}| a {n} | b |\n|---|:-:|\n| dev | {n} |\n| live | `x.` |",
            "pairs": f"host: a{n}\nport: {n}\nuser = c{n}",
            "quote": f"> Said {n}, once.\n> Twice.",
            "code": f"    c{n} = canvas\n\n    d{n}",
            "html": f"<details>\n\n- in {n}\n\n</details>",
            "link": f"[ref{n}]: http://a.b/{n}",
            "rule": "***",
        }[kind]

    kinds = st.sampled_from(("prose", "prose", "heading", "setext", "list", "ordered", "fence",
                             "tilde", "table", "pairs", "quote", "code", "html", "link",
                             "rule"))  # fmt: skip
    for kind in draw(st.lists(kinds, min_size=2, max_size=7)):
        parts.append(one(kind))
    head = draw(st.sampled_from(("", "---\nname: it\nwhat: that\n---\n\n")))
    return head + "\n\n".join(parts), paragraphs


def forms(sentence, gap):
    """A sentence whole, or without some clauses: the one change of words that is allowed."""
    whole = gap.join(sentence)
    stop = re.search(r"[.!?。！]?$", whole)[0]
    found = {whole}
    for size in range(1, len(sentence)):
        for chosen in combinations(range(len(sentence)), size):
            text = gap.join(sentence[i] for i in chosen)
            if chosen[-1] != len(sentence) - 1:
                text = text.rstrip(" ,;:，；：、") + stop
            found |= {text, text[0].upper() + text[1:]}
    return found


def is_of(line, paragraph):
    """Whether a line is made of a paragraph's sentences, in their order."""
    said, gap = paragraph
    ends = {0}
    for sentence in said:
        ends |= {
            end + len(text)
            for end in ends
            for form in forms(sentence, gap)
            for text in ((form,) if not end else (gap + form, form))
            if line.startswith(text, end)
        }
    return len(line) in ends


def is_pruned(line, paragraph):
    """Whether a line has words of a paragraph alone, in their order, and no code or link cut."""
    said, gap = paragraph
    whole = gap.join(gap.join(sentence) for sentence in said)
    for span in re.findall(r"`[^`]+`|\[.*?\]\(\S+\)", line):
        if span not in whole:
            return False
    left = iter(whole)
    return all(char in left for char in line if not char.isspace())


def check(text, paragraphs, draft, made_of):
    source = lines_of(text)
    for line in lines_of(draft.text):
        assert not line.strip() or line in source or any(made_of(line, p) for p in paragraphs), line
    assert code_of(draft.text)[1]
    assert count_tokens(draft.text) <= count_tokens(text)
    assert form_fault(draft, view_of(text, 1), ["L0"]) in (
        "", "it shrank and declares nothing that it dropped")  # fmt: skip
    said = normalise(" ".join([draft.text, *(claim.claim for claim in draft.dropped)]))
    assert [word for word in telling(text) if word not in said] == []
    had, kept = ({lines_of(t)[b.start]: b.opens for b in blocks(t) if b.kind == "heading"}
                 for t in (text, draft.text))  # fmt: skip
    assert all(opens or not had[line] for line, opens in kept.items()), "a heading without a body"


SLOW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(notes(), st.sampled_from((0.75, 0.4)), st.integers(0, 9), st.sampled_from((5, 40)))
def test_extractive_keeps_lines_and_sentences(note, share, salt, units):
    text, paragraphs = note
    draft = draft_of(Extractive, text, share, salt, units=units)
    check(text, paragraphs, draft, is_of)
    if len(Note(text, by_clause).free) > 1:
        assert count_tokens(draft.text) < count_tokens(text)
        assert draft.dropped or not telling(text)


@SLOW
@given(notes(), st.sampled_from((0.75, 0.4)), st.integers(0, 9))
def test_prune_keeps_lines_and_words(note, share, salt):
    text, paragraphs = note
    check(text, paragraphs, draft_of(Prune, text, share, salt), is_pruned)


@SLOW
@given(notes(), st.data())
def test_what_is_kept_keeps_what_it_is_under(note, data):
    text, _ = note
    note = Note(text, by_clause)
    kept = data.draw(st.sets(st.sampled_from(note.free))) if note.free else set()
    there = {note.units[i].block for i in note.closed(kept)}
    for number in there:
        assert set(note.blocks[number].under) <= there
        if note.blocks[number].opens:
            children = {n for n, block in enumerate(note.blocks) if number in block.under}
            assert children & there or any(
                note.units[i].block == number for i in kept if not note.units[i].opens
            )
    assert note.text(note.free) == re.sub(r"\n{3,}", "\n\n", text.strip("\n"))


# --- drafts of others ---------------------------------------------------------------------------

BEFORE = """\
Run it:

```sh
npm ci
npm test
```

| name | port |
|---|---|
| dev | 5173 |

- Orange: `#d97757`
- Blue: `#6a9bcc`
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Run it:\n\n```sh\nnpm ci\nnpm test\n```", ""),
        ("```\nnpm test\n```\n\n- Blue: `#6a9bcc`", ""),
        ("Run npm ci, then test; blue is `#6a9bcc`.", ""),
        ("| name | port |\n|--|--|\n| dev | 5173 |", ""),
        ("```sh\nnpm ci", "a code block in it has no end"),
        ("```sh\nnpm i\n```", "the line of code 'npm i' is not in the text before"),
        ("    npm i", "the line of code 'npm i'"),
        ("Run it: ```sh npm ci npm test ```", "is run into another line"),
        ("| name | port | |---|---| | dev | 5173 |", "is run into another line"),
        ("# Run it. ```sh npm ci ``` - Blue.", "is run into another line"),
        ("# It. ## How. Run it.", "is run into another line"),
        ("| name | port |\n|---|---|\n| dev | 5173. |", "the row '| dev | 5173. |'"),
        ("- Orange: `#6a9bcc`", "'Orange: `#6a9bcc`' has the value of Blue"),
        ("orange: `#6a9bcc`.", "has the value of Blue"),
    ],
)
def test_a_draft_keeps_code_rows_and_values(text, why):
    fault = form_fault(Draft(text, (Dropped("x", "step", "L0"),)), view_of(BEFORE, 1), ["L0"])
    assert (fault == "") == (why == "")
    assert why in fault


def test_an_open_fence_of_the_source_is_not_held_against_a_draft():
    before = "a b c\n\n```\nd"
    draft = Draft("```\nd", (Dropped("x", "step", "L0"),))
    assert form_fault(draft, view_of(before, 1), ["L0"]) == ""


def test_claims_keep_what_signs_say():
    found = [
        claim.claim for claim in claims_of(["`\\.`", ".env is read,", "---", "，不要重启。"], "L0")
    ]
    assert found == ["`\\.`", ".env is read", "不要重启"]
