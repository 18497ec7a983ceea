"""Files of flights: one each, sealed, so that one that was changed or broken is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from esar_ros.benchmark.runner.seal import sealed_line, take_seal
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import parse_json, read_text
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.uavbench.scenarios.flights.outcome import SCHEMA

_LARGEST = 1 << 20  # bytes
_CURE = "remove the file and fly it again by ./esar scenarios fly --out"


def write_flight(path: Path, flight: Mapping[str, Any]) -> None:
    """Writes the result of a flight. Raises UsageError."""
    write_atomically(path, sealed_line(dict(flight)).decode())


def read_flight(path: Path) -> dict[str, Any]:
    """Returns the result of a flight. Raises UsageError."""
    text = read_text(path, _LARGEST, "flight")
    flight = parse_json(text, str(path))
    if not isinstance(flight, dict) or flight.get("schema") != SCHEMA:
        raise UsageError(f"{path}: no {SCHEMA}", _CURE)
    take_seal(flight, str(path), text.rstrip("\n").encode(), _CURE)
    return flight
