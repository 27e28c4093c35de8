"""What all explorers share: a box of controls that shows its own errors and has a static twin."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets

from corecurves.errors import CorecurvesError
from corecurves.explore.html import STYLE, nothing, shown
from corecurves.explore.job import Job
from corecurves.redact import Redactor

__all__ = ["Explorer", "nothing_to_show"]

_PATIENCE = 0.25
"""Seconds that a run may take before a progress bar is shown."""
_LOOK = 0.1
"""Seconds between two looks at a run that goes on."""


class Explorer(ipywidgets.VBox):  # type: ignore[misc]
    """A box of controls.

    Parameters
    ----------
    title : str
        What it explores, for readers that hear the page.
    """

    def __init__(self, title: str) -> None:
        self.fault = ipywidgets.HTML()
        self.bar = ipywidgets.IntProgress(description="running", min=0, max=1)
        self.cancel = ipywidgets.Button(
            description="Cancel", tooltip="Stop the run; no call is begun after this"
        )
        self.running = ipywidgets.HBox([self.bar, self.cancel], layout={"display": "none"})
        self._title = title
        self._quiet = False
        self._job: Job | None = None
        self._turn = threading.RLock()
        super().__init__()
        self.add_class("cc-explore")
        self.press(self.cancel, self.stop)

    def fill(self, *parts: Any) -> None:
        """Put the parts under each other, in the order of the tab key."""
        style = ipywidgets.HTML(f'{STYLE}<h3 class="cc">{shown(self._title)}</h3>')
        first, *rest = parts
        self.children = (style, first, self.fault, self.running, *rest)

    def twin(self) -> str:
        """Static HTML that shows what the controls show now: a figure and a table."""
        return nothing("the explorer is empty")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        bundle["text/plain"] = repr(self)
        body = self.twin() if not self.fault.value else self.fault.value + self.twin()
        bundle["text/html"] = f'<div class="cc-twin">{STYLE}{body}</div>'
        return bundle

    def __repr__(self) -> str:
        return f"<explorer: {self._title}>"

    def watch(self, control: Any, handler: Callable[[Any], None]) -> None:
        """Call a handler with each new value of a control."""

        def changed(change: Any) -> None:
            if not self._quiet:
                self.guarded(lambda: handler(change["new"]))

        control.observe(changed, names="value")

    def press(self, button: Any, handler: Callable[[], None]) -> None:
        """Call a handler when a button is pressed."""
        button.on_click(lambda _: self.guarded(handler))

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Setting of controls that calls no handler."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def guarded(self, work: Callable[[], None]) -> None:
        """Do something, and show in one line what it raises; what was shown before stays."""
        with self._turn:
            try:
                work()
            except Exception as error:
                self.tell(error)
            else:
                self.fault.value = ""

    def tell(self, error: Exception) -> None:
        """Show an error in one line."""
        lines = str(error).strip().splitlines() or ["no message"]
        line = lines[0] + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")
        if not isinstance(error, CorecurvesError):
            frames = traceback.extract_tb(error.__traceback__)
            place = f" ({frames[-1].name})" if frames else ""
            line = f"{type(error).__name__}: {line}{place}"
        self.fault.value = (
            f'<div class="cc-fault" role="alert">{shown(Redactor().text(line))}</div>'
        )

    def run(self, job: Job, then: Callable[[], None]) -> None:
        """Wait for a run; one that takes long gets a progress bar and leaves the controls free."""
        if self._job is not None:
            self._job.cancel()
        self._job = job
        if job.wait(_PATIENCE):
            self._ended(job, then)
            return
        self.bar.max, self.bar.value = max(1, job.total), job.done
        self.running.layout.display = None
        threading.Thread(
            target=self._follow, args=(job, then), name="corecurves-explore", daemon=True
        ).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for a run that goes on, as a report does before it shows the explorer."""
        until = None if seconds is None else time.monotonic() + seconds
        while (job := self._job) is not None:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not job.wait(left):
                return False
            # Its follower takes the turn, draws, and gives it back.
            time.sleep(_LOOK / 10)
        with self._turn:
            return True

    def stop(self) -> None:
        """Cancel the run that goes on."""
        if self._job is not None:
            self._job.cancel()

    def _follow(self, job: Job, then: Callable[[], None]) -> None:
        while not job.wait(_LOOK):
            if self._job is not job:
                return
            done = job.done
            self.bar.value = done
            self.bar.description = f"{done} of {job.total}"
        self.guarded(lambda: self._ended(job, then))

    def _ended(self, job: Job, then: Callable[[], None]) -> None:
        if self._job is not job:
            return
        self._job = None
        self.running.layout.display = "none"
        if job.cancelled:
            raise CorecurvesError(
                f"cancelled: {job.done} of {job.total} snapshots were done; what is shown is from "
                "before"
            )
        job.check()
        then()


def nothing_to_show(title: str, why: str) -> Explorer:
    """An explorer of nothing."""
    box = Explorer(title)
    message = nothing(why)
    box.fill(ipywidgets.HTML(message))
    box.twin = lambda: message  # type: ignore[method-assign]
    return box
