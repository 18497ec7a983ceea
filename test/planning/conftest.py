"""Briefs, observations and a vehicle that flies where it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue


@pytest.fixture
def brief() -> Callable[..., Brief]:
    """Factory of briefs: a square area of side 2 * half around the origin, home at the origin."""

    def make(half: float = 1000.0, **values: Any) -> Brief:
        square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
        given = {
            "mission_id": "m1", "map_id": "aotai", "prompt": "find them", "weather": "clear",
            "local_time": "2024-05-01T12:00:00", "t_max": 900.0, "area": square, "ceiling": 120.0,
            "home": np.zeros(3), "report_cap": 100,
        }  # fmt: skip
        return Brief(**{**given, **values})

    return make


@pytest.fixture
def observe() -> Callable[..., Observation]:
    """Factory of observations at a stamp; height equals z over flat ground."""

    def make(stamp: float = 0.0, position: object = (0.0, 0.0, 30.0), yaw: float = 0.0, **values: Any) -> Observation:
        place = np.asarray(position, dtype=np.float64)
        given = {
            "stamp": stamp, "elapsed": stamp, "vehicle": "uav1", "pose": Pose(place, quaternion_from_yaw(yaw)),
            "velocity": np.zeros(3), "height": float(place[2]), "battery": 1.0, "clues": (),
        }  # fmt: skip
        return Observation(**{**given, **values})

    return make


@pytest.fixture
def clue() -> Callable[..., SeenClue]:
    """Factory of seen clues that fulfil every requirement."""

    def make(identity: int = 1, kind: str = "tent", position: object = (50.0, 0.0, 0.0), **values: Any) -> SeenClue:
        given = {
            "id": identity, "kind": kind, "text": f"a {kind}", "score": 0.9, "position": np.asarray(position, float),
            "covariance": np.eye(3) * 0.3, "views": 5, "nearest_view": 25.0, "first_seen": 0.0, "last_seen": 1.0,
        }  # fmt: skip
        return SeenClue(**{**given, **values})

    return make


class Flight:
    """Flies a method over flat ground, one observation a second, at `speed`; the grid may follow the place."""

    def __init__(self, method: Any, observe: Callable[..., Observation], speed: float = 10.0) -> None:
        self.method, self.observe, self.speed = method, observe, speed
        self.position, self.yaw, self.stamp = np.zeros(3), 0.0, 0.0
        self.goal = Goal(GoalType.HOLD)
        self.track = [self.position]
        self.decisions: list[Decision] = []

    def run(self, seconds: int, grid_at: Callable[[np.ndarray], Grid] | None = None, **values: Any) -> Flight:
        for _ in range(seconds):
            grid = grid_at(self.position) if grid_at else None
            decision = self.method.act(self.observe(self.stamp, self.position, self.yaw, grid=grid, **values))
            self.decisions.append(decision)
            if decision.goal is not None:
                self.goal = decision.goal
            if decision.stop:
                break
            self._step()
        return self

    def _step(self) -> None:
        self.stamp += 1.0
        if self.goal.type is GoalType.WAYPOINT:
            way = self.goal.position - self.position
            distance = float(np.linalg.norm(way))
            self.position = self.position + way * min(1.0, self.speed / max(distance, 1e-9))
            if self.goal.yaw is not None:
                self.yaw = self.goal.yaw
        self.track.append(self.position)

    @property
    def stopped(self) -> bool:
        return self.decisions[-1].stop


@pytest.fixture
def flight(observe: Callable[..., Observation]) -> Callable[..., Flight]:
    """Factory of flights."""
    return lambda method, speed=10.0: Flight(method, observe, speed)
