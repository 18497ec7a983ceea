"""Messages between the simulator and its rendering process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from esar_ros.geometry.frames import Pose
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.settings import Capture


@dataclass(frozen=True)
class Placed:
    """A spawned object; segmentation is its value in segmentation images."""

    name: str
    asset: str
    pose: Pose
    scale: float
    segmentation: int


@dataclass(frozen=True)
class RenderScene:
    """Everything that can change what is seen."""

    version: int
    objects: tuple[Placed, ...]
    environment: Any
    ground_segmentation: int


@dataclass(frozen=True)
class RenderRequest:
    """One image asked for: optical pose in the map, size, type."""

    pose: Pose
    capture: Capture
    kind: ImageType
    as_float: bool
    compress: bool
    vehicles: tuple[tuple[Pose, float], ...] = ()  # others that it may show: pose in the map, radius (m)
    motion: tuple[float, ...] = (0.0, 0.0, 0.0)  # m/s, map: the camera's velocity


@dataclass(frozen=True)
class Job:
    """Images of one instant; scene is None when it has not changed since the last job."""

    scene: RenderScene | None
    time: float
    views: tuple[RenderRequest, ...]


@dataclass(frozen=True)
class Done:
    """Reply with the images' places in the shared memory: (offset, bytes) each."""

    size: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Failed:
    """Reply without images, and the reason."""

    reason: str
