"""Scores of search and rescue: hand cases at the edges of the rules, and what holds of every walk."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.scoring.rescue import (
    Approach,
    HitCounter,
    Progress,
    RescueRecord,
    Rules,
    StageScores,
    mean_scores,
    stage_scores,
)

VICTIM, STRETCHER, START = (20.0, 0.0, 0.0), (0.0, 0.0, 0.0), (10.0, 0.0, 0.0)


def walked(*steps: tuple[float, bool], handed_over: bool = False, height: float = 0.0) -> RescueRecord:
    """The record of a walk along x: places and whether the victim is carried there."""
    progress = Progress(VICTIM, STRETCHER, START)
    for x, carrying in steps:
        progress.update((x, 0.0, height), carrying)
    return progress.record(0, 0, 10.0, len(steps), handed_over)


def points(record: RescueRecord, rules: Rules = Rules.CODE) -> list[float]:
    scores = stage_scores(record, rules)
    return [scores.explore, scores.rescue, scores.carry_back, scores.hand_over]


@pytest.mark.parametrize(
    ("gap", "explore", "rescue"),
    [(7.5, 25.0, 0.0), (7.5001, 0.0, 0.0), (3.75, 25.0, 12.5), (0.0, 25.0, 25.0), (10.0, 0.0, 0.0)],
)
def test_code_before_the_pick_the_last_distance_counts(gap: float, explore: float, rescue: float) -> None:
    assert points(walked((19.0, False), (20.0 - gap, False))) == pytest.approx([explore, rescue, 0.0, 0.0])


@pytest.mark.parametrize(
    ("gap", "back", "drop"),
    [
        (2.0, 25.0, 25.0),
        (2.0001, 25.0, 25.0 * (7.5 - 2.0001) / 5.5),
        (4.75, 25.0, 12.5),
        (7.499, 25.0, 25.0 * 0.001 / 5.5),
        (7.5, 25.0, 0.0),
        (7.501, 0.0, 0.0),
    ],
)
def test_code_after_the_pick_the_last_distance_counts(gap: float, back: float, drop: float) -> None:
    record = walked((19.5, True), (1.0, True), (gap, True))
    assert points(record) == pytest.approx([25.0, 25.0, back, drop])
    assert not record.completed


def test_code_full_points_without_a_hand_over() -> None:
    """Within 2 m of the stretcher S4 is full without a drop: TS 100 with TCR 0."""
    record = walked((19.5, True), (1.9, True))
    assert stage_scores(record, Rules.CODE).total == 100.0
    assert mean_scores([record], Rules.CODE).tcr == 0.0


def test_code_height_does_not_count() -> None:
    """One who stands a floor above the victim has almost all of S1 and S2."""
    assert points(walked((19.5, False), height=6.0)) == pytest.approx([25.0, 25.0 * 7.0 / 7.5, 0.0, 0.0])


def test_code_who_passes_by_has_nothing_and_paper_keeps_the_best() -> None:
    record = walked((19.0, False), (35.0, False))
    assert points(record) == [0.0] * 4
    assert points(record, Rules.PAPER) == pytest.approx([22.5, 22.5, 0.0, 0.0])


def test_paper_stages_once_picked_and_handed_over() -> None:
    carried = walked((19.0, True), (9.5, True), (15.0, True))
    assert points(carried, Rules.PAPER) == pytest.approx([22.5, 25.0, 12.5, 12.5])
    done = walked((19.0, True), (1.9, False), handed_over=True)
    assert points(done, Rules.PAPER) == pytest.approx([22.5, 25.0, 22.5, 25.0])
    assert done.completed


def test_paper_who_starts_on_the_victim_has_all_of_exploring() -> None:
    progress = Progress(START, STRETCHER, START)
    assert points(progress.record(0, 0, 0.0, 0, False), Rules.PAPER)[:2] == [25.0, 25.0]


def test_an_exception_counts_nothing_though_its_distances_are_zero() -> None:
    zero = Approach(0.0, 0.0, 0.0)
    record = RescueRecord(0, 0, zero, zero, False, False, 0.0, 0, 0.0, 0.0, failed=True)
    for rules in Rules:
        assert points(record, rules) == [0.0] * 4


def test_code_takes_what_was_recorded_and_paper_does_not() -> None:
    near = Approach(10.0, 2.0, 9.0)
    record = RescueRecord(0, 0, near, near, False, False, 1.0, 1, 1.0, 0.0, recorded=StageScores(25.0, 3.0))
    assert points(record) == [25.0, 3.0, 0.0, 0.0]
    assert points(record, Rules.PAPER) == pytest.approx([20.0, 20.0, 0.0, 0.0])


def test_hand_over_inside_the_gate_where_the_victim_is_put_down() -> None:
    for place, height, done in (
        (2.0, 2.2, True), (2.01, 0.0, False), (0.0, 2.21, False), (2.0, -2.2, True), (0.0, -2.21, False),
    ):  # fmt: skip
        progress = Progress(VICTIM, STRETCHER, START)
        progress.update((19.5, 0.0, 0.0), True)
        progress.put_down((place, 0.0, height))
        assert progress.confirm((5.0, 0.0, 0.0)) is done
    never_picked = Progress(VICTIM, STRETCHER, START)
    never_picked.put_down(STRETCHER)
    assert not never_picked.confirm(STRETCHER)


def test_effectiveness_is_of_the_target_of_each_step() -> None:
    # Nearer to the victim, farther, to it (pick), nearer to the stretcher, farther from it.
    record = walked((15.0, False), (14.0, False), (19.0, True), (10.0, True), (12.0, True))
    assert record.effectiveness == pytest.approx(3 / 5)
    assert record.path == pytest.approx(5.0 + 1.0 + 5.0 + 9.0 + 2.0)


def test_a_step_that_keeps_its_distance_is_not_nearer() -> None:
    assert walked((10.0, False), (15.0, False), (15.0, False), (16.0, False)).effectiveness == pytest.approx(2 / 4)
    assert walked((19.0, True), (19.0, True), (9.0, True)).effectiveness == pytest.approx(2 / 3)


def test_hits_count_once_in_six_steps() -> None:
    hits = HitCounter()
    counted = [hits.update(hit) for hit in [True] * 6 + [False] + [True] * 2]
    assert counted == [True] + [False] * 5 + [False] + [True, False]
    assert hits.count == 2


def test_a_record_that_no_episode_leaves_is_refused() -> None:
    near = Approach(1.0, 1.0, 1.0)
    for change in ({"handed_over": True}, {"steps": -1}, {"seconds": math.nan}, {"effectiveness": 1.5}):
        fields = {"handed_over": False, "steps": 1, "seconds": 1.0, "effectiveness": 0.5} | change
        with pytest.raises(ValueError):
            RescueRecord(0, 0, near, near, picked=False, path=1.0, **fields)  # type: ignore[arg-type]


def test_means_leave_out_what_was_not_recorded() -> None:
    with_track = Progress(VICTIM, STRETCHER, START).record(0, 0, 2.0, 10, False, collisions=4, similarity=0.5)
    without = Progress(VICTIM, STRETCHER, START).record(0, 1, 0.0, 0, False)
    means = mean_scores([with_track, without], Rules.CODE)
    assert (means.similarity, means.compared, means.collisions) == (0.5, 1, 4.0)
    assert (means.seconds, means.fps, means.episodes) == (1.0, 2.5, 2)


coordinates = st.floats(-50.0, 50.0)
places = st.tuples(coordinates, coordinates, st.floats(-5.0, 5.0))


@settings(max_examples=100, deadline=None)
@given(places, places, places, st.lists(st.tuples(places, st.booleans()), max_size=12), st.booleans())
def test_what_holds_of_every_walk(
    victim: Sequence[float],
    stretcher: Sequence[float],
    start: Sequence[float],
    steps: list[tuple[tuple[float, float, float], bool]],
    handed_over: bool,
) -> None:
    progress = Progress(victim, stretcher, start)
    for place, carrying in steps:
        progress.update(place, carrying)
    record = progress.record(0, 0, 1.0, len(steps), handed_over)
    for rules in Rules:
        scores = stage_scores(record, rules)
        assert 0.0 <= scores.total <= 100.0
        if scores.carry_back + scores.hand_over > 0.0:
            assert record.picked
    scores = stage_scores(record, Rules.CODE)
    if scores.rescue > 0.0:
        assert scores.explore == 25.0
    if record.completed:
        assert scores.rescue == scores.hand_over == 25.0
    assert record.victim.best <= min(record.victim.initial, record.victim.last)
    assert record.picked == any(carrying for _, carrying in steps)
