"""Observations that the planner's node passes to its method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Point, PoseWithCovarianceStamped, TransformStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from esar_ros.mission import names
from esar_ros.mission.decision import DecisionStatus, GoalType
from esar_ros.msg import Brief, Clue, Clues, MissionState, Report, Tick
from esar_ros.nodes import planner as module
from esar_ros.nodes.core import interface
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.planner import PlannerNode
from esar_ros.srv import Sighting

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

    def see(observation: Any) -> Any:
        seen.append(observation)
        return decide(observation)

    planner._session.decide = see
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


# --- What a person has seen ------------------------------------------------------------------------------------------


def sighting(**changes: Any) -> Report:
    seen = {"type": Report.CLUE, "kind": "tent", "text": "orange tent", "confidence": 0.7, "position": Point(x=5.0)}
    return Report(**(seen | changes))


def tell(planner: Any, report: Report) -> tuple[bool, str, list[tuple[str, Any]]]:
    """Returns the service's answer, and what the planner sends on it and with its next decision."""
    sent: list[tuple[str, Any]] = []
    planner.send = lambda name, message, vehicle=None: sent.append((name, message))
    answer = planner._on_sighting(Sighting.Request(report=report), Sighting.Response())
    if planner.inbox(names.MISSION_STATE).newest is not None:
        elapsed_at(planner, 9, planner.inbox(names.MISSION_STATE).newest)
    return bool(answer.success), str(answer.message), sent


def test_what_a_person_has_seen_is_on_record_and_reported_with_the_next_decision(planner: Any) -> None:
    elapsed_at(planner, 7, MissionState(phase=MissionState.RUNNING))
    success, _, sent = tell(planner, sighting())
    assert success and [name for name, _ in sent[:2]] == [names.OPERATOR_REPORT, names.REPORTS]
    recorded, reported = sent[0][1], sent[1][1]
    assert (recorded.seq, reported.seq, reported.kind, reported.position.x) == (0, 1, "tent", 5.0)
    assert reported.header.frame_id == names.MAP


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"type": 7}, "type 7 is none of 1 (clue), 2 (victim)"),
        ({"kind": "tnet"}, "kind 'tnet' is none of "),
        ({"kind": "person"}, "kind 'person' is none of "),
        ({"type": Report.VICTIM}, "kind 'tent' is none of person"),
        ({"position": Point(x=float("nan"))}, "its position is not finite"),
        ({"confidence": 7.0}, "confidence 7 is not within 0..1"),
        ({"confidence": float("nan")}, "confidence nan is not within 0..1"),
    ],
)
def test_a_sighting_that_makes_no_sense_is_refused_in_the_answer_and_not_reported(
    planner: Any, changes: dict[str, Any], why: str
) -> None:
    elapsed_at(planner, 7, MissionState(phase=MissionState.RUNNING))
    success, message, sent = tell(planner, sighting(**changes))
    assert not success and message.startswith(f"not reported: {why}")
    assert not {names.OPERATOR_REPORT, names.REPORTS} & {name for name, _ in sent}


def test_a_sighting_in_another_frame_is_refused(planner: Any) -> None:
    elapsed_at(planner, 7, MissionState(phase=MissionState.RUNNING))
    report = sighting()
    report.header.frame_id = "uav1/odom"
    assert tell(planner, report)[:2] == (False, "not reported: its position is in uav1/odom, not in map")


def test_without_a_mission_nothing_is_reported(planner: Any) -> None:
    assert tell(planner, sighting())[:2] == (False, "not reported: there is no mission")
    elapsed_at(planner, 7, MissionState(phase=MissionState.ENDED))
    assert tell(planner, sighting())[:2] == (False, "not reported: the mission has ended")


# --- Who was found, for who goes there -------------------------------------------------------------------------------

COVARIANCE = [4.0, 1.0, 0.5, 1.0, 3.0, 0.25, 0.5, 0.25, 2.0]  # m^2


def test_a_found_person_is_a_pose_with_covariance_that_late_readers_get_too(planner: Any, ros: Any) -> None:
    running = MissionState(phase=MissionState.RUNNING)
    elapsed_at(planner, 7, running)
    places = {"person": (5.0, 6.0), "tent": (5.1, 6.0)}
    seen = [
        Clue(id=number, kind=kind, probability=0.9, position=Point(x=x, y=y, z=700.0), covariance=COVARIANCE)
        for number, (kind, (x, y)) in enumerate(places.items(), 1)
    ]
    planner.inbox(names.CLUES).put(9 * SECOND, Clues(clues=seen))
    found = {"type": Report.VICTIM, "kind": "person"}
    for report in (
        sighting(),
        sighting(**found, position=Point(x=5.0, y=6.0, z=701.0)),
        sighting(**found, position=Point(x=5.0, y=60.0)),
    ):
        planner._on_sighting(Sighting.Request(report=report), Sighting.Response())
    elapsed_at(planner, 9, running)
    reader = rclpy.create_node("reader")
    got: list[PoseWithCovarianceStamped] = []
    quality = PROFILES[interface.BY_NAME[names.PERSONS].quality]
    topic = planner.publisher(names.PERSONS).topic_name
    reader.create_subscription(PoseWithCovarianceStamped, topic, got.append, quality)
    last = PoseWithCovarianceStamped()
    planner.publisher(names.PERSONS).publish(last)
    assert ros([planner, reader], lambda: last in got)
    got.remove(last)  # before it came all others: a tent is no person
    for message, (y, z) in zip(got, ((6.0, 701.0), (60.0, 0.0)), strict=True):
        assert (message.header.frame_id, message.header.stamp) == (names.MAP, to_stamp(9 * SECOND))
        place = message.pose.pose.position
        assert (place.x, place.y, place.z) == (5.0, y, z) and message.pose.pose.orientation.w == 1.0
    near, far = (np.reshape(message.pose.covariance, (6, 6)) for message in got)
    assert near[:3, :3].ravel().tolist() == COVARIANCE and far[0, 0] == -1.0
    assert np.linalg.eigvalsh(near).min() > 0.0
    assert not near[:3, 3:].any() and not near[3:, :3].any()
    reader.destroy_node()


# --- A method that fails ----------------------------------------------------------------------------------------------


def decisions_of(planner: Any) -> list[Any]:
    """Returns the decisions published at two frames."""
    state = MissionState(phase=MissionState.RUNNING)
    sent: list[Any] = []
    send = planner.send
    planner.send = lambda name, message, *a: sent.append(message) if name == names.DECISION else send(name, message, *a)
    planner.inbox(names.MISSION_STATE).put(0, state)
    planner._begin(state)
    for second in (7, 8):
        odometry = Odometry()
        odometry.header.stamp = to_stamp(second * SECOND)
        planner.inbox(names.ODOMETRY).put(second * SECOND, odometry)
        planner.on_step(Step(second * SECOND, second, Tick.FRAME, 0.05, None, frozenset()))
    return sent


@pytest.mark.parametrize(("method", "told"), [("reset", "KeyError: 'x'"), ("act", "KeyError: 'x'"), (None, "None")])
def test_a_method_that_fails_says_so_with_its_line_and_the_node_lives_on(
    planner: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], method: str | None, told: str
) -> None:
    def fails(*_: Any) -> Any:
        if method is None:
            return None
        raise KeyError("x")

    monkeypatch.setattr(planner._session.method, method or "act", fails)
    first, second = decisions_of(planner)
    for decision in (first, second):
        assert decision.status == DecisionStatus.FAILED
        assert told in decision.trouble and "test/nodes/test_planner.py, line " in decision.trouble
    assert planner._session.goal.type is GoalType.HOLD
    assert "in call_agent" in capfd.readouterr().err, "the whole trace lies in the log"
