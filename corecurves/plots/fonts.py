"""Fonts that have the characters of a text, among those that are installed."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

__all__ = ["fonts_for"]


def fonts_for(text: str, font: FontProperties) -> tuple[list[str], set[str]]:
    """Families in which every character of a text can be drawn."""
    from matplotlib import font_manager

    families = list(font.get_family())
    needed = {char for char in text if not char.isspace()}
    for family in families:
        own = font.copy()
        own.set_family(family)
        needed -= _characters(font_manager.findfont(own))
    for name, file in _installed() if needed else ():
        if found := needed & _characters(file):
            families.append(name)
            needed -= found
        if not needed:
            break
    return families, needed


@lru_cache(maxsize=1)
def _installed() -> tuple[tuple[str, str], ...]:
    """Upright fonts of ordinary weight, by family; the last resort, which has boxes, is none."""
    from matplotlib.font_manager import fontManager

    found = {
        one.name: one.fname
        for one in fontManager.ttflist
        if one.style == "normal" and one.weight in (400, "normal", "regular", "book")
    }
    odd = ("last resort", "stixsize", "stixnonunicode", "dejavu sans display", "cm")
    return tuple(sorted((n, f) for n, f in found.items() if not n.lower().startswith(odd)))


@cache
def _characters(file: str) -> frozenset[str]:
    from matplotlib.font_manager import get_font

    try:
        return frozenset(map(chr, get_font(file).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()
