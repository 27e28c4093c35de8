"""How to repeat a report: the command, and the software that it ran with."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from corecurves.errors import UsageError
from corecurves.reports.declared import Parameter
from corecurves.reports.parameters import parse_assignments
from corecurves.reports.values import literal

__all__ = ["assignment", "repeat_command", "shown_name", "software"]

_PACKAGES = ("numpy", "pandas", "xarray", "matplotlib", "papermill")


def repeat_command(
    name: str | Path, out: str, values: Mapping[str, object], declared: Mapping[str, Parameter]
) -> str:
    """Command that renders the same report once more.

    Examples
    --------
    >>> declared = {"split": Parameter("split", "public")}
    >>> repeat_command("sample_efficiency", "report.html", {"split": "my set"}, declared)
    "corecurves report sample_efficiency -p 'split=my set' -o report.html"
    """
    shown = shown_name(name)
    parts = ["corecurves", "report", shown]
    for key, value in values.items():
        text = assignment(key, value, declared)
        if text is None:
            given = literal(dict(values))
            return f"corecurves.render_report({shown!r}, {out!r}, parameters={given})"
        parts += ["-p", text]
    return shlex.join([*parts, "-o", out])


def assignment(name: str, value: object, declared: Mapping[str, Parameter]) -> str | None:
    """Command-line text of one parameter.

    Examples
    --------
    >>> declared = {"arms": Parameter("arms", ("taught",))}
    >>> assignment("arms", ("taught", "control"), declared)
    "arms=['taught','control']"
    """
    try:
        text = f"{name}={_text(value)}"
        if "\x00" in text:
            return None
        read = parse_assignments([text], declared)[name]
    except UsageError:
        return None
    return text if literal(read) == literal(value) else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_item, value))}]"
    return str(value)


def _item(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"' if "'" in value else f"'{value}'"
    return _text(value)


def shown_name(name: str | Path) -> str:
    """Template as a reader elsewhere may name it: no path of this machine.

    Examples
    --------
    >>> shown_name("/somewhere/else/own.ipynb")
    'own.ipynb'
    """
    path = Path(name)
    if not path.is_absolute():
        return str(name)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


def software() -> str:
    """Versions that a report was rendered with.

    Examples
    --------
    >>> software().split()[0]
    'corecurves'
    """
    found = [f"corecurves {version('corecurves')}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
