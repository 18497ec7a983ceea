"""`esar incident debrief DIR`: one page of what was found, what was seen and what was not, and where to go next."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from esar_ros.incident.debrief import debrief_page
from esar_ros.incident.store import Incident
from esar_ros.scoring.result import write_atomically

PAGE = "debrief.html"


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    parser = verbs.add_parser("debrief", help="one page: map, finds, covered and not, POA before and after, what next")
    parser.add_argument("dir", type=Path, metavar="DIR", help="the incident's folder")


def run(arguments: argparse.Namespace) -> int:
    """Writes DIR/debrief.html."""
    path = arguments.dir / PAGE
    write_atomically(path, debrief_page(Incident.open(arguments.dir)).encode())
    print(f"{path}  (one file; prints on A4)")
    return 0
