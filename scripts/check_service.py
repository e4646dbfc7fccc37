"""Two replicas of the dashboard behind nginx on loopback: pages, links, changes, uploads, downloads, and one replica stopped.

Needs nginx (Debian: apt-get install nginx) and half a minute, so it is no part of the test command:
`python scripts/check_service.py`.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from dashboard_client import ROOT, Session, free_port, replica, wait_for

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin") or sys.exit("nginx is not installed")
LINK = {"v": "1", "model": "llama-3.3-70b", "hw": "h200-sxm", "n": "1", "w": "fp8", "batch": "32"}
COOKIES = [f"replica={n}" for n in range(8)]
"""Eight people."""


def expect(holds: bool, what: str) -> None:
    """Say one line, and stop where something does not hold."""
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(1)


@contextmanager
def proxy(folder: Path, replicas: list[str]) -> Iterator[str]:
    """A proxy with the shipped configuration, on ports that are free: its address."""
    text, port = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8"), free_port()
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}")
    for shipped, found in zip(("127.0.0.1:8501", "127.0.0.1:8502"), replicas, strict=True):
        text = text.replace(shipped, urlsplit(found).netloc)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = [NGINX, "-p", str(folder), "-c", "nginx.conf", "-g", "daemon off;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=20)


def asked(
    base: str, path: str, *, cookie: str = "", method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    """Status and body of one request."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=20)
    try:
        connection.request(method, path, body, {"Cookie": cookie, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


async def answer(base: str, cookie: str = "") -> str:
    """What the page of the link shows."""
    async with Session(base, LINK, cookie=cookie) as session:
        await session.open()
        return session.texts()


async def changed(base: str, cookie: str) -> str:
    """The address after one change of a control."""
    async with Session(base, LINK, cookie=cookie) as session:
        await session.open()
        await session.change("Batch (sequences at once)", 48)
        return session.address


async def files(base: str, cookie: str) -> tuple[int, tuple[int, bytes]]:
    """Status of an upload, and a download with its status, on one person's replica."""
    async with Session(base, {"v": "1"}, page="accuracy", cookie=cookie) as session:
        await session.open()
        url = next(e.download_button.url for e in session.elements if e.WhichOneof("type") == "download_button")
        place = await session.upload_address("mine.csv")
        return put(base, place, cookie, b"kind,value\n"), asked(base, url, cookie=cookie)


def put(base: str, place: str, cookie: str, content: bytes) -> int:
    """Status of a file sent as a form, with the token that guards against forged requests."""
    with urllib.request.urlopen(urllib.request.Request(f"{base}/_stcore/health", headers={"Cookie": cookie})) as found:  # noqa: S310
        token = next(
            (
                c.split("=", 1)[1].split(";")[0]
                for c in found.headers.get_all("Set-Cookie", [])
                if c.startswith("_streamlit_xsrf=")
            ),
            "",
        )
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="mine.csv"\r\nContent-Type: text/csv\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x", "X-Xsrftoken": token}
    cookies = f"{cookie}; _streamlit_xsrf={token}"
    return asked(base, place, cookie=cookies, method="PUT", body=form + content + b"\r\n--x--\r\n", **headers)[0]


def upstreams(folder: Path) -> set[str]:
    """Replicas that the proxy has sent anything to."""
    return {line.split('" ')[1].split()[1] for line in (folder / "access.log").read_text().splitlines()}


def check(folder: Path, base: str, replicas: list[str], first: int) -> None:
    """Everything that people do, then the same with one replica gone."""
    expect(asked(base, "/_stcore/health") == (200, b"ok"), "health")
    expect(all(b"<title>" in asked(base, "/", cookie=cookie)[1] for cookie in COOKIES), "the page opens for eight people")
    expect(upstreams(folder) == {urlsplit(found).netloc for found in replicas}, "both replicas serve them")
    expect(asked(base, f"/?x={'y' * 12_000}")[0] == 200, "an address of 12,000 characters passes")
    seen = {asyncio.run(answer(where)) for where in (*replicas, base)}
    expect(len(seen) == 1 and "Llama-3.3-70B" in seen.pop(), "a link shows the same on either replica and through the proxy")
    expect(
        all("batch=48" in asyncio.run(changed(base, cookie)) for cookie in COOKIES[:4]), "a changed control reaches the address"
    )
    moved = [asyncio.run(files(base, cookie)) for cookie in COOKIES]
    expect(all(200 <= status < 300 for status, _ in moved), f"eight uploads: {sorted({status for status, _ in moved})}")
    expect(all(status == 200 and b"model_id" in body for _, (status, body) in moved), "eight downloads")
    os.kill(first, signal.SIGTERM)
    time.sleep(2)
    told = {asyncio.run(answer(base, cookie)) for cookie in COOKIES[:4]}
    expect(len(told) == 1 and "Llama-3.3-70B" in told.pop(), "with one replica gone, links work for everybody")


def main() -> None:
    """Start, check, stop."""
    with tempfile.TemporaryDirectory() as name, replica() as one, replica() as other:
        folder, replicas = Path(name), [one[0], other[0]]
        with proxy(folder, replicas) as base:
            check(folder, base, replicas, one[1])


if __name__ == "__main__":
    main()
