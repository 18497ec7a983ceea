"""The sensing of an episode: fused objects and the map of each frame, as the graph's sensing process has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from esar_ros.benchmark.engine.wire import clue_as_sent, grid_as_sent, seconds, window_as_sent
from esar_ros.geometry.camera_frame import FrameSet
from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.layers.object_labels import LABELS, SeenObject
from esar_ros.mapping.mapper import Mapper, MapState
from esar_ros.mission.observation import Brief, Grid, SeenClue
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import Vehicle
from esar_ros.perception.detector import create_detector
from esar_ros.perception.detectors.segmentation_oracle import SegmentationOracle

RESOLUTION = 1.0  # m, edge of a voxel; the graph's default


@dataclass(frozen=True)
class Sensed:
    """The state of detector and map after a frame."""

    clues: tuple[SeenClue, ...]
    cameras: tuple[str, ...]  # whose images the detector has looked at
    window: OccupancyWindow
    map: MapState
    frames: FrameSet


class Sensing:
    """The detector and the mapper of one vehicle."""

    def __init__(self, rig: Vehicle, brief: Brief, detector: str, kinds: Mapping[int, tuple[str, str]]) -> None:
        self.detector = create_detector(detector)
        if isinstance(self.detector.backend, SegmentationOracle):
            self.detector.backend.set_objects(kinds)
        self._mapper = Mapper(RESOLUTION, rig.image.depth_max, load_thresholds().coverage_range)
        self._mapper.set_area(brief.area, brief.home)

    @property
    def needs_truth(self) -> bool:
        """True where the detector reads object ids."""
        return not self.detector.backend.eligible

    @property
    def needs_colour(self) -> bool:
        """True where the detector reads more than object ids."""
        return not isinstance(self.detector.backend, SegmentationOracle)

    def take(self, base: Pose, frame_set: FrameSet) -> Sensed:
        """Processes one frame of all cameras, placed in the map by a pose of base_link."""
        ns, frames = frame_set.ns, frame_set.frames
        result = self.detector.process(frames)
        clues = tuple(clue_as_sent(clue) for clue in result.clues)
        self._mapper.integrate(frames, seconds(ns))
        for frame in frames:
            seen = [
                SeenObject(sighting.detection.box, sighting.position, LABELS[sighting.detection.kind])
                for sighting in result.sightings
                if sighting.camera == frame.camera and sighting.position is not None
            ]
            self._mapper.paint_objects(frame, seen)
        window = window_as_sent(self._mapper.local_window(base.position, 0.0), ns)
        return Sensed(clues, result.cameras, window, self._mapper.state(), frame_set)

    def grid(self) -> Grid:
        """Returns the bird's-eye view for methods that ask for it."""
        cells, resolution, (x, y) = self._mapper.grid()
        return grid_as_sent(Grid(np.ascontiguousarray(cells, dtype=np.int8), float(resolution), (float(x), float(y))))
