"""Reports: a template, its parameters, and the file that comes out."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corecurves.bundled import bundled_names, bundled_path
from corecurves.errors import ReportError, UsageError, unknown
from corecurves.redact import Redactor
from corecurves.reports.declared import Parameter, declared_parameters
from corecurves.reports.execute import Failure, execute
from corecurves.reports.notebook import Notebook, as_notebook, is_tagged, nbformat_package, title_of
from corecurves.reports.parameters import check_parameters
from corecurves.reports.tidy import notebook_text, tidy
from corecurves.reports.values import literal

__all__ = ["ReportInfo", "list_reports", "render_report"]

_ONE_AT_A_TIME = threading.Lock()
_SUFFIXES = (".html", ".ipynb")


@dataclass(frozen=True)
class ReportInfo:
    """A bundled template.

    Parameters
    ----------
    name : str
        Name for `render_report`.
    title : str
        Its first heading.
    parameters : tuple of Parameter
        What it takes.
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]


def list_reports() -> list[ReportInfo]:
    """Bundled templates with their parameters.

    Returns
    -------
    list of ReportInfo
        Sorted by name.

    Examples
    --------
    >>> all(report.name for report in list_reports())
    True
    """
    reports = []
    for name in _bundled_reports():
        book = as_notebook(bundled_path("notebooks", f"{name}.ipynb"))
        declared = declared_parameters(book)
        reports.append(ReportInfo(name, title_of(book) or name, tuple(declared.values())))
    return reports


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
    target = _target(name, out)
    template = find_template(name)
    written = [target, _beside(target)] if keep_notebook else [target]
    if template.resolve() in written:
        raise UsageError(f"the report would overwrite its template {template}; give another `out`")
    book = as_notebook(template)
    values = check_parameters(book, parameters)
    if timeout is not None and not timeout > 0:
        raise UsageError(f"`timeout` takes seconds above 0, received {timeout!r}")
    redactor = Redactor()
    _inject(book, values)
    with _ONE_AT_A_TIME:
        failure = execute(book, template.stem, progress=progress, timeout=timeout)
    if failure is not None:
        _mark(book, failure)
    book = tidy(book, values, redactor)
    shown = Path(out) if out is not None else Path(target.name)
    if failure is not None and target.exists():
        target, shown = _failed(target), _failed(shown)
    if target.suffix == ".ipynb" or keep_notebook:
        _write(_beside(target), notebook_text(book))
    if target.suffix == ".html":
        from corecurves.reports.page import html_page

        _write(target, html_page(book, name=template.stem, folder=template.parent))
    if failure is not None:
        error = redactor.text(failure.error)
        raise ReportError(
            f"{template.stem}: cell {failure.number} failed: {error}; "
            f"the report up to there is in {shown}"
        )
    return shown


def _bundled_reports() -> list[str]:
    names = bundled_names("notebooks")
    return [name.removesuffix(".ipynb") for name in names if name.endswith(".ipynb")]


def find_template(name: str | Path) -> Path:
    path = Path(name)
    if path.suffix == ".ipynb" or len(path.parts) > 1:
        if not path.is_file():
            raise UsageError(f"there is no notebook {path}")
        return path
    if str(name) not in _bundled_reports():
        raise UsageError(unknown("report", str(name), _bundled_reports()))
    return bundled_path("notebooks", f"{name}.ipynb")


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


def _write(path: Path, text: str) -> None:
    """The text in a file that is whole at every moment."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # A lone surrogate, which UTF-8 lacks, is written as the escape that JSON has for it.
        draft.write_bytes(text.encode("utf-8", "backslashreplace"))
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path.name}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
