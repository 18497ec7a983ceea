"""Stamps inside serialised messages moved in time, for bags that are played more than once."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message

from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core.stamps import header_nanoseconds, to_stamp, with_header_nanoseconds
from esar_ros.nodes.core.types import message_class

_TIME, _HEADER = "builtin_interfaces/Time", "std_msgs/Header"


class Stamped(Enum):
    """Location of the stamps in a message type."""

    NOWHERE = 0
    IN_FRONT = 1  # one stamp, the first field
    INSIDE = 2


@cache
def stamped(message_type: str) -> Stamped:
    """Returns the location of the stamps in 'package/msg/Name'."""
    fields = list(message_class(message_type).get_fields_and_field_types().values())
    inside = [_holds_time(field) for field in fields]
    if not any(inside):
        return Stamped.NOWHERE
    front = fields[0] in (_TIME, _HEADER) and not any(inside[1:])
    return Stamped.IN_FRONT if front else Stamped.INSIDE


def restamp(raw: bytes, message_type: str, shift: int) -> bytes:
    """A serialised message with shift (ns) added to every stamp in it; stamps of zero mean none and stay."""
    where = stamped(message_type)
    if shift == 0 or where is Stamped.NOWHERE:
        return raw
    if where is Stamped.IN_FRONT:
        ns = header_nanoseconds(raw)
        return with_header_nanoseconds(raw, ns + shift) if ns else raw
    message = deserialize_message(raw, message_class(message_type))
    _move(message, shift)
    return bytes(serialize_message(message))


@cache
def _holds_time(field: str) -> bool:
    """Returns whether a field of this type holds stamps at any depth."""
    kind = _element(field)
    if kind == _TIME:
        return True
    if "/" not in kind:
        return False
    package, _, name = kind.partition("/")
    fields = message_class(f"{package}/msg/{name}").get_fields_and_field_types()
    return any(_holds_time(inner) for inner in fields.values())


def _element(field: str) -> str:
    """Type of the elements of 'sequence<T>', 'sequence<T, 5>' and 'T[5]'; other types as they are."""
    if field.startswith("sequence<"):
        return field[len("sequence<") :].rstrip(">").split(",")[0].strip()
    return field.split("[")[0]


def _move(message: Any, shift: int) -> None:
    for name, field in message.get_fields_and_field_types().items():
        if not _holds_time(field):
            continue
        value = getattr(message, name)
        if isinstance(value, Time):
            setattr(message, name, _moved(value, shift))
        elif isinstance(value, list):
            if _element(field) == _TIME:
                setattr(message, name, [_moved(time, shift) for time in value])
            else:
                for element in value:
                    _move(element, shift)
        else:
            _move(value, shift)


def _moved(time: Time, shift: int) -> Time:
    ns = nanoseconds(time)
    return to_stamp(ns + shift) if ns else time
