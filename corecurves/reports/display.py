"""What notebooks show: figures with alternative text, and the box that says how to repeat them."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from corecurves.markup import FIGURES, pairs
from corecurves.reports.outputs import PROVENANCE
from corecurves.summaries.provenance import provenance

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["show_figure", "show_key_figures", "show_provenance"]


def show_figure(figure: Figure, alt: str, *, dpi: int = 110) -> None:
    """Show a figure in a notebook, with a text that stands for it.

    Parameters
    ----------
    figure : Figure
        It is closed, so that the notebook does not show it once more.
    alt : str
        What the figure shows, in words.
    dpi : int
        Dots per inch.
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=dpi)
    plt.close(figure)
    data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": alt}
    show: Any = display
    show(data, raw=True, metadata={"image/png": {"alt": alt}})


def show_key_figures(figures: Mapping[str, str]) -> None:
    """Show a few figures that the index of a sweep sets beside each other.

    Parameters
    ----------
    figures : mapping of str to str
        Texts by label, with the decimals that the sample supports.
    """
    rows = {str(label): str(value) for label, value in figures.items()}
    _show({FIGURES: rows, "text/html": pairs(rows.items()), "text/plain": _lines(rows)})


def show_provenance(*runs: xr.Dataset) -> None:
    """Show how to repeat one run or several; a rendered page has it in a box at its end.

    Parameters
    ----------
    *runs : Dataset
        Each from a run. What is the same in all of them is said once, else a line a run.
    """
    texts: dict[str, list[str]] = {}
    for run in runs:
        for name, value in provenance(run).items():
            shown = _readable(json.loads(value)) if name == "identity" else value
            texts.setdefault(name, []).append(shown)
    rows = {
        name: values[0] if len(set(values)) == 1 else "\n".join(values)
        for name, values in texts.items()
    }
    _show({PROVENANCE: rows, "text/html": pairs(rows.items()), "text/plain": _lines(rows)})


def _show(data: dict[str, object]) -> None:
    from IPython.display import display

    show: Any = display
    show(data, raw=True)


def _lines(rows: Mapping[str, str]) -> str:
    return "\n".join(f"{label}: {value}" for label, value in rows.items())


def _readable(value: object) -> str:
    """An identity in words: name, version, and the settings in brackets."""
    if isinstance(value, dict) and {"name", "version"} <= value.keys():
        settings = _readable(value.get("settings") or {})
        named = f"{value['name']} {value['version']}"
        return f"{named} ({settings})" if settings else named
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_readable(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_readable, value))
    return value if isinstance(value, str) else json.dumps(value)
