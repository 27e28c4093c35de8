"""What the explorers' tests share: markup that must not run, a slow system, views of a box."""

from __future__ import annotations

import threading
import time

import bs4
import ipywidgets

from corecurves.canonical import digest
from corecurves.specs import Identity
from corecurves.systems.base import Turn

PLANTED = "<script>planted()</script><img src=x onerror=planted()>\"'& $x^2$"


def inside(widget):
    """All widgets of a box, in the order of the tab key."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def shown(explorer):
    """Everything that is shown, as text."""
    html = "".join(w.value for w in inside(explorer) if isinstance(w, ipywidgets.HTML))
    soup = bs4.BeautifulSoup(html, "html.parser")
    for style in soup.find_all("style"):
        style.decompose()
    return soup.get_text(" ")


class Slow:
    """Says what it was told; each turn takes a while, and is counted when it begins."""

    def __init__(self, seconds=0.05):
        self.identity = Identity("slow", "1")
        self.seconds = seconds
        self.turns = 0
        self.lock = threading.Lock()

    def start(self):
        return SlowSession(self)


class SlowSession:
    def __init__(self, system):
        self.system = system
        self.heard = []

    def turn(self, text):
        with self.system.lock:
            self.system.turns += 1
        time.sleep(self.system.seconds)
        answer = " ".join(self.heard) if text.endswith("?") else "noted"
        self.heard.append(text)
        return Turn(answer, trace_hash=digest(self.heard))
