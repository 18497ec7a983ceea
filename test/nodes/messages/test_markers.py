"""Markers and the sheet of crops that RViz shows."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from hypothesis import given, settings
from hypothesis import strategies as st
from visualization_msgs.msg import Marker

from esar_ros.geometry.frames import Pose
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import SeenClue
from esar_ros.nodes.messages.crop_sheet import CAPTION, COLUMNS, MAX_TILES, TILE, crop_sheet
from esar_ros.nodes.messages.markers import clue_markers, ellipsoid, goal_markers, safety_markers

STAMP = Time(sec=100)
HERE = np.array([10.0, 20.0, 30.0])


def clue(identity: int, kind: str = "tent", **values: Any) -> SeenClue:
    given = {
        "id": identity, "kind": kind, "text": kind, "probability": 0.75, "position": np.array([1.0, 2.0, 3.0]),
        "covariance": np.diag([4.0, 1.0, 0.25]), "views": 3, "nearest_view": 20.0, "first_seen": 1.0, "last_seen": 88.0,
    }  # fmt: skip
    return SeenClue(**{**given, **values})


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_an_ellipsoid_is_the_covariance_s_own(seed: int) -> None:
    root = np.random.default_rng(seed).normal(size=(3, 3))
    covariance = root @ root.T
    axes, q = ellipsoid(covariance)
    turn = Pose(np.zeros(3), np.array([q.w, q.x, q.y, q.z])).rotation
    np.testing.assert_allclose(turn @ np.diag((axes / 2.0) ** 2) @ turn.T, covariance, atol=1e-9)
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_clues_have_a_body_and_words_and_replace_the_ones_before() -> None:
    lost = clue(9, position=np.array([np.nan, 0.0, 0.0]))
    first, body, words, *rest = clue_markers([clue(7), lost], STAMP).markers
    assert first.action == Marker.DELETEALL and not rest
    assert body.type == Marker.SPHERE and body.id == words.id == 7
    assert sorted([body.scale.x, body.scale.y, body.scale.z]) == [2.0, 4.0, 8.0]
    assert words.text == "tent 0.75\n3 views, seen 12 s ago"
    assert {marker.header.frame_id for marker in (first, body, words)} == {"map"}


def test_a_candidate_is_small_and_grey_and_has_no_words() -> None:
    _, *markers = clue_markers([clue(1, "person", probability=0.07), clue(2, "person", probability=0.5)], STAMP).markers
    assert {(marker.ns, marker.id) for marker in markers} == {("candidates", 1), ("clues", 2), ("labels", 2)}
    dot = next(marker for marker in markers if marker.ns == "candidates")
    assert dot.color.r == dot.color.g == dot.color.b
    assert dot.scale.x == dot.scale.y == dot.scale.z == 1.0


def test_one_label_stands_for_several_objects_that_may_be_one() -> None:
    beside, apart = np.array([4.0, 2.0, 3.0]), np.array([90.0, 2.0, 3.0])
    seen = [clue(1, probability=0.6), clue(2, probability=0.9, position=beside), clue(3, position=apart)]
    words = {m.id: m.text.split("\n")[0] for m in clue_markers(seen, STAMP).markers if m.ns == "labels"}
    assert words == {2: "tent ×2 0.90", 3: "tent 0.75"}


def test_ids_beyond_a_signed_word_are_still_different() -> None:
    markers = clue_markers([clue(2**31), clue(2**32 - 1), clue(0)], STAMP).markers
    assert len({marker.id for marker in markers if marker.ns == "clues"}) == 3


def test_the_governor_s_sphere_is_as_large_as_the_stop_is_long() -> None:
    text, reach, arrow = safety_markers(HERE, np.array([2.0, 0.0, 0.0]), Mode.SLOW, 6.5, "obstacle", STAMP).markers
    assert text.text == "SLOW obstacle" and reach.scale.x == 13.0
    assert (reach.pose.position.x, reach.pose.position.z) == (10.0, 30.0)
    assert arrow.points[1].x - arrow.points[0].x == 4.0
    _, small, still = safety_markers(HERE, np.zeros(3), Mode.HOLD, 0.0, "", STAMP).markers
    assert still.action == Marker.DELETE and small.scale.x > 0.0
    _, endless, _ = safety_markers(HERE, np.zeros(3), Mode.HOLD, np.inf, "", STAMP).markers
    assert np.isfinite(endless.scale.x)


def test_a_goal_above_ground_is_drawn_over_the_ground_below_the_vehicle() -> None:
    goal = Goal(GoalType.WAYPOINT, np.array([50.0, 0.0, 25.0]), HeightReference.GROUND)
    _, ball, line, words = goal_markers(goal, HERE, 28.0, "why", STAMP).markers
    assert ball.pose.position.z == 25.0 + 30.0 - 28.0 and words.text == "why"
    assert [point.x for point in line.points] == [10.0, 50.0]
    assert [m.action for m in goal_markers(Goal(GoalType.HOLD), HERE, 28.0, "", STAMP).markers] == [Marker.DELETEALL]


def jpeg(color: tuple[int, int, int], width: int, height: int) -> bytes:
    return cv2.imencode(".jpg", np.full((height, width, 3), color, np.uint8))[1].tobytes()


def test_crops_are_pasted_whole_persons_first() -> None:
    images = {1: jpeg((0, 0, 255), 20, 40), 2: jpeg((255, 0, 0), 40, 20), 4: b"no picture"}
    clues = [clue(2), clue(1, "person", last_seen=10.0), clue(3), clue(4, last_seen=20.0)]
    message = crop_sheet(clues, images.get, 100.0, STAMP)
    sheet = np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3)
    assert (message.width, message.height, message.encoding) == (COLUMNS * TILE, TILE + CAPTION, "rgb8")
    middle = TILE // 2
    assert sheet[middle, middle, 0] > 200 > 60 > sheet[middle, middle, 2], "the person, in red"
    assert sheet[middle, TILE + middle, 2] > 200, "the tent, in blue; what has no picture has no place"
    assert sheet[middle, 2, 0] < 60 and sheet[2, TILE + middle, 2] < 60, "margins of what is not square"
    assert (sheet[:TILE, 2 * TILE :] == sheet[0, -1]).all()


def test_a_sheet_is_never_empty_and_never_endless() -> None:
    assert crop_sheet([], lambda _: None, 0.0, STAMP).height == TILE + CAPTION
    many = [clue(n) for n in range(1, 40)]
    assert crop_sheet(many, lambda _: jpeg((9, 9, 9), 8, 8), 0.0, STAMP).height == MAX_TILES // COLUMNS * (
        TILE + CAPTION
    )
