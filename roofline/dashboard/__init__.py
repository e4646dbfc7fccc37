"""Streamlit pages and widgets: the only place that imports Streamlit."""
