"""Every victim gets one cause: hand-made flights for each, and the horizon profile that hides a place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission import names
from esar_ros.scoring.horizon_profile import DIRECTIONS, RINGS, TARGET_HEIGHT, hidden, horizon_profile
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.losses import LOOK_RANGE
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import CluesRow, OdometryRow
from esar_ros.scoring.result import Cause, ClueResult, VictimResult
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, TrueVictim, Truth

SECOND = 1_000_000_000
START = 10 * SECOND
Make = Callable[..., Truth]
Track = tuple[str, float, float, tuple[float, float, float], int]  # kind, score, from t (s) on, place, views


def flight(east: float, height: float = 30.0, seconds: int = 60, tracks: tuple[Track, ...] = ()) -> EpisodeRecord:
    """Eastward at 2 m/s from 60 m before x = east, a frame a second, nose to the east."""
    record = EpisodeRecord()
    for t in range(seconds):
        stamp = START + t * SECOND
        row = OdometryRow(stamp, east - 60.0 + 2.0 * t, 0.0, height, 1.0, 0.0, 0.0, 0.0)
        record.take("uav1", names.ODOMETRY, row)
        seen = tuple(
            (n, kind, points, *place, views)
            for n, (kind, points, since, place, views) in enumerate(tracks)
            if t >= since
        )
        record.take("uav1", names.CLUES, CluesRow(stamp, "esar_yolo", True, seen))
    return record


def lost(record: EpisodeRecord, truth: Truth) -> tuple[VictimResult, ...]:
    return score(record, truth, OfflineJudge()).victims


def of_one(record: EpisodeRecord, truth: Truth) -> Cause | None:
    (victim,) = lost(record, truth)
    return victim.cause


PERSON: Track = ("person", 0.45, 20.0, (103.0, 4.0, 0.0), 1)


def test_found(fakes: Any, make_truth: Make) -> None:
    record = flight(100.0, tracks=(PERSON,))
    record.add("uav1", "reports", fakes.report(30.0, 1, "person", (103.0, 4.0, 0.0)))
    assert of_one(record, make_truth(end=59.0, end_reason=End.STOP)) is Cause.FOUND


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (End.STOP, Cause.NEVER_LOOKED),
        (End.TIMEOUT, Cause.TOO_LATE),
        (End.ABORTED, Cause.TOO_LATE),
        (End.COLLISION, Cause.CRASHED),
        (End.BREACH, Cause.CRASHED),
        (End.ERROR, Cause.FAILED),
        (End.LANDED, Cause.TOO_LATE),
    ],
)
def test_who_was_never_looked_at_is_told_apart_by_the_end(make_truth: Make, end: End, cause: Cause) -> None:
    assert of_one(flight(600.0), make_truth(end=59.0, end_reason=end)) is cause


def test_looked_and_missed_whatever_ended_it_later(make_truth: Make) -> None:
    for end in (End.STOP, End.TIMEOUT, End.COLLISION):
        assert of_one(flight(100.0), make_truth(end=59.0, end_reason=end)) is Cause.LOOKED_AND_MISSED


def test_pictures_are_those_within_range_that_hold_him(make_truth: Make) -> None:
    truth = make_truth(end=59.0, end_reason=End.STOP)
    (victim,) = lost(flight(100.0), truth)
    near = [math.hypot(2.0 * t - 60.0, 30.0 - TARGET_HEIGHT) for t in range(60)]
    ahead = sum(away <= LOOK_RANGE and 2.0 * t - 60.0 <= 0.0 for t, away in enumerate(near))
    # Nothing looks back but the rear half of the picture straight down and of those to the sides.
    assert victim.pictures is not None and ahead <= victim.pictures < sum(away <= LOOK_RANGE for away in near)
    assert victim.nearest_picture == pytest.approx(30.0 - TARGET_HEIGHT, abs=0.1)
    (far,) = lost(flight(100.0, height=LOOK_RANGE + 5.0), truth)
    assert far.pictures == 0 and far.cause is Cause.NEVER_LOOKED


def test_a_ridge_before_him_hides_him(make_truth: Make) -> None:
    def ridges(xy: Any) -> Any:  # walls of 60 m, 20 m before and behind him
        return np.where(np.abs(np.abs(np.asarray(xy)[..., 0] - 100.0) - 20.0) < 2.0, 60.0, 0.0)

    profile = horizon_profile((100.0, 0.0), ridges)
    behind = TrueVictim(id="v1", name="Wu", pose="lying", position=(100.0, 0.0, 0.0), skyline=profile)
    truth = make_truth(end=15.0, end_reason=End.STOP).model_copy(update={"victims": (behind,)})
    assert of_one(flight(100.0), truth) is Cause.NEVER_LOOKED  # up to 30 m before him: beyond the wall
    later = truth.model_copy(update={"end": START + 40 * SECOND})
    assert of_one(flight(100.0), later) is Cause.LOOKED_AND_MISSED  # above him, between the walls


def test_a_track_of_a_person_near_him_was_seen_and_not_reported(make_truth: Make) -> None:
    truth = make_truth(end=59.0, end_reason=End.STOP)
    (victim,) = lost(flight(100.0, tracks=(PERSON, ("person", 0.3, 5.0, (95.0, 0.0, 0.0), 3))), truth)
    assert (victim.cause, victim.track_score, victim.track_views) == (Cause.SEEN_NOT_REPORTED, 0.45, 3)
    for other in (("person", 0.9, 0.0, (111.0, 0.0, 0.0), 2), ("tent", 0.9, 0.0, (100.0, 0.0, 0.0), 2)):
        (victim,) = lost(flight(100.0, tracks=(other,)), truth)
        assert (victim.cause, victim.track_score) == (Cause.LOOKED_AND_MISSED, None)
    late = flight(100.0, tracks=(("person", 0.9, 50.0, (100.0, 0.0, 0.0), 2),))
    assert of_one(late, make_truth(end=40.0, end_reason=End.TIMEOUT)) is Cause.LOOKED_AND_MISSED


def test_one_track_of_two_people_is_the_nearer_one_s(make_truth: Make) -> None:
    truth = make_truth(victims=[(100.0, 0.0, 0.0), (106.0, 10.0, 0.0)], end=59.0, end_reason=End.STOP)
    apart = [math.dist(PERSON[3], victim.position) for victim in truth.victims]
    assert apart[0] < apart[1] < truth.thresholds.error_threshold
    causes = [victim.cause for victim in lost(flight(100.0, tracks=(PERSON,)), truth)]
    assert causes == [Cause.SEEN_NOT_REPORTED, Cause.LOOKED_AND_MISSED]


@pytest.mark.parametrize(
    ("kind", "place", "cause"),
    [
        ("person", (100.0, 15.0, 0.0), Cause.REPORTED_OFF),
        ("person", (100.0, 31.0, 0.0), Cause.LOOKED_AND_MISSED),
        ("backpack", (100.0, 5.0, 0.0), Cause.REPORTED_OFF),  # a clue where none lies: of another kind
        ("backpack", (100.0, 15.0, 0.0), Cause.LOOKED_AND_MISSED),
        ("tent", (40.0, 0.0, 0.0), Cause.LOOKED_AND_MISSED),  # a good report of something else
    ],
)
def test_reported_and_off(fakes: Any, make_truth: Make, kind: str, place: Any, cause: Cause) -> None:
    record = flight(100.0)
    record.add("uav1", "reports", fakes.report(30.0, 1, kind, place))
    assert of_one(record, make_truth(end=59.0, end_reason=End.STOP)) is cause


def test_the_report_that_found_another_was_not_off(fakes: Any, make_truth: Make) -> None:
    truth = make_truth(victims=[(100.0, 0.0, 0.0), (112.0, 0.0, 0.0)], end=59.0, end_reason=End.STOP)
    record = flight(100.0)
    record.add("uav1", "reports", fakes.report(30.0, 1, "person", (100.0, 3.0, 0.0)))
    assert [victim.cause for victim in lost(record, truth)] == [Cause.FOUND, Cause.LOOKED_AND_MISSED]


def test_without_frames_only_reports_and_failures_tell(flown: EpisodeRecord, make_truth: Make) -> None:
    (victim,) = lost(flown, make_truth())
    assert victim.cause is None and victim.pictures is None
    assert of_one(flown, make_truth(end_reason=End.ERROR)) is Cause.FAILED


# -- clues --------------------------------------------------------------------------------------------------------


def clue_of(record: EpisodeRecord, truth: Truth) -> ClueResult:
    """Returns the outcome of the tent at x = 40 (test/scoring/conftest.py)."""
    return next(clue for clue in score(record, truth, OfflineJudge()).clues if clue.kind == "tent")


def test_a_clue_has_a_cause_as_a_victim_has(fakes: Any, make_truth: Make) -> None:
    stop = make_truth(end=59.0, end_reason=End.STOP)
    place = clue_of(flight(600.0), stop).position
    assert clue_of(flight(600.0), stop).cause is Cause.NEVER_LOOKED
    assert clue_of(flight(600.0), make_truth(end=59.0, end_reason=End.TIMEOUT)).cause is Cause.TOO_LATE
    assert clue_of(flight(place[0]), stop).cause is Cause.LOOKED_AND_MISSED
    unsure = clue_of(flight(place[0], tracks=(("tent", 0.3, 20.0, place, 1),)), stop)
    assert (unsure.cause, unsure.track_score, unsure.track_views) == (Cause.SEEN_NOT_REPORTED, 0.3, 1)
    another = clue_of(flight(place[0], tracks=(("rope", 0.3, 20.0, place, 1),)), stop)
    assert another.cause is Cause.LOOKED_AND_MISSED, "a track of another kind is not of it"
    for kind, off, cause in (
        ("tent", 20.0, Cause.REPORTED_OFF),
        ("tent", 31.0, Cause.LOOKED_AND_MISSED),
        ("rope", 20.0, Cause.LOOKED_AND_MISSED),
        ("tent", 3.0, Cause.FOUND),
    ):
        record = flight(place[0])
        record.add("uav1", "reports", fakes.report(30.0, 1, kind, (place[0], place[1] - off, place[2])))
        assert clue_of(record, stop).cause is cause, (kind, off)


def test_the_nearest_picture_and_the_first_word_of_it_are_told(make_truth: Make) -> None:
    truth = make_truth(end=59.0, end_reason=End.STOP)
    place = clue_of(flight(600.0), truth).position
    clue = clue_of(flight(place[0], tracks=(("tent", 0.3, 20.0, place, 1), ("tent", 0.9, 25.0, place, 2))), truth)
    assert clue.nearest_picture == pytest.approx(math.dist(place, (place[0], 0.0, 30.0)), abs=1.0)
    assert (clue.nearest_picture_time, clue.nearest_picture_vehicle) == (pytest.approx(30.0, abs=1.0), "uav1")
    assert clue.told_from == pytest.approx(math.dist((place[0], *place[1:]), (place[0] - 20.0, 0.0, 30.0)), abs=1.0)
    unseen = clue_of(flight(600.0), truth)
    assert unseen.pictures == 0
    assert (unseen.nearest_picture, unseen.nearest_picture_time, unseen.told_from) == (None, None, None)


def test_level_ground_hides_nothing_above_it() -> None:
    profile = horizon_profile((5.0, 5.0), lambda xy: np.full(np.shape(xy)[:-1], 2.0))
    assert len(profile) == DIRECTIONS and {len(row) for row in profile} == {len(RINGS)}
    assert not hidden(profile, [(50.0, 0.0, 1.0), (-3.0, 4.0, 0.2), (0.0, 0.0, 30.0)]).any()
    assert hidden(profile, [(50.0, 0.0, -1.0)]).all()
    assert not hidden((), [(50.0, 0.0, -1.0)]).any()
    assert horizon_profile((5.0, 5.0), lambda xy: np.full(np.shape(xy)[:-1], 52.0)) == profile, (
        "wherever the map's zero lies"
    )
    nowhere = horizon_profile((5.0, 5.0), lambda xy: np.full(np.shape(xy)[:-1], np.nan))
    assert not hidden(nowhere, [(50.0, 0.0, -1.0)]).any()


@settings(deadline=None, max_examples=60)
@given(
    slope=st.floats(-0.8, 0.8),
    direction=st.floats(0.0, 2 * math.pi),
    away=st.floats(20.0, 120.0),
    above=st.floats(4.0, 60.0),
)
def test_on_a_plane_whoever_is_well_above_it_is_seen(slope: float, direction: float, away: float, above: float) -> None:
    def plane(xy: Any) -> Any:
        return slope * np.asarray(xy)[..., 0]

    profile = horizon_profile((0.0, 0.0), plane)
    x, y = away * math.cos(direction), away * math.sin(direction)
    # A direction is told to 5 degrees: the plane then rises by so much less or more.
    margin = abs(slope) * away * math.radians(5.0) + 1.0
    assert not hidden(profile, [(x, y, slope * x - TARGET_HEIGHT + margin + above)]).any()
    assert hidden(profile, [(x, y, slope * x - TARGET_HEIGHT - margin - above)]).all()
