"""HTML fragments made safe for a self-contained page: nothing runs, nothing is fetched."""

from __future__ import annotations

import base64
import html
import mimetypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["clean_css", "clean_html"]

_DROPPED = re.compile(
    "applet|audio|base|embed|frame|frameset|iframe|link|meta|noscript|object|script|source|"
    "template|track|video"
)
_LOADING = re.compile("action|background|cite|data|formaction|longdesc|lowsrc|ping|poster|srcset")
_IMAGES = frozenset((".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"))


def clean_html(fragment: str, *, folders: Sequence[Path] = ()) -> str:
    """Fragment without scripts and without anything that a browser would fetch.

    Parameters
    ----------
    fragment : str
        HTML of a cell or of an output.
    folders : sequence of Path
        Where the files of relative images are looked for, to be embedded.

    Returns
    -------
    str
        Every element closed. An image that cannot be embedded is replaced by its text; links that
        a reader may follow stay.

    Examples
    --------
    >>> clean_html('<p onclick="x()">kept<script src="https://example.org/x.js"></script></p>')
    '<p>kept</p>'
    """
    if "<" not in fragment:
        return fragment
    import bs4
    from bs4.element import PreformattedString

    soup = bs4.BeautifulSoup(fragment, "html.parser")
    # Comments, CDATA and declarations end at another place in browsers than in this parser.
    for text in soup.find_all(string=lambda text: isinstance(text, PreformattedString)):
        text.extract()
    for element in soup.find_all(lambda element: bool(_DROPPED.fullmatch(element.name))):
        element.decompose()
    for element in soup.find_all(True):
        if not element.decomposed:
            _clean_element(element, folders)
    return str(soup)


def clean_css(css: str) -> str:
    """Style sheet that fetches nothing.

    Parameters
    ----------
    css : str
        The text of a ``<style>`` element or a ``style`` attribute.

    Returns
    -------
    str
        Without imports, and with every ``url()`` but embedded data and references within the page
        replaced by ``none``.

    Examples
    --------
    >>> clean_css("@import 'x.css'; p {background: url(https://example.org/x.png)}")
    ' p {background: none}'
    """
    css = re.sub(r"@import[^;]*(;|$)", "", css.replace("<", ""), flags=re.IGNORECASE)
    css = re.sub(r"@font-face\s*\{[^}]*\}", "", css, flags=re.IGNORECASE)
    css = re.sub(r"[\w-]*image-set\((?:[^()]|\([^)]*\))*\)", "none", css, flags=re.IGNORECASE)
    call = r"""(?:url|src)\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*\)"""
    return re.sub(call, _kept_reference, css, flags=re.IGNORECASE)


def _kept_reference(found: re.Match[str]) -> str:
    return found[0] if found[1].strip("\"' ").startswith(("data:image/", "#")) else "none"


def _clean_element(element: Any, folders: Sequence[Path]) -> None:
    if element.name == "style":
        element.string = clean_css(element.get_text())
    for name, value in list(element.attrs.items()):
        text = " ".join(value) if isinstance(value, list) else str(value)
        local = name.rpartition(":")[2].lower()
        if local.startswith("on") or _LOADING.fullmatch(local):
            del element[name]
        elif local == "style" or "url(" in text.lower():
            element[name] = clean_css(text)
        elif (local == "href" and not _may_link(element.name, text)) or (
            local == "src" and element.name != "img"
        ):
            del element[name]
    if element.name in ("img", "image"):
        _embed(element, folders)


def _may_link(element: str, target: str) -> bool:
    target = re.sub(r"[\x00-\x20]", "", target).lower()
    if target.startswith("#"):
        return True
    if element == "image":
        return target.startswith("data:image/")
    return element == "a" and target.startswith(("http:", "https:", "mailto:", "doi:"))


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
