"""Links people have kept: each is read as it was meant when it was written, whatever the default page is by now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roofline import Scenario, link
from roofline.link_compare import many_from_links

LINKS = json.loads((Path(__file__).parent / "links_of_version_1.json").read_text(encoding="utf-8"))
DEFAULT_PAGE = {"model": "deepseek-v3", "hardware": "h100-sxm", "devices": 16, "batch": 128}
"""What a link of version 1 leaves out. Another default page needs another version, and a step in `link.OLDER`."""


def meant(fields: dict) -> Scenario:
    return Scenario.model_validate({**DEFAULT_PAGE, **fields})


@pytest.mark.parametrize("kept", LINKS, ids=lambda kept: kept["link"])
def test_a_link_of_version_1_means_what_it_meant(kept: dict) -> None:
    decoded = link.from_query(kept["link"])
    assert decoded.problems == ()
    assert decoded.scenario == meant(kept["holds"])


@pytest.mark.parametrize("kept", [kept for kept in LINKS if "beside" in kept], ids=lambda kept: kept["link"])
def test_scenarios_beside_the_first_are_read_as_differences_from_it(kept: dict) -> None:
    scenarios, problems = many_from_links([kept["link"]])
    assert problems == ()
    assert {letter: scenarios[letter] for letter in kept["beside"]} == {
        letter: meant(fields) for letter, fields in kept["beside"].items()
    }


@pytest.mark.parametrize("kept", [kept for kept in LINKS if "fleet" in kept], ids=lambda kept: kept["link"])
def test_a_fleet_is_read_beside_its_replica(kept: dict) -> None:
    pairs = dict(pair.split("=", 1) for pair in kept["link"].removeprefix("?").split("&"))
    decoded = link.decode_fleet(pairs)
    assert decoded.problems == ()
    assert {name: getattr(decoded.fleet, name) for name in kept["fleet"]} == kept["fleet"]


def test_every_key_of_version_1_is_in_a_kept_link() -> None:
    written = "&".join(kept["link"] for kept in LINKS)
    assert [key for key in link._FIELDS if f"&{key}=" not in written] == []


def test_a_link_of_an_older_version_is_read_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after two changes: a key got another name, then the default page another batch."""

    def renamed(query: dict) -> dict:
        return {("model" if key == "m" else key): text for key, text in query.items()}

    def other_default(query: dict) -> dict:
        return {"batch": "64", **query}

    monkeypatch.setattr(link, "VERSION", "3")
    monkeypatch.setattr(link, "OLDER", {"1": renamed, "2": other_default})
    decoded = link.from_query("?v=1&m=llama-3.1-8b&n=2")
    assert decoded.problems == ()
    assert decoded.scenario == meant({"model": "llama-3.1-8b", "devices": 2, "batch": 64})
    assert link.from_query("?v=3&model=llama-3.1-8b").scenario.batch == DEFAULT_PAGE["batch"]
    assert "version 4" in link.from_query("?v=4&model=llama-3.1-8b").problems[0]
