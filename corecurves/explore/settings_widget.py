"""Controls for the settings of the system that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from corecurves.explore.layout import row
from corecurves.explore.shell import Explorer
from corecurves.explore.systems import Choice, Setting, configured

__all__ = ["SettingsRow"]


class SettingsRow:
    """A control a setting, made once a system.

    Parameters
    ----------
    owner : Explorer
        Whose handlers they call.
    changed : callable
        Called after a setting was changed to a value that fits.
    """

    def __init__(self, owner: Explorer, changed: Callable[[], None]) -> None:
        self._owner, self._changed = owner, changed
        self._made: dict[str, dict[str, Any]] = {}
        self.box = row()
        self.choice = Choice("", "blank")
        self.system: object = "blank"

    @property
    def controls(self) -> dict[str, Any]:
        """Controls of the system that is chosen, by setting."""
        return self._made.get(self.choice.label, {})

    def show(self, choice: Choice) -> None:
        """Show the settings of a system, as they were left."""
        if choice.label not in self._made:
            made = {setting.name: _control(setting) for setting in choice.settings()}
            self._made[choice.label] = made
            for control in made.values():
                self._owner.watch(control, lambda _: self._set())
        system = self._configured(choice)
        self.choice, self.system = choice, system
        self.box.children = tuple(self.controls.values())

    def _set(self) -> None:
        self.system = self._configured(self.choice)
        self._changed()

    def _configured(self, choice: Choice) -> object:
        controls = self._made[choice.label]
        return configured(choice.source, {n: _text(c.value) for n, c in controls.items()})


def _control(setting: Setting) -> Any:
    kinds = {bool: ipywidgets.Checkbox, int: ipywidgets.IntText, float: ipywidgets.FloatText}
    make = kinds.get(setting.kind, ipywidgets.Text) if setting.kind else ipywidgets.Text
    wide = setting.kind is None and isinstance(setting.value, str)
    about: dict[str, Any] = {
        "description": setting.name,
        "tooltip": f"The setting {setting.name} of the system",
        "style": {"description_width": "initial"},
        "layout": {"width": "280px" if wide else "190px"},
    }
    if make is ipywidgets.FloatText:
        about["step"] = 0.05
    if make is not ipywidgets.Checkbox:
        about["continuous_update"] = False
    return make(value=_text(setting.value) if setting.kind is None else setting.value, **about)


def _text(value: object) -> str:
    return "none" if value is None else str(value)
