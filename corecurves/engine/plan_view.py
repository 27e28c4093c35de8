"""A plan as a notebook shows it: what a run takes, before any of it is spent."""

from __future__ import annotations

from corecurves.canonical import canonical_json
from corecurves.engine.plan import Plan
from corecurves.markup import Html, badge, box, fold, pairs, paragraph, short, table

__all__ = ["plan_html"]

_LABELS = 6


def plan_html(plan: Plan) -> Html:
    """What is going to be run, and what it takes.

    Examples
    --------
    >>> import corecurves as cc
    >>> "80 cells" in plan_html(cc.plan_lane("dev", "grounded"))
    True
    """
    rows = []
    for name, labels in plan.coords.items():
        named = [str(short(label, 24)) for label in labels[:_LABELS]]
        more = len(labels) - len(named)
        rows.append(
            (name, len(labels), Html(", ".join(named) + (f", and {more} more" * (more > 0))))
        )
    notes = []
    if plan.volatile:
        notes.append(
            paragraph(
                badge("not kept", "open"),
                f" {plan.volatile} has no identity that another process would recognise, so "
                "results are not reused there.",
            )
        )
    return box(
        f"Plan: {plan.question}, {len(plan)} cells",
        *notes,
        pairs(
            [
                *(
                    (name.replace("_", " "), f"{value:,}")
                    for name, value in plan.cost.items()
                    if name != "cells"
                ),
                ("plan hash", short(plan.hash, 20)),
            ]
        ),
        table(["dimension", "labels", ""], rows),
        fold("Configuration", canonical_json(dict(plan.config))),
    )
