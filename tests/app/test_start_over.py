"""Start over sets everything back, on every page and in the address."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from roofline import link
from roofline.dashboard.state import PAGE_VIEWS
from tests.app.test_calculator import APP, address, html

VIEWS = {
    "find": "hw:l40s,most:1,ran:1,ask:context",
    "mine": "ask:buy",
    "formula": "name:kv_cache_bytes",
    "catalogue": "kind:models",
    "cost": "years:7",
    "map": "batch,devices,user",
    "b.batch": "7",
    "story": "moe,2",
    "plot": "cost",
    "chart": "65536,fp8,256",
    "tab": "Memory",
    "f.users": "1000",
}
PAGES = (
    "calculator",
    "compare",
    "find",
    "machine",
    "cost",
    "fleet",
    "experts",
    "model",
    "stories",
    "accuracy",
    "catalogue",
    "formulas",
)


def visited(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    app._page_hash = calc_hash(page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_every_view_of_a_page_is_among_those_tried() -> None:
    assert {page.key for page in PAGE_VIEWS} <= VIEWS.keys()
    assert set(VIEWS) - {"b.batch", "f.users"} <= link.VIEW_KEYS | link.PAGE_KEYS


@pytest.mark.parametrize("path", PAGES)
def test_start_over_leaves_nothing_in_the_address_but_the_language(path: str) -> None:
    app = visited(path, v="1", model="llama-3.1-8b", hw="h100-sxm", n="1", batch="7", lang="en", **VIEWS)
    assert {"cost", "f.users", "b.batch", "lang"} <= address(app).keys()
    next(b for b in app.button if b.key == "start_over").click().run()
    assert not app.exception
    assert address(app) == {"lang": "en"}
    assert app.selectbox(key="in_model").value == link.DEFAULT.model
    assert app.number_input(key="in_batch").value == link.DEFAULT.batch
    app.run()
    assert address(app) == {"lang": "en"}


def test_start_over_takes_the_answers_of_a_search_away() -> None:
    app = visited("find", model="llama-3.1-8b", find=VIEWS["find"])
    app.button(key="find_solve").click().run()
    assert "Cheapest" in html(app)
    assert "with one more" in html(app)
    next(b for b in app.button if b.key == "start_over").click().run()
    assert "Cheapest" not in html(app)
    assert "with one more" not in html(app)
    assert app.number_input(key="view_find_speed").value == 30.0
