"""Small rose Datasets by hand."""

import json

import numpy as np
import xarray as xr

ARMS = ("control", "ceiling", "treatment", "placebo", "scrambled", "truncation")
SHORTER = ("placebo", "scrambled", "truncation")


def rose(
    lessons,
    *,
    levels=("L1",),
    arms=("control", "ceiling", "treatment"),
    samples=None,
    planted=None,
    compressor=None,
    kinds=None,
    half=None,
    leaked=None,
    tokens=None,
    leaks="drop",
    ids=None,
):
    """Rose Dataset from what each lesson's episodes scored.

    `lessons` maps a lesson to {place: [episode, …]}, where a place is "control", "ceiling",
    "treatment L1" …, and an episode a list of samples: 1, 0, a status (a failed cell), or None (not
    planned). A single value stands for each of the samples. A pair (passed, score) sets the score.
    """
    names = list(lessons)
    level_names = ["none", "L0", *levels]
    n = max(len(e) for lesson in lessons.values() for e in lesson.values())
    found = [e for lesson in lessons.values() for place in lesson.values() for e in place]
    samples = samples or max([len(e) for e in found if isinstance(e, list)], default=1)
    shape = (len(names), n, len(level_names), len(arms), samples)
    passed, score = np.full(shape, np.nan), np.full(shape, np.nan)
    status = np.full(shape, "", dtype=object)
    ids_ = np.full(shape[:2], "", dtype=object)
    for c, (name, places) in enumerate(lessons.items()):
        for place, episodes in places.items():
            arm, _, level = place.partition(" ")
            level = {"control": "none", "ceiling": "L0"}.get(arm, level or levels[0])
            at = level_names.index(level), arms.index(arm)
            for e, episode in enumerate(episodes):
                ids_[c, e] = f"{name}/{e}"
                cells = episode if isinstance(episode, list) else [episode] * samples
                for s, cell in enumerate(cells):
                    if cell is None:
                        continue
                    where = (c, e, *at, s)
                    status[where] = cell if isinstance(cell, str) else "ok"
                    if isinstance(cell, tuple):
                        passed[where], score[where] = cell
                    elif not isinstance(cell, str):
                        passed[where] = cell
    if ids is not None:
        ids_ = np.where(ids_ != "", np.asarray(ids, dtype=object), "")
    dims = ("concept", "episode", "level", "arm", "sample")
    grid = np.array(tokens or [0, 100, *(60 // 2**i for i in range(len(levels)))], dtype=float)
    counts = np.broadcast_to(grid[None, :, None], (len(names), len(level_names), len(arms)))
    leak = np.zeros(shape[:3], dtype=bool)
    for name, e, level in leaked or ():
        leak[names.index(name), e, level_names.index(level)] = True
    marks = np.full((len(names), len(level_names)), "", dtype=object)
    for name, level in planted or ():
        marks[names.index(name), level_names.index(level)] = "loses-the-detail"
    made = np.full((len(names), len(level_names)), "", dtype=object)
    if compressor:
        made[:, 2:] = compressor
    halves = np.where(ids_ != "", "test", "").astype(object)
    for (name, e), text in (half or {}).items():
        halves[names.index(name), e] = text
    text = dict.fromkeys(("answer", "reason"), (dims, np.full(shape, "", dtype=object)))
    cost = dict.fromkeys(
        ("tokens_in", "tokens_out", "tokens_cached", "seconds"), (dims, np.zeros(shape))
    )
    return xr.Dataset(
        {
            "passed": (dims, passed),
            "score": (dims, score),
            "status": (dims, status),
            **text,
            **cost,
        },
        {
            "concept": np.array(names, dtype=object),
            "episode": np.arange(n),
            "level": np.array(level_names, dtype=object),
            "arm": np.array(arms, dtype=object),
            "sample": np.arange(samples),
            "kind": ("concept", np.array(kinds or ["trap"] * len(names), dtype=object)),
            "planted": (("concept", "level"), marks),
            "compressor": (("concept", "level"), made),
            "half": (("concept", "episode"), halves),
            "leaked": (("concept", "episode", "level"), leak),
            "lesson_tokens": (("concept", "level", "arm"), counts.copy()),
            "depth": ("level", [np.nan, *map(float, range(len(level_names) - 1))]),
            "framing": (
                ("concept", "episode", "sample"),
                np.full((len(names), n, samples), "note", dtype=object),
            ),
            "episode_id": (("concept", "episode"), ids_),
        },
        {
            "question": "rose",
            "model": "by hand",
            "grader": "by hand",
            "config": json.dumps({"samples": samples}),
            "leaks": leaks,
        },
    )


def many(n, *, levels=("L1",), lost=(), episodes=2, control=0, ceiling=1, **more):
    """Dataset of n lessons; `lost` maps a level to how many lessons fail there altogether."""
    lost = dict(lost)
    lessons = {}
    for i in range(n):
        places = {"control": [control] * episodes, "ceiling": [ceiling] * episodes}
        for level in levels:
            places[f"treatment {level}"] = [0 if i < lost.get(level, 0) else ceiling] * episodes
        lessons[f"lesson{i:03d}"] = places
    return rose(lessons, levels=levels, **more)
