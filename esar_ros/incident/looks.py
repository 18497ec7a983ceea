"""A look: one picture, from where and with what camera it was taken, and how well that is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Track

EVERY = 2.0  # s between two looks of a video: a person stays in it for longer
HOVERING = 0.5  # m/s, below which a course says nothing
STRAIGHT_DOWN = -80.0  # degrees of pitch, below which the yaw hardly matters
BY_COURSE = 15.0  # degrees, error of a yaw that is taken from the course: wind turns the nose off it


@dataclass(frozen=True)
class LookErrors:
    """Errors of a look's numbers, one standard deviation; by default those of a small drone without RTK.

    They are assumptions, not measurements: the position is a GNSS receiver's in the open, the height a barometer's set
    by it, the yaw a compass's, pitch and roll a gimbal's.
    """

    horizontal: float = 3.0  # m, in each of two directions
    vertical: float = 5.0  # m, of the altitude above the sea
    above_home: float = 2.0  # m, of the height above where it took off
    yaw: float = 3.0  # degrees
    pitch: float = 1.0  # degrees
    roll: float = 1.0  # degrees
    pixel: float = 4.0  # px, of a point told in the picture, with what the lens bends
    focal: float = 0.01  # share of the focal length


@dataclass(frozen=True)
class Look:
    """One picture. What its source does not tell, or tells wrongly, is None and named in `doubts`."""

    source: str  # the picture's file, or a video and its frame
    latitude: float  # degrees, WGS 84
    longitude: float  # degrees, WGS 84
    altitude: float | None = None  # m above mean sea level (EGM96)
    above_home: float | None = None  # m above where the drone took off
    time: float | None = None  # s since 1970, UTC
    yaw: float | None = None  # degrees clockwise from true north, where the camera points
    pitch: float | None = None  # degrees above the horizon, -90 straight down
    roll: float | None = None  # degrees, clockwise as the camera sees it
    camera: str = ""  # maker, model, and what else tells cameras of one drone apart
    model: CameraModel | None = None
    laser: float | None = None  # m, measured along the middle of the picture
    errors: LookErrors = field(default_factory=LookErrors)
    doubts: tuple[str, ...] = ()
    picture: Path | None = None

    def rotation(self, convergence: float = 0.0) -> NDArray[np.float64] | None:
        """Returns the rotation (3, 3) of the optical frame into east, north and up; None without an attitude.

        convergence: degrees by which grid north lies clockwise of true north, where axes are a grid's.
        """
        if self.yaw is None or self.pitch is None:
            return None
        return attitude(self.yaw - convergence, self.pitch, self.roll or 0.0)


def along(track: Track, pitch: float, model: CameraModel) -> Iterator[Look]:
    """Yields the looks of a camera that looks ahead along a drone's track, one every EVERY seconds.

    pitch: degrees above the horizon, -90 straight down, of all of the flight. The yaw is that of the course; a drone
    that hovers has none, unless its camera looks straight down. Tracks without times or heights have no looks.
    """
    frame = Origin(float(track.latitude[0]), float(track.longitude[0]), 0.0)
    places = np.array([frame.to_enu(*at, 0.0)[:2] for at in zip(track.latitude, track.longitude, strict=True)])
    errors = LookErrors(yaw=BY_COURSE)
    last = -math.inf
    for n in range(len(places) - 1):
        time, step = float(track.time[n]), places[n + 1] - places[n]
        took = float(track.time[n + 1]) - time
        if not (time - last >= EVERY and took > 0.0 and math.isfinite(float(track.altitude[n]))):
            continue
        hovers = float(np.linalg.norm(step)) / took < HOVERING
        if hovers and pitch > STRAIGHT_DOWN:
            continue
        last = time
        yaw = math.degrees(math.atan2(step[0], step[1])) % 360.0
        yield Look(
            track.source, float(track.latitude[n]), float(track.longitude[n]), float(track.altitude[n]), time=time,
            yaw=yaw, pitch=pitch, roll=0.0, camera="as stated", model=model, errors=errors,
        )  # fmt: skip


def attitude(yaw: float, pitch: float, roll: float) -> NDArray[np.float64]:
    """Returns the rotation (3, 3) of an optical frame (right, down, forward) into east, north and up, from degrees."""
    level = optical_rotation(math.radians(90.0 - yaw), math.radians(pitch))
    c, s = math.cos(math.radians(roll)), math.sin(math.radians(roll))
    return np.asarray(level @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


def angles(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """Returns yaw, pitch and roll (degrees, as of Look) of an optical frame in east, north and up; see `attitude`.

    Straight down or up, where yaw and roll are one turn, the roll is 0 and the yaw is where the picture's top points.
    """
    right, down, forward = rotation.T
    pitch = math.degrees(math.asin(max(-1.0, min(1.0, float(forward[2])))))
    if math.hypot(forward[0], forward[1]) < 1e-6:
        top = -down * math.copysign(1.0, -forward[2])
        return math.degrees(math.atan2(top[0], top[1])) % 360.0, pitch, 0.0
    yaw = math.degrees(math.atan2(forward[0], forward[1])) % 360.0
    level = attitude(yaw, pitch, 0.0)
    roll = math.degrees(math.atan2(float(right @ level[:, 1]), float(right @ level[:, 0])))
    return yaw, pitch, roll
