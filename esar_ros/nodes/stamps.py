"""Stamps of messages as whole nanoseconds, and back."""

from __future__ import annotations

import struct

from builtin_interfaces.msg import Time

_HEADER = struct.Struct("<iI")  # first field of a message that begins with a header, behind 4 bytes of CDR preamble


def nanoseconds(stamp: Time) -> int:
    """A stamp as one integer."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def to_stamp(ns: int) -> Time:
    """An integer of nanoseconds as a stamp."""
    return Time(sec=ns // 1_000_000_000, nanosec=ns % 1_000_000_000)


def header_nanoseconds(raw: bytes) -> int:
    """Stamp of a serialised message that begins with a header."""
    seconds, nanos = _HEADER.unpack_from(raw, 4)
    return int(seconds) * 1_000_000_000 + int(nanos)
