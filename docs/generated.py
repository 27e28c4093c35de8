"""What the site takes from the code: the reference, the tables of the Datasets, the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import corecurves
from corecurves import schema
from corecurves.cli.main import cli

STUB = Path(corecurves.__file__).with_suffix(".pyi")
GROUPS = {
    "lane": "Lane",
    "rose": "Rose",
    "recall": "Recall",
    "compress": "Compression",
    "descent": "Descent",
    "summaries": "Summaries, tables, verdict",
    "plots": "Figures and their descriptions",
    "explore": "Explorers",
    "reports": "Reports",
    "protocol": "Edits of a curriculum",
    "files": "Files",
    "specs": "What is read",
    "systems": "What systems give",
    "models": "What models give",
    "graders": "What graders get and give",
    "errors": "Exceptions",
}
"""Titles, by the first part of the module that a name comes from."""
_IMPORT = re.compile(r"^from \.(\w+)[\w.]* import \w+ as (\w+)$", re.MULTILINE)
_PLACE = re.compile(r"^```\{generated\} (\w+)\n```$", re.MULTILINE)


def public_names() -> dict[str, list[str]]:
    """Public names by group, in the order of `GROUPS`."""
    found: dict[str, list[str]] = {key: [] for key in GROUPS}
    for package, name in _IMPORT.findall(STUB.read_text(encoding="utf-8")):
        found.setdefault(package, []).append(name)
    return {key: names for key, names in found.items() if names}


def api_pages() -> dict[str, str]:
    """Pages of the reference by path, in reStructuredText: an index, and a page a group."""
    groups = public_names()
    lines = [
        *_title("Reference", "="),
        "``import corecurves as cc``. After the first two arguments, every parameter is given by",
        "its keyword.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   api/{key}" for key in groups),
    ]
    pages = {"api.rst": "\n".join([*lines, ""])}
    for key, names in groups.items():
        lines = [*_title(GROUPS.get(key, key.title()), "="), ".. currentmodule:: corecurves", ""]
        lines += [".. autosummary::", "", *(f"   {name}" for name in sorted(names)), ""]
        for name in sorted(names):
            lines += [*_title(name, "-"), *_entry(name), ""]
        pages[f"api/{key}.rst"] = "\n".join(lines)
    return pages


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _entry(name: str) -> list[str]:
    thing = getattr(corecurves, name)
    if not isinstance(thing, type):
        return [f".. autofunction:: {name}"]
    kind = "exception" if issubclass(thing, BaseException) else "class"
    return [f".. auto{kind}:: {name}", "   :members:"]


def fill(_app: object, _page: str, source: list[str]) -> None:
    """Put what is generated where a page has a place for it."""
    source[0] = _PLACE.sub(lambda match: _MAKERS[match[1]](), source[0])


def schema_tables() -> str:
    """A table a kind of Dataset, in Markdown."""
    schemas = [value for value in vars(schema).values() if isinstance(value, schema.Schema)]
    return "\n\n".join(_schema_table(one) for one in schemas)


def _schema_table(one: schema.Schema) -> str:
    lines = [f"## {one.question}", "", f"Dimensions: {', '.join(f'`{dim}`' for dim in one.dims)}."]
    lines += [
        "",
        "| Name | Dimensions | Kind | Units | Role | What it is |",
        "|---|---|---|---|---|---|",
    ]
    for variable in one.variables:
        name = f"`{variable.name}`" + (", `…_recorded`" if variable.recorded else "")
        dims = ", ".join(variable.dims)
        lines.append(
            f"| {name} | {dims} | {variable.kind} | {variable.units} | {variable.role} | "
            f"{variable.long_name} |"
        )
    return "\n".join(lines)


def commands() -> str:
    """The help of every command, in Markdown."""
    return "\n\n".join(
        f"## {name}\n\n```text\n{command.get_help(context)}\n```"
        for name, command, context in _commands(cli, "corecurves", None)
    )


def _commands(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=92)
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found: Any = command.get_command(context, inner)
            yield from _commands(found, inner, context)


_MAKERS = {"schemas": schema_tables, "commands": commands}
