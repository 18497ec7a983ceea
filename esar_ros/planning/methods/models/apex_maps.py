"""APEX's memory: attraction, exploration and obstacles in voxels of 5 m around the start or around the vehicle.

Source: Zhang et al., APEX: a decoupled memory-based explorer for asynchronous aerial object goal navigation, CVPR
2026, dynamic spatio-semantic mapping memory, and its public code, from which the numbers are: 200 m x 200 m x 50 m
around the start; a named object's score A in the voxels that its pixels and their depth fall into, the latest frame
winning; each frame adds 0.5 (1 - d / 30) to E in the prism ahead (30 m deep, 45 degrees to each side, 10 m up and
down); a voxel is an obstacle once depth shows a surface in it. The worth of a pose is the code's reward: over the
visible voxels within R w A, and 5 w more where A >= 0.9, with w = (R - d) / R and R of 50 m; over the prism 0.4 (0.4
- E) (30 - d) / 30.

Adapted: the box may move with the vehicle, keeping what it still covers. There R may be greater, as far as the box
reaches, d is horizontal, and what lies ahead within 45 degrees to each side counts as visible at any height: a camera
that looks down sees it, and nothing is won by sinking or by keeping a distance at which the front camera still has it.
E is capped at 1; and as there may be several victims, what three frames have shown from near attracts no more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mapping.map.voxel_field import VoxelField
from esar_ros.mission.observation import Observation
from esar_ros.planning.depth_view import surface_points

EDGE = 5.0  # m
GAIN = 0.5  # of E in a frame
PRISM, PRISM_HALF_HEIGHT = 30.0, 10.0  # m
STRONG, BONUS = 0.9, 5.0  # score from which the bonus is given
BALANCE, CENTRE = 0.4, 0.4  # weight of E, and the value of E that is worth nothing
_ENOUGH_LOOKS = 3  # frames from near after which a voxel attracts no more
_SLACK = 4  # voxels from the middle of the box after which it moves


class ApexMaps:
    """Three fields of the same box, and how often each voxel was seen from near."""

    def __init__(self, observation: Observation, size: tuple[float, float], below: float, moves: bool) -> None:
        """Takes side and height (m) of the box, how far (m) it reaches below the ground, and whether it moves."""
        self._moves, self._below = moves, below
        self._size = np.array([size[0], size[0], size[1]])
        lower = self._lowest(observation)
        upper = lower + self._size
        self.attraction, self.exploration, self.obstacles, self._looks = (
            VoxelField(lower, upper, EDGE) for _ in range(4)
        )
        self._model, self._mount = CameraModel.from_horizontal_fov(64, 48, math.pi / 2.0), Pose()

    def see(self, observation: Observation, near: float) -> None:
        """Adds what a frame explores, its obstacles, and what it shows from within `near` (m, horizontally)."""
        if self._moves and observation.height is not None:
            self._follow(observation)
        front = observation.views.get("front")
        if front is not None:
            self._model, self._mount = front.model, observation.pose.inverse().compose(front.pose)
            index, distance = self._prism(observation.pose.position, observation.pose.yaw)
            self.exploration.add(index, GAIN * (1.0 - np.minimum(distance, PRISM) / PRISM))
            np.minimum(self.exploration.values, 1.0, out=self.exploration.values)
        self.obstacles.raise_to(surface_points(observation.views.values()), 1.0)
        self._look(observation, near)

    def ground(self, points: NDArray[np.float64], score: float) -> None:
        """Gives the voxels of points (N, 3) an object's score, except those that were looked at."""
        index, inside = self.attraction.index_of(points)
        voxels = tuple(index[inside].T)
        self.attraction.values[voxels] = np.where(self._looks.values[voxels] < _ENOUGH_LOOKS, score, 0.0)

    def reward(self, place: Vector, yaw: float, reach: float) -> float:
        """Returns the worth of being at a place (3,) with a heading (rad); reach: m up to which A counts."""
        if self._moves:  # in front of it, at any height
            index, _ = self.attraction.in_prism(place, yaw, reach, float(self._size[2]))
            distance = np.hypot(*(self.attraction.lower + (index + 0.5) * EDGE - place)[:, :2].T)
        else:
            camera = Pose(place, quaternion_from_yaw(yaw)).compose(self._mount)
            index, distance = self.attraction.in_view(self._model, camera, reach)
        attraction = self.attraction.values[tuple(index.T)].astype(np.float64)
        weight = np.maximum(reach - distance, 0.0) / reach
        drawn = weight * attraction + BONUS * weight * (attraction >= STRONG - 1e-6)
        index, distance = self._prism(place, yaw)
        explored = self.exploration.values[tuple(index.T)].astype(np.float64)
        new = BALANCE * (CENTRE - explored) * np.maximum(PRISM - distance, 0.0) / PRISM
        return float(drawn.sum() + new.sum())

    def is_occupied(self, start: Vector, end: Vector) -> bool:
        """Returns whether the segment crosses an obstacle voxel other than the one the vehicle is in."""
        steps = np.linspace(0.0, 1.0, max(math.ceil(float(np.linalg.norm(end - start)) / (EDGE / 2.0)), 1) + 1)[1:]
        samples = start + steps[:, None] * (end - start)
        own, _ = self.obstacles.index_of(start[None])
        index, inside = self.obstacles.index_of(samples)
        other = inside & (index != own).any(axis=1)
        return bool((self.obstacles.values[tuple(index[other].T)] > 0.0).any())

    def _prism(self, place: Vector, yaw: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return self.exploration.in_prism(place, yaw, PRISM, PRISM_HALF_HEIGHT)

    def _look(self, observation: Observation, near: float) -> None:
        """Counts the voxels that cameras show from near; one that has been seen enough attracts no more."""
        here = observation.pose.position
        seen = np.zeros(self._looks.values.shape, np.bool_)
        reach = math.hypot(near, observation.height or 0.0) + EDGE
        for view in observation.views.values():
            index, _ = self._looks.in_view(view.model, view.pose, reach, view.depth)
            centres = self._looks.lower + (index + 0.5) * EDGE
            index = index[np.hypot(*(centres - here)[:, :2].T) <= near]
            seen[tuple(index.T)] = True
        self._looks.values += seen
        self.attraction.values[self._looks.values >= _ENOUGH_LOOKS] = 0.0

    def _lowest(self, observation: Observation) -> Vector:
        """Returns the lower corner (3,) of the box: around the vehicle, and down to the ground if it reaches there."""
        x, y, _ = observation.pose.position - self._size / 2.0
        ground = float(observation.pose.position[2]) - (observation.height or 0.0)
        highest = float(observation.pose.position[2]) + PRISM_HALF_HEIGHT
        return np.array([x, y, max(ground - self._below, highest - self._size[2])])

    def _follow(self, observation: Observation) -> None:
        """Moves the box after a vehicle that has left its middle, by whole voxels."""
        steps = np.rint((self._lowest(observation) - self.attraction.lower) / EDGE).astype(int)
        if np.abs(steps).max() > _SLACK:
            for field in (self.attraction, self.exploration, self.obstacles, self._looks):
                field.shift(steps)
