"""Templates: the notebooks that come with the library, and those of users."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corecurves.bundled import bundled_names, bundled_path
from corecurves.errors import UsageError, unknown
from corecurves.reports.declared import Parameter, declared_parameters
from corecurves.reports.notebook import as_notebook, title_of

__all__ = ["ReportInfo", "find_template", "list_reports"]


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


def _bundled_reports() -> list[str]:
    names = bundled_names("notebooks")
    return [name.removesuffix(".ipynb") for name in names if name.endswith(".ipynb")]


def find_template(name: str | Path) -> Path:
    """File of a template.

    Examples
    --------
    >>> find_template("what_if").name
    'what_if.ipynb'
    """
    path = Path(name)
    if path.suffix == ".ipynb" or len(path.parts) > 1:
        if not path.is_file():
            raise UsageError(f"there is no notebook {path}")
        return path
    if str(name) not in _bundled_reports():
        raise UsageError(unknown("report", str(name), _bundled_reports()))
    return bundled_path("notebooks", f"{name}.ipynb")
