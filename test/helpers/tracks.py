"""Flights of methods that look about them in air that becomes known, and how far two tracks lie apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import FREE, UNKNOWN, Grid, Observation
from esar_ros.planning.method import Method


class Seeing:
    """A method whose observations hold what the cameras see from where the vehicle is."""

    def __init__(self, method: Method, look: Callable[..., dict[str, CameraFrame]]) -> None:
        self.method, self.look = method, look

    def act(self, observation: Observation) -> Decision:
        views = self.look(observation.pose.position, observation.pose.yaw)
        return self.method.act(replace(observation, views=views))


def known_around(cell: float) -> Callable[[np.ndarray], Grid]:
    """A square of 600 m about the origin in cells of so many m, open within 100 m of a place and unknown beyond."""
    y, x = np.mgrid[-299:300:cell, -299:300:cell]

    def known(place: np.ndarray) -> Grid:
        near = np.hypot(x - place[0], y - place[1]) < 100.0
        return Grid(np.where(near, FREE, UNKNOWN).astype(np.int8), cell, (-300.0, -300.0))

    return known


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Greatest distance (m) of two tracks at a time; x, y, z are their first columns."""
    length = min(len(one), len(other))
    return float(np.linalg.norm(one[:length, :3] - other[:length, :3], axis=1).max())
