"""Whole nanoseconds as stamps of messages, those of serialised messages, and of the mission's start."""

from __future__ import annotations

import struct

from builtin_interfaces.msg import Time

from esar_ros.mission.stamps import NANO, nanoseconds
from esar_ros.msg import MissionState

_FRONT = 4  # bytes of CDR preamble, behind which a message that begins with a header or a stamp has its stamp
_LITTLE, _BIG = struct.Struct("<iI"), struct.Struct(">iI")


def to_stamp(ns: int) -> Time:
    """An integer of nanoseconds as a stamp."""
    return Time(sec=ns // NANO, nanosec=ns % NANO)


def start_of(state: MissionState) -> int | None:
    """Returns the stamp (ns) at which the mission's clock began; None before it."""
    if state.phase not in (MissionState.RUNNING, MissionState.ENDED):
        return None
    return nanoseconds(state.header.stamp) - round(state.elapsed * NANO)


def header_nanoseconds(raw: bytes) -> int:
    """Stamp of a serialised message that begins with a header or a stamp."""
    seconds, nanos = _layout(raw).unpack_from(raw, _FRONT)
    return int(seconds) * NANO + int(nanos)


def with_header_nanoseconds(raw: bytes, ns: int) -> bytes:
    """The same serialised message with another stamp in front."""
    stamp, layout = to_stamp(ns), _layout(raw)
    return raw[:_FRONT] + layout.pack(stamp.sec, stamp.nanosec) + raw[_FRONT + layout.size :]


def _layout(raw: bytes) -> struct.Struct:
    return _LITTLE if raw[1] & 1 else _BIG  # CDR's second byte tells the byte order
