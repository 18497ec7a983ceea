"""Objects seen without depth: rays from several places that cross.

Far things, things before the sky and glass give a direction only. Two rays from places apart give the place
(Hartley and Sturm, Triangulation, 1997; here the least-squares point of the rays in 3D).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.perception.fusion.localisation import Sighting
from esar_ros.perception.fusion.track import PositionMeasurement
from esar_ros.perception.settings import BearingSettings

_ANYWHERE = 1e4  # m, deviation along a ray: its range is not known


@dataclass(frozen=True)
class Crossing:
    """A place found from an earlier ray and a new one."""

    earlier: Sighting
    placed: PositionMeasurement
    view_range: float  # m, from the new ray's camera
    miss: float  # squared, in deviations


class Rays:
    """Rays that belong to no object yet."""

    def __init__(self, settings: BearingSettings) -> None:
        self._settings = settings
        self._kept: list[tuple[str, Sighting]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, group: str, sighting: Sighting) -> None:
        """Remember a ray; the oldest are forgotten."""
        newest = sighting.stamp
        self._kept = [(g, s) for g, s in self._kept if newest - s.stamp <= self._settings.memory]
        self._kept = [*self._kept, (group, sighting)][-self._settings.kept :]

    def forget(self, sighting: Sighting) -> None:
        """A ray that has become part of an object."""
        self._kept = [(g, s) for g, s in self._kept if s is not sighting]

    def crossing(self, group: str, sighting: Sighting) -> Crossing | None:
        """Returns the crossing of the ray with the earlier ray of its group that it misses least.

        None where it crosses none. Earlier rays of one image that cross it together are left out: which of them belongs
        to the same object is ambiguous.
        """
        found = [c for g, earlier in self._kept if g == group and (c := self._cross(earlier, sighting)) is not None]
        images = [(c.earlier.stamp, c.earlier.camera) for c in found]
        clear = [c for c, image in zip(found, images, strict=True) if images.count(image) == 1]
        return min(clear, key=lambda c: (c.miss, c.earlier.stamp, c.earlier.camera)) if clear else None

    def _cross(self, a: Sighting, b: Sighting) -> Crossing | None:
        cosine = float(a.bearing @ b.bearing)
        if math.acos(max(-1.0, min(1.0, cosine))) < self._settings.least_angle:
            return None
        # Ranges along both rays to their points nearest to each other.
        baseline = b.origin - a.origin
        near, far = np.linalg.solve([[1.0, -cosine], [cosine, -1.0]], [a.bearing @ baseline, b.bearing @ baseline])
        if not (0.0 < near <= self._settings.farthest and 0.0 < far <= self._settings.farthest):
            return None
        sigmas = [self._sigma(s) * distance for s, distance in ((a, near), (b, far))]
        gap = a.origin + near * a.bearing - b.origin - far * b.bearing
        # Both rays start from poses that err by themselves.
        start = float(np.trace(a.pose_covariance[:3, :3] + b.pose_covariance[:3, :3])) / 3.0
        miss = float(gap @ gap) / (sigmas[0] ** 2 + sigmas[1] ** 2 + start)
        if miss > self._settings.gate:
            return None
        information, pull = np.zeros((3, 3)), np.zeros(3)
        for ray, sigma in ((a, sigmas[0]), (b, sigmas[1])):
            # The earlier pose's error is another than the new one's by now: count it as noise of both.
            weight = _across(ray.bearing) / (sigma**2 + start / 2.0)
            information += weight
            pull += weight @ ray.origin
        noise = np.linalg.inv(information)
        position = noise @ pull
        placed = PositionMeasurement(b.stamp, position, (noise + noise.T) / 2.0, b.pose_covariance, position - b.origin)
        return Crossing(a, placed, float(np.linalg.norm(placed.lever)), miss)

    def _sigma(self, ray: Sighting) -> float:
        """rad, of a ray's direction."""
        return math.sqrt(self._settings.sigma**2 + float(np.trace(ray.pose_covariance[3:, 3:])) / 3.0)


def measured(ray: Sighting, place: Vector, settings: BearingSettings) -> PositionMeasurement | None:
    """A ray as a measurement of a known place: the ray's point nearest to it, sure across the ray alone.

    None where the place lies behind the camera.
    """
    distance = float((place - ray.origin) @ ray.bearing)
    if distance <= 0.0:
        return None
    along = np.outer(ray.bearing, ray.bearing) * _ANYWHERE**2
    noise = _across(ray.bearing) * (settings.sigma * distance) ** 2 + along
    lever = ray.bearing * distance
    return PositionMeasurement(ray.stamp, ray.origin + lever, noise, ray.pose_covariance, lever)


def _across(direction: Vector) -> NDArray[np.float64]:
    """Projection onto the plane across a unit vector."""
    return np.eye(3) - np.outer(direction, direction)
