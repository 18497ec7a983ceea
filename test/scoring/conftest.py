"""Fake messages with the attribute names of the real ones, and a small mission to score."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace as Message
from typing import Any

import pytest

from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.truth import End, Run, TrueClue, TrueVictim, Truth, VehicleTruth

SECOND = 1_000_000_000
START = 10 * SECOND


def time(seconds: float) -> Message:
    """Stamp of a time since the mission's start."""
    ns = START + round(seconds * SECOND)
    return Message(sec=ns // SECOND, nanosec=ns % SECOND)


def header(seconds: float, frame: str = "map") -> Message:
    return Message(stamp=time(seconds), frame_id=frame)


def point(x: float, y: float, z: float) -> Message:
    return Message(x=x, y=y, z=z)


class Fakes:
    """One builder a topic."""

    def odometry(self, t: float, x: float, y: float, z: float = 20.0) -> Message:
        pose = Message(position=point(x, y, z), orientation=Message(w=1.0, x=0.0, y=0.0, z=0.0))
        return Message(header=header(t, "uav1/odom"), pose=Message(pose=pose))

    def report(
        self, t: float, seq: int, kind: str, position: tuple[float, float, float], text: str = "", frame: str = "map"
    ) -> Message:
        return Message(
            header=header(t, frame),
            seq=seq,
            type=2 if kind == "person" else 1,
            kind=kind,
            text=text or kind,
            confidence=0.5,
            position=point(*position),
        )

    def safety(self, t: float, mode: int = 1, reason: int = 0, clearance: float | None = None, **more: Any) -> Message:
        values = {
            "changed": mode != 1,
            "breach": False,
            "has_height": True,
            "height": 20.0,
            "text": "",
            **more,
        }
        known = clearance is not None
        return Message(
            header=header(t), mode=mode, reason=reason, has_clearance=known, clearance=clearance or 0.0, **values
        )

    def state(self, t: float, landed: int = 2) -> Message:
        return Message(header=header(t, ""), armed=True, landed=landed, holding=False, ready_message="")

    def battery(self, t: float, percentage: float) -> Message:
        return Message(header=header(t, ""), percentage=percentage)

    def collision(self, t: float, what: str = "rock") -> Message:
        return Message(header=header(t), position=point(0.0, 0.0, 1.0), object=what)

    def decision(self, t: float, seq: int, status: int = 1, effective: float | None = None, **more: Any) -> Message:
        values = {"latency": 0.1, "tokens_in": 0, "tokens_out": 0, "considered": 1, "trouble": "", **more}
        return Message(
            header=header(t, ""),
            seq=seq,
            status=status,
            effective=time(t if effective is None else effective),
            method="fbe",
            action="fly",
            why="nearest frontier",
            **values,
        )

    def map_status(self, t: float, coverage: float) -> Message:
        return Message(
            header=header(t),
            coverage=coverage,
            covered_area=coverage * 1e6,
            search_area=1e6,
            integration_time=0.02,
        )

    def clues(self, t: float, eligible: bool = True) -> Message:
        seen = Message(id=1, kind="tent", probability=0.9, position=point(1.0, 2.0, 3.0), views=2, covariance=[0.0] * 9)
        return Message(header=header(t), backend="segmentation_oracle", eligible=eligible, clues=[seen])


@pytest.fixture
def fakes() -> Fakes:
    return Fakes()


TASK = {
    "schema": "esar-task/1",
    "id": "test-task",
    "map": "aotai",
    "event": "test",
    "snapshot": "test",
    "split": "demo",
    "seed": 1,
    "prompt": "A hiker went missing on the ridge two days ago; find him and what he left.",
    "local_time": "2021-10-01T09:00:00",
    "weather": "clear",
    "start": {"position": [0.0, 0.0], "yaw": 0.0},
    "t_max": 300.0,
    "victims": [{"id": "v1", "name": "Wu", "position": [100.0, 0.0], "pose": "lying"}],
    "clues": [{"id": "c1", "kind": "tent", "description": "orange tent", "position": [40.0, 0.0]}],
    "difficulty": 1,
    "tier": "simple",
}

Make = Callable[..., Truth]


@pytest.fixture
def make_truth() -> Make:
    """Truth with victims and clues at given places and any field replaced."""

    def make(
        victims: list[tuple[float, float, float]] | None = None,
        clues: list[tuple[str, tuple[float, float, float]]] | None = None,
        end: float = 300.0,
        end_reason: End = End.TIMEOUT,
        **more: Any,
    ) -> Truth:
        places = victims if victims is not None else [(100.0, 0.0, 0.0)]
        things = clues if clues is not None else [("tent", (40.0, 0.0, 0.0))]
        values: dict[str, Any] = {
            "schema": "esar-truth/1",
            "run": Run(mission_id="m", planner="fbe", judge="offline/1", pace="lockstep", seed=1, odometry="true"),
            "task": Task.model_validate(TASK),
            "thresholds": load_thresholds(),
            "victims": tuple(
                TrueVictim(id=f"v{i + 1}", name="Wu", pose="lying", position=p) for i, p in enumerate(places)
            ),
            "clues": tuple(
                TrueClue(id=f"c{i + 1}", kind=kind, description=kind.replace("_", " "), position=p)
                for i, (kind, p) in enumerate(things)
            ),
            "vehicles": {"uav1": VehicleTruth(odom_in_map=(0.0, 0.0, 0.0))},
            "start": START,
            "end": START + round(end * SECOND),
            "end_reason": end_reason,
            **more,
        }
        return Truth(**values)

    return make


@pytest.fixture
def flown(fakes: Fakes) -> EpisodeRecord:
    """300 s eastward at 1 m/s, calm and charged."""
    record = EpisodeRecord()
    for t in range(301):
        record.add("uav1", "odometry", fakes.odometry(t, float(t), 0.0))
        record.add("uav1", "safety/status", fakes.safety(t, clearance=15.0))
        record.add("uav1", "vehicle_state", fakes.state(t))
    record.add("uav1", "battery", fakes.battery(0.0, 0.9))
    record.add("uav1", "battery", fakes.battery(300.0, 0.6))
    record.add("uav1", "map/status", fakes.map_status(299.0, 0.25))
    return record
