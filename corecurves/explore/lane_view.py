"""What the lane's explorer shows of two runs: a figure, tables, and the turn behind a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corecurves.explore.html import facts, heading, paragraphs, table
from corecurves.explore.steps_svg import Line, svg_of
from corecurves.plots.style import arm_style

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Curves", "Point", "curves_alt", "curves_table", "draw_curves", "point_of", "turn_html"]

_ARM = "taught"


@dataclass(frozen=True)
class Curves:
    """The original run and the edited one.

    Parameters
    ----------
    original : Dataset
        From `run_lane`, of one concept in the arm ``taught``.
    edited : Dataset or None
        The same for the edited curriculum; None where nothing was edited.
    system : str
        What was taught.
    """

    original: xr.Dataset
    edited: xr.Dataset | None
    system: str

    @property
    def concept(self) -> str:
        """What was taught about."""
        return str(self.original.concept.values[0])

    @property
    def named(self) -> dict[str, xr.Dataset]:
        """Runs by name."""
        both = {"original": self.original, "edited": self.edited}
        return {name: ds for name, ds in both.items() if ds is not None}

    @property
    def longest(self) -> int:
        """Largest k."""
        return max(int(ds.curriculum_length.item()) for ds in self.named.values())

    @property
    def simulated(self) -> bool:
        """Whether a labelled simulation answered."""
        return self.original.attrs.get("simulated") == "yes"


@dataclass(frozen=True)
class Point:
    """What stands behind one point of a curve.

    Parameters
    ----------
    correction, adds : str
        The k-th correction, and the token that it adds.
    accepted : str
        ``yes``, ``no``, or empty where it was not reviewed.
    review, surface, walk, trace : str
        Reason of the review, answer to the probe, path behind it, hash of the session.
    hits : float
        Expected tokens in the answer; NaN without a result.
    tokens : tuple of str
        Which these are.
    vault : float
        Memory entries retrieved; NaN without a memory.
    status, reason : str
        How the snapshot ended, and why.
    """

    correction: str
    adds: str
    accepted: str
    review: str
    surface: str
    walk: str
    trace: str
    hits: float
    tokens: tuple[str, ...]
    vault: float
    status: str
    reason: str


def point_of(ds: xr.Dataset, k: int) -> Point | None:
    """What stands behind a point."""
    if not 0 <= k <= int(ds.curriculum_length.item()):
        return None
    one = ds.isel(concept=0, sample=0).sel(arm=_ARM, k=k)
    found = one.token_hits.values == 1
    accepted = float(one.accepted)
    return Point(
        correction=str(one.correction.item()),
        adds=str(one.adds.item()),
        accepted="" if np.isnan(accepted) else "yes" if accepted else "no",
        review=str(one.review.item()),
        surface=str(one.surface.item()),
        walk=str(one.walk_surface.item()),
        trace=str(one.trace_hash.isel(replay=0).item()),
        hits=float(one.hits),
        tokens=tuple(map(str, one.expected.values[found])),
        vault=float(one.vault_hits),
        status=str(one.status.item()),
        reason=str(one.reason.item()),
    )


def draw_curves(curves: Curves, k: int) -> str:
    """Both curves over k, with the chosen k marked."""
    lines = []
    for name, ds in curves.named.items():
        before = name == "original" and curves.edited is not None
        colour = arm_style("ceiling" if before else _ARM).colour
        lines.append(Line(name, tuple(_hits(ds).tolist()), colour, dashed=before))
    said = f"{curves.concept}, {curves.system}{' (SIMULATED)' if curves.simulated else ''}"
    return svg_of(
        lines, title=_cut(said, 64), x="corrections given (k)", y="expected tokens hit",
        top=max(float(ds.expected_recorded.values.sum()) for ds in curves.named.values()), mark=k,
    )  # fmt: skip


def _hits(ds: xr.Dataset) -> np.ndarray:
    one = ds.isel(concept=0, sample=0).sel(arm=_ARM)
    hits: np.ndarray = one.hits.values[: int(ds.curriculum_length.item()) + 1]
    return hits


def curves_alt(curves: Curves, k: int) -> str:
    """What the figure shows, in words: every point."""
    parts = [
        f"{name} {', '.join(_number(x) for x in _hits(ds))}" for name, ds in curves.named.items()
    ]
    return (
        f"Expected tokens hit against corrections given, {curves.concept}, {curves.system}, from "
        f"k=0 on: {'; '.join(parts)}. Marked: k={k}."
    )


def curves_table(curves: Curves) -> str:
    """Both curves as a table, a row a k."""
    runs = curves.named
    head = ["k", *(f"hits, {name}" for name in runs), *(f"correction, {name}" for name in runs)]
    rows = []
    for k in range(curves.longest + 1):
        points = [point_of(ds, k) for ds in runs.values()]
        rows.append(
            [k, *(_number(p.hits) if p else "" for p in points),
             *(p.correction if p else "" for p in points)]
        )  # fmt: skip
    return table(head, rows, f"{curves.concept}, {curves.system}")


def turn_html(curves: Curves, k: int) -> str:
    """The turn behind a point of both curves."""
    points = {name: point_of(ds, k) for name, ds in curves.named.items()}
    if len(points) == 1 and (only := points["original"]) is not None:
        body = facts(dict(_lines(only, k)))
    else:
        lines = [_lines(p, k) if p else [] for p in points.values()]
        names = list(dict.fromkeys(name for column in lines for name, _ in column))
        columns = [dict(column) for column in lines]
        rows = [[name, *(c.get(name, "–") for c in columns)] for name in names]
        body = table(["", *points], rows)
    probe = str(curves.original.probe.item())
    return heading(f"The turn at k = {k}") + paragraphs(f"Probe: {probe}") + body


def _lines(point: Point, k: int) -> Sequence[tuple[str, object]]:
    review = point.review or "accepted" if point.accepted == "yes" else point.review
    verdict = {"yes": "accepted", "no": "rejected", "": "not reviewed"}[point.accepted]
    if review and review != verdict:
        verdict = f"{verdict}: {review}"
    taught = [("correction", point.correction), ("adds", point.adds or "nothing"),
              ("review", verdict)] if k else [("correction", "none yet")]  # fmt: skip
    if point.status != "ok":
        return [*taught, ("no result", f"{point.status}: {point.reason}")]
    hit = f"{_number(point.hits)}: {', '.join(point.tokens)}" if point.tokens else "0"
    return [
        *taught,
        ("answer", point.surface),
        ("walk", point.walk or "none"),
        ("tokens hit", hit),
        ("vault hits", _number(point.vault)),
        ("trace hash", point.trace),
    ]


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.0f}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
