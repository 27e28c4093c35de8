from __future__ import annotations

import re

import pytest

from corecurves.protocol.framings import EVALUATION, SCREENING, Framing

POOLS = [*EVALUATION, *SCREENING]
LESSON = "Use port 6112 {not 5672}."
TASK = "Start a worker. {task} %s"


def whole(messages):
    return "\n".join(message["content"] for message in messages)


def templates(framing):
    return {framing.with_lesson, framing.system_with_lesson} - {"", "{task}"}


def test_two_pools_of_at_least_five_that_share_no_template():
    assert min(len(EVALUATION), len(SCREENING)) >= 5
    names = [framing.name for framing in POOLS]
    assert len(set(names)) == len(names)
    used = [template for framing in POOLS for template in templates(framing)]
    assert len(set(used)) == len(used)


@pytest.mark.parametrize("framing", POOLS, ids=lambda framing: framing.name)
class TestEach:
    def test_lesson_and_task_stand_in_it_once_and_unchanged(self, framing):
        text = whole(framing.messages(TASK, LESSON))
        assert text.count(LESSON) == 1
        assert text.count(TASK) == 1

    def test_the_control_says_that_there_is_none(self, framing):
        text = whole(framing.messages(TASK))
        assert text.count(TASK) == 1
        assert re.search(r"\b(no|none|nothing)\b", text.replace(TASK, ""), re.IGNORECASE)

    def test_control_and_lesson_have_the_same_form(self, framing):
        with_lesson, without = framing.messages(TASK, LESSON), framing.messages(TASK)
        assert [m["role"] for m in with_lesson] == [m["role"] for m in without]
        assert [m["role"] for m in without][-1] == "user"
        # The task stands at the same end of its message.
        ends = [m[-1]["content"].endswith(TASK) for m in (with_lesson, without)]
        begins = [m[-1]["content"].startswith(TASK) for m in (with_lesson, without)]
        assert ends[0] == ends[1]
        assert begins[0] == begins[1]


def test_an_empty_lesson_is_no_control():
    framing = Framing("note", "Note: {lesson}\n{task}", "No note.\n{task}")
    assert whole(framing.messages("Go.", "")) == "Note: \nGo."
    assert whole(framing.messages("Go.")) == "No note.\nGo."
