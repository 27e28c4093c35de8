"""Systems that another interpreter can import, for `test_elsewhere`."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import corecurves as cc

HERE = os.getpid()
"""Of the process that imported this first; a replay's interpreter has another."""


class Page:
    def __init__(self, system):
        self.system, self.heard = system, []

    def turn(self, text):
        self.heard.append(text)
        return self.system.answer(self.heard)


class Hashed:
    """Its trace depends on the hash seed of its process."""

    identity = cc.Identity("hashed", "1")

    def start(self):
        return Page(self)

    def answer(self, heard):
        print("must not reach the pipe")
        return cc.Turn("", trace_hash=str(hash(heard[-1])))


class Stays(Hashed):
    travels = False


class Says(Hashed):
    """Tells in which process and under which seed it answers."""

    def answer(self, heard):
        seed = os.environ.get("PYTHONHASHSEED", "")
        return cc.Turn("x", trace_hash=f"{os.getpid()} {seed}")


class Dies(Hashed):
    """Ends its process where that is not the one that it was made in."""

    def __init__(self):
        self.home = os.getpid()

    def answer(self, heard):
        if os.getpid() != self.home:
            os._exit(3)
        return cc.Turn("x", trace_hash="x")


class Slow(Hashed):
    """Writes a line before each answer, which takes a while."""

    def __init__(self, path, asynchronous):
        self.path, self.asynchronous = str(path), asynchronous

    def start(self):
        return LaterPage(self) if self.asynchronous else Page(self)

    def answer(self, heard):
        self.log()
        time.sleep(0.05)
        return cc.Turn("x", trace_hash="x")

    def log(self):
        with Path(self.path).open("a") as file:
            file.write(f"{os.getpid()}\n")


class LaterPage(Page):
    async def turn(self, text):
        self.system.log()
        await asyncio.sleep(0.05)
        return cc.Turn("x", trace_hash="x")
