"""A real Chromium and one running dashboard for all browser tests. Without a browser they fail: nothing is skipped."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START_S = 60.0


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.fail("no Chromium on the PATH: the browser tests need one (Debian: apt install chromium)")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    return {
        **browser_type_launch_args,
        "executable_path": _chromium(),
        "args": ["--no-sandbox", "--disable-gpu"],
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def app_url() -> Iterator[str]:
    port = _free_port()
    options = ("--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none")
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="session")
def base_url(app_url: str) -> str:
    """Addresses without a host mean the dashboard; also keeps the plugin's own fixture, which warns, out of the way."""
    return app_url


def _wait(url: str, server: subprocess.Popen) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the dashboard ended with status {server.returncode} before it answered")
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"the dashboard did not answer within {START_S:.0f} s")
