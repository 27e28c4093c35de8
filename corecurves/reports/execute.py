"""A notebook run from top to bottom, through papermill, in a kernel of this very interpreter."""

from __future__ import annotations

import math
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from corecurves.errors import ReportError
from corecurves.reports.notebook import Notebook, nbformat_package, quiet
from corecurves.text import counted

__all__ = ["Failure", "execute"]

_START_TIMEOUT = 60
_FIRST_LINE_AFTER = 15.0
_LINE_EVERY = 60.0


@dataclass(frozen=True)
class Failure:
    """The cell that ended a run.

    Parameters
    ----------
    index : int
        Place among the notebook's cells, from 0.
    number : int
        Execution count that Jupyter shows at it.
    error : str
        What happened, in one line.
    """

    index: int
    number: int
    error: str


def execute(
    notebook: Notebook, name: str, *, progress: bool = True, timeout: float | None = None
) -> Failure | None:
    """Outputs of every cell, written into the notebook in place, up to the first that fails.

    Examples
    --------
    >>> from corecurves.reports.notebook import as_notebook
    >>> execute(as_notebook("sample_efficiency.ipynb"), "lane")  # doctest: +SKIP
    """
    for attempt in (1, 2):  # another program can take the kernel's port in between
        with tempfile.TemporaryDirectory(prefix="corecurves-kernel-") as scratch:
            try:
                return _run(notebook, name, Path(scratch), progress=progress, timeout=timeout)
            except _NoKernelError as error:
                if attempt == 2:
                    raise ReportError(f"{name}: no kernel starts: {error}") from error
    raise AssertionError("unreachable")


class _NoKernelError(Exception):
    """The kernel died, or said nothing, before the first cell."""


def _run(
    notebook: Notebook, name: str, scratch: Path, *, progress: bool, timeout: float | None
) -> Failure | None:
    with quiet():
        from nbclient.exceptions import CellTimeoutError, DeadKernelError
        from papermill.engines import papermill_engines

    notebook.metadata.setdefault("papermill", {})
    started: list[int] = []
    log = scratch / "log"
    (scratch / "ipython").mkdir()
    with _shown(notebook, name, progress) as step, log.open("w") as stream, quiet():

        def on_start(cell: Notebook, cell_index: int) -> None:
            started.append(cell_index)
            step(len(started) - 1)

        try:
            papermill_engines.execute_notebook_with_engine(
                None,
                notebook,
                kernel_name="python3",
                progress_bar=False,
                autosave_cell_every=0,
                start_timeout=_START_TIMEOUT,
                execution_timeout=None if timeout is None else math.ceil(timeout),
                kernel_manager_class=_own_kernel(scratch, stream),
                on_cell_execute=on_start,
            )
        except CellTimeoutError:
            return _failure(notebook, started, f"took longer than {timeout:g} s")
        except DeadKernelError:
            return _failure(notebook, started, "the kernel died")
        except RuntimeError as error:
            if started:
                raise
            last = log.read_text(errors="replace").strip().rpartition("\n")[2]
            raise _NoKernelError(last or str(error)) from error
    for index, cell in enumerate(notebook.cells):
        if cell.metadata.papermill.get("exception") is True:
            if _ends_well(cell):
                _say_ended(notebook, index)
                return None
            return _failure(notebook, [*started, index], _error_of(cell))
    return None


def _ends_well(cell: Notebook) -> bool:
    """Whether the cell ended the notebook as a program does that ends well, by sys.exit(0)."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    return bool(errors) and all(
        error.ename == "SystemExit" and str(error.evalue).strip() in ("", "0", "None", "False")
        for error in errors
    )


def _say_ended(notebook: Notebook, index: int) -> None:
    """A line in place of the exception, so that nobody takes the cells below for empty ones."""
    below = sum(
        cell.cell_type == "code" and bool(cell.source.strip())
        for cell in notebook.cells[index + 1 :]
    )
    cell = notebook.cells[index]
    cell.outputs = [output for output in cell.outputs if output.output_type != "error"]
    line = f"The notebook ends here, by sys.exit: {counted(below, 'cell')} below not run.\n"
    cell.outputs.append(nbformat_package().v4.new_output("stream", name="stdout", text=line))


def _failure(notebook: Notebook, started: list[int], error: str) -> Failure:
    index = started[-1]
    number = notebook.cells[index].get("execution_count")
    return Failure(index, number or len(dict.fromkeys(started)), error)


def _error_of(cell: Notebook) -> str:
    for output in cell.outputs:
        if output.output_type == "error":
            text = re.sub(r"\x1b\[[0-9;]*m", "", str(output.evalue)).strip()
            line = f"{output.ename}: {text.partition(chr(10))[0]}" if text else output.ename
            return line if len(line) <= 300 else f"{line[:297]}..."
    # A magic that fails says so on stderr alone.
    said = "".join(output.text for output in cell.outputs if output.get("name") == "stderr")
    return said.strip().rpartition("\n")[2][:300] or "it failed without saying why"


def _own_kernel(scratch: Path, log: IO[str]) -> Any:
    """Class of kernel managers that start this interpreter and write in `scratch` alone.

    A kernel spec of the user's may name another interpreter, and an IPython profile may run
    anything first; neither belongs in a report.
    """
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    spec = KernelSpec(**get_kernel_dict([f"--ipython-dir={scratch / 'ipython'}"]))

    class OwnKernel(AsyncKernelManager):
        def __init__(self, **traits: Any) -> None:
            super().__init__(**traits, connection_file=str(scratch / "connection.json"))

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            await self._async_start_kernel(**options, stdout=log, stderr=log)

    return OwnKernel


@contextmanager
def _shown(notebook: Notebook, name: str, progress: bool) -> Iterator[Any]:
    """Function to call with the number of cells that are done."""
    total = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)
    if not progress:
        yield lambda done: None
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=name, unit="cell", leave=False, file=sys.stderr) as bar:
            yield lambda done: bar.update(done - bar.n)
    else:
        due = time.monotonic() + _FIRST_LINE_AFTER

        def line(done: int) -> None:
            nonlocal due
            if time.monotonic() >= due:
                print(f"{name}: {done} of {total} cells done", file=sys.stderr, flush=True)
                due = time.monotonic() + _LINE_EVERY

        yield line
