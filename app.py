"""The dashboard: page settings and the list of pages. Run with ``streamlit run app.py``."""

import streamlit as st

from roofline.dashboard import (
    accuracy_page,
    calculator,
    catalogue_page,
    compare_page,
    cost_page,
    experts_page,
    find_page,
    fleet_page,
    formulas_page,
    machine_page,
    model_page,
    stories_page,
)
from roofline.dashboard.shell import Sheet, show
from roofline.language import later

st.set_page_config(page_title="Roofline", page_icon="📈", layout="wide", initial_sidebar_state=320)
show(
    (
        Sheet(later("Calculator"), "", calculator.draw),
        Sheet(later("Compare"), "compare", compare_page.draw),
        Sheet(later("Find hardware"), "find", find_page.draw),
        Sheet(later("My machine"), "machine", machine_page.draw),
        Sheet(later("Cost"), "cost", cost_page.draw),
        Sheet(later("Fleet"), "fleet", fleet_page.draw),
        Sheet(later("Dense and experts"), "experts", experts_page.draw),
        Sheet(later("Model"), "model", model_page.draw),
        Sheet(later("Stories"), "stories", stories_page.draw),
        Sheet(later("Accuracy"), "accuracy", accuracy_page.draw),
        Sheet(later("Catalogue"), "catalogue", catalogue_page.draw),
        Sheet(later("Formulas"), "formulas", formulas_page.draw),
    )
)
