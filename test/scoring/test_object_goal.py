"""Object-goal scores: hand-worked cases, a second implementation, and what must hold of every episode."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import ObjectGoal, ObjectGoalEpisode, SizeClass
from esar_ros.scoring.object_goal import (
    APEX,
    TERMS,
    TOTAL,
    UAV_ON,
    Ending,
    GoalOutcome,
    NavigationRecord,
    Rules,
    Terms,
    final_distance,
    navigation_record,
    oracle_succeeded,
    outcome,
    path_efficiency,
    path_flown,
    scores_by_size,
    succeeded,
)
from helpers.object_goal_reference import RULES, Script
from helpers.uav_on_golden import CASES, Case


def episode(targets: object, shortest: float, straight: float, size: str = "small") -> ObjectGoalEpisode:
    return ObjectGoalEpisode("1", "line", Pose(), ObjectGoal("Bench", size, ""), np.array(targets), shortest, straight)


def record_of(case: Case) -> NavigationRecord:
    targets = [[x, 0.0, 3.0] for x in case.targets]
    straight = abs(case.xs[0]) if case.straight is None else case.straight
    return navigation_record(
        episode(targets, case.shortest, straight, case.size),
        [[x, 0.0, 3.0] for x in case.xs],
        [frame in case.contacts for frame in range(len(case.xs))],
        stopped=case.ending == "stop",
        contact_at_stop=case.contact_at_stop,
    )


# --- Cases worked out by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hand_made_episode_scores_what_the_rules_table_says(case: Case, rules: Rules) -> None:
    record, expected = record_of(case), case.expected(rules.value)
    assert succeeded(record, rules) is expected.success
    assert oracle_succeeded(record, rules) is expected.oracle
    assert final_distance(record, rules) == pytest.approx(expected.dts, abs=1e-12)
    assert path_efficiency(record, rules) == pytest.approx(expected.spl, abs=1e-12)
    assert path_flown(record, rules) == pytest.approx(expected.path, abs=1e-12)
    assert record.ending.value == case.ending
    assert record.steps == len(case.xs) - 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_code_calls_it_what_its_folder_is_named(case: Case) -> None:
    assert outcome(record_of(case), Rules.CODE).value == case.outcome


def test_what_the_run_itself_recorded_decides_under_the_code_alone() -> None:
    record = dataclasses.replace(record_of(CASES[0]), recorded=GoalOutcome.FAILURE)
    assert not succeeded(record, Rules.CODE)
    assert not oracle_succeeded(record, Rules.CODE)
    assert path_efficiency(record, Rules.CODE) == 0.0
    assert succeeded(record, Rules.PAPER)
    assert succeeded(record, Rules.STRICT)


def test_what_comes_after_a_contact_is_no_oracle_success() -> None:
    """An episode ends with a contact in this world; logs of others may go on, and nothing of that counts."""
    record = navigation_record(
        episode([[0.0, 0.0, 3.0]], 12.0, 40.0),
        [[x, 0.0, 3.0] for x in (40.0, 30.0, 10.0, 30.0)],
        [False, True, False, False],
        stopped=True,
    )
    assert [oracle_succeeded(record, rules) for rules in (Rules.CODE, Rules.STRICT)] == [False, False]
    before = dataclasses.replace(record, contacts=(False, False, False, True))
    assert oracle_succeeded(before, Rules.STRICT)


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
def test_an_agent_that_failed_has_neither_success_nor_oracle_success(rules: Rules) -> None:
    """Though it had come as near as one that succeeds, and whatever its folder is called."""
    good = record_of(CASES[0])
    assert succeeded(good, rules) and oracle_succeeded(good, rules)
    for recorded in (None, GoalOutcome.ORACLE, GoalOutcome.SUCCESS):
        failed = dataclasses.replace(good, stopped=False, failed=True, recorded=recorded)
        assert not succeeded(failed, rules) and not oracle_succeeded(failed, rules)
        assert outcome(failed, rules) is GoalOutcome.FAILURE


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"distances": (math.nan, 25.0, 20.0)}, "not finite"),
        ({"path": -1.0}, "negative"),
        ({"contacts": (False,)}, "same frames"),
        ({"stopped": False}, "without stop"),
        ({"stopped": False, "contacts": (False, False, True), "contact_at_stop": True}, "not stopped"),
        ({"distances": (1.0,) * 151, "contacts": (False,) * 151}, "151 actions"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_record_that_no_episode_leaves_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        dataclasses.replace(record_of(CASES[0]), **changes)


# --- Means ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
def test_rows_are_means_over_their_size_class_and_the_total_over_all(rules: Rules) -> None:
    scores = scores_by_size([record_of(case) for case in CASES], rules)
    classes = {"small": "small", "mid": "mid", "big": "big", TOTAL: ""}
    assert list(scores) == list(classes)
    for name, part in classes.items():
        group = [case for case in CASES if part in case.size]
        expected = [case.expected(rules.value) for case in group]
        row = scores[name]
        assert row.episodes == len(group)
        assert row.dts == pytest.approx(np.mean([e.dts for e in expected]))
        assert row.sr == pytest.approx(np.mean([e.success for e in expected]))
        assert row.osr == pytest.approx(np.mean([e.oracle for e in expected]))
        assert row.spl == pytest.approx(np.mean([e.spl for e in expected]))
        assert row.path == pytest.approx(np.mean([e.path for e in expected]))
        assert row.steps == pytest.approx(np.mean([len(case.xs) - 1 for case in group]))
        for share, ending in ((row.stop, "stop"), (row.step_limit, "step_limit"), (row.collision, "collision")):
            assert share == pytest.approx(np.mean([case.ending == ending for case in group]))


def test_an_episode_without_size_class_counts_in_the_total_alone() -> None:
    record = dataclasses.replace(record_of(CASES[0]), size=None)
    assert list(scores_by_size([record], Rules.CODE)) == [TOTAL]


def test_commanded_and_measured_poses_are_not_averaged() -> None:
    record = record_of(CASES[0])
    with pytest.raises(UsageError, match="commanded and of measured"):
        scores_by_size([record, dataclasses.replace(record, poses="measured")], Rules.CODE)


def test_episodes_on_several_terms_are_not_averaged() -> None:
    record = record_of(CASES[0])
    with pytest.raises(UsageError, match="terms of apex and of uav-on"):
        scores_by_size([record, dataclasses.replace(record, terms=APEX)], Rules.CODE)


# --- Every episode --------------------------------------------------------------------------------------------------

# Places where the rules part, and any other.
places = st.sampled_from([0.0, 9.996, 10.0, 10.004, 19.996, 19.999, 20.0, 20.004, 20.006, 30.0]) | st.integers(
    -8000, 8000
).map(lambda centimetres: centimetres / 100.0)
FAR = 1000.0


@st.composite
def scripts(draw: st.DrawFn, of: Sequence[Terms] = tuple(TERMS.values())) -> tuple[NavigationRecord, Script]:
    """An episode on a line, as a record and for the second implementation."""
    ending = draw(st.sampled_from(Ending))
    terms = draw(st.sampled_from(of))
    long = ending is Ending.STEP_LIMIT or draw(st.booleans())
    xs = draw(st.lists(places, min_size=1, max_size=5))
    if long:  # the last actions of all, after many that changed nothing
        total = terms.actions if ending is Ending.STOP else terms.actions + 1
        xs = [xs[0]] * (total - len(xs)) + xs
    elif ending is Ending.COLLISION:
        xs = [draw(places), *xs]
    stopped = ending is Ending.STOP
    contact_at_stop = stopped and draw(st.booleans())
    contacts = [False] * (len(xs) - 1) + [ending is Ending.COLLISION]
    targets = draw(st.sampled_from([(0.0,), (0.0, 0.0), (0.0, FAR)]))
    shortest, straight = draw(st.sampled_from([0.0, 1.0, 12.0, 43.0, 200.0])), draw(st.floats(0.0, 80.0))
    record = navigation_record(
        episode([[x, 0.0, 0.0] for x in targets], shortest, straight),
        [[x, 0.0, 0.0] for x in xs],
        contacts,
        stopped,
        contact_at_stop,
        terms=terms,
    )
    path = sum(abs(b - a) for a, b in itertools.pairwise(xs))
    actions: list[tuple[float | None, bool]] = [(abs(x), hit) for x, hit in zip(xs[1:], contacts[1:], strict=True)]
    script = Script(
        start=abs(xs[0]),
        actions=[*actions, (None, contact_at_stop)] if stopped else actions,
        shortest=shortest,
        path=path,
        logged_path=round(path, 2),
        logged_distance=round(straight if len(xs) == 1 else abs(xs[-1] - targets[-1]), 2),
        limit=terms.actions,
        near=terms.near,
    )
    return record, script


@settings(max_examples=400, deadline=None)
@given(scripts())
def test_a_second_implementation_agrees(flown: tuple[NavigationRecord, Script]) -> None:
    record, script = flown
    for rules in Rules:
        expected = RULES[rules.value](script)
        assert succeeded(record, rules) is expected.success
        assert oracle_succeeded(record, rules) is expected.oracle
        assert final_distance(record, rules) == pytest.approx(expected.dts, abs=1e-9)
        assert path_efficiency(record, rules) == pytest.approx(expected.spl, abs=1e-9)


@settings(max_examples=400, deadline=None)
@given(scripts())
def test_a_stricter_rule_grants_no_more(flown: tuple[NavigationRecord, Script]) -> None:
    record, _ = flown
    for rules in Rules:
        assert oracle_succeeded(record, rules) or not succeeded(record, rules)
        assert 0.0 <= path_efficiency(record, rules) <= float(succeeded(record, rules))
    assert oracle_succeeded(record, Rules.CODE) or not succeeded(record, Rules.STRICT)
    assert succeeded(record, Rules.PAPER) or not succeeded(record, Rules.CODE)
    assert succeeded(record, Rules.STRICT) is succeeded(record, Rules.CODE)
    for rules in (Rules.CODE, Rules.STRICT):
        assert oracle_succeeded(record, Rules.PAPER) or not oracle_succeeded(record, rules)


@settings(max_examples=200, deadline=None)
@given(scripts(), st.randoms(use_true_random=False))
def test_final_distance_knows_no_frame_but_the_last(
    flown: tuple[NavigationRecord, Script], shuffling: random.Random
) -> None:
    record, _ = flown
    order = list(range(record.steps))
    shuffling.shuffle(order)
    order.append(record.steps)
    shuffled = dataclasses.replace(record, distances=tuple(record.distances[i] for i in order))
    for rules in Rules:
        assert final_distance(shuffled, rules) == final_distance(record, rules)
        assert succeeded(shuffled, rules) is succeeded(record, rules)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(scripts([UAV_ON]), st.sampled_from([*SizeClass, None])), min_size=1, max_size=12))
def test_the_total_follows_from_the_classes(
    flown: list[tuple[tuple[NavigationRecord, Script], SizeClass | None]],
) -> None:
    records = [dataclasses.replace(record, size=size) for (record, _), size in flown]
    rest = [record for record in records if record.size is None]
    for rules in Rules:
        scores = scores_by_size(records, rules)
        total = scores.pop(TOTAL)
        for name in ("sr", "osr", "spl", "dts", "steps", "path"):
            summed = sum(row.episodes * getattr(row, name) for row in scores.values())
            if rest:
                unclassed = scores_by_size(rest, rules)[TOTAL]
                summed += unclassed.episodes * getattr(unclassed, name)
            assert total.episodes * getattr(total, name) == pytest.approx(summed, abs=1e-6)
        assert total.stop + total.step_limit + total.collision == pytest.approx(1.0)
