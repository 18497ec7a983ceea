"""Messages as a bag's reader and writer know them, for whoever needs a bag: zero but for what is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from esar_ros.bags.writer import typestore

SECOND = 1_000_000_000
START = 10 * SECOND  # of every flight made of them


def build(name: str, /, **values: Any) -> Any:
    """A message of a type with every field at its zero, but for the given ones."""
    fields = typestore().fielddefs[name][1]
    return typestore().types[name](**{field: values.get(field, _zero(kind)) for field, kind in fields})


def _zero(kind: Any) -> Any:
    code, rest = kind
    if code == 1:
        return {"string": "", "bool": False}.get(rest[0], 0)
    if code == 2:
        return build(rest)
    inner, count = rest
    if inner[0] == 1 and inner[1][0] != "string":
        return np.zeros(count if code == 3 else 0, dtype=inner[1][0])
    return []


def header(seconds: float, frame: str = "map") -> Any:
    """Header of a moment of the flight, s."""
    ns = START + round(seconds * SECOND)
    stamp = build("builtin_interfaces/msg/Time", sec=ns // SECOND, nanosec=ns % SECOND)
    return build("std_msgs/msg/Header", stamp=stamp, frame_id=frame)


def point(x: float, y: float, z: float) -> Any:
    """Point of three numbers."""
    return build("geometry_msgs/msg/Point", x=float(x), y=float(y), z=float(z))
