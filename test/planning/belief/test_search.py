"""The method as a whole over flat ground: finds by the brief, confirms, reports, settles, stops when it pays."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.decision import GoalType, HeightReference, ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS, THERMAL
from esar_ros.mission.observation import Teammate
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.look_map import LookMap
from esar_ros.planning.belief.search import BeliefSearch
from esar_ros.planning.registry import create
from esar_ros.planning.search_area import polygon_of

PROMPT = (
    "Anna has been missing since noon, in a red jacket. You start about 100 m south of the hut. "
    "She was last seen walking east from the hut, two hundred metres away."
)
ANNA = (205.0, 95.0, 0.0)


COARSE = {"cell": 20.0, "prior": {"samples": 1500}, "planning": {"candidates": 40, "deepened": 3, "heights": (25.0,)}}


def method_for(brief: Any, seed: int = 0) -> Any:
    method = create("belief", COARSE)
    method.reset(brief, seed)
    return method


def test_a_thermal_picture_counts_as_a_look_by_night(brief: Any, observe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ground that warmth alone would show counts with the camera's own POD; without its picture it does not."""
    rig = load_vehicle()
    warm = rig.model_copy(update={"thermal": rig.thermal.model_copy(update={"mounted": True})})
    monkeypatch.setattr("esar_ros.planning.belief.search.load_vehicle", lambda: warm)
    missed = []
    for cameras in (("front",), ("front", THERMAL)):
        method: Any = create("belief", COARSE)
        method.reset(brief(local_time="2024-05-01T01:00:00", weather="clear"), 0)
        method.act(observe(position=(0.0, 0.0, 50.0), height=50.0, cameras=cameras))
        missed.append(method.looks.missed)
        assert not method.looks.clue[missed[0] == 1.0].any(), "warmth tells nothing of things"
    colour, both = missed
    assert (both <= colour).all() and both.min() < colour.min() - 0.1
    assert method.details == {"pod_measured_on": "simulator"}


class World:
    """Things that are seen from within a range; their views grow with every look."""

    def __init__(self, clue: Any, things: Any, reach: float = 45.0) -> None:
        self.clue, self.things, self.reach = clue, things, reach
        self.views = [0] * len(things)

    def seen_from(self, position: Any, stamp: Any) -> Any:
        out = []
        for number, (kind, place, score) in enumerate(self.things):
            if np.linalg.norm(np.array(place) - position) < self.reach:
                self.views[number] += 1
            if self.views[number]:
                views = self.views[number]
                out.append(self.clue(number + 1, kind, place, probability=score, views=views, nearest_view=40.0))
        return tuple(out)


def fly(method: Any, flight: Any, world: Any, seconds: int = 900, speed: float = 5.0) -> Any:
    run = flight(method, speed)
    for _ in range(seconds):
        run.run(1, clues=world.seen_from(run.position, run.stamp))
        if run.stopped:
            break
    return run


def reports(run: Any, kind: Any) -> Any:
    return [report for decision in run.decisions for report in decision.reports if report.type is kind]


def test_finds_whom_the_brief_tells_of_and_stops(brief: Any, flight: Any, clue: Any) -> None:
    run = fly(method_for(brief(prompt=PROMPT)), flight, World(clue, [("person", ANNA, 0.9)]))
    (report,) = reports(run, ReportType.VICTIM)
    assert report.position == pytest.approx(ANNA)
    assert run.stopped and run.stamp < 300.0, "with her found, a faint hope of clues is not worth the time"
    assert "1 of 1 found" in run.decisions[-1].why
    assert run.method.act(run.observe(999.0)).stop


def test_goes_on_while_nobody_is_found(brief: Any, flight: Any, clue: Any) -> None:
    run = fly(method_for(brief(prompt=PROMPT, t_max=400.0)), flight, World(clue, []), 400)
    assert run.stamp > 330.0, "search costs nothing before the first find"


def test_a_clue_is_followed(brief: Any, flight: Any, clue: Any) -> None:
    # The brief is wrong; the things of the missing lie in the west.
    things = [("backpack", (-60.0, 40.0, 0.0), 0.9), ("sleeping_bag", (-130.0, 60.0, 0.0), 0.9)]
    person = ("person", (-190.0, 75.0, 0.0), 0.9)
    run = fly(method_for(brief(prompt="Anna is missing. She may be anywhere.")), flight, World(clue, [*things, person]))
    assert len(reports(run, ReportType.VICTIM)) == 1
    assert len(reports(run, ReportType.CLUE)) == 2


def test_an_unsure_person_is_looked_at_from_both_sides_and_given_up(brief: Any, flight: Any, clue: Any) -> None:
    world = World(clue, [("person", (80.0, 90.0, 0.0), 0.3)])
    run = fly(method_for(brief(prompt=PROMPT, t_max=300.0)), flight, world, 300)
    looks = [d for d in run.decisions if d.action == "confirm" and d.goal is not None]
    assert len(looks) == 2
    sides = [look.goal.position[:2] - np.array([80.0, 90.0]) for look in looks]
    assert sides[0] @ sides[1] < 0.0, "from the other side"
    assert not reports(run, ReportType.VICTIM)
    assert any(d.action == "search" for d in run.decisions[run.decisions.index(looks[-1]) :])


@pytest.mark.parametrize(("score", "told"), [(0.45, 0), (0.55, 1)])
def test_after_the_last_look_who_is_more_likely_there_than_not_is_told(
    brief: Any, flight: Any, clue: Any, score: Any, told: Any
) -> None:
    method = create("belief", {**COARSE, "use": {"prior": False}})  # no brief makes anybody likelier
    method.reset(brief(prompt=PROMPT, t_max=300.0), 0)
    run = fly(method, flight, World(clue, [("person", (60.0, 0.0, 0.0), score)]), 300)
    assert len(reports(run, ReportType.VICTIM)) == told
    assert len([d for d in run.decisions if d.action == "confirm" and d.goal is not None]) == 2


@pytest.mark.parametrize(("reach", "looks"), [(42.0, 2), (2.0, 0)])
def test_what_a_second_look_would_hardly_see_is_not_looked_at_again(
    brief: Any, flight: Any, clue: Any, reach: Any, looks: Any
) -> None:
    method = create("belief", {**COARSE, "detection": {"cards": {}, "clue_range": reach, "softness": 2.0}})
    method.reset(brief(prompt=PROMPT), 0)
    run = fly(method, flight, World(clue, [("person", ANNA, 0.95), ("rope", (150.0, 90.0, 0.0), 0.2)]))
    again = [d for d in run.decisions if d.action == "confirm" and d.goal is not None and d.why.startswith("rope")]
    assert len(again) == looks


def test_a_doubtful_find_does_not_end_the_search_a_sure_one_does(brief: Any, flight: Any, clue: Any) -> None:
    astray = ("person", (-25.0, -10.0, 0.0), 0.7)  # behind the start, where hardly anybody is believed to be
    run = fly(method_for(brief(prompt=PROMPT)), flight, World(clue, [astray, ("person", ANNA, 0.9)]))
    places = [report.position[:2] for report in reports(run, ReportType.VICTIM)]
    assert len(places) == 2, "both are told"
    assert run.stopped and run.method.people[0].found == pytest.approx(ANNA[:2])


def test_faint_finds_where_nobody_is_believed_to_be_do_not_keep_it(brief: Any, flight: Any, clue: Any) -> None:
    junk = [("person", (25.0 * math.cos(n), 25.0 * math.sin(n) - 40.0, 0.0), 0.1) for n in range(12)]
    run = fly(method_for(brief(prompt=PROMPT)), flight, World(clue, [*junk, ("person", ANNA, 0.9)]))
    looks = [d for d in run.decisions if d.action == "confirm" and d.goal is not None]
    assert len(looks) < 8, "of twenty-four there would be"
    assert reports(run, ReportType.VICTIM)


def test_two_missing_are_both_sought(brief: Any, flight: Any, clue: Any) -> None:
    prompt = (
        "Missing are Jan and Eva. The drone starts close to the hut. Jan went 150 m east of the hut. "
        "Eva went 150 m west of the hut."
    )
    things = [("person", (150.0, 5.0, 0.0), 0.9), ("person", (-145.0, -10.0, 0.0), 0.9)]
    run = fly(method_for(brief(prompt=prompt)), flight, World(clue, things))
    assert len(reports(run, ReportType.VICTIM)) == 2 and run.stopped
    assert [person.found is not None for person in run.method.people] == [True, True]


def test_goals_stay_in_the_area_and_below_the_ceiling(brief: Any, flight: Any, clue: Any) -> None:
    run = fly(method_for(brief(half=120.0, ceiling=30.0, prompt=PROMPT, t_max=200.0)), flight, World(clue, []), 200)
    goals = [d.goal for d in run.decisions if d.goal is not None and d.goal.type is GoalType.WAYPOINT]
    assert len(goals) > 3
    assert max(np.abs(goal.position[:2]).max() for goal in goals) <= 105.0 + 1e-6
    assert max(goal.position[2] for goal in goals) <= 25.0
    assert all(goal.height_reference is HeightReference.GROUND for goal in goals)


def test_a_blocked_place_is_left_alone(brief: Any, observe: Any) -> None:
    method = method_for(brief(prompt=PROMPT))
    first = method.act(observe(0.0)).goal.position[:2]
    second = method.act(observe(1.0, goal_blocked=True)).goal.position[:2]
    assert np.linalg.norm(first - second) > 25.0


def test_same_seed_same_flight(brief: Any, flight: Any, clue: Any) -> None:
    tracks = [
        fly(method_for(brief(prompt=PROMPT), 3), flight, World(clue, [("rope", (90.0, 90.0, 0.0), 0.9)]), 120).track
        for _ in range(2)
    ]
    assert np.array_equal(*tracks)


def test_an_empty_brief_is_searched_around_the_start(brief: Any, flight: Any, clue: Any) -> None:
    run = fly(method_for(brief(prompt="")), flight, World(clue, [("person", (0.0, 110.0, 0.0), 0.9)]))
    assert len(reports(run, ReportType.VICTIM)) == 1


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="planner belief, parameter cell"):
        create("belief", {"cell": 0.0})


def test_empty_pictures_of_a_weaker_detector_rule_out_less(
    brief: Any, flight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = {"best": 0.5, "half": 20.0, "softness": 5.0}
    card = {"detection_probability": {"fit": {"person": fit, "clues": fit}}}
    (tmp_path / "weak.json").write_text(json.dumps(card))
    monkeypatch.setenv("ESAR_MODELS", str(tmp_path))
    ruled_out = {}
    for detector in ("", "weak_one"):
        method = create("belief", COARSE | {"detection": {"cards": {"weak_one": "weak"}}})
        assert isinstance(method, BeliefSearch)
        method.reset(brief(prompt=PROMPT), 0)
        before = float(method.people[0].posterior.sum())
        flight(method, 5.0).run(60, detector=detector)
        ruled_out[detector] = before - float(method.people[0].posterior.sum())
    assert 0.0 < ruled_out["weak_one"] < 0.5 * ruled_out[""]


def looked_at(brief: Any, observe: Any, **seen: Any) -> Any:
    """Returns the probability of detection that one frame has made of each cell, the best of all sides."""
    method = method_for(brief(prompt=PROMPT))
    method.act(observe(position=(0.0, 0.0, 30.0), **seen))
    return method.looks.person.max(axis=0)


def test_a_camera_without_images_has_searched_nothing(brief: Any, observe: Any) -> None:
    every, down = looked_at(brief, observe), looked_at(brief, observe, cameras=("down",))
    ahead = looked_at(brief, observe, cameras=("front", "down"))
    assert not looked_at(brief, observe, cameras=()).any()
    assert down.any() and (down <= ahead).all() and (ahead <= every).all()
    assert down.sum() < ahead.sum() < every.sum(), "each one narrows what was searched"
    assert not looked_at(brief, observe, cameras=("mast",)).any(), "no camera of this vehicle"


def test_legs_that_were_flown_blind_are_not_written_off(brief: Any, flight: Any) -> None:
    run = flight(method_for(brief(prompt=PROMPT, t_max=300.0)), 5.0)
    run.run(40, cameras=())
    assert np.linalg.norm(run.position[:2]) > 20.0 and not run.method.looks.person.any()


def test_in_passing_only_ground_that_an_image_has_shown_is_searched(
    brief: Any, flight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg is written off as plans expected it of all cameras; where some lack, without what the others never saw."""
    shown = {}
    look = LookMap.look
    for cameras in (("down",), ("front", "down"), tuple(CAMERAS)):
        method = method_for(brief(prompt=PROMPT, t_max=300.0))
        alone = LookMap(polygon_of(brief()), method.looks.cell)
        monkeypatch.setattr(LookMap, "look", lambda self, *a, one=alone: (look(self, *a), look(one, *a)))
        flight(method, 5.0).run(60, cameras=cameras)
        assert alone.person.any()
        shown[cameras] = int(((method.looks.person > 0.0) & (alone.person == 0.0)).sum())
    assert shown[("down",)] == shown[("front", "down")] == 0 < shown[tuple(CAMERAS)]


def test_of_a_teammate_too_only_what_its_cameras_have_shown_is_searched(brief: Any, observe: Any) -> None:
    mate = Teammate("uav2", Pose(np.array([200.0, 0.0, 30.0])), 30.0, None)
    alone = looked_at(brief, observe)
    assert (looked_at(brief, observe, team=(mate,)) == alone).all()
    helped = looked_at(brief, observe, team=(replace(mate, cameras=CAMERAS),))
    assert helped.sum() > alone.sum()
