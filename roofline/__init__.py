"""roofline: what limits a language model on a machine, how fast it runs, what fits, and what a million tokens costs.

>>> import roofline
>>> report = roofline.evaluate(roofline.Scenario(model="llama-3.1-8b", hardware="h100-sxm", batch=1))
>>> report.bound["decode"]
'memory'
"""

from __future__ import annotations

from roofline import link
from roofline.answers.advisor import machine_advice
from roofline.answers.compare import compare
from roofline.answers.evaluate import evaluate
from roofline.answers.fleet import fleet
from roofline.answers.purchase import purchase_advice
from roofline.answers.search import search
from roofline.answers.sweep import sweep, sweep_parts
from roofline.answers.sweep_files import write_sweep
from roofline.answers.validation import validate
from roofline.catalog.hardware import load_hardware
from roofline.catalog.models import load_model
from roofline.errors import RooflineError
from roofline.specs.advice import MachineQuery, PurchaseQuery
from roofline.specs.fleet import FleetScenario
from roofline.specs.scenario import Scenario
from roofline.specs.search import SearchQuery

__all__ = [
    "FleetScenario",
    "MachineQuery",
    "PurchaseQuery",
    "RooflineError",
    "Scenario",
    "SearchQuery",
    "compare",
    "evaluate",
    "fleet",
    "link",
    "load_hardware",
    "load_model",
    "machine_advice",
    "purchase_advice",
    "search",
    "sweep",
    "sweep_parts",
    "validate",
    "write_sweep",
]
__version__ = "0.1.0"
