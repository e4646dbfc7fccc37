"""``python -m roofline``: the command line."""

from __future__ import annotations

from roofline.cli import main

if __name__ == "__main__":
    main()
