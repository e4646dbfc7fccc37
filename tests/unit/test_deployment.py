"""The files of a service agree with the program: what they copy and set exists, and the proxy keeps a person on one replica.

`scripts/check_service.py` runs them for real: two replicas behind nginx.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from streamlit import config

ROOT = Path(__file__).parents[2]
CONTAINER = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
PROXY = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_what_the_container_copies_is_there() -> None:
    copied = [word for line in re.findall(r"^COPY (.+)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name


def test_the_container_serves_as_nobody_and_is_watched() -> None:
    assert "\nUSER nobody\n" in CONTAINER
    assert "/_stcore/health" in CONTAINER
    for option in re.findall(r"--(server\.\w+)=", CONTAINER):
        assert option in config.get_config_options()


def test_the_proxy_lets_pass_what_the_dashboard_takes() -> None:
    assert f"client_max_body_size {SETTINGS['server']['maxUploadSize']}m;" in PROXY
    for needed in ("proxy_http_version 1.1;", "Upgrade $http_upgrade", "Host $http_host", "hash $replica consistent;"):
        assert needed in PROXY
    assert PROXY.count("{") == PROXY.count("}")


def test_errors_are_told_in_our_own_words_and_nothing_is_reported_home() -> None:
    assert SETTINGS["client"]["showErrorDetails"] == "none"
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert SETTINGS["server"]["enableXsrfProtection"] is True
