"""HTML of what explorers show; every text from data or a model is escaped here."""

from __future__ import annotations

import base64
import difflib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from corecurves.markup import escaped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = [
    "STYLE",
    "boxed",
    "facts",
    "folded",
    "frame_table",
    "heading",
    "image",
    "nothing",
    "paragraphs",
    "shown",
    "struck",
    "table",
]

STYLE = """<style>
.cc-explore, .cc-twin {font-size: 13px; line-height: 1.45; max-width: 1160px}
.cc-explore .widget-html-content {line-height: 1.45}
.cc-explore h3, .cc-twin h3 {font-size: 15px; margin: 6px 0}
.cc-explore h4, .cc-twin h4 {font-size: 13px; margin: 10px 0 3px}
.cc-explore p, .cc-twin p {margin: 2px 0 6px; white-space: pre-line}
table.cc {border-collapse: collapse; font-size: 12px; margin: 4px 0; line-height: 1.4}
table.cc caption {text-align: left; padding: 2px 0; opacity: 0.8}
table.cc th, table.cc td {border-bottom: 1px solid rgba(128, 128, 128, 0.35);
  padding: 3px 14px 3px 0; text-align: left; vertical-align: top; white-space: pre-line}
table.cc th {font-weight: 600}
table.cc tbody th {white-space: nowrap}
table.cc td {overflow-wrap: anywhere}
img.cc {max-width: 100%; height: auto; background: #fff; border-radius: 3px; display: block}
.cc-text {border-left: 3px solid rgba(128, 128, 128, 0.45); padding: 1px 0 1px 10px;
  margin: 2px 0 8px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 320px;
  overflow-y: auto}
.cc-text del {opacity: 0.75; text-decoration: line-through #d55e00 2px}
.cc-text ins {text-decoration: underline #56b4e9 2px}
.cc-fault {border: 1px solid #d55e00; border-left-width: 5px; padding: 4px 8px; margin: 4px 0;
  overflow-wrap: anywhere; border-radius: 3px}
.cc-explore summary, .cc-twin summary {cursor: pointer; margin: 6px 0 2px}
</style>"""
"""Rules for both themes: nothing but pictures has a colour of its own behind it."""

_WORDS = 3000
"""Words up to which two texts are compared word by word; lines beyond."""


def shown(value: object) -> str:
    """Text as HTML shows it: escaped, and without what cannot be sent to a browser.

    Examples
    --------
    >>> shown("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escaped(value)


def heading(text: object, level: int = 4) -> str:
    """A heading."""
    return f"<h{level}>{shown(text)}</h{level}>"


def paragraphs(*texts: object) -> str:
    """A paragraph a text; empty ones are left out."""
    return "".join(f"<p>{shown(text)}</p>" for text in texts if str(text))


def boxed(text: str) -> str:
    """A longer text of somebody else's, set apart."""
    return f'<div class="cc-text" tabindex="0">{shown(text)}</div>'


def nothing(why: str) -> str:
    """What stands where there is nothing to show."""
    return f"<p><b>Nothing to show:</b> {shown(why)}</p>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table."""
    top = "".join(f'<th scope="col">{shown(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{shown(first)}</th>'
        + "".join(f"<td>{shown(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    over = f"<caption>{shown(caption)}</caption>" if caption else ""
    return f'<table class="cc">{over}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def frame_table(frame: pd.DataFrame, caption: str = "") -> str:
    """A table of a DataFrame, without its index."""
    return table(list(frame.columns), frame.itertuples(index=False, name=None), caption)


def folded(summary: object, body: str) -> str:
    """HTML that opens under a line, without a script."""
    return f"<details><summary>{shown(summary)}</summary>{body}</details>"


def facts(pairs: Mapping[str, object]) -> str:
    """Labels and what they stand for, one a line."""
    body = "".join(
        f'<tr><th scope="row">{shown(name)}</th><td>{shown(value)}</td></tr>'
        for name, value in pairs.items()
    )
    return f'<table class="cc"><tbody>{body}</tbody></table>'


def image(figure: Figure, alt: str, *, dpi: int = 100) -> str:
    """A figure as a picture with the text that stands for it."""
    file = io.BytesIO()
    # No trace of the moment: the same state gives the same picture.
    figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode("ascii")
    width = round(figure.get_figwidth() * dpi)
    return f'<img class="cc" alt="{shown(alt)}" width="{width}" src="data:image/png;base64,{data}">'


def struck(full: str, short: str) -> str:
    """A text with what a shorter one dropped struck through, and what it put in underlined.

    Examples
    --------
    >>> struck("wait two full seconds", "wait two seconds")
    'wait two <del>full </del>seconds'
    """
    long = len(full.split()) + len(short.split()) > _WORDS
    # A word goes with the space behind it, so that two texts do not meet in spaces alone.
    pattern = r"[^\n]*\n|[^\n]+" if long else r"\S+\s*|\s+"
    before, after = re.findall(pattern, full), re.findall(pattern, short)
    parts = []
    matcher = difflib.SequenceMatcher(
        None, [piece.strip() for piece in before], [piece.strip() for piece in after],
        autojunk=False,
    )  # fmt: skip
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            parts.append(shown("".join(before[a:b])))
            continue
        if gone := "".join(before[a:b]):
            parts.append(f"<del>{shown(gone)}</del>")
        if new := "".join(after[c:d]):
            parts.append(f"<ins>{shown(new)}</ins>")
    return "".join(parts)
