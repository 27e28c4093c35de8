"""A report for each combination of some parameters' values, and an index of them."""

from __future__ import annotations

import ast
import itertools
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from corecurves.errors import ReportError, UsageError, unknown
from corecurves.redact import Redactor
from corecurves.reports.declared import Parameter, declared_parameters
from corecurves.reports.index import Row, index_page
from corecurves.reports.render import Job, prepare, render, write_whole
from corecurves.reports.repeat import assignment, shown_name
from corecurves.reports.templates import find_template
from corecurves.reports.values import literal
from corecurves.text import counted

__all__ = ["MOST", "parse_sweep", "render_sweep"]

MOST = 100
"""Reports that a sweep may make, unless more are asked for."""


def parse_sweep(text: str, declared: Mapping[str, Parameter]) -> dict[str, list[object]]:
    """Values of a sweep from command-line text.

    Examples
    --------
    >>> declared = {"samples": Parameter("samples", 3), "margin": Parameter("margin", 0.1)}
    >>> parse_sweep("samples=[3,5],margin=[0.05,0.1]", declared)
    {'samples': [3, 5], 'margin': [0.05, 0.1]}
    """
    example = 'write it as samples=[3,5],split=["dev","public"], with texts in quotes'
    shown = Redactor().text(text)
    try:
        body = ast.parse(f"dict({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UsageError(f"the sweep {shown!r} cannot be read ({why}); {example}") from error
    if not isinstance(body, ast.Call) or body.args or not isinstance(body.func, ast.Name):
        raise UsageError(f"the sweep {shown!r} cannot be read; {example}")
    grid: dict[str, list[object]] = {}
    for keyword in body.keywords:
        if keyword.arg is None:
            raise UsageError(f"the sweep {shown!r} cannot be read; {example}")
        if keyword.arg not in declared:
            raise UsageError(unknown("parameter", keyword.arg, declared))
        if keyword.arg in grid:
            raise UsageError(f"`{keyword.arg}` is given twice in the sweep")
        try:
            values = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise UsageError(f"the values of `{keyword.arg}` are no literals; {example}") from error
        if not isinstance(values, list | tuple):
            raise UsageError(f"`{keyword.arg}` in a sweep takes a list; {example}")
        grid[keyword.arg] = list(values)
    if not grid:
        raise UsageError(f"the sweep names no parameter; {example}")
    return grid


def render_sweep(
    name: str | Path,
    out: str | Path | None = None,
    *,
    grid: Mapping[str, Sequence[object]],
    parameters: Mapping[str, object] | None = None,
    progress: bool = True,
    timeout: float | None = None,
    most: int = MOST,
) -> Path:
    """A page for each combination of some parameters' values, one after another, and an index.

    Everything is checked before anything runs. The index is written anew after each report, so that
    a sweep which is stopped leaves one that says what is there.

    Parameters
    ----------
    name : str or Path
        Name of a bundled template, or path of a notebook.
    out : str or Path, optional
        Folder to write to, new or empty. Default: the template's name with ``-sweep``.
    grid : mapping of str to sequence
        Values by parameter; each combination gets a report.
    parameters : mapping of str to object, optional
        What all reports share.
    progress : bool
        Whether to say on stderr how many reports there are, and which one is rendered.
    timeout : float, optional
        Seconds that one cell may take. Default: no limit.
    most : int
        Reports that the sweep may make.

    Returns
    -------
    Path
        ``index.html``: a row a report with its values, its status, and the key figures that it
        offers (see `corecurves.show_key_figures`).

    Raises
    ------
    UsageError
        If a name, a value, the number of reports or the folder is wrong; nothing has run then.
    ReportError
        If a report failed. All others are rendered, and the index marks it.

    Examples
    --------
    >>> render_sweep("rose_transfer", grid={"sample": [3, 5]})
    Traceback (most recent call last):
    corecurves.errors.UsageError: `parameter` has no 'sample'; it has store, model, grader, arms, \
holdout, samples, seed, margin, demo_only, ledger: did you mean 'samples'?
    """
    template = find_template(name)
    declared = declared_parameters(template)
    combinations = _combinations(grid, parameters or {}, declared, most)
    folder = Path(f"{template.stem}-sweep" if out is None else out)
    if folder.suffix in (".html", ".ipynb"):
        raise UsageError(f"a sweep writes a folder, received {folder}")
    made = _new_folder(folder)
    try:
        jobs = _jobs(name, folder, combinations, parameters or {}, timeout)
    except UsageError:
        if made:
            folder.rmdir()
        raise
    sizes = " × ".join(f"{len(values)} of {key}" for key, values in grid.items())
    if progress:
        print(f"{counted(len(jobs), 'report')}: {sizes}; to {folder}", file=sys.stderr, flush=True)
    rows = [
        Row(_shown(values), job.shown.name) for values, job in zip(combinations, jobs, strict=True)
    ]
    about = {
        "template": shown_name(name),
        "shared": ", ".join(_shown(parameters or {}).values()),
        "command": _command(name, folder, grid, parameters or {}, declared),
    }
    index = folder / "index.html"
    errors = []
    for number, job in enumerate(jobs):
        write_whole(index, index_page(template, rows, about))
        if progress:
            said = ", ".join(rows[number].values.values())
            print(f"report {number + 1} of {len(jobs)}: {said}", file=sys.stderr, flush=True)
        rows[number] = _rendered(job, rows[number], progress)
        if rows[number].error:
            errors.append(f"{rows[number].file}: {rows[number].error}")
    write_whole(index, index_page(template, rows, about))
    if errors:
        raise ReportError(
            f"{len(errors)} of {counted(len(jobs), 'report')} failed, first {errors[0]}; "
            f"the index is {index}"
        )
    return index


def _combinations(
    grid: Mapping[str, Sequence[object]],
    shared: Mapping[str, object],
    declared: Mapping[str, Parameter],
    most: int,
) -> list[dict[str, object]]:
    if not grid:
        raise UsageError("a sweep needs at least one parameter with its values")
    for key, values in grid.items():
        if key not in declared:
            raise UsageError(unknown("parameter", key, declared))
        if key in shared:
            raise UsageError(f"`{key}` is given twice: to the sweep, and to all of its reports")
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UsageError(f"`{key}` in a sweep takes a list of values, received {values!r}")
        if not values:
            raise UsageError(f"`{key}` in a sweep has no values")
        texts = [repr(value) for value in values]
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise UsageError(f"`{key}` in a sweep has {twice} twice")
    total = math.prod(map(len, grid.values()))
    if total > most:
        raise UsageError(
            f"the sweep would make {total} reports; it may make {most}: give fewer values, or say "
            "how many with `most`"
        )
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _new_folder(folder: Path) -> bool:
    """Whether the folder was made here."""
    try:
        if folder.is_dir() and not any(folder.iterdir()):
            return False
        folder.mkdir()
    except FileExistsError as error:
        raise UsageError(
            f"{folder} is there already; give a sweep a new or empty folder"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from error
    return True


def _jobs(
    name: str | Path,
    folder: Path,
    combinations: Sequence[Mapping[str, object]],
    shared: Mapping[str, object],
    timeout: float | None,
) -> list[Job]:
    width = len(str(len(combinations)))
    return [
        prepare(
            name, folder / f"{n:0{width}d}_{_slug(values)}.html", {**shared, **values},
            timeout=timeout,
        )
        for n, values in enumerate(combinations, start=1)
    ]  # fmt: skip


def _rendered(job: Job, row: Row, progress: bool) -> Row:
    try:
        done = render(job, progress=progress)
    except ReportError as error:  # no kernel, so no page
        return Row(row.values, "", "failed", Redactor().text(str(error)))
    return Row(
        row.values, done.path.name, "failed" if done.error else "fine", done.error, done.figures
    )


def _slug(values: Mapping[str, object]) -> str:
    text = "_".join(f"{key}-{value}" for key, value in values.items())
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", text)[:60].strip("_.")


def _shown(values: Mapping[str, object]) -> dict[str, str]:
    return {key: f"{key}={_plain(value)}" for key, value in values.items()}


def _plain(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _command(
    name: str | Path,
    folder: Path,
    grid: Mapping[str, Sequence[object]],
    shared: Mapping[str, object],
    declared: Mapping[str, Parameter],
) -> str:
    import shlex

    swept = ",".join(f"{key}={literal(list(values))}" for key, values in grid.items())
    parts = ["corecurves", "report", shown_name(name), "--sweep", swept]
    for key, value in shared.items():
        text = assignment(key, value, declared)
        if text is None:
            given = f"grid={literal(dict(grid))}, parameters={literal(dict(shared))}"
            return f"corecurves.render_sweep({shown_name(name)!r}, {folder.name!r}, {given})"
        parts += ["-p", text]
    return shlex.join([*parts, "-o", folder.name])
