"""The optional fields of a request, as far as an endpoint takes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from corecurves.engine.sink import remark
from corecurves.models.openai_address import OWN

__all__ = ["OPTIONAL", "Fields"]

OPTIONAL = ("seed", "temperature", "max_tokens")
_LENGTH, _NEW_LENGTH = "max_tokens", "max_completion_tokens"
_LOST = {
    "seed": "its samples cannot be reproduced",
    "temperature": "it samples as it likes",
    _LENGTH: "its replies have no bound",
}


class Fields:
    """What the optional fields are called at an endpoint.

    Calls that are under way at once may each be refused; what one of them learns holds for all.

    Parameters
    ----------
    base_url : str
        The endpoint.
    omitted : collection of str
        Fields that are not to be sent.
    """

    def __init__(self, base_url: str, omitted: Collection[str]) -> None:
        self._own = base_url == OWN
        self._names = {field: field for field in OPTIONAL if field not in omitted}
        if self._own and _LENGTH in self._names:
            self._names[_LENGTH] = _NEW_LENGTH

    @property
    def names(self) -> dict[str, str]:
        """Those that are sent, each with its name there."""
        return dict(self._names)

    def without(self, field: str, names: Mapping[str, str]) -> bool:
        """Leave out a field that was refused, or send it under its newer name."""
        if self._names.get(field) == names[field]:
            if field != _LENGTH:
                del self._names[field]
            elif names[field] == _NEW_LENGTH:
                return False
            else:
                self._names[field] = _NEW_LENGTH
        return True

    def remark(self, there: str, names: Mapping[str, str]) -> None:
        """Have it kept with the cell what its call did not say."""
        for field in OPTIONAL:
            if field not in names:
                remark(f"{there} is not sent `{field}`: {_LOST[field]}")
        if names.get(_LENGTH) == _NEW_LENGTH and not self._own:
            remark(f"{there} is sent `{_LENGTH}` as `{_NEW_LENGTH}`")
