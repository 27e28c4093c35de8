"""What a rose Dataset holds of each point and case, as the explorer reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.canonical import JSON
from corecurves.stats import mean_known

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Case", "Cases", "Place"]

_FIXED = {"control": "none", "ceiling": "L0"}


@dataclass(frozen=True)
class Place:
    """One point of a lesson's curve.

    Parameters
    ----------
    level, arm : str
        Where its cells stand.
    transfer : float
        Mean of its episodes' means; NaN without a result.
    judged, planned : int
        Cells.
    """

    level: str
    arm: str
    transfer: float
    judged: int
    planned: int

    @property
    def name(self) -> str:
        """``no lesson``, or the level."""
        return "no lesson" if self.level == "none" else self.level

    @property
    def label(self) -> str:
        """Its name with its transfer."""
        return f"{self.name}: {'–' if np.isnan(self.transfer) else f'{self.transfer:.2f}'}"


@dataclass(frozen=True)
class Case:
    """One cell.

    Parameters
    ----------
    task : str
        What was to be done.
    outcome : mapping or None
        Known-good texts, traps and checks; None where the Dataset does not hold them.
    answer : str
        What the model said; empty where it was scored.
    score : float
        Its preference, in nats a token; NaN without one.
    passed : float
        1, 0 or NaN.
    status, reason : str
        How the cell ended, and what the grader or the failure said.
    about : mapping of str to str
        What no grader sees: framing, half, leak, tokens.
    """

    task: str
    outcome: Mapping[str, JSON] | None
    answer: str
    score: float
    passed: float
    status: str
    reason: str
    about: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, or why there is none."""
        if self.passed == 1:
            return "passed"
        if self.passed == 0:
            return "failed"
        if self.status == "ok":
            return "scored, neither passed nor failed"
        return f"no result: {self.status}" if self.status else "not run"

    @property
    def candidate(self) -> str:
        """What the grader was given: the text, or the preference."""
        if self.answer:
            return self.answer
        if not np.isnan(self.score):
            margin = f"{self.score:+.3f}".replace("-", "−")
            return (
                f"preference {margin} nats a token for the known-good outcome; no text, the model "
                "was scored"
            )
        return "an empty text" if self.status == "ok" else "none"


@dataclass(frozen=True)
class Cases:
    """A rose Dataset, read by point and case.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval`.
    """

    ds: xr.Dataset

    @property
    def lessons(self) -> tuple[str, ...]:
        """Lessons that have a planned cell."""
        planned = (self.ds.status != "").any(["episode", "level", "arm", "sample"]).values
        return tuple(map(str, self.ds.concept.values[planned]))

    @property
    def arms(self) -> tuple[str, ...]:
        """Arms whose curve can be chosen: those that stand at the shorter levels."""
        found = tuple(str(arm) for arm in self.ds.arm.values if str(arm) not in _FIXED)
        return found or tuple(map(str, self.ds.arm.values[:1]))

    def places(self, lesson: str, arm: str) -> tuple[Place, ...]:
        """Points of a lesson's curve in an arm: no lesson, L0, and the levels of the arm."""
        transfer, judged, planned = self._counts
        arms = [str(name) for name in self.ds.arm.values]
        c = list(map(str, self.ds.concept.values)).index(lesson)
        found = []
        for v, level in enumerate(map(str, self.ds.level.values)):
            there = next((name for name, at in _FIXED.items() if at == level), arm)
            if there in arms and planned[at := (c, v, arms.index(there))]:
                counts = int(judged[at]), int(planned[at])
                found.append(Place(level, there, float(transfer[at]), *counts))
        return tuple(found)

    def tokens(self, lesson: str, place: Place) -> float:
        """Tokens that are served at a point; NaN where they are not known."""
        at = {"concept": lesson, "level": place.level, "arm": place.arm}
        return float(self.ds.lesson_tokens.sel(at))

    def episodes(self, lesson: str) -> dict[int, str]:
        """Number and name of each episode that was planned for a lesson."""
        planned = (self.ds.status.sel(concept=lesson) != "").any(["level", "arm", "sample"]).values
        names = {}
        for e in np.flatnonzero(planned).tolist():
            task = " ".join(self.text("task", concept=lesson, episode=e).split())
            cut = task if len(task) <= 70 else f"{task[:69]}…"
            name = self.text("episode_id", concept=lesson, episode=e)
            names[e] = f"{name}: {cut}" if cut else name
        return names

    def case(self, lesson: str, place: Place, episode: int, sample: int) -> Case:
        """A cell."""
        at = {"concept": lesson, "level": place.level, "arm": place.arm}
        one = self.ds.sel(at).isel(episode=episode, sample=sample)
        leaked = "leaked" in self.ds.coords and bool(
            self.ds.leaked.sel(concept=lesson, level=place.level).isel(episode=episode)
        )
        tokens = self.tokens(lesson, place)
        about = {
            "framing": self.text("framing", concept=lesson, episode=episode, sample=sample),
            "half": self.text("half", concept=lesson, episode=episode),
            "leaked": "the level was made with this episode" if leaked else "",
            "lesson tokens served": "" if np.isnan(tokens) else f"{tokens:.0f}",
        }
        return Case(
            task=self.text("task", concept=lesson, episode=episode),
            outcome=self._outcome(lesson, episode),
            answer=str(one.answer.item()),
            score=float(one.score),
            passed=float(one.passed),
            status=str(one.status.item()),
            reason=str(one.reason.item()),
            about={name: text for name, text in about.items() if text},
        )

    def served(self, lesson: str, place: Place) -> str | None:
        """Text that was served at a point; None where the Dataset does not hold it."""
        if place.level == "none":
            return ""
        text = self._config.get("served", {}).get(f"{lesson}/{place.arm}/{place.level}")
        if isinstance(text, str):
            return text
        if place.arm in ("ceiling", "treatment"):
            return self.level_text(lesson, place.level) or None
        return None

    def level_text(self, lesson: str, level: str) -> str:
        """Text of a level; empty where the Dataset does not hold it."""
        return self.text("lesson_text", concept=lesson, level=level)

    def longer(self, lesson: str, level: str, against: str) -> str:
        """Level that a text is compared with: L0, or the one before that the lesson has."""
        names = [str(name) for name in self.ds.level.values if str(name) != "none"]
        before = [n for n in names[: names.index(level)] if self.level_text(lesson, n)]
        return (before[-1] if against == "before" else before[0]) if before else level

    def passed_without(self) -> list[tuple[str, str, str, str]]:
        """Cases that passed without any lesson: lesson, episode, share of samples, task."""
        if "control" not in self.ds.arm.values or "none" not in self.ds.level.values:
            return []
        passed = self.ds.passed.sel(level="none", arm="control")
        passed = passed.transpose("concept", "episode", "sample").values
        found = []
        for c, e in np.ndindex(*passed.shape[:2]):
            known = passed[c, e][~np.isnan(passed[c, e])]
            # At half of the samples a case already measures the prior as much as the lesson.
            if known.size and known.mean() >= 0.5:
                place = {"concept": str(self.ds.concept.values[c]), "episode": e}
                found.append(
                    (place["concept"], self.text("episode_id", **place),
                     f"{int(known.sum())} of {known.size}", self.text("task", **place))
                )  # fmt: skip
        return found

    def text(self, name: str, **place: Any) -> str:
        """A text of the Dataset; empty where it has no such variable."""
        if name not in self.ds.variables:
            return ""
        labels = {dim: label for dim, label in place.items() if dim in ("concept", "level", "arm")}
        numbers = {dim: number for dim, number in place.items() if dim not in labels}
        return str(self.ds[name].sel(labels).isel(numbers).item())

    @cached_property
    def _counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Transfer, judged and planned cells by lesson, level and arm."""
        dims = ("concept", "level", "arm", "episode", "sample")
        passed = self.ds.passed.transpose(*dims).values
        means = mean_known(mean_known(passed))
        judged = (~np.isnan(passed)).sum(axis=(3, 4))
        planned = (self.ds.status.transpose(*dims).values != "").sum(axis=(3, 4))
        return means, judged, planned

    def _outcome(self, lesson: str, episode: int) -> Mapping[str, JSON] | None:
        recorded = self._config.get("episodes", {}).get(lesson, [])
        name = self.text("episode_id", concept=lesson, episode=episode)
        return next((e["outcome"] for e in recorded if e.get("id") == name), None)

    @cached_property
    def _config(self) -> dict[str, Any]:
        try:
            found = json.loads(str(self.ds.attrs.get("config", "{}")))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
