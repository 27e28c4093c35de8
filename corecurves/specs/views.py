"""Curricula, lessons and stores as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable

from corecurves.markup import Html, badge, box, fold, item_list, pairs, paragraph, short, table
from corecurves.specs.curriculum import Curriculum
from corecurves.specs.lesson import Episode, Lesson, Level, Store
from corecurves.text import count_tokens, counted

__all__ = ["curriculum_html", "lesson_html", "store_html"]

_MOST = 30
"""Rows of a table that a glance can take in."""


def curriculum_html(one: Curriculum) -> Html:
    """What is taught, and what is asked.

    Examples
    --------
    >>> "What is x?" in curriculum_html(Curriculum("x", "What is x?", ()))
    True
    """
    rows = (
        (k, one.text, ", ".join("/".join(token.forms) for token in one.adds) or "–")
        for k, one in enumerate(one.corrections, start=1)
    )
    kept = badge("keeps the contract", "good") if one.contract else badge("outside the contract")
    return box(
        f"Curriculum: {one.concept}",
        paragraph(kept),
        pairs(
            [
                ("probe", one.probe),
                ("opening turn", one.opening),
                ("shape", one.shape),
                ("split", one.split),
                ("pack", one.pack),
                ("file", short(one.source, 60)),
            ]
        ),
        table(["k", "correction", "adds"], rows)
        if one.corrections
        else paragraph("No correction."),
    )


def lesson_html(one: Lesson, episodes: Iterable[Episode] = ()) -> Html:
    """A lesson in its levels.

    Examples
    --------
    >>> lesson = Lesson("retry", "Retry", "ops", "", (Level(0, "Wait, then retry."),))
    >>> "Wait, then retry." in lesson_html(lesson)
    True
    """
    counts = [count_tokens(level.text) for level in one.levels]
    full = next((n for n, level in zip(counts, one.levels, strict=True) if not level.depth), 0)
    rows = (
        (
            level.name,
            n,
            f"{100 * n / full:.0f} %" if full else "–",
            _maker(level),
            item_list(short(_claim(claim.claim, claim.kind), 120) for claim in level.dropped),
        )
        for n, level in zip(counts, one.levels, strict=True)
    )
    return box(
        f"Lesson: {one.title or one.id}",
        pairs([("id", short(one.id, 60)), ("family", one.family), ("kind", one.kind)]),
        table(["level", "o200k tokens", "of L0", "made by", "dropped"], rows),
        *(fold(f"Text of {level.name}", level.text) for level in one.levels),
        *(fold(f"Episode {episode.id}", episode.task) for episode in episodes),
    )


def store_html(one: Store) -> Html:
    """What a store holds.

    Examples
    --------
    >>> "0 lessons" in store_html(Store("own", (), {}))
    True
    """
    distinct = {episode.id for group in one.episodes.values() for episode in group}
    counts = [counted(len(one.lessons), "lesson"), counted(len(distinct), "episode")]
    if one.cases:
        counts.append(counted(len(one.cases), "case") + " of other kinds")
    rows = (
        (
            short(lesson.id),
            short(lesson.title, 60),
            lesson.kind or lesson.family or "–",
            ", ".join(level.name for level in lesson.levels),
            len(one.episodes.get(lesson.id, ())),
        )
        for lesson in one.lessons
    )
    skipped = [short(reason, 200) for reason in one.skipped[:_MOST]]
    if len(one.skipped) > _MOST:
        skipped.append(short(f"and {len(one.skipped) - _MOST} more"))
    return box(
        f"Store: {one.name}",
        paragraph(", ".join(counts)),
        table(["lesson", "title", "kind", "levels", "episodes"], rows, most=_MOST)
        if one.lessons
        else "",
        fold(f"Left out, or to be known: {len(one.skipped)}", item_list(skipped))
        if one.skipped
        else "",
    )


def _maker(level: Level) -> Html:
    if level.planted:
        return Html(f"{badge('planted loss', 'open')} {short(level.planted, 80)}")
    return short(level.compressor or ("" if level.depth else "original") or "by hand", 60)


def _claim(claim: str, kind: str) -> str:
    return f"{claim} ({kind})" if kind else claim
