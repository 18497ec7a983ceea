"""A look: one picture, from where and with what camera it was taken, and how well that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation


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
