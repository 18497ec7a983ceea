"""Places on the command line of an incident."""

from __future__ import annotations

import math

from esar_ros.incident.features import Position
from esar_ros.mission.errors import UsageError


def position(flag: str, text: str) -> Position:
    """Returns the place of a flag's LAT,LON[,ALT] (degrees WGS 84, m above the sea). Raises UsageError."""
    try:
        latitude, longitude, *altitude = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{flag} {text}", "two numbers, LAT,LON in degrees") from None
    finite = math.isfinite(latitude) and math.isfinite(longitude)
    if len(altitude) > 1 or not (finite and abs(latitude) <= 90.0 and abs(longitude) <= 180.0):
        swapped = abs(latitude) <= 180.0 and abs(longitude) <= 90.0
        raise UsageError(f"{flag} {text}", "did you swap? " * swapped + "LAT,LON in degrees, latitude within 90")
    return Position(latitude, longitude, altitude[0] if altitude else None)
