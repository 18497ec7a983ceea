"""The exception for input that the map refuses."""

from __future__ import annotations


class MapInputError(ValueError):
    """Input that cannot be true (a NaN pose, depth in millimetres, a foreign file); the map is unharmed."""
