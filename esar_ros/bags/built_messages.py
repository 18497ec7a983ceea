"""Messages made without a ROS install, as a bag's reader and writer know them: zero but for what is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from esar_ros.bags.writer import typestore
from esar_ros.mission.stamps import NANO


def build(name: str, /, **values: Any) -> Any:
    """Returns a message of a type (package/msg/Name) with every field at its zero, but for the given ones."""
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


def build_header(ns: int, frame: str) -> Any:
    """Returns a header of a stamp (ns) and a frame."""
    stamp = build("builtin_interfaces/msg/Time", sec=ns // NANO, nanosec=ns % NANO)
    return build("std_msgs/msg/Header", stamp=stamp, frame_id=frame)
