"""The POD of all cameras of a vehicle together: the colour cameras', and where one is mounted the thermal camera's.

The colour cameras look everywhere about the vehicle. A thermal one sees a strip alone, from where its field of view
first shows it, so of what is passed both count where both look, and of these the better: looks at one time are not
independent (look_map).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import PERSON
from esar_ros.mission.names import THERMAL
from esar_ros.mission.observation import Brief
from esar_ros.mission.vehicle import ThermalCamera
from esar_ros.planning.belief.detection_probability import Curves, Detection, DetectionSettings


class Warmth:
    """The POD of a vehicle's thermal camera in one mission."""

    def __init__(self, settings: DetectionSettings, brief: Brief, camera: ThermalCamera) -> None:
        """Raises UsageError when its measured POD cannot be read."""
        self.camera = camera.model, camera.pose
        self.detection = Detection(settings, brief, THERMAL, camera.model.fx)
        self._beside: dict[float, NDArray[np.float64]] = {}

    def beside(self, height: float) -> NDArray[np.float64]:
        """Returns the POD of a person by whole metres of distance on the ground from the track of a vehicle that flies
        level at a height (m) with the nose along it: that of the nearest of its looks."""
        if height not in self._beside:
            (model, mount), person = self.camera, self.detection.person
            metres = np.arange(len(person), dtype=np.float64)
            ahead, aside = np.meshgrid(metres, metres)
            ground = np.stack([ahead, aside, np.full_like(ahead, -height)], axis=-1) - mount.position
            shown = model.project(ground @ mount.rotation)[1]
            away = np.minimum(np.rint(np.linalg.norm(ground, axis=-1)), len(person) - 1).astype(int)
            self._beside[height] = np.where(shown, person[away], 0.0).max(axis=1)
        return self._beside[height]


class Sight:
    """The POD of all cameras that bring pictures."""

    def __init__(self, colour: Detection, warmth: Warmth | None, cameras: Collection[str]) -> None:
        """cameras: that brought the newest pictures; none before the first ones, when all that are mounted count."""
        self._colour, self._warmth = colour, warmth if not cameras or THERMAL in cameras else None

    def of(self, kind: str) -> NDArray[np.float64]:
        """Returns the POD of an object of a kind in all pictures by whole metres of range."""
        own = self._colour.of(kind)
        return own if self._warmth is None or kind != PERSON else np.maximum(own, self._warmth.detection.person)

    def beside(self, height: float) -> Curves:
        """Returns the curves by distance on the ground from the track of a vehicle that passes at a height (m)."""
        colour = self._colour.curves.beside(height)
        return (
            colour
            if self._warmth is None
            else colour._replace(person=np.maximum(colour.person, self._warmth.beside(height)))
        )
