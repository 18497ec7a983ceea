"""Message and action classes by their ROS names."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def message_class(name: str) -> Any:
    """Class of 'package/msg/Name' or 'package/action/Name'."""
    package, kind, short = name.split("/")
    return getattr(import_module(f"{package}.{kind}"), short)
