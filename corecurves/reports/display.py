"""What notebooks show: figures with alternative text, and the box that says how to repeat them."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Any

from corecurves.reports.outputs import PROVENANCE
from corecurves.summaries.provenance import provenance

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["show_figure", "show_provenance"]


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


def show_provenance(*runs: xr.Dataset) -> None:
    """Show how to repeat one run or several; a rendered page has it in a box at its end.

    Parameters
    ----------
    *runs : Dataset
        Each from a run. What is the same in all of them is said once.
    """
    from IPython.display import display

    texts: dict[str, list[str]] = {}
    for run in runs:
        for name, value in provenance(run).items():
            texts.setdefault(name, []).append(value)
    rows = {name: "; ".join(dict.fromkeys(values)) for name, values in texts.items()}
    cells = "".join(
        f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items()
    )
    text = "\n".join(f"{label}: {value}" for label, value in rows.items())
    show: Any = display
    show({PROVENANCE: rows, "text/html": f"<table>{cells}</table>", "text/plain": text}, raw=True)
