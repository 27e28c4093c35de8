"""Framings: the ways in which a lesson and a task are put to a model.

A model that is scored instead of asked gives the same score each time, so its samples differ by
framing. Two pools share no template: cases are *screened* under one and *evaluated* under the
other, so that dropping cases does not inflate the lift. In each framing the control says, in the
lesson's place, that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from corecurves.models.base import Message

__all__ = ["EVALUATION", "SCREENING", "Framing"]


@dataclass(frozen=True)
class Framing:
    r"""One way to put a lesson and a task.

    Parameters
    ----------
    name : str
        What it is called.
    with_lesson : str
        Template of the user's message, with ``{lesson}`` and ``{task}``.
    without_lesson : str
        Its twin for the control, with ``{task}`` alone.
    system_with_lesson, system_without_lesson : str
        The same for the system's message; both empty where there is none.

    Examples
    --------
    >>> framing = Framing("note", "Note: {lesson}\n\n{task}", "Note: none.\n\n{task}")
    >>> framing.messages("Start a worker.", "Use port 6112.")
    [{'role': 'user', 'content': 'Note: Use port 6112.\n\nStart a worker.'}]
    >>> framing.messages("Start a worker.")[0]["content"]
    'Note: none.\n\nStart a worker.'
    """

    name: str
    with_lesson: str
    without_lesson: str
    system_with_lesson: str = ""
    system_without_lesson: str = ""

    def messages(self, task: str, lesson: str | None = None) -> list[Message]:
        """Messages that put a task."""
        if lesson is None:
            system, user = self.system_without_lesson, self.without_lesson
        else:
            system, user = self.system_with_lesson, self.with_lesson
        found: list[Message] = []
        if system:
            found.append({"role": "system", "content": system.format(lesson=lesson, task=task)})
        found.append({"role": "user", "content": user.format(lesson=lesson, task=task)})
        return found


EVALUATION = (
    Framing(
        "note_before",
        "Note from earlier work:\n{lesson}\n\n{task}",
        "Note from earlier work:\n(no note available)\n\n{task}",
    ),
    Framing(
        "note_after",
        "{task}\n\nNote from earlier work:\n{lesson}",
        "{task}\n\nNote from earlier work:\n(no note available)",
    ),
    Framing(
        "rule",
        "Rule: {lesson}\nApply the rule to this request.\nRequest: {task}",
        "Rule: none available.\nAnswer this request.\nRequest: {task}",
    ),
    Framing(
        "recollection",
        "I remember from the last time: {lesson}\n\nNow the question is this. {task}",
        "I remember nothing from the last time.\n\nNow the question is this. {task}",
    ),
    Framing(
        "learned",
        "{task}",
        "{task}",
        "You are an experienced member of the team. What you have learned: {lesson}",
        "You are an experienced member of the team. What you have learned: nothing yet.",
    ),
    Framing(
        "handbook",
        "Question: {task}\n\nThe handbook says: {lesson}\n\nAnswer the question.",
        "Question: {task}\n\nThe handbook says nothing about it.\n\nAnswer the question.",
    ),
)

SCREENING = (
    Framing(
        "lesson_before",
        "Lesson:\n{lesson}\n\nTask:\n{task}",
        "Lesson:\n(no lesson available)\n\nTask:\n{task}",
    ),
    Framing(
        "lesson_after",
        "Task:\n{task}\n\nLesson:\n{lesson}",
        "Task:\n{task}\n\nLesson:\n(no lesson available)",
    ),
    Framing(
        "colleague",
        "A colleague told me this: {lesson}\n\nWhat would you answer? {task}",
        "No colleague could tell me anything.\n\nWhat would you answer? {task}",
    ),
    Framing(
        "briefing",
        "{task}",
        "{task}",
        "Briefing for this shift: {lesson}",
        "Briefing for this shift: no briefing available.",
    ),
    Framing(
        "known",
        "Here is what is known: {lesson}\n\nUse it for the following. {task}",
        "Here is what is known: nothing.\n\nDo the following. {task}",
    ),
    Framing(
        "reminder",
        "{task}\nReminder: {lesson}",
        "{task}\nReminder: none available.",
    ),
)
