"""Reports: a template, its parameters, and the file that comes out."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corecurves.errors import ReportError, UsageError
from corecurves.redact import Redactor
from corecurves.reports.declared import declared_parameters
from corecurves.reports.execute import Failure, execute
from corecurves.reports.notebook import Notebook, as_notebook, is_tagged, nbformat_package
from corecurves.reports.outputs import figures_of
from corecurves.reports.parameters import check_parameters
from corecurves.reports.repeat import repeat_command, software
from corecurves.reports.templates import find_template
from corecurves.reports.tidy import notebook_text, tidy
from corecurves.reports.values import literal

__all__ = ["Job", "Rendered", "prepare", "render", "render_report", "write_whole"]

_ONE_AT_A_TIME = threading.Lock()
_SUFFIXES = (".html", ".ipynb")


def render_report(
    name: str | Path,
    out: str | Path | None = None,
    *,
    parameters: Mapping[str, object] | None = None,
    progress: bool = True,
    timeout: float | None = None,
    keep_notebook: bool = False,
) -> Path:
    """Report that a notebook makes, executed with these parameters.

    The notebook runs in this interpreter, in the current folder, so relative paths given as
    parameters mean what they mean here. The file appears when it is finished.

    Parameters
    ----------
    name : str or Path
        Name of a bundled template (see `list_reports`), or path of a notebook.
    out : str or Path, optional
        File to write, ``.html`` (one self-contained page) or ``.ipynb``. Default: the template's
        name with ``.html``, in the current folder.
    parameters : mapping of str to object, optional
        Values by name; strict, see `corecurves.reports.check_parameters`.
    progress : bool
        Whether to show progress on stderr.
    timeout : float, optional
        Seconds that one cell may take. Default: no limit.
    keep_notebook : bool
        Whether to write the executed notebook beside an HTML page, under the same name.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    UsageError
        If there is no such template, a parameter is wrong, or `out` cannot be written; nothing has
        run then.
    ReportError
        If a cell failed. The report up to there is written to `out`, marked as failed; where an
        older file stands there, it is kept, and the failed one gets ``.failed`` in its name.

    Examples
    --------
    >>> render_report("sample_efficiency", "report.pdf")
    Traceback (most recent call last):
    corecurves.errors.UsageError: a report is written as .html or .ipynb, received report.pdf
    """
    job = prepare(name, out, parameters, timeout=timeout, keep_notebook=keep_notebook)
    done = render(job, progress=progress)
    if done.error:
        raise ReportError(
            f"{job.template.stem}: {done.error}; the report up to there is in {done.path}"
        )
    return done.path


@dataclass(frozen=True)
class Job:
    """A report whose call was checked, before anything runs.

    Parameters
    ----------
    name : str or Path
        The template as it was given.
    template : Path
        Its file.
    target : Path
        The file to write, absolute.
    shown : Path
        The same, as it is named to the user.
    book : NotebookNode
        The notebook; rendering changes a copy.
    values : mapping of str to object
        The parameters that it is given.
    timeout : float or None
        Seconds that one cell may take.
    keep_notebook : bool
        Whether the executed notebook is written beside a page.
    """

    name: str | Path
    template: Path
    target: Path
    shown: Path
    book: Notebook
    values: Mapping[str, object]
    timeout: float | None = None
    keep_notebook: bool = False


@dataclass(frozen=True)
class Rendered:
    """A report that was written.

    Parameters
    ----------
    path : Path
        The file, as it is named to the user.
    error : str
        The cell that failed and why, in one line; empty where none did.
    figures : mapping of str to str
        Key figures that the notebook offers.
    """

    path: Path
    error: str
    figures: Mapping[str, str]


def prepare(
    name: str | Path,
    out: str | Path | None,
    parameters: Mapping[str, object] | None,
    *,
    timeout: float | None = None,
    keep_notebook: bool = False,
) -> Job:
    """Check of everything about a report that can be checked without running it."""
    target = _target(name, out)
    template = find_template(name)
    written = [target, _beside(target)] if keep_notebook else [target]
    if template.resolve() in written:
        raise UsageError(f"the report would overwrite its template {template}; give another `out`")
    book = as_notebook(template)
    values = check_parameters(book, parameters)
    if timeout is not None and not timeout > 0:
        raise UsageError(f"`timeout` takes seconds above 0, received {timeout!r}")
    shown = Path(out) if out is not None else Path(target.name)
    return Job(name, template, target, shown, book, values, timeout, keep_notebook)


def render(job: Job, *, progress: bool = True) -> Rendered:
    """The file of a report, whether its cells ran or one failed."""
    book, target, shown = as_notebook(job.book), job.target, job.shown
    redactor = Redactor()
    declared = declared_parameters(book)
    _inject(book, job.values)
    with _ONE_AT_A_TIME:
        failure = execute(book, job.template.stem, progress=progress, timeout=job.timeout)
    if failure is not None:
        _mark(book, failure)
    book.metadata["corecurves"] = {
        "command": repeat_command(job.name, target.name, job.values, declared),
        "software": software(),
    }
    book = tidy(book, job.values, redactor)
    if failure is not None and target.exists():
        target, shown = _failed(target), _failed(shown)
    if target.suffix == ".ipynb" or job.keep_notebook:
        write_whole(_beside(target), notebook_text(book))
    if target.suffix == ".html":
        from corecurves.reports.page import html_page

        write_whole(target, html_page(book, name=job.template.stem, folder=job.template.parent))
    error = (
        "" if failure is None else redactor.text(f"cell {failure.number} failed: {failure.error}")
    )
    return Rendered(shown, error, figures_of(book))


def _target(name: str | Path, out: str | Path | None) -> Path:
    path = Path(f"{Path(name).stem}.html" if out is None else out)
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"a report is written as .html or .ipynb, received {path}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"no permission to write to the folder {path.parent}")
    return path.resolve()


def _failed(path: Path) -> Path:
    return path.with_name(f"{path.stem}.failed{path.suffix}")


def _beside(target: Path) -> Path:
    return target.with_suffix(".ipynb")


def _inject(book: Notebook, values: Mapping[str, object]) -> None:
    """Cell behind the tagged one that assigns the values; one from an earlier run goes."""
    nbformat = nbformat_package()
    book.cells = [cell for cell in book.cells if not is_tagged(cell, "injected-parameters")]
    if not values:
        return
    lines = [f"{name} = {literal(value)}" for name, value in values.items()]
    cell = nbformat.v4.new_code_cell("\n".join(["# Parameters", *lines]), id="injected-parameters")
    cell.metadata["tags"] = ["injected-parameters"]
    tagged = (is_tagged(cell, "parameters") for cell in book.cells)
    place = next(index for index, is_it in enumerate(tagged) if is_it)
    book.cells.insert(place + 1, cell)


def _mark(book: Notebook, failure: Failure) -> None:
    nbformat = nbformat_package()
    runs = re.findall(r"`+", failure.error)
    ticks = "`" * (1 + max(map(len, runs), default=0))
    note = nbformat.v4.new_markdown_cell(
        f"**This report failed** at cell {failure.number}: {ticks} {failure.error} {ticks}\n\n"
        "Everything up to that cell is below; the cells after it did not run.",
        id="report-failed",
    )
    note.metadata["tags"] = ["report-failed"]
    failed = book.cells[failure.index]
    failed.metadata["tags"] = [*failed.metadata.get("tags", []), "failed-cell"]
    book.cells.insert(0, note)


def write_whole(path: Path, text: str) -> None:
    """A text in a file that is whole at every moment."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # A lone surrogate, which UTF-8 lacks, is written as the escape that JSON has for it.
        draft.write_bytes(text.encode("utf-8", "backslashreplace"))
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path.name}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
