"""Models of a Hugging Face Hub by repository id: the configuration, and the index of its files where there is one.

The extra ``hub`` brings huggingface_hub, which is imported only when asked for. No code of a repository is run and no
weight is fetched. ``HF_ENDPOINT``, ``HF_HUB_OFFLINE``, ``HF_TOKEN`` and the cache are those of huggingface_hub.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from roofline.adapters.files import CONFIGURATION_NAME, MAX_FILE_BYTES, QUANTIZATION_NAME, load_model_file
from roofline.adapters.safetensors_file import INDEX_NAME, MAX_INDEX_BYTES
from roofline.errors import InputError
from roofline.language import later, tr
from roofline.specs.model import ModelSpec

DEFAULT_ENDPOINT = "https://huggingface.co"
REPOSITORY = re.compile(r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")
TRUE_WORDS = ("1", "ON", "YES", "TRUE")
NEEDED = later("models of the Hub need huggingface_hub: pip install 'roofline[hub]'")
TIMEOUT_S = 5.0
"""Longest wait for one answer of the Hub."""
PROBE_S = 0.4
"""Longest wait to learn whether there is a network at all."""


class HubError(InputError):
    """A Hub that cannot be asked, or has no such repository or file."""


def looks_like_repository(ref: str) -> bool:
    """Whether this has the form of a repository id.

    >>> looks_like_repository("meta-llama/Llama-3.1-8B"), looks_like_repository("../etc/passwd")
    (True, False)
    """
    return REPOSITORY.match(ref) is not None and ".." not in ref and "--" not in ref


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("huggingface_hub") is not None


def is_available() -> bool:
    """Whether huggingface_hub is installed and may use the network."""
    return is_installed() and not _offline()


def _offline() -> bool:
    return any(os.environ.get(name, "").upper() in TRUE_WORDS for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def endpoint() -> str:
    """Address of the Hub."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or DEFAULT_ENDPOINT


def is_reachable(wait_s: float = PROBE_S) -> bool:
    """Whether the Hub, or the proxy before it, takes a connection within a short while.

    Looking a name up can block for long without a network, so it is done aside and not waited for.
    """
    answered = threading.Event()

    def probe() -> None:
        try:
            with closing(socket.create_connection(_first_hop(), timeout=wait_s)):
                answered.set()
        except (OSError, ValueError):
            return

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(wait_s)
    return answered.is_set()


def _first_hop() -> tuple[str, int]:
    """Host and port that a request to the Hub goes to first."""
    address = urlsplit(endpoint())
    proxy = getproxies().get(address.scheme)
    if proxy and not proxy_bypass(address.hostname or ""):
        address = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    return address.hostname or "", address.port or (80 if address.scheme == "http" else 443)


def model_from_hub(repo_id: str, revision: str | None = None) -> ModelSpec:
    """Read a repository's configuration into structure, with the exact size of its files where an index states it.

    Raises
    ------
    HubError
        huggingface_hub is not installed, the Hub cannot be reached, or the repository or its configuration is not there
        or not open to this user.
    ConfigurationError
        The configuration is not understood.
    """
    if not looks_like_repository(repo_id):
        raise HubError(tr("{name!r} is no repository id: it must look like 'organisation/name'.", name=repo_id[:60]))
    if not is_installed():
        raise HubError(f"{tr(NEEDED)}.")
    local = _offline() or not is_reachable(TIMEOUT_S)
    found = _fetched(repo_id, CONFIGURATION_NAME, revision, MAX_FILE_BYTES, local=local)
    if found is None:
        raise HubError(tr("The repository {name!r} has no config.json, so its structure cannot be read.", name=repo_id))
    commit = found.parent.name
    for name, limit in ((QUANTIZATION_NAME, MAX_FILE_BYTES), (INDEX_NAME, MAX_INDEX_BYTES)):
        _fetched(repo_id, name, commit, limit, local=local)
    model = load_model_file(found.parent)
    source = f"{endpoint()}/{repo_id}/blob/{commit}/{CONFIGURATION_NAME}"
    return model.model_copy(update={"id": repo_id, "name": repo_id.rsplit("/", 1)[-1], "source": source})


def _fetched(repo_id: str, name: str, revision: str | None, limit: int, *, local: bool) -> Path | None:
    """A small file of a repository in the cache; None where the repository has none, or a large one."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        if not local and not _is_small(repo_id, name, revision, limit):
            return None
        path = hf_hub_download(
            repo_id, name, revision=revision, endpoint=endpoint(), etag_timeout=TIMEOUT_S, local_files_only=local
        )
    except LocalEntryNotFoundError as error:
        if name != CONFIGURATION_NAME:
            return None
        raise HubError(tr("The repository {name!r} is not in the cache, and the Hub cannot be reached.", name=repo_id)) from error
    except EntryNotFoundError:
        return None
    except Exception as error:  # the errors of the transport differ between versions of huggingface_hub
        raise HubError(_reason(repo_id, revision, error)) from error
    return Path(path)


def _is_small(repo_id: str, name: str, revision: str | None, limit: int) -> bool:
    """Whether the Hub says that a file is no larger than a limit."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(repo_id, name, revision=revision, endpoint=endpoint())
    size = get_hf_file_metadata(url, timeout=TIMEOUT_S).size
    if size is not None and size > limit and name == CONFIGURATION_NAME:
        raise HubError(tr("{file} of {name!r} has {n:,} bytes, which no configuration has.", file=name, name=repo_id, n=size))
    return size is not None and size <= limit


def _reason(repo_id: str, revision: str | None, error: Exception) -> str:
    """One sentence for what the Hub answered."""
    from huggingface_hub import errors

    if isinstance(error, HubError):
        return str(error)
    if isinstance(error, errors.GatedRepoError):
        return tr("The repository {name!r} is gated: accept its terms on the Hub and set HF_TOKEN.", name=repo_id)
    if isinstance(error, errors.RevisionNotFoundError):
        return tr("The repository {name!r} has no revision {revision!r}.", name=repo_id, revision=str(revision)[:60])
    if isinstance(error, errors.RepositoryNotFoundError):
        return tr("The Hub has no repository {name!r} that is open to you; check its spelling, or set HF_TOKEN.", name=repo_id)
    if isinstance(error, errors.HfHubHTTPError):
        status = getattr(error.response, "status_code", None)
        return tr("The Hub could not give {name!r}: it answered with status {status}.", name=repo_id, status=str(status))
    return tr(
        "The Hub at {address} cannot be reached ({reason}); give the path of a config.json instead.",
        address=endpoint(),
        reason=type(error).__name__,
    )
