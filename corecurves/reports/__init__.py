"""Reports: notebooks executed with strict parameters, as one notebook or one HTML page.

Nothing heavy is imported before a report is rendered.
"""

from __future__ import annotations

from corecurves.reports.declared import Parameter, declared_parameters
from corecurves.reports.parameters import check_parameters, parse_assignments
from corecurves.reports.render import render_report
from corecurves.reports.sweep import parse_sweep, render_sweep
from corecurves.reports.templates import ReportInfo, list_reports

__all__ = [
    "Parameter",
    "ReportInfo",
    "check_parameters",
    "declared_parameters",
    "list_reports",
    "parse_assignments",
    "parse_sweep",
    "render_report",
    "render_sweep",
]
