"""No test asks the network: the Hub is offline unless a test puts a server of its own in its place."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
