"""What a .gguf file says of its model before the weights, as far as it decides how it is asked."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from corecurves.errors import UsageError

__all__ = ["Header", "read_header"]

_FIRST_TENSOR = b"token_embd.weight"
_RECURRENT = re.compile(rb"[a-z0-9_-]\.(ssm|wkv|shortconv)\.[a-z_]+")


@dataclass(frozen=True)
class Header:
    """What is asked of a file's header.

    Parameters
    ----------
    template : bool
        Whether it holds a chat template. llama.cpp takes one of its own where there is none.
    recurrent : bool
        Whether the model has a recurrent memory, alone or beside its attention.
    """

    template: bool
    recurrent: bool


def read_header(path: Path) -> Header:
    """Header of a file."""
    try:
        about = path.stat()
        return _read(path, about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


@lru_cache(maxsize=16)
def _read(path: Path, size: int, changed: int) -> Header:
    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise UsageError(f"{path} is no .gguf file; give the weights in llama.cpp's own format")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            # Names of tensors come after all that is said of the model.
            first = data.find(_FIRST_TENSOR)
            end = size if first < 0 else first
            template = data.find(b"tokenizer.chat_template", 0, end) >= 0
            return Header(template, _RECURRENT.search(data, 0, end) is not None)
