"""Searching together: sectors of the area, what is told once, frontiers and legs that are left to another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.mission.decision import Decision, Report, ReportType
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid, Teammate
from esar_ros.planning.registry import create
from esar_ros.planning.search_area import contains, polygon_area
from esar_ros.planning.session import Session
from esar_ros.planning.team import OneVoice, clues_of_all, has_its_turn, own_brief, sector, unreported, waits_its_turn

SQUARE = np.array([[-900.0, -900.0], [900.0, -900.0], [900.0, 900.0], [-900.0, 900.0]])
TEAM = ("uav1", "uav2")


def mate(position: Any = (0.0, 0.0, 30.0), goal: Any = None, vehicle: str = "uav2", **values: Any) -> Teammate:
    place = np.asarray(position, float)
    towards = None if goal is None else np.asarray(goal, float)
    return Teammate(vehicle, Pose(place), place[2], towards, **{"cameras": CAMERAS, **values})


def report(position: Any, kind: str = "tent", type: Any = ReportType.CLUE) -> Report:
    return Report(type, kind, kind, np.asarray(position, float))


@settings(deadline=None, max_examples=60)
@given(count=st.integers(2, 5), x=st.floats(-850, 850), y=st.floats(-850, 850), seed=st.integers(0, 2**32 - 1))
def test_sectors_cut_the_area_without_gap_or_overlap(count: int, x: float, y: float, seed: int) -> None:
    parts = [sector(SQUARE, np.array([x, y]), index, count) for index in range(count)]
    assert sum(polygon_area(part) for part in parts) == pytest.approx(polygon_area(SQUARE))
    for point in np.random.default_rng(seed).uniform(-899, 899, (20, 2)):
        bearing = math.atan2(point[1] - y, point[0] - x) % (2 * math.pi)
        off_edge = bearing / (2 * math.pi / count) % 1.0
        if 1e-6 < off_edge < 1.0 - 1e-6:
            assert [contains(part, point) for part in parts] == [
                n == int(bearing // (2 * math.pi / count)) for n in range(count)
            ]


def test_a_sector_without_any_of_the_area_is_the_whole_of_it() -> None:
    assert sector(SQUARE, np.array([0.0, 2000.0]), 0, 2) is SQUARE


def test_a_method_alone_or_that_plans_with_the_team_keeps_the_area(brief: Any) -> None:
    alone, shared = brief(), brief(vehicle="uav2", team=TEAM)
    assert own_brief(alone, create("zigzag")) is alone
    assert own_brief(shared, create("fbe")) is shared
    assert own_brief(shared, create("zigzag")).area[:, 1].max() == pytest.approx(0.0)


@pytest.mark.parametrize("name", ["zigzag", "spiral", "concentric", "greedy", "random"])
def test_methods_that_know_no_team_fly_in_their_own_half(brief: Any, observe: Any, flight: Any, name: str) -> None:
    for index, vehicle in enumerate(TEAM):
        session = Session(create(name))
        session.reset(brief(vehicle=vehicle, team=TEAM, t_max=300.0), 3)
        y = [
            decision.goal.position[1]
            for decision in flight(session.method).run(120).decisions
            if decision.goal is not None and decision.goal.position[:2].any()
        ]
        assert y, name
        assert max(y) > 10.0 if index == 0 else min(y) < -10.0
        assert min(y) > -15.0 if index == 0 else max(y) < 15.0


def test_what_a_teammate_has_told_is_not_told_again() -> None:
    others = [mate(reports=(report((10, 0, 0)), report((50, 0, 0), "person", ReportType.VICTIM)))]
    mine = (
        report((12, 3, 0)),
        report((12, 3, 0), "backpack"),
        report((16, 0, 0)),
        report((51, 1, 0), "person", ReportType.VICTIM),
        report((51, 1, 0), "tent"),
    )
    assert unreported(mine, others) == (mine[1], mine[2], mine[4])
    assert unreported(mine, ()) == mine


class Teller:
    """Reports one place at every observation."""

    name, eligible = "teller", True
    needs: frozenset[str] = frozenset()

    def reset(self, brief: Any, seed: Any) -> None:
        self.brief = brief

    def act(self, observation: Any) -> Decision:
        return Decision("tell", "", reports=(report((10, 0, 0)),))


def test_who_comes_later_leaves_the_word_to_an_earlier_one_who_knows_of_it(brief: Any, observe: Any, clue: Any) -> None:
    voice = OneVoice(brief(vehicle="uav2", team=TEAM))
    mine, knows = report((10, 0, 0)), mate(vehicle="uav1", clues=(clue(4, "tent", (12, 0, 0)),))
    told = mate(vehicle="uav1", clues=knows.clues, reports=(report((12, 0, 0)),))
    assert voice.pass_on([mine], observe(0, team=(knows,)), False) == ()
    assert voice.pass_on([], observe(1, team=(told,)), False) == ()
    assert voice.pass_on([], observe(9, team=(knows,)), True) == (), "told by another, so never again"
    assert voice.pass_on([report((40, 0, 0))], observe(10, team=(told,)), False) != (), "nobody else knows of it"
    lost = [voice.pass_on([report((12, 3, 0))] * (n == 0), observe(20 + n, team=(knows,)), False) for n in range(7)]
    assert [len(out) for out in lost] == [0, 0, 0, 0, 0, 1, 0], "the other never tells"
    assert voice.pass_on([mine], observe(30, team=(knows,)), True) == (mine,), "the last word"
    first = OneVoice(brief(vehicle="uav1", team=TEAM))
    late = mate(vehicle="uav2", clues=knows.clues)
    assert first.pass_on([mine], observe(0, team=(late,)), False) == (mine,)


def test_a_session_numbers_only_what_is_new_to_the_team(brief: Any, observe: Any) -> None:
    session = Session(Teller())
    session.reset(brief(vehicle="uav1", team=TEAM), 0)
    assert [number for number, _ in session.decide(observe(0)).reports] == [1]
    told = session.decide(observe(1, team=(mate(reports=(report((10, 1, 0)),)),)))
    assert told.reports == () and told.reported == 1


def test_clues_of_all_are_each_there_once(observe: Any, clue: Any) -> None:
    own = clue(1, "tent", (10, 0, 0))
    others = (clue(1, "tent", (12, 0, 0)), clue(2, "rope", (12, 0, 0)), clue(3, "tent", (12, 0, 0)))
    seen = observe(clues=(own,), team=(mate(clues=others), mate(clues=(clue(2, "rope", (14, 0, 0)),))))
    all_of_them = clues_of_all(seen)
    assert [one.kind for one in all_of_them] == ["tent", "rope"]
    assert all_of_them[0] is own and len({one.id for one in all_of_them}) == 2
    assert clues_of_all(observe(clues=(own,))) == (own,)


def test_later_vehicles_wait_for_earlier_ones_but_not_for_ever(brief: Any, observe: Any) -> None:
    first, second = (brief(vehicle=name, team=TEAM) for name in TEAM)
    silent, going = mate(vehicle="uav1"), mate(vehicle="uav1", goal=(50, 0, 30))
    assert not waits_its_turn(first, observe(0, team=(mate(),)))
    assert waits_its_turn(second, observe(0, team=(silent,)))
    assert not waits_its_turn(second, observe(0, team=(going,)))
    assert not waits_its_turn(second, observe(6, team=(silent,)))
    assert not waits_its_turn(brief(), observe(0))


def test_those_of_a_team_choose_anew_in_turn_and_one_alone_whenever_it_likes(brief: Any) -> None:
    turns = [[has_its_turn(brief(vehicle=name, team=TEAM), frame) for name in TEAM] for frame in range(4)]
    assert turns == [[True, False], [False, True]] * 2
    assert all(has_its_turn(brief(), frame) for frame in range(4))


def test_one_clue_does_not_make_two_vehicles_plan_in_one_frame(brief: Any, observe: Any, clue: Any) -> None:
    planned: dict[str, list[int]] = {}
    for vehicle, other in zip(TEAM, reversed(TEAM), strict=True):
        method = create("belief")
        method.reset(brief(vehicle=vehicle, team=TEAM), 0)
        team = (mate((0.0, 5.0, 30.0), (0.0, 200.0, 30.0), other),)
        planned[vehicle] = []
        for second in range(8):
            seen = (clue(1, "tent", (90, 90, 0)),) if second >= 4 else ()
            if method.act(observe(second, clues=seen, team=team)).goal is not None:
                planned[vehicle].append(second)
    assert planned["uav1"][0] == planned["uav2"][0] == 0, "nobody flies yet: both choose"
    later = [[second for second in seconds if second >= 4] for seconds in planned.values()]
    assert all(later) and not set(later[0]) & set(later[1]), planned


def room() -> Grid:
    """Free square with an unknown patch 60 m to the east and a nearer one 40 m to the west."""
    cells = np.full((100, 100), FREE, np.int8)
    cells[[0, -1], :] = cells[:, [0, -1]] = OCCUPIED
    cells[40:60, 80:90] = UNKNOWN
    cells[40:60, 20:30] = UNKNOWN
    return Grid(cells, 2.0, (-100.0, -100.0))


@pytest.mark.parametrize(
    ("goal", "east"),
    [(None, False), ((-70.0, 0.0, 30.0), True), ((0.0, -90.0, 30.0), False)],
    ids=["nobody", "taken", "elsewhere"],
)
def test_fbe_leaves_a_frontier_to_a_teammate_that_will_be_nearer(
    brief: Any, observe: Any, goal: Any, east: bool
) -> None:
    method = create("fbe")
    method.reset(brief(vehicle="uav1", team=TEAM), 0)
    values = {"grid": room(), "team": (mate(goal=goal),) if goal else ()}
    method.act(observe(0, **values))
    method.act(observe(1, goal_reached=True, **values))
    decision = method.act(observe(2, goal_reached=True, **values))
    assert decision.goal is not None and (decision.goal.position[0] > 0.0) == east


def test_fbe_takes_what_is_left_when_a_teammate_is_nearer_to_all_of_it(brief: Any, observe: Any) -> None:
    method = create("fbe")
    method.reset(brief(vehicle="uav1", team=TEAM), 0)
    grid = room()
    grid.cells[40:60, 80:90] = FREE
    values = {"grid": grid, "team": (mate(goal=(-70, 0, 30)),)}
    method.act(observe(0, **values))
    method.act(observe(1, goal_reached=True, **values))
    goal = method.act(observe(2, goal_reached=True, **values)).goal
    assert goal is not None and goal.position[0] < -20.0


def belief_for(brief: Any, vehicle: str) -> Any:
    method = create("belief")
    method.reset(brief(500.0, vehicle=vehicle, team=TEAM, prompt="A hiker is missing near the start."), 0)
    return method


def test_belief_does_not_follow_where_a_teammate_goes(brief: Any, observe: Any) -> None:
    first = belief_for(brief, "uav1").act(observe(0, team=(mate(),)))
    place = first.goal.position
    second = belief_for(brief, "uav2")
    assert second.act(observe(0, vehicle="uav2", team=(mate(vehicle="uav1"),))).action == "hold"
    decision = second.act(observe(1, vehicle="uav2", team=(mate(vehicle="uav1", goal=place),)))
    alone = belief_for(brief, "uav2").act(observe(1, vehicle="uav2"))
    assert np.linalg.norm(alone.goal.position - place) < 1.0, "without a word it flies there too"
    assert np.linalg.norm(decision.goal.position[:2] - place[:2]) > 20.0


def test_belief_takes_in_a_teammate_s_looks_clues_and_finds(brief: Any, observe: Any, clue: Any) -> None:
    method = belief_for(brief, "uav1")
    tent, found = clue(7, "tent", (200, 0, 0)), report((210, 0, 0), "person", ReportType.VICTIM)
    other = mate((200.0, 0.0, 30.0), goal=(220, 0, 30), clues=(tent,), reports=(found,))
    method.act(observe(0, team=(other,)))
    row, column = 50, int((200 - method.looks.origin[0]) // method.looks.cell)
    assert method.looks.missed[row, column - 3 : column + 4].min() < 0.9, "looked at from there"
    assert len(method._clues_in_belief) == 1
    assert method.people[0].found is not None
    assert not method.people[0].posterior.any()
    assert len(method._finds.reports) == 1
    method.act(observe(1, team=(other,)))
    assert len(method._finds.reports) == 1, "heard once"
