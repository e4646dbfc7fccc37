"""The dashboard: page settings and the list of pages. Run with ``streamlit run app.py``."""

import streamlit as st

from roofline.dashboard import calculator

st.set_page_config(page_title="Roofline", page_icon="📈", layout="wide", initial_sidebar_state=320)
st.navigation([st.Page(calculator.page, title="Calculator", default=True)], position="hidden").run()
