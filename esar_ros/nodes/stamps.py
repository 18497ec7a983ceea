"""Stamps of messages as whole nanoseconds, and back."""

from __future__ import annotations

from builtin_interfaces.msg import Time


def nanoseconds(stamp: Time) -> int:
    """A stamp as one integer."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def to_stamp(ns: int) -> Time:
    """An integer of nanoseconds as a stamp."""
    return Time(sec=ns // 1_000_000_000, nanosec=ns % 1_000_000_000)
