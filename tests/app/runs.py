"""What every run of a page without a browser needs: its markup, and its address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def html(app: AppTest) -> str:
    return "\n".join(block.proto.body for block in app.get("html"))


def address(app: AppTest) -> dict[str, str]:
    return {name: value[-1] if isinstance(value, list) else value for name, value in app.query_params.items()}
