"""Messages shared by the tests of the live state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from esar_ros.bags.writer import typestore

TYPES = typestore()


def message(kind: str, stamp: float = 0.0, /, **values: Any) -> Any:
    """A message of a type with its fields at zero but for values; dotted names reach into fields."""
    made = _zero(kind)
    if hasattr(made, "header"):
        made.header.stamp.sec, made.header.stamp.nanosec = int(stamp), round(stamp % 1 * 1e9)
    for name, value in values.items():
        *path, last = name.split("__")
        target = made
        for part in path:
            target = getattr(target, part)
        setattr(target, last, value)
    return made


def _zero(kind: str) -> Any:
    fields = {}
    for name, (node, detail) in TYPES.fielddefs[kind][1]:
        if node == 1:  # a plain value
            fields[name] = {"string": "", "bool": False}.get(detail[0], 0.0 if detail[0].startswith("float") else 0)
        elif node == 2:  # a message
            fields[name] = _zero(detail)
        else:
            fields[name] = [] if node == 4 else [0.0] * detail[1]
    return SimpleNamespace(**fields)


def state_of(phase: int, elapsed: float, stamp: float | None = None, **values: Any) -> Any:
    at = 100.0 + elapsed if stamp is None else stamp
    return message("esar_ros/msg/MissionState", at, phase=phase, elapsed=elapsed, t_max=600.0, **values)


def grid(cells: np.ndarray) -> Any:
    made = message("nav_msgs/msg/OccupancyGrid", info__resolution=5.0, info__width=cells.shape[1], data=cells.ravel())
    made.info.height, made.info.origin.position.x = cells.shape[0], -10.0
    return made


class Told:
    """A graph that remembers what it was asked."""

    lockstep = True

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def order(self, *words: Any) -> None:
        self.asked.append(("order", *words))

    def report(self, *words: Any) -> None:
        self.asked.append(("report", *words))

    def set_clock(self, **changes: Any) -> None:
        self.asked.append(("clock", changes))

    def step(self) -> None:
        self.asked.append(("step",))
