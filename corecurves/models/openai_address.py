"""The address of an endpoint: read strictly, so that no prompt goes where it is not meant to."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from corecurves.errors import UsageError

__all__ = ["OWN", "advice", "endpoint_of", "is_local", "split_name"]

OWN = "https://api.openai.com/v1"
_VARIABLE = "OPENAI_BASE_URL"
_FORM = "openai:NAME@http://HOST:PORT/v1?setting=value"
_CALLS = re.compile(r"/(chat/completions|completions|responses|models|embeddings)$")


def split_name(argument: str) -> tuple[str, str | None]:
    """Name and address in what stands after ``openai:``.

    Examples
    --------
    >>> split_name("org/m@1@http://localhost:80/v1")
    ('org/m@1', 'http://localhost:80/v1')
    """
    name, mark, base_url = re.sub(
        "@(?=[a-z][a-z0-9+.-]*://)", "\0", argument, count=1, flags=re.IGNORECASE
    ).partition("\0")
    name = name.strip()
    if not name:
        raise UsageError("'openai' needs a model; write openai:NAME or openai:NAME@BASE_URL")
    if "://" in name or "&" in name or (not mark and "@" in name):
        # Taken as a name, all of it would go to the default endpoint.
        raise UsageError(
            f"'openai:{name}' cannot be read: an address stands after the name and an @, and "
            f"begins with http:// or https://; write {_FORM}"
        )
    return name, base_url if mark else None


def endpoint_of(base_url: str | None) -> str:
    """Address of an endpoint, checked."""
    named = os.environ.get(_VARIABLE)
    where = f" in {_VARIABLE}" if base_url is None and named is not None else ""
    url = (base_url if base_url is not None else OWN if named is None else named).strip()
    try:
        parts = urlsplit(url)
        found = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        found = None
    if not found or re.search(r"\s", url):
        raise UsageError(f"the endpoint{where} is no address; write {_FORM}")
    if re.search("[?#&@]", url):
        raise UsageError(
            f"the endpoint{where} holds more than an address; write {_FORM}, and name the variable "
            "that holds the key with key_env=NAME"
        )
    url = url.rstrip("/")
    if call := _CALLS.search(url):
        raise UsageError(
            f"the endpoint{where} ends with {call[0]}, which is added to each call; write "
            f"{url.removesuffix(call[0])}"
        )
    return url


def is_local(url: str) -> bool:
    """Whether an endpoint is on this machine.

    Examples
    --------
    >>> is_local("http://127.0.0.1:8080/v1"), is_local(OWN)
    (True, False)
    """
    host = str(urlsplit(url).hostname).rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def advice(status: int | None, name: str, url: str, *, keyless: bool) -> str:
    """What to write instead, where a refusal is likely to be about the address or the key.

    Examples
    --------
    >>> advice(404, "m", "http://localhost:80", keyless=True)
    '; if the endpoint is meant, write openai:m@http://localhost:80/v1'
    """
    if status in (401, 403) and keyless:
        return (
            f"; no key was sent: name the variable that holds it, openai:{name}@{url}?key_env=NAME"
        )
    if status in (None, 200, 404, 405) and not urlsplit(url).path:
        return f"; if the endpoint is meant, write openai:{name}@{url}/v1"
    if status in (404, 405):
        return f"; is there a {url}/chat/completions, and the model {name}?"
    return ""
