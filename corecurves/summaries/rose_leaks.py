"""What leaked out of a rose run, in words: counted, and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["leaks_line", "nothing_left"]

_NAMED = 5


def leaks_line(summary: xr.Dataset) -> str:
    """Line on the episodes that leaked into shorter levels."""
    leaked = summary.leaked_pair.values
    if not leaked.any():
        return ""
    names = list(dict.fromkeys(summary.episode_id.values[leaked.any(axis=2)].tolist()))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    many = int(leaked.sum())
    line = (
        f"{many} of {counted(summary.pair.values.sum(), 'episode-level pair')} leaked and "
        f"{'is' if many == 1 else 'are'} left out ({', '.join(names[:_NAMED])}{more})"
    )
    gone = nothing_left(summary)
    return f"{line}; nothing is left of {', '.join(gone)}" if gone else line


def nothing_left(summary: xr.Dataset) -> tuple[str, ...]:
    """Levels of which nothing is left, for every held-out episode leaked into them."""
    return tuple(map(str, summary.level.values[summary.nothing_left.values]))
