"""Streamlit pages and widgets: the only place that imports Streamlit."""

try:
    import streamlit  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("The dashboard needs Streamlit; install the extra: pip install 'roofline[app]'.") from None
