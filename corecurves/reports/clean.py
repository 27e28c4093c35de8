"""HTML fragments made safe for a self-contained page: nothing runs, nothing is fetched."""

from __future__ import annotations

import base64
import html
import mimetypes
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["clean_css", "clean_html"]


def _set_of(names: str) -> frozenset[str]:
    return frozenset(names.split())


_TAGS = _set_of(
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em "
    "figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp "
    "section small span strong style sub summary sup table tbody td tfoot th thead time tr u ul "
    "var wbr circle clipPath defs desc ellipse g image line linearGradient marker path pattern "
    "polygon polyline radialGradient rect stop svg symbol text title tspan use"
)
_ATTRIBUTES = {
    "*": _set_of(
        "align class dir id lang open role scope style tabindex title valign "
        "clip-path clip-rule clipPathUnits cx cy d dominant-baseline dx dy fill fill-opacity "
        "fill-rule font-family font-size font-style font-weight gradientTransform gradientUnits "
        "height markerHeight markerUnits markerWidth offset opacity orient overflow "
        "patternTransform patternUnits points preserveAspectRatio r refX refY rx ry "
        "shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset "
        "stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width "
        "text-anchor transform version viewBox width x x1 x2 xml:space y y1 y2"
    ),
    "a": frozenset(("href",)),
    "col": frozenset(("span",)),
    "img": frozenset(("alt", "src")),
    "image": frozenset(("href", "xlink:href")),
    "ol": frozenset(("start", "reversed", "type")),
    "table": frozenset(("border",)),
    "td": frozenset(("colspan", "rowspan", "headers")),
    "th": frozenset(("colspan", "rowspan", "headers", "abbr")),
    "time": frozenset(("datetime",)),
    "use": frozenset(("href", "xlink:href")),
}
_EMPTIED = _set_of(
    "applet audio canvas embed frameset iframe math noembed noframes noscript object script select "
    "template textarea video xmp"
)
"""Elements whose content is no text for a reader."""
_TEXTS = frozenset(("alt", "aria-label", "title", "transform"))
_LINKS = ("#", "doi:", "http:", "https:", "mailto:")
_IMAGES = frozenset((".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"))
_CSS_RULES = frozenset(("container", "keyframes", "layer", "media", "page", "supports"))
_CSS_FUNCTIONS = _set_of(
    "attr calc clamp color color-mix conic-gradient counter cubic-bezier fit-content hsl hsla hwb "
    "lab lch light-dark linear-gradient matrix max min minmax oklab oklch radial-gradient repeat "
    "repeating-linear-gradient rgb rgba rotate scale scalex scaley skew skewx skewy steps "
    "translate translatex translatey var is not where has nth-child nth-of-type nth-last-child "
    "first-child lang dir"
)


def clean_html(fragment: str, *, folders: Sequence[Path] = ()) -> str:
    """Fragment without scripts and without anything that a browser would fetch.

    Examples
    --------
    >>> clean_html('<p onclick="x()">kept<script src="https://example.org/x.js"></script></p>')
    '<p>kept</p>'
    """
    if "<" not in fragment:
        return fragment
    import bs4
    import nh3

    known = nh3.clean(
        fragment,
        tags=set(_TAGS),
        clean_content_tags=set(_EMPTIED),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_kept_value,
        generic_attribute_prefixes={"aria-"},
        link_rel=None,
        url_schemes={"data", "doi", "http", "https", "mailto"},
    )
    if not any(name in known for name in ("<img", "<image", "<style")):
        return known
    soup = bs4.BeautifulSoup(known, "html.parser")
    for style in soup.find_all("style"):
        style.string = clean_css(style.get_text())
    for image in soup.find_all(["img", "image"]):
        _embed(image, folders)
    return str(soup)


def clean_css(css: str) -> str:
    """Style sheet, or the declarations of one element, that fetches nothing.

    Examples
    --------
    >>> clean_css("@import 'x.css'; p {background: url(https://example.org/x.png)}")
    ' p {background: none}'
    """
    import tinycss2

    # No style sheet needs "<", and none with it can end its element.
    tokens = tinycss2.parse_component_value_list(css.replace("<", ""))
    return str(tinycss2.serialize(_harmless(tokens)))


def _harmless(tokens: Iterable[Any]) -> list[Any]:
    """Tokens of CSS with what may fetch something left out, in their blocks too."""
    from tinycss2.ast import IdentToken

    kept: list[Any] = []
    skipping = False  # within a rule that is left out: up to its block or semicolon
    for token in tokens:
        if skipping:
            skipping = not (token.type == "{} block" or token == ";")
        elif token.type == "at-keyword" and token.lower_value not in _CSS_RULES:
            skipping = True
        elif _fetches(token):
            kept.append(IdentToken(token.source_line, token.source_column, "none"))
        else:
            for part in ("content", "arguments"):
                if hasattr(token, part):
                    setattr(token, part, _harmless(getattr(token, part)))
            kept.append(token)
    return kept


def _fetches(token: Any) -> bool:
    """Whether a token names a place outside the page, or is a function that might."""
    if token.type == "url":
        return not token.value.strip().startswith(("data:image/", "#"))
    if token.type != "function":
        return False
    if token.lower_name == "url":
        named = [part.value for part in token.arguments if part.type == "string"]
        return len(named) != 1 or not named[0].strip().startswith(("data:image/", "#"))
    return token.lower_name not in _CSS_FUNCTIONS


def _kept_value(tag: str, name: str, value: str) -> str | None:
    """The value of an allowed attribute, made harmless; None where nothing of it may stay."""
    if name in ("href", "xlink:href") and tag != "image":
        # What a browser ignores in an address is not looked at here either.
        target = "".join(char for char in value if ord(char) > 32).lower()
        return value if target.startswith("#" if tag == "use" else _LINKS) else None
    if name == "style" or (name not in _TEXTS and "(" in value):
        return clean_css(value)
    return value


def _embed(element: Any, folders: Sequence[Path]) -> None:
    source = str(element.get("src") or element.get("href") or element.get("xlink:href") or "")
    if source.lower().startswith("data:image/"):
        return
    data = _file_data(source, folders)
    if data:
        element["src"] = data
    else:
        text = str(element.get("alt") or element.get("title") or source or "no description")
        note = f'<span class="missing">[image, not in this page: {html.escape(text)}]</span>'
        import bs4

        element.replace_with(bs4.BeautifulSoup(note, "html.parser"))


def _file_data(source: str, folders: Sequence[Path]) -> str:
    parts = urlsplit(source)
    path = Path(unquote(parts.path))
    if parts.scheme or parts.netloc or path.is_absolute() or path.suffix.lower() not in _IMAGES:
        return ""
    for folder in folders:
        file = (folder / path).resolve()
        if file.is_relative_to(folder.resolve()) and file.is_file():
            mime = mimetypes.guess_type(file.name)[0] or "image/png"
            return f"data:{mime};base64,{base64.b64encode(file.read_bytes()).decode('ascii')}"
    return ""
