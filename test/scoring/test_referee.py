"""The referee ends a mission by stamps alone, and its score equals the one from the record."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.referee import Ending, Referee
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Truth, parse_truth

SECOND = 1_000_000_000
START = 10 * SECOND


@pytest.fixture
def make_referee(make_truth: Callable[..., Truth]) -> Callable[..., Referee]:
    def make(vehicles: tuple[str, ...] = ("uav1",)) -> Referee:
        truth = make_truth()
        referee = Referee(
            truth.task,
            truth.victims,
            truth.clues,
            truth.thresholds,
            truth.run,
            {name: (0.0, 0.0, 0.0) for name in vehicles},
        )
        referee.begin(START)
        return referee

    return make


def at(seconds: float) -> int:
    return START + round(seconds * SECOND)


def ended(referee: Referee, seconds: float) -> Ending:
    """The end that it must have come to by then."""
    ending = referee.advance(at(seconds))
    assert ending is not None
    return ending


def test_time_is_up_exactly_at_the_limit(make_referee: Callable[..., Referee]) -> None:
    referee = make_referee()
    assert referee.advance(at(299.999)) is None
    ending = ended(referee, 305.0)
    assert (ending.reason, ending.stamp) == (End.TIMEOUT, at(300.0))


def test_nothing_ends_before_it_begins(make_truth: Any) -> None:
    truth = make_truth()
    referee = Referee(truth.task, truth.victims, truth.clues, truth.thresholds, truth.run, {"uav1": (0.0, 0.0, 0.0)})
    assert referee.advance(at(9999.0)) is None
    with pytest.raises(RuntimeError, match="not ended"):
        referee.truth()


def test_the_earliest_reason_wins_whatever_came_first(make_referee: Callable[..., Referee], fakes: Any) -> None:
    events = [
        ("planner/decision", fakes.decision(60.0, 9, status=3)),
        ("collision", fakes.collision(50.0)),
        ("safety/status", fakes.safety(55.0, 5, 19, breach=True)),
        ("vehicle_state", fakes.state(1.0)),
    ]
    for seed in range(6):
        random.Random(seed).shuffle(events)
        referee = make_referee()
        for topic, message in events:
            referee.add("uav1", topic, message)
        ending = ended(referee, 70.0)
        assert (ending.reason, ending.stamp) == (End.COLLISION, at(50.0))


def test_at_one_stamp_the_graver_reason_wins(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    referee.add("uav1", "planner/decision", fakes.decision(50.0, 9, status=3))
    referee.add("uav1", "safety/status", fakes.safety(50.0, 5, 19, breach=True))
    assert ended(referee, 50.0).reason is End.BREACH


def test_a_reason_is_not_seen_before_its_stamp_is_complete(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    referee.add("uav1", "planner/decision", fakes.decision(50.0, 9, status=3, effective=53.0))
    assert referee.advance(at(52.9)) is None
    assert ended(referee, 53.0).reason is End.STOP


def test_an_end_stays(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    referee.add("uav1", "planner/decision", fakes.decision(50.0, 9, status=3))
    first = referee.advance(at(50.0))
    referee.add("uav1", "collision", fakes.collision(20.0))
    assert referee.advance(at(60.0)) is first


def test_all_planners_must_stop(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee(("uav1", "uav2"))
    referee.add("uav1", "planner/decision", fakes.decision(50.0, 9, status=3))
    assert referee.advance(at(80.0)) is None
    referee.add("uav2", "planner/decision", fakes.decision(90.0, 9, status=3))
    assert ended(referee, 100.0).stamp == at(90.0)


def test_touching_the_ground_while_landed_ends_nothing(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    referee.add("uav1", "vehicle_state", fakes.state(0.0, landed=1))
    referee.add("uav1", "vehicle_state", fakes.state(5.0, landed=2))
    referee.add("uav1", "collision", fakes.collision(1.0))
    assert referee.advance(at(4.0)) is None
    referee.add("uav1", "collision", fakes.collision(6.0))
    assert ended(referee, 7.0).reason is End.COLLISION


def test_failure_and_a_persons_end_are_endings(make_referee: Callable[..., Referee]) -> None:
    failed, aborted = make_referee(), make_referee()
    failed.fail(at(12.0), "planner died")
    aborted.abort(at(12.0))
    assert ended(failed, 12.0).text == "planner died"
    assert ended(aborted, 12.0).reason is End.ABORTED
    result = aborted.result(OfflineJudge())
    assert not result.eligible
    assert failed.result(OfflineJudge()).error == "planner died"


def test_progress_counts_reports_and_time(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    referee.add("uav1", "reports", fakes.report(4.0, 1, "tent", (0.0, 0.0, 0.0)))
    referee.add("uav1", "reports", fakes.report(4.0, 1, "tent", (0.0, 0.0, 0.0)))
    now = referee.progress(at(5.0))
    assert (now.running, now.ended, now.elapsed, now.reports, now.end_code) == (True, False, 5.0, 1, 0)
    referee.advance(at(400.0))
    now = referee.progress(at(400.0))
    assert (now.running, now.ended, now.elapsed, now.end_code) == (False, True, 300.0, End.TIMEOUT.code)


def test_the_published_truth_scores_the_record_alike(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee, record = make_referee(), EpisodeRecord()
    messages = [("odometry", fakes.odometry(t, float(t), 0.0)) for t in range(80)]
    messages += [("reports", fakes.report(41.0, 1, "tent", (41.0, 0.0, 0.0), "tent"))]
    messages += [("planner/decision", fakes.decision(60.0, 9, status=3))]
    for topic, message in messages:
        referee.add("uav1", topic, message)
    for topic, message in reversed(messages):
        record.add("uav1", topic, message)
    referee.advance(at(61.0))
    truth = parse_truth(referee.truth(wall_time=12.0).dump(), "the bag")
    assert score(record, truth, OfflineJudge()).dump() == referee.result(OfflineJudge(), wall_time=12.0).dump()


def test_a_person_who_takes_part_is_told_once_in_the_result_and_not_after_the_end(
    make_referee: Callable[..., Referee],
) -> None:
    referee = make_referee()
    referee.begin(at(0.0))
    referee.disqualify("a person took part")
    referee.disqualify("a person took part")
    referee.abort(at(5.0))
    assert referee.advance(at(5.0)) is not None
    referee.disqualify("too late")
    result = referee.result(OfflineJudge())
    assert not result.eligible
    assert result.ineligible_reasons.count("a person took part") == 1
    assert "too late" not in result.ineligible_reasons


# --- Landed by another than the planner -----------------------------------------------------------------------------


def landing(
    referee: Referee, fakes: Any, mode: int, text: str = "", holding: bool = False, vehicle: str = "uav1"
) -> None:
    """Flies from 5 s to 40 s; motors stop at 42 s."""
    for second, landed, armed in ((0.0, 1, False), (5.0, 2, True), (39.0, 3, True), (40.0, 1, True), (42.0, 1, False)):
        state = fakes.state(second, landed)
        state.armed, state.holding = armed, holding
        referee.add(vehicle, "vehicle_state", state)
    status = fakes.safety(38.0, mode)
    status.text = text
    referee.add(vehicle, "safety/status", status)


def test_a_vehicle_that_the_governor_has_landed_ends_its_mission_in_seconds(
    make_referee: Callable[..., Referee], fakes: Any
) -> None:
    referee = make_referee()
    landing(referee, fakes, 6, "battery 7%")
    assert referee.advance(at(44.0)) is None
    ending = ended(referee, 46.0)
    assert (ending.reason, ending.stamp, ending.text) == (End.LANDED, at(45.0), "landed by the governor: battery 7%")
    result = referee.result(OfflineJudge())
    assert (result.end, result.end_text, result.error) == (End.LANDED, ending.text, None)
    assert result.metrics.elapsed == 45.0 and result.metrics.efficiency == 0.0, "it has not ended its search"


def test_an_autopilot_s_own_landing_ends_it_and_a_planner_s_does_not(
    make_referee: Callable[..., Referee], fakes: Any
) -> None:
    referee = make_referee()
    landing(referee, fakes, 1, holding=True)
    assert ended(referee, 46.0).text == "landed by the autopilot"
    referee = make_referee()
    landing(referee, fakes, 1)
    assert referee.advance(at(299.0)) is None


@pytest.mark.parametrize(
    ("world", "last", "text"),
    [
        ("px4", 2, "landed by the autopilot, which took it for landed and stopped its motors"),
        ("px4", 3, None),  # by a touch-down that was asked for
        ("embedded", 2, None),
    ],
)
def test_motors_that_px4_stops_in_the_mode_of_the_mission_end_it(
    make_referee: Callable[..., Referee], fakes: Any, world: str, last: int, text: str | None
) -> None:
    referee = make_referee()
    referee._run = referee._run.model_copy(update={"world": world})
    for second, landed, armed in (
        (0.0, 1, False),
        (5.0, 2, True),
        (39.0, last, True),
        (40.0, 1, True),
        (42.0, 1, False),
    ):
        state = fakes.state(second, landed)
        state.armed = armed
        referee.add("uav1", "vehicle_state", state)
    ending = referee.advance(at(46.0))
    assert (ending and ending.text) == text


@pytest.mark.parametrize(
    ("ready_message", "text"),
    [
        (
            "it is in failsafe (return), the battery is low: a person may ask for hold first",
            "landed by the autopilot in failsafe (return), the battery is low",
        ),
        ("", "landed by a person or a ground station"),
    ],
)
def test_px4_s_own_landing_and_a_person_s_are_told_apart(
    make_referee: Callable[..., Referee], fakes: Any, ready_message: str, text: str
) -> None:
    referee = make_referee()
    referee._run = referee._run.model_copy(update={"world": "px4"})
    for second, landed, armed in ((0.0, 1, False), (5.0, 2, True), (40.0, 1, True), (42.0, 1, False)):
        state = fakes.state(second, landed)
        state.armed, state.holding, state.ready_message = armed, second >= 5.0, ready_message
        referee.add("uav1", "vehicle_state", state)
    ending = referee.advance(at(46.0))
    assert ending is not None and ending.text == text


def test_a_vehicle_that_takes_off_again_has_not_landed(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee()
    landing(referee, fakes, 5, "battery 20%, at home")
    again = fakes.state(44.0, 2)
    again.armed = True
    referee.add("uav1", "vehicle_state", again)
    assert referee.advance(at(100.0)) is None


def test_a_team_s_mission_ends_when_each_has_landed_or_stopped(
    make_referee: Callable[..., Referee], fakes: Any
) -> None:
    referee = make_referee(("uav1", "uav2"))
    landing(referee, fakes, 6, "battery 7%", vehicle="uav2")
    assert referee.advance(at(60.0)) is None
    referee.add("uav1", "planner/decision", fakes.decision(70.0, 9, status=3))
    ending = ended(referee, 80.0)
    assert (ending.reason, ending.stamp) == (End.LANDED, at(70.0))
    assert ending.text == "uav2 landed by the governor: battery 7%"


def test_a_method_s_error_ends_the_mission_with_its_words(make_referee: Callable[..., Referee], fakes: Any) -> None:
    referee = make_referee(("uav1", "uav2"))
    failed = fakes.decision(20.0, 9, status=4)
    failed.trouble = "KeyError: 'x' (mine.py, line 7)"
    referee.add("uav2", "planner/decision", failed)
    ending = ended(referee, 20.0)
    assert (ending.reason, ending.text) == (End.ERROR, "uav2: the planner failed: KeyError: 'x' (mine.py, line 7)")


def test_what_a_vehicle_is_drawn_to_touch_while_its_place_is_unknown_is_no_crash(
    make_referee: Callable[..., Referee], fakes: Any
) -> None:
    def flown(resumes: float) -> Referee:
        referee = make_referee()
        for tenth in (*range(200), *range(round(resumes * 10), 400)):
            referee.add("uav1", "odometry", fakes.odometry(tenth / 10, 0.0, 0.0))
        referee.add("uav1", "vehicle_state", fakes.state(1.0))
        referee.add("uav1", "collision", fakes.collision(25.0))
        return referee

    lost, known = flown(28.0), flown(20.0)
    assert lost.advance(at(40.0)) is None
    assert ended(known, 40.0).reason is End.COLLISION
    result = [referee.result(OfflineJudge()).safety.collisions for referee in (known,)]
    lost.abort(at(40.0))
    lost.advance(at(40.0))
    assert [*result, lost.result(OfflineJudge()).safety.collisions] == [1, 0]
