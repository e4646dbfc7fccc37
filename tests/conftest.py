"""No test asks the network: the Hub is offline unless a test puts a server of its own in its place.

Examples of property tests have no deadline each: a machine shared with others would break it now and then.
"""

from __future__ import annotations

import os

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
