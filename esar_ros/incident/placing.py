"""From a pixel of a picture to a coordinate on the ground, with its error; withheld where heights disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.features import Floats, Position
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look, attitude

REACH = 3000.0  # m, beyond which nothing on a picture is placed
_DISAGREE = 3.0  # standard deviations
UNCHECKED = "its height is not checked against the ground"


@dataclass(frozen=True)
class Height:
    """A camera's height and how well it is known against the elevation model."""

    altitude: float  # m above the sea
    sigma: float  # m, of the height above the ground
    checked: bool  # by a second statement that agrees


@dataclass(frozen=True)
class Placed:
    """A pixel's place on the ground."""

    position: Position  # with the ground's height
    covariance: Floats  # (2, 2) m², east and north
    altitude_sigma: float  # m
    distance: float  # m, from the camera
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class Withheld:
    """A coordinate that is not told, and why."""

    why: str


def camera_height(look: Look, ground: Ground, home: Position | None = None) -> Height | Withheld:
    """Returns a camera's height, by what is known best of it, or why it is not to be trusted.

    Told are an altitude above the sea, and a height above where the drone took off: on the elevation model they must
    agree, and with the laser's distance. home: where it took off.
    """
    x, y = ground.to_grid(look.latitude, look.longitude)
    below = ground.height(x, y)
    if math.isnan(below):
        return Withheld("it lies beside the elevation model")
    errors, told = look.errors, list[tuple[float, float]]()
    if home is not None and look.above_home is not None:
        start = ground.height(*ground.to_grid(home.latitude, home.longitude))
        if not math.isnan(start):
            told.append((start + look.above_home, errors.above_home))
    if look.altitude is not None:
        told.append((look.altitude, errors.vertical))
    if not told:
        return Withheld("its height is not told")
    (altitude, error), *others = told
    for other, its in others:
        if abs(other - altitude) > _DISAGREE * math.sqrt(error**2 + its**2 + ground.sigma**2):
            return Withheld("its height above the sea disagrees with that above its take-off on the elevation model")
    if altitude <= below:
        return Withheld("its height lies below the ground")
    height = Height(altitude, math.hypot(error, ground.sigma), bool(others))
    if look.laser is None:
        return height
    expected, spread = _along_axis(look, ground, height)
    if math.isnan(expected):
        return height
    if abs(expected - look.laser) > _DISAGREE * spread:
        return Withheld("its laser's distance disagrees with its height on the elevation model")
    return Height(altitude, height.sigma, True)


def place(look: Look, pixel: tuple[float, float], ground: Ground, home: Position | None = None) -> Placed | Withheld:
    """Returns where on the ground a pixel (u, v) lies.

    The error is propagated by central differences of one standard deviation from the camera's position, height and
    attitude, the focal length, the pixel, the elevation model's heights and its own position, taken as independent.
    """
    if look.model is None or look.yaw is None or look.pitch is None:
        return Withheld(look.doubts[0] if look.doubts else "its attitude or focal length is not told")
    height = camera_height(look, ground, home)
    if isinstance(height, Withheld):
        return height
    hit, distance = _Ray(look, ground, height, pixel).hit(np.zeros(9))
    if math.isnan(distance):
        return Withheld("what it shows there is not on the elevation model")
    covariance, ray = np.zeros((2, 2)), _Ray(look, ground, height, pixel)
    for number, sigma in enumerate(ray.sigmas):
        offset = np.zeros(9)
        offset[number] = sigma
        (ahead, far), (behind, near) = ray.hit(offset), ray.hit(-offset)
        if math.isnan(far) or math.isnan(near):
            return Withheld("it looks along the ground: a small error moves it without bound")
        half = (ahead - behind)[:2] / 2.0
        covariance += np.outer(half, half)
    for number in range(2):  # a model that lies aside is a camera that does, seen from the model
        offset = np.zeros(9)
        offset[number] = ground.aside
        (ahead, far), (behind, near) = ray.hit(offset), ray.hit(-offset)
        if math.isnan(far) or math.isnan(near):
            return Withheld("what it shows there is not on the elevation model")
        half = (ahead - behind)[:2] / 2.0 - offset[:2]
        covariance += np.outer(half, half)
    # From the grid's axes to east and north.
    c = math.radians(ground.convergence(look.latitude, look.longitude))
    turn = np.array([[math.cos(c), math.sin(c)], [-math.sin(c), math.cos(c)]])
    latitude, longitude = ground.to_geodetic(float(hit[0]), float(hit[1]))
    doubts = look.doubts if height.checked else (*look.doubts, UNCHECKED)
    at = Position(latitude, longitude, float(hit[2]))
    return Placed(at, turn @ covariance @ turn.T, ground.sigma, distance, doubts)


class _Ray:
    """The line of sight through a pixel, from numbers that may each be off."""

    def __init__(self, look: Look, ground: Ground, height: Height, pixel: tuple[float, float]) -> None:
        """look: with attitude and intrinsics."""
        errors = look.errors
        self._ground, self._pixel = ground, pixel
        self._model: CameraModel = look.model  # type: ignore[assignment]
        self._camera = np.array([*ground.to_grid(look.latitude, look.longitude), height.altitude])
        yaw = (look.yaw or 0.0) - ground.convergence(look.latitude, look.longitude)
        self._angles = np.array([yaw, look.pitch or 0.0, look.roll or 0.0])
        # Of east, north, height, yaw, pitch, roll, u, v, and the share of the focal length.
        self.sigmas = (
            errors.horizontal, errors.horizontal, height.sigma, errors.yaw, errors.pitch, errors.roll,
            errors.pixel, errors.pixel, errors.focal,
        )  # fmt: skip

    def hit(self, offset: Floats) -> tuple[Floats, float]:
        """Returns the point (3,) on the ground, and its distance (m), nan for none; offset (9,): as of sigmas."""
        model = self._model
        u, v = self._pixel[0] + offset[6] - model.cx, self._pixel[1] + offset[7] - model.cy
        focal = 1.0 + offset[8]
        ray = attitude(*(self._angles + offset[3:6])) @ np.array([u / (model.fx * focal), v / (model.fy * focal), 1.0])
        ray /= np.linalg.norm(ray)
        camera = self._camera + offset[:3]
        distance = self._ground.cast(camera, ray, REACH)
        return camera + distance * ray, distance


def _along_axis(look: Look, ground: Ground, height: Height) -> tuple[float, float]:
    """Returns the distance (m) to the ground along the middle of the picture, and its standard deviation."""
    if look.model is None or look.yaw is None or look.pitch is None:
        return math.nan, math.nan
    ray = _Ray(look, ground, height, (look.model.cx, look.model.cy))
    _, distance = ray.hit(np.zeros(9))
    variance = 0.0
    for number, sigma in enumerate(ray.sigmas[:6]):
        offset = np.zeros(9)
        offset[number] = sigma
        variance += ((ray.hit(offset)[1] - ray.hit(-offset)[1]) / 2.0) ** 2
    return distance if math.isfinite(variance) else math.nan, math.sqrt(variance)
