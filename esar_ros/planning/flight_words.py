"""The flight in words, as a pilot would be told it: time, position from the start, height, heading, and the way flown.

A brief says "west, then south": north is up, headings are degrees clockwise from north.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Observation

_ROSE = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_SPACING = 20.0  # m between two points of the way that are told
_TOLD = 12  # points of the way, the last ones


def heading_words(yaw: float) -> str:
    """A yaw (rad, 0 east, left positive) as heading: "270 deg (west)"."""
    degrees = round(90.0 - math.degrees(yaw)) % 360
    return f"{degrees:03d} deg ({_ROSE[round(degrees / 45.0) % 8]})"


def place_words(place: Vector, home: Vector) -> str:
    """A place (x, y, ...) from the start, in m: "120 m west and 45 m south of the start"."""
    east, north = (round(float(place[axis] - home[axis])) for axis in (0, 1))
    parts = [f"{abs(east)} m {'east' if east > 0 else 'west'}"] if east else []
    parts += [f"{abs(north)} m {'north' if north > 0 else 'south'}"] if north else []
    return f"{' and '.join(parts)} of the start" if parts else "at the start"


def flight_words(observation: Observation, home: Vector, track: Sequence[Vector]) -> str:
    """Two lines; track: places (x, y, ...) of the vehicle so far, the oldest first."""
    pose, height = observation.pose, observation.height
    turned = [heading_words(pose.yaw + turn) for turn in (0.0, math.pi / 2.0, -math.pi / 2.0)]
    above = "unknown" if height is None else f"{height:.0f} m"
    way = " ".join(f"({round(place[0] - home[0])}, {round(place[1] - home[1])})" for place in _thinned(track))
    return (
        f"Elapsed: {observation.elapsed:.0f} s. Position: {place_words(pose.position, home)}. Height above ground: "
        f"{above}. Heading: {turned[0]}; to the left is {turned[1]}, to the right {turned[2]}.\n"
        f"Way flown, metres (east, north) of the start, oldest first: {way or 'none yet'}."
    )


def _thinned(track: Sequence[Vector]) -> list[Vector]:
    """Returns the last places that lie apart."""
    kept: list[Vector] = []
    for place in track:
        if not kept or float(np.linalg.norm(place[:2] - kept[-1][:2])) >= _SPACING:
            kept.append(place)
    return kept[-_TOLD:]
