"""The editable table of corrections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from corecurves.explore.edits import Edits, adds_text
from corecurves.explore.html import heading
from corecurves.explore.shell import Explorer
from corecurves.markup import printable

__all__ = ["EditsTable"]


class EditsTable:
    """Rows of controls, made once and used again, so that each control has one handler.

    Parameters
    ----------
    owner : Explorer
        Whose handlers they call.
    changed : callable
        Called with the new table after each edit.
    """

    def __init__(self, owner: Explorer, changed: Callable[[Edits], None]) -> None:
        self._owner, self._changed = owner, changed
        self._edits: Edits | None = None
        self.rows: list[_Row] = []
        self.add = _button("Add a correction", "Add an empty correction at the end", "auto")
        self.reset = _button("Back to the original", "Undo all edits", "auto")
        self._list = ipywidgets.VBox([])
        title = ipywidgets.HTML(heading("Corrections: edit, move, drop, add", 4))
        self.box = ipywidgets.VBox([title, self._list, ipywidgets.HBox([self.add, self.reset])])
        owner.press(self.add, lambda: changed(self.edits.add(len(self.edits.corrections))))
        owner.press(self.reset, lambda: changed(Edits.of(self.edits.original)))

    @property
    def edits(self) -> Edits:
        """What stands in the table."""
        assert self._edits is not None
        return self._edits

    def show(self, edits: Edits) -> None:
        """Show a table."""
        self._edits = edits
        while len(self.rows) < len(edits.corrections):
            self.rows.append(_Row(self, len(self.rows)))
        with self._owner.quietly():
            for line, correction in zip(self.rows, edits.corrections, strict=False):
                _set(line.text, correction.text)
                _set(line.adds, adds_text(correction.adds))
        last = len(edits.corrections) - 1
        for at, line in enumerate(self.rows[: last + 1]):
            line.up.disabled, line.down.disabled = at == 0, at == last
        shown = tuple(line.box for line in self.rows[: last + 1])
        if shown != self._list.children:
            self._list.children = shown


class _Row:
    """One correction."""

    def __init__(self, table: EditsTable, at: int) -> None:
        owner, n = table._owner, at + 1
        self.text = ipywidgets.Text(
            description=f"{n}", continuous_update=False, tooltip=f"Correction {n}: what is said",
            style={"description_width": "18px"}, layout={"flex": "2 1 200px", "min_width": "0"},
        )  # fmt: skip
        self.adds = ipywidgets.Text(
            description="adds", continuous_update=False,
            tooltip=f"Correction {n}: the token that it adds; forms are separated by |",
            placeholder="nothing", style={"description_width": "32px"},
            layout={"flex": "1 1 140px", "min_width": "0"},
        )  # fmt: skip
        self.up = _button("↑", f"Move correction {n} up")
        self.down = _button("↓", f"Move correction {n} down")
        self.drop = _button("✕", f"Drop correction {n}")
        self.box = ipywidgets.HBox(
            [self.text, self.adds, self.up, self.down, self.drop], layout={"width": "100%"}
        )
        owner.watch(self.text, lambda text: table._changed(table.edits.say(at, text)))
        owner.watch(self.adds, lambda adds: table._changed(table.edits.expect(at, adds)))
        owner.press(self.up, lambda: table._changed(table.edits.move(at, -1)))
        owner.press(self.down, lambda: table._changed(table.edits.move(at, 1)))
        owner.press(self.drop, lambda: table._changed(table.edits.drop(at)))


def _button(name: str, tooltip: str, width: str = "32px") -> Any:
    layout = {"width": width, "flex": "0 0 auto", "padding": "0 8px" if width == "auto" else "0"}
    return ipywidgets.Button(description=name, tooltip=tooltip, layout=layout)


def _set(control: Any, text: str) -> None:
    """Show a text as a browser can take it; the table keeps it as it is."""
    if control.value != printable(text):
        control.value = printable(text)
