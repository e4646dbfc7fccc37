"""Models of a Hub, with a small server on this machine in its place."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from roofline.adapters import hub
from roofline.catalog import models
from roofline.catalog.models import load_model
from roofline.errors import ConfigurationError, UnknownIdError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}
INDEX = {
    "metadata": {"total_size": 4321},
    "weight_map": {f"model.layers.{i}.mlp.up_proj.weight": "model-00001-of-00001.safetensors" for i in range(2)},
}
FILES: dict[str, dict[str, bytes]] = {
    "someone/plain": {"config.json": json.dumps(CONFIG).encode()},
    "someone/indexed": {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors.index.json": json.dumps(INDEX).encode(),
        "hf_quant_config.json": json.dumps({"quantization": {"quant_algo": "FP8"}}).encode(),
    },
    "someone/weights-only": {},
    "someone/odd": {"config.json": b'{"model_type": "llama", "hidden_size": -1}'},
    "someone/large": {"config.json": b" " * (6 * 2**20)},
}
ERRORS = {"someone/gated": (403, "GatedRepo"), "someone/broken": (418, "")}


class Answers(BaseHTTPRequestHandler):
    """HEAD and GET of /organisation/name/resolve/revision/file, as the Hub answers them."""

    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        self.asked.append(self.path)
        parts = self.path.strip("/").split("/")
        repo, revision, name = "/".join(parts[:2]), parts[3], parts[-1]
        if repo in ERRORS:
            return self.refuse(*ERRORS[repo])
        if repo not in FILES:
            return self.refuse(404, "RepoNotFound")
        if revision not in ("main", COMMIT):
            return self.refuse(404, "RevisionNotFound")
        content = FILES[repo].get(name)
        if content is None:
            return self.refuse(404, "EntryNotFound")
        self.send_response(200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{abs(hash((repo, name))):040x}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)
        return None

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    models._hub_model.cache_clear()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    asked: list[str] = []
    handler = type("Handler", (Answers,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=lambda: running.serve_forever(0.01), daemon=True)
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{running.server_port}/")
        yield asked
        running.shutdown()
        thread.join()


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint where nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")


def test_a_configuration_is_fetched_once_and_read(server: list[str]) -> None:
    model = hub.model_from_hub("someone/plain")
    assert (model.id, model.name, model.n_layers) == ("someone/plain", "plain", 2)
    assert model.source.endswith(f"/someone/plain/blob/{COMMIT}/config.json")
    assert model.stored_bytes is None
    assert all(path.startswith("/someone/plain/resolve/") for path in server)


def test_index_and_number_formats_beside_it_are_read_too(server: list[str]) -> None:
    model = hub.model_from_hub("someone/indexed", revision=COMMIT)
    assert model.stored_bytes == 4321
    assert model.stored_format == "fp8"
    assert not any("safetensors" in path and not path.endswith(".json") for path in server)


def test_a_model_once_fetched_is_there_without_a_network(server: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = hub.model_from_hub("someone/plain")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    n_asked = len(server)
    assert hub.model_from_hub("someone/plain") == first
    assert len(server) == n_asked
    with pytest.raises(hub.HubError, match="not in the cache"):
        hub.model_from_hub("someone/indexed")


@pytest.mark.parametrize(
    ("repo", "revision", "message"),
    [
        ("someone/absent", None, "no repository 'someone/absent'"),
        ("someone/gated", None, "gated"),
        ("someone/plain", "old", "no revision 'old'"),
        ("someone/weights-only", None, "no config.json"),
        ("someone/large", None, "no configuration has"),
        ("someone/broken", None, "status 418"),
        ("no id at all", None, "no repository id"),
        ("../../etc/passwd", None, "no repository id"),
    ],
)
def test_refusals_are_one_sentence(server: list[str], repo: str, revision: str | None, message: str) -> None:
    with pytest.raises(hub.HubError, match=message) as caught:
        hub.model_from_hub(repo, revision)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_configuration_that_is_not_understood_says_so(server: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="hidden_size"):
        hub.model_from_hub("someone/odd")


def test_without_the_package_the_extra_is_named(server: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(hub.HubError, match=r"pip install 'roofline\[hub\]'"):
        hub.model_from_hub("someone/plain")
    with pytest.raises(UnknownIdError, match="no model"):
        load_model("someone/plain")


@pytest.mark.usefixtures("nobody")
def test_without_a_network_it_fails_soon() -> None:
    start = time.perf_counter()
    with pytest.raises(hub.HubError, match="cannot be reached"):
        hub.model_from_hub("someone/plain")
    with pytest.raises(UnknownIdError, match="nearest"):
        load_model("someone/llama-3.1-9b")
    assert time.perf_counter() - start < 1


@pytest.mark.usefixtures("nobody")
def test_a_hub_that_goes_away_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda wait_s: True)
    with pytest.raises(hub.HubError, match="cannot be reached"):
        hub.model_from_hub("someone/plain")


def test_a_large_index_is_left_alone(server: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "MAX_INDEX_BYTES", 10)
    assert hub.model_from_hub("someone/indexed").stored_bytes is None


def test_a_name_that_is_slow_to_look_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> socket.socket:
        time.sleep(0.5)
        raise OSError

    monkeypatch.setattr(socket, "create_connection", slow)
    start = time.perf_counter()
    assert not hub.is_reachable(0.05)
    assert time.perf_counter() - start < 0.4


def test_a_proxy_is_asked_instead_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setattr(hub, "getproxies", lambda: {"https": "proxy.invalid:3128"})
    monkeypatch.setattr(hub, "proxy_bypass", lambda host: False)
    assert hub._first_hop() == ("proxy.invalid", 3128)
    monkeypatch.setattr(hub, "proxy_bypass", lambda host: True)
    assert hub._first_hop() == ("huggingface.co", 443)


def test_models_are_sought_on_the_hub_last(server: list[str]) -> None:
    assert load_model("meta-llama/Llama-3.1-8B").id == "llama-3.1-8b"
    assert server == []
    assert load_model("someone/plain").id == "someone/plain"
    n_asked = len(server)
    assert load_model("someone/plain").id == "someone/plain"
    assert len(server) == n_asked
    with pytest.raises(UnknownIdError, match="nearest"):
        load_model("someone/llama-3.1-9b")


def test_offline_the_hub_is_not_asked(server: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UnknownIdError):
        load_model("someone/plain")
    assert server == []
