"""A JupyterLab on loopback, with folders of its own, that is stopped by who started it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser():
    """Path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def jupyterlab(folder, root, *, seconds=40):
    """Address of a lab, with its token; config, data and runtime files lie in `folder`."""
    port, token = free_port(), secrets.token_hex(16)
    names = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data",
             "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTERLAB_SETTINGS_DIR": "settings",
             "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython",
             "MPLCONFIGDIR": "mpl"}  # fmt: skip
    environment = {**os.environ, **{name: str(folder / part) for name, part in names.items()}}
    environment |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONWARNINGS": "ignore"}
    options = [
        "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--ServerApp.terminals_enabled=False", f"--ServerApp.root_dir={root}",
        # A lab that nobody stops ends by itself.
        "--ServerApp.shutdown_no_activity_timeout=120",
    ]  # fmt: skip
    quiet = folder / "settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    log = folder / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(f"{address}/api/status?token={token}", server, log, seconds)
        yield address, token
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(10)


def _wait(address, server, log, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not answer: {log.read_text(errors='replace')[-2000:]}")
