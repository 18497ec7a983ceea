"""Briefs, observations and a vehicle that flies where it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Brief, Grid, Observation, SeenClue
from esar_ros.mission.vehicle import load_vehicle
from helpers.chat_server import ChatEndpoint


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
            "cameras": CAMERAS,
        }  # fmt: skip
        return Observation(**{**given, **values})

    return make


@pytest.fixture
def clue() -> Callable[..., SeenClue]:
    """Factory of seen clues that fulfil every requirement."""

    def make(identity: int = 1, kind: str = "tent", position: object = (50.0, 0.0, 0.0), **values: Any) -> SeenClue:
        given = {
            "id": identity, "kind": kind, "text": f"a {kind}", "probability": 0.9,
            "position": np.asarray(position, float), "covariance": np.eye(3) * 0.3, "views": 5, "nearest_view": 25.0,
            "first_seen": 0.0, "last_seen": 1.0,
        }  # fmt: skip
        return SeenClue(**{**given, **values})

    return make


@pytest.fixture
def corridor() -> Grid:
    """A free strip along x, walled in: frontiers only at its two ends, 50 m west and 30 m east."""
    cells = np.full((120, 120), OCCUPIED, np.int8)
    cells[45:75, 10:90] = FREE
    cells[45:75, :10] = UNKNOWN
    cells[45:75, 90:] = UNKNOWN
    return Grid(cells, 1.0, (-60.0, -60.0))


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


@pytest.fixture
def look() -> Callable[..., dict[str, CameraFrame]]:
    """Factory of the four cameras' views over flat ground at z = 0, 80x60 px: a wall may stand around the vehicle.

    wall: camera -> m from the vehicle at which everything ahead ends.
    """

    def make(
        position: object = (0.0, 0.0, 30.0), yaw: float = 0.0, wall: dict[str, float] | None = None
    ) -> dict[str, CameraFrame]:
        rig, model = load_vehicle(), CameraModel.from_horizontal_fov(80, 60, np.pi / 2)
        base = Pose(np.asarray(position, float), quaternion_from_yaw(yaw))
        views = {}
        for number, (name, mount) in enumerate(rig.cameras.items()):
            pose = base.compose(mount.pose)
            rays = model.rays() @ pose.rotation.T
            with np.errstate(divide="ignore"):
                ground = np.where(rays[..., 2] < 0, -pose.position[2] / rays[..., 2], np.inf)
            depth = np.minimum(ground, (wall or {}).get(name, np.inf))
            depth[depth > 120.0] = np.inf
            image = np.full((60, 80, 3), 40 * number, np.uint8)
            views[name] = CameraFrame(name, model, pose, depth.astype(np.float32), image)
        return views

    return make


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    """A chat endpoint on the loopback interface, which the environment names."""
    endpoint = ChatEndpoint()
    for name in ("PRESET", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    monkeypatch.setenv("ESAR_MODEL_URL", endpoint.url)
    monkeypatch.setenv("ESAR_MODEL_NAME", "scripted")
    monkeypatch.setenv("ESAR_MODEL_KEY", endpoint.secret)
    yield endpoint
    endpoint.close()
