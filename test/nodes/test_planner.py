"""Observations that the planner's node passes to its method."""

from __future__ import annotations

from typing import Any

import pytest
from geometry_msgs.msg import Point, TransformStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from esar_ros.mission import names
from esar_ros.msg import Brief, MissionState, Tick
from esar_ros.nodes import planner as module
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.planner import PlannerNode

SECOND = 1_000_000_000


@pytest.fixture
def planner(ros: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    real = module.declare
    monkeypatch.setattr(
        module, "declare", lambda n, name, *a, **k: "stay" if name == "method" else real(n, name, *a, **k)
    )
    node = PlannerNode()
    transform = TransformStamped(child_frame_id=names.vehicle_frame(node.vehicles[0], names.ODOM))
    transform.header.frame_id = names.MAP
    node._odometry._on_static(TFMessage(transforms=[transform]))
    corners = [(-200.0, -200.0), (200.0, -200.0), (200.0, 200.0), (-200.0, 200.0)]
    node.inbox(names.BRIEF).put(0, Brief(mission_id="one", area=[Point(x=x, y=y) for x, y in corners], t_max=300.0))
    yield node
    node.destroy_node()


def elapsed_at(planner: Any, second: int, state: MissionState) -> float:
    """Returns the mission's time that the method receives at a frame, after the mission's newest state."""
    planner.inbox(names.MISSION_STATE).put(0, state)
    planner._begin(state)
    odometry = Odometry()
    odometry.header.stamp = to_stamp(second * SECOND)
    planner.inbox(names.ODOMETRY).put(second * SECOND, odometry)
    seen: list[Any] = []
    decide = planner._session.decide
    planner._session.decide = lambda observation: seen.append(observation) or decide(observation)
    planner.on_step(Step(second * SECOND, second, Tick.FRAME, 0.05, None, frozenset()))
    planner._session.decide = decide
    return float(seen[0].elapsed)


def test_time_begins_with_the_first_frame_where_the_state_comes_later(planner: Any) -> None:
    assert elapsed_at(planner, 7, MissionState(phase=MissionState.PREPARING)) == 0.0
    running = MissionState(phase=MissionState.RUNNING)
    running.header.stamp = to_stamp(7 * SECOND)
    assert elapsed_at(planner, 8, running) == pytest.approx(1.0)


def test_who_takes_a_planner_s_place_knows_how_long_the_mission_has_lasted(planner: Any) -> None:
    running = MissionState(phase=MissionState.RUNNING, elapsed=143.0)
    running.header.stamp = to_stamp(150 * SECOND)
    assert elapsed_at(planner, 152, running) == pytest.approx(145.0)
    planner.inbox(names.BRIEF).newest.mission_id = "two"
    again = MissionState(phase=MissionState.RUNNING, elapsed=1.0)
    again.header.stamp = to_stamp(200 * SECOND)
    assert elapsed_at(planner, 202, again) == pytest.approx(3.0), "another mission"
