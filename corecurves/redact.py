"""Secrets: names that look like keys, and values that no written file may hold."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

__all__ = ["Redactor", "is_key_like", "spellings"]

_T = TypeVar("_T")

_SECRET_WORD = re.compile(
    "apikey|auth|authorization|bearer|credentials?|passphrase|passwd|passwords?|pwd|secrets?"
)
_KEY_OWNER = re.compile(
    "access|api|auth|account|client|deploy|encryption|gpg|license|private|secret|signing|ssh|"
    "anthropic|azure|aws|gcp|gemini|google|hf|huggingface|mistral|openai"
)
_INNOCENT = {
    "key": re.compile(
        "cache|cell|colou?r|column|dict|group|index|join|lookup|plan|primary|row|sort"
    ),
    "token": re.compile("bos|end|eos|expected|first|last|mask|pad|sep|start|stop|unk"),
}
_POINTER = re.compile("env|envvar|file|name|path|var|variable")
_SHORTEST = 6
"""Shorter values are no secrets, and would be found in ordinary words."""


def is_key_like(name: str) -> bool:
    """Whether a name looks as if its value were a secret.

    Examples
    --------
    >>> is_key_like("api_key"), is_key_like("hf_token"), is_key_like("max_tokens")
    (True, True, False)
    """
    spelled = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    *before, last = spelled.strip("_").split("_")
    if _POINTER.fullmatch(last):
        return False
    if any(_SECRET_WORD.fullmatch(word) for word in (*before, last)):
        return True
    if re.fullmatch(rf"({_KEY_OWNER.pattern})(key|token)s?", last):
        return True
    if last in ("keys", "tokens"):
        return any(_KEY_OWNER.fullmatch(word) for word in before)
    return last in _INNOCENT and not any(_INNOCENT[last].fullmatch(word) for word in before)


class Redactor:
    """Takes the values of secret environment variables out of texts.

    Parameters
    ----------
    environment : mapping of str to str, optional
        Default: this process's own. Taken are the variables whose last word is ``KEY``, ``TOKEN``,
        ``SECRET``, ``PASSWORD`` or the like.

    Examples
    --------
    >>> Redactor({"ACME_API_KEY": "sk-test-000"}).text("refused: sk-test-000")
    'refused: [redacted: ACME_API_KEY]'
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        self._names: dict[str, str] = {}
        for name, value in environment.items():
            value = value.strip()
            if len(value) >= _SHORTEST and re.search(
                r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", name.upper()
            ):
                for form in spellings(value):
                    self._names[form] = name
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def text(self, text: str) -> str:
        """Text without secrets."""
        return self._pattern.sub(lambda found: f"[redacted: {self._names[found[0]]}]", text)

    def tree(self, value: _T) -> _T:
        """Nested lists and dicts without secrets, in place where they can be changed."""
        if isinstance(value, str):
            return self.text(value)  # type: ignore[return-value]
        if isinstance(value, dict):
            for key, item in list(value.items()):
                if _is_image(key) and isinstance(item, str):
                    continue
                clean = self.text(key) if isinstance(key, str) else key
                if clean != key:
                    del value[key]
                value[clean] = self.tree(item)
        elif isinstance(value, list):
            value[:] = [self.tree(item) for item in value]
        return value


def _is_image(key: object) -> bool:
    return isinstance(key, str) and bool(re.fullmatch(r"image/(?!svg)[\w.+-]+", key))


def spellings(value: str) -> set[str]:
    """Ways to spell a value: as text, JSON, JSON within JSON, Python, HTML and a URL do.

    Examples
    --------
    >>> spellings("sk-test-000")
    {'sk-test-000'}
    """
    once = json.dumps(value)[1:-1]
    return {
        value,
        once,
        json.dumps(once)[1:-1],
        html.escape(once),
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
        html.escape(value),
        html.escape(value, quote=False),
        quote(value, safe=""),
        quote(value),
    }
