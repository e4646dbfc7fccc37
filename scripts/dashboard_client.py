"""A browser's side of the dashboard without the browser: a websocket session that opens a page and changes controls."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[1]
LONGEST_S = 60.0


class Session:
    """One person at one page: what the page shows, and how long a change takes."""

    def __init__(self, base: str, query: dict[str, str], page: str = "", cookie: str = "") -> None:
        self.base, self.query, self.page, self.cookie = base, urlencode(query), page, cookie
        self.elements: list[Element] = []
        """Of the last run."""
        self.numbers: dict[str, Element] = {}
        """Fields for numbers, by label."""
        self.address = ""

    async def __aenter__(self) -> Session:
        url = self.base.replace("http", "ws", 1) + "/_stcore/stream"
        headers = {"Cookie": self.cookie} if self.cookie else {}
        self.socket = await websockets.connect(
            url, subprotocols=["streamlit"], additional_headers=headers, origin=self.base, max_size=None, compression=None
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.socket.close()

    async def open(self) -> float:
        """Run the page; seconds until the server has sent all of it."""
        return await self._run(BackMsg(rerun_script={"query_string": self.query, "page_name": self.page}))

    async def change(self, label: str, value: int) -> float:
        """Set a number; seconds until the server has sent all that follows from it."""
        found = self.numbers[label].number_input
        state = {"id": found.id, "int_value" if found.data_type == found.INT else "double_value": value}
        asked = {"query_string": self.address or self.query, "widget_states": {"widgets": [state]}, "page_name": self.page}
        return await self._run(BackMsg(rerun_script=asked))

    async def upload_address(self, name: str) -> str:
        """Where a file of this name may be put."""
        await self.socket.send(BackMsg(file_urls_request={"request_id": "1", "file_names": [name]}).SerializeToString())
        while True:
            message = await self._next()
            if message.WhichOneof("type") == "file_urls_response":
                return str(message.file_urls_response.file_urls[0].upload_url)

    def texts(self) -> str:
        """All HTML the page has shown."""
        return "\n".join(e.html.body for e in self.elements if e.WhichOneof("type") == "html")

    def _keep(self, element: Element) -> None:
        self.elements.append(element)
        if element.WhichOneof("type") == "number_input":
            self.numbers[element.number_input.label] = element

    async def _next(self) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self.socket.recv(), LONGEST_S))
        return message

    async def _run(self, asked: BackMsg) -> float:
        start, self.elements = time.perf_counter(), []
        await self.socket.send(asked.SerializeToString())
        while True:
            message = await self._next()
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self._keep(message.delta.new_element)
            elif kind == "page_info_changed":
                self.address = message.page_info_changed.query_string
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return time.perf_counter() - start


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def replica() -> Iterator[tuple[str, int]]:
    """A running dashboard: its address and its process id."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_COOKIE_SECRET": "for-tests-only"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            server.wait(timeout=20)


def wait_for(url: str) -> None:
    """Until it answers."""
    end = time.monotonic() + LONGEST_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
