"""Benches as YAML: what is written reads back equal, or is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from corecurves.errors import CorecurvesError, UsageError
from corecurves.files.bench import load_bench
from corecurves.specs.lesson import Episode, Lesson, Level, Outcome, ServedCase, Store

__all__ = ["bench_texts", "dump_yaml", "write_bench"]

_PLAIN = re.compile(r"[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # What has line breaks or cannot be printed is written with escapes, which keep it exactly.
    style = None if _PLAIN.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(value: object) -> str:
    r"""YAML of nested mappings, lists, texts and flags, with every text as it is.

    Examples
    --------
    >>> dump_yaml({"id": "010", "answer": "no\n"})
    'id: \'010\'\nanswer: "no\\n"\n'
    """
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def bench_texts(store: Store) -> dict[str, str]:
    """Files of a bench.

    Examples
    --------
    >>> lesson = Lesson("gloves", "Wear gloves", "lab", "detail", (Level(0, "Wear gloves."),))
    >>> print(bench_texts(Store("one", (lesson,), {}))["lab.yaml"].splitlines()[2])
      - id: gloves
    """
    tables: dict[str, dict[str, Any]] = {}
    for lesson in store.lessons:
        table = tables.setdefault(lesson.family, {"family": lesson.family, "lessons": []})
        table["lessons"].append(_lesson(lesson, store.episodes.get(lesson.id, ())))
    files: dict[str, str] = {}
    for family, table in tables.items():
        name = re.sub(r"[^a-z0-9_-]+", "-", family.lower()).strip("-") or "lessons"
        while f"{name}.yaml" in files or name == "cases":
            name += "-2"
        files[f"{name}.yaml"] = dump_yaml(table)
    if store.cases:
        files["cases.yaml"] = dump_yaml({"cases": [_case(case) for case in store.cases]})
    return files


def write_bench(store: Store, folder: Path) -> Store:
    """Write a store as a bench into a folder, and check that it reads back equal.

    Examples
    --------
    >>> import tempfile
    >>> full = Level(0, "Wear gloves.", "gloves.L0", subtree=("gloves.L0",))
    >>> store = Store("one", (Lesson("gloves", "Gloves", "lab", "detail", (full,)),), {})
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_bench(store, folder).lessons == store.lessons
    True
    """
    try:
        for name, text in bench_texts(store).items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        back = load_bench(folder)
    except (CorecurvesError, UnicodeEncodeError) as error:
        what = str(error).splitlines()[0].removeprefix(f"{folder}/")
        raise UsageError(f"{store.name} cannot be written as a bench: {what}") from error
    found = {lesson.id: lesson for lesson in back.lessons}
    for lesson in store.lessons:
        if found.get(lesson.id) != lesson:
            raise _lossy(store, f"lesson {lesson.id}", "lesson or level", found.get(lesson.id))
        if back.episodes[lesson.id] != store.episodes.get(lesson.id, ()):
            raise _lossy(store, f"an episode of {lesson.id}", "episode", back.episodes[lesson.id])
    if len(found) != len(store.lessons) or back.cases != store.cases:
        raise _lossy(store, "its cases", "case", back.cases)
    return back


def _lossy(store: Store, what: str, kind: str, back: object) -> UsageError:
    return UsageError(
        f"{store.name} cannot be written as a bench: {what} has what a bench's {kind} cannot hold, "
        "such as `used`, other node ids, or a missing level; open it from its own folder"
        + ("" if back else " (it is not read back at all)")
    )


def _lesson(lesson: Lesson, episodes: tuple[Episode, ...]) -> dict[str, Any]:
    return {
        "id": lesson.id,
        "title": lesson.title,
        "kind": lesson.kind,
        **({"demo": True} if lesson.demo else {}),
        "levels": [_level(level) for level in lesson.levels],
        "episodes": [_episode(episode, lesson.id) for episode in episodes],
    }


def _level(level: Level) -> dict[str, Any]:
    shown = {} if level.shown is None else {"shown": list(level.shown)}
    optional: Mapping[str, Any] = {
        "dropped": [claim.content() for claim in level.dropped],
        "planted": level.planted,
        "created": level.created,
        "compressor": level.compressor,
        "load_bearing": list(level.load_bearing),
        "preserve": list(level.preserve),
    }
    return {"text": level.text, **{k: v for k, v in optional.items() if v}, **shown}


def _episode(episode: Episode, lesson: str) -> dict[str, Any]:
    ceiling = {"ceiling": episode.ceiling} if episode.ceiling else {}
    own = episode.id.removeprefix(f"{lesson}/")
    return {"id": own, "task": episode.task, **_outcome(episode.outcome), **ceiling}


def _case(case: ServedCase) -> dict[str, Any]:
    return {
        "id": case.id,
        "kind": case.kind,
        "lessons": [{"id": name, "text": text} for name, text in case.lessons.items()],
        "task": case.task,
        **_outcome(case.outcome),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    checks = {"must": list(outcome.checks.must), "must_not": list(outcome.checks.must_not)}
    checks = {key: value for key, value in checks.items() if value}
    return {
        "good": list(outcome.good),
        **({"trap": list(outcome.trap)} if outcome.trap else {}),
        **({"checks": checks} if checks else {}),
    }
