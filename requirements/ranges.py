#!/usr/bin/env python3
"""Print the ranges of setup.py, a line each: `python requirements/ranges.py [EXTRA...]`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

SETUP = Path(__file__).resolve().parent.parent / "setup.py"


def declared() -> dict[str, Any]:
    """The literals REQUIRES, EXTRAS, PYTHONS and VERSION of setup.py, read without running it."""
    found = {}
    for statement in ast.parse(SETUP.read_text()).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in ("REQUIRES", "EXTRAS", "PYTHONS", "VERSION"):
                found[name] = ast.literal_eval(statement.value)
    return found


if __name__ == "__main__":
    setup = declared()
    wanted = [line for extra in sys.argv[1:] for line in setup["EXTRAS"][extra]] if sys.argv[1:] else setup["REQUIRES"]
    print("\n".join(wanted))
