"""Ctrl-C in a terminal and the stop button in a notebook, against an endpoint on loopback."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time

import pytest
from faults.material import ARMS, bench, told
from faults.servers import Endpoint, answer

import corecurves as cc
from corecurves.cli import main

pytest.importorskip("openai")

SLOW = 0.25
"""Seconds that the endpoint takes for an answer, so that calls are pending when it stops."""

CONCURRENCY = 8

# A terminal of its own: what is typed there reaches the process as it would a user's.
IN_A_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from corecurves.cli import main
main()
"""


def slowly(call):
    from dataclasses import replace

    return replace(answer(call.messages, call.body["seed"]), after=SLOW)


@pytest.fixture
def endpoint():
    with Endpoint(slowly) as server:
        yield server


class Terminal:
    """A command in a pseudo-terminal."""

    def __init__(self, args):
        self.keyboard, inside = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_A_TERMINAL, *args],
            stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
        )  # fmt: skip
        os.close(inside)

    def press_ctrl_c(self):
        os.write(self.keyboard, b"\x03")

    def rest(self, seconds=30.0):
        """What it shows until it ends, with the time that this took."""
        began, shown = time.monotonic(), b""
        while True:
            left = began + seconds - time.monotonic()
            if left <= 0 or not select.select([self.keyboard], [], [], left)[0]:
                self.process.kill()
                pytest.fail(f"the command did not end within {seconds} s: {shown.decode()}")
            try:
                found = os.read(self.keyboard, 65536)
            except OSError:  # its terminal is gone
                found = b""
            if not found:
                break
            shown += found
        code = self.process.wait(timeout=seconds)
        os.close(self.keyboard)
        return code, shown.decode().replace("\r\n", "\n"), time.monotonic() - began


def commands(endpoint, folder):
    ledger = str(folder / "my run.sqlite")
    model = endpoint.spec(timeout=20)
    return {
        "rose": ["rose", "eval", str(bench(folder / "bench", 8)), "--model", model, "--grader",
                 "checklist", "--samples", "1", "--ledger", ledger],
        "lane": ["lane", "dev", "--system", f"in-context:{model}", "--replays", "1", "--ledger",
                 ledger],
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("question", ["rose", "lane"])
def test_ctrl_c_in_a_terminal(endpoint, tmp_path, capsys, question):
    args = commands(endpoint, tmp_path)[question]
    terminal = Terminal(args)
    endpoint.wait_for(12)
    stopped, answered = time.monotonic(), endpoint.answered
    terminal.press_ctrl_c()
    code, shown, took = terminal.rest()
    time.sleep(1)
    last = max(call.at for call in endpoint.calls) - stopped
    before = len(endpoint.calls)
    lines = [line for line in shown.splitlines() if "resume with: " in line]
    assert code == 130
    assert "Traceback" not in shown
    assert last < 1
    kept, whole = map(int, re.search(r"interrupted: (\d+) of (\d+) cells are done", shown).groups())
    # Every answer that came back is in the file itself, with nothing left beside it.
    files = [path.name for path in tmp_path.iterdir() if path.name.startswith("my run")]
    assert files == ["my run.sqlite"]
    assert answered - CONCURRENCY <= kept <= before < whole

    command = shlex.split(lines[0].partition("resume with: ")[2])
    assert command == ["corecurves", *args]
    endpoint.replies = lambda call: answer(call.messages, call.body["seed"])
    with pytest.raises(SystemExit) as stop:
        main(command[1:])
    capsys.readouterr()
    assert stop.value.code == 0
    told(
        f"Ctrl-C, {question}",
        {
            "cells": whole,
            "kept": kept,
            "seconds to the end": f"{took:.2f}",
            "last call after": f"{max(last, 0):.2f} s",
            "calls to finish": len(endpoint.calls) - before,
        },
    )
    assert len(endpoint.calls) - before == whole - kept


IN_A_NOTEBOOK = {
    "plain": "ds = cc.run_rose_eval({store!r}, {model!r}, **options)",
    "awaited": "ds = await cc.arun_rose_eval({store!r}, {model!r}, **options)",
    "lane": "ds = cc.run_lane('dev', 'in-context:' + {model!r}, replays=1, **at)",
}


@pytest.fixture(scope="module")
def kernel():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=90)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run_cell(client, code, seconds=60.0):
    """What came of a cell: status, and what it wrote."""
    number = client.execute(code)
    return outcome(client, number, seconds)


def outcome(client, number, seconds=60.0):
    written, end = "", time.monotonic() + seconds
    while True:
        message = client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
        if message["parent_header"].get("msg_id") != number:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            written += content["text"]
        if message["msg_type"] == "error":
            written += "\n".join(content["traceback"])
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            break
    while True:
        reply = client.get_shell_msg(timeout=max(0.1, end - time.monotonic()))
        if reply["parent_header"]["msg_id"] == number:
            return reply["content"]["status"], written


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("form", IN_A_NOTEBOOK)
def test_the_stop_button_in_a_notebook(endpoint, tmp_path, kernel, form):
    manager, client = kernel
    ledger = tmp_path / "run.sqlite"
    first = (
        "import corecurves as cc\n"
        f"at = dict(ledger={str(ledger)!r}, progress=False)\n"
        f"options = dict(at, grader='checklist', samples=1, arms={ARMS!r})"
    )
    assert run_cell(client, first)[0] == "ok"
    code = IN_A_NOTEBOOK[form].format(
        store=str(bench(tmp_path / "bench", 8)), model=endpoint.spec(timeout=20)
    )
    number = client.execute(code)
    endpoint.wait_for(12)
    stopped, answered = time.monotonic(), endpoint.answered
    manager.interrupt_kernel()
    status, written = outcome(client, number)
    took = time.monotonic() - stopped
    time.sleep(1)  # the kernel lives on, and must be silent
    last = max(call.at for call in endpoint.calls) - stopped
    before = len(endpoint.calls)
    assert status == "error"
    assert last < 1
    assert took < 15
    plain = re.sub(r"\x1b\[[0-9;]*m", "", written)
    kept, whole = map(int, re.search(r"(\d+) of (\d+) cells are done and kept", plain).groups())
    assert "the same call resumes there" in plain
    assert answered - CONCURRENCY <= kept <= before < whole
    endpoint.replies = lambda call: answer(call.messages, call.body["seed"])
    status, written = run_cell(client, f"{code}\nprint('cells:', int((ds.status == 'ok').sum()))")
    assert status == "ok", written
    assert f"cells: {whole}" in written
    told(
        f"stop button, {form}",
        {
            "cells": whole,
            "kept": kept,
            "seconds to the end": f"{took:.2f}",
            "last call after": f"{max(last, 0):.2f} s",
            "calls to finish": len(endpoint.calls) - before,
        },
    )
    assert len(endpoint.calls) - before == whole - kept


def test_an_interrupt_without_a_ledger_says_that_nothing_is_kept(tmp_path, monkeypatch, capsys):
    def stop(work):
        work.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(cc.engine.loop, "wait", stop)
    for ledger, said in (("none", "nothing is kept"), (tmp_path / "a.sqlite", "resume with: ")):
        with pytest.raises(SystemExit) as code:
            main(["lane", "dev", "--system", "parrot", "--ledger", str(ledger), "--quiet"])
        out, err = capsys.readouterr()
        assert code.value.code == 130
        assert out == ""
        assert said in err
        assert ("resume with" in err) == (ledger != "none")
