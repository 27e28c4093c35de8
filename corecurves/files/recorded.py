"""Recorded episodes of a store: JSON files, one an episode."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from corecurves.errors import Fault
from corecurves.specs.lesson import Checks, Episode, Outcome

__all__ = ["Recorded", "read_episode", "read_json"]

_TOKEN = re.compile(
    r"""(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")(?P<colon>\s*:)?   # a text, or a key
    | (?P<constant>NaN|-?Infinity)
    | (?P<bracket>[{}\[\]])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Recorded:
    """An episode with how it ended.

    Parameters
    ----------
    episode : Episode
        The episode; its known-good outcome is what was accepted, and is empty where nothing was.
    outcome : str
        ``success`` or another word; empty where the file does not say.
    judged : bool
        Whether the file says which nodes were used, be it none.
    session : str
        The session that it was recorded from; empty where the file does not say.
    """

    episode: Episode
    outcome: str
    judged: bool
    session: str = ""

    @property
    def unusable(self) -> str:
        """Why no lesson can be evaluated with it; empty where one can."""
        if self.outcome != "success":
            return f"the outcome is '{self.outcome}'" if self.outcome else "no outcome is recorded"
        if not self.judged:
            return "it is not recorded what was used"
        if not self.episode.used:
            return "nothing was used"
        if not self.episode.outcome.good:
            return "no accepted summary is recorded"
        return "" if self.episode.task else "no prompt is recorded"


class _Number(str):
    """A number as the file writes it."""

    __slots__ = ()


def read_json(text: str, name: str, faults: list[Fault]) -> dict[str, object] | None:
    r"""Object of a JSON text, with numbers as the text that the file has.

    Examples
    --------
    >>> faults = []
    >>> read_json('{"id": 10,\n "id": "b"}', "e.json", faults)
    >>> print(faults[0])
    e.json:2: `id` stands twice, first in line 1; keep one
    """
    before = len(faults)
    try:
        # Its constants are let through here, so that the walk below can say where they stand.
        value = json.loads(text, parse_int=_Number, parse_float=_Number)
    except json.JSONDecodeError as error:
        message = f"is not JSON ({error.msg}); mend or remove the file"
        faults.append(Fault(name, error.lineno, message))
        return None
    except RecursionError:
        faults.append(Fault(name, 1, "is nested too deeply; mend or remove the file"))
        return None
    for line, message in _findings(text):
        faults.append(Fault(name, line, message))
    if not isinstance(value, dict):
        faults.append(Fault(name, 1, "is no JSON object; write one episode a file"))
    return value if len(faults) == before else None


def read_episode(text: str, name: str, faults: list[Fault], *, stem: str = "") -> Recorded | None:
    """Episode of a JSON text.

    Examples
    --------
    >>> text = '{"prompt": "Wash up.", "outcome": "failed"}'
    >>> recorded = read_episode(text, "e.json", [], stem="e")
    >>> recorded.episode.id, recorded.unusable
    ('e', "the outcome is 'failed'")
    """
    table = read_json(text, name, faults)
    if table is None:
        return None
    before = len(faults)
    fields = _Fields(table, text, name, faults)
    keys = ("id", "family", "prompt", "outcome", "accepted_summary", "created", "session_id")
    words = {key: fields.text(key) for key in keys}
    used, served = fields.texts("used"), fields.texts("served")
    check = table.get("check")
    inner = _Fields(check, text, name, faults) if isinstance(check, dict) else None
    must = inner.texts("must") if inner else ()
    must_not = inner.texts("must_not") if inner else ()
    if len(faults) > before:
        return None
    summary = words["accepted_summary"]
    episode = Episode(
        id=words["id"] or stem,
        task=words["prompt"],
        outcome=Outcome((summary,) if summary else (), checks=Checks(must, must_not)),
        used=used,
        served=served,
        family=words["family"],
        created=words["created"],
    )
    judged = table.get("used") is not None
    return Recorded(episode, words["outcome"], judged, words["session_id"])


@dataclass(frozen=True)
class _Fields:
    """Reader of an object's keys, each missing or null, or of the right type."""

    table: Mapping[str, object]
    source: str
    name: str
    faults: list[Fault]

    def text(self, key: str) -> str:
        value = self.table.get(key)
        if value is None or isinstance(value, str):
            return str(value) if value and value.strip() else ""
        self._refuse(key, "write text")
        return ""

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key)
        items = [] if value is None else [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(dict.fromkeys(str(item) for item in items if item.strip()))
        self._refuse(key, "write a list of texts")
        return ()

    def _refuse(self, key: str, instead: str) -> None:
        place = re.search(rf'"{re.escape(key)}"\s*:', self.source)
        line = self.source.count("\n", 0, place.start()) + 1 if place else 1
        message = f"`{key}` is of the wrong type; {instead}"
        self.faults.append(Fault(self.name, line, message))


def _findings(text: str) -> list[tuple[int, str]]:
    """Lines of a JSON text with a repeated key or a number that JSON does not have."""
    found = []
    open_keys: list[dict[str, int]] = []
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        message = ""
        line, counted = line + text.count("\n", counted, token.start()), token.start()
        if token["constant"]:
            message = f"{token['constant']} is no JSON number; write null or a number"
        elif token["bracket"]:
            if token["bracket"] in "{[":
                open_keys.append({})
            else:
                open_keys.pop()
        elif token["colon"]:
            key = json.loads(token["text"])
            if key in open_keys[-1]:
                first = open_keys[-1][key]
                where = f"first in line {first}" if first != line else "in one line"
                message = f"`{key}` stands twice, {where}; keep one"
            open_keys[-1].setdefault(key, line)
        if message:
            found.append((line, message))
    return found
