"""A way that somebody else has planned: flown corner by corner at its heights, a blocked one left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.decision import HeightReference
from esar_ros.mission.errors import UsageError
from esar_ros.planning.methods.patterns.route import Route
from esar_ros.planning.parameters import configured
from esar_ros.planning.registry import create, names

CORNERS = np.array([[100.0, 0.0, 45.0], [100.0, 80.0, 60.0], [0.0, 0.0, 45.0]])


def route() -> Route:
    return Route(configured("route", {"height": 40.0, "speed": 4.0}), CORNERS)


def test_it_climbs_flies_each_corner_at_its_height_above_the_sea_and_stops(brief: Any, flight: Any) -> None:
    method = route()
    method.reset(brief(), 0)
    run = flight(method).run(200)
    goals = [decision.goal for decision in run.decisions if decision.goal is not None]
    assert run.stopped and goals[0].position.tolist() == [0.0, 0.0, 40.0]
    assert np.array([goal.position for goal in goals[1:4]]).tolist() == CORNERS.tolist()
    assert all(goal.height_reference is HeightReference.MAP and goal.speed == 4.0 for goal in goals[1:4])
    track = np.array(run.track)
    assert all(np.linalg.norm(track - corner, axis=1).min() < 10.0 for corner in CORNERS)


def test_a_corner_that_cannot_be_reached_is_left_out(brief: Any, observe: Any) -> None:
    method = route()
    method.reset(brief(), 0)
    method.act(observe(0.0, (0.0, 0.0, 0.0)))
    first = method.act(observe(1.0, (0.0, 0.0, 40.0)))
    second = method.act(observe(2.0, (10.0, 0.0, 40.0), goal_blocked=True))
    assert first.goal is not None and first.goal.position == pytest.approx(CORNERS[0])
    assert second.goal is not None and second.goal.position == pytest.approx(CORNERS[1])


ORIGIN = Origin(46.6, 8.0, 1500.0)


def plan(path: Path, frame: int = 0) -> Path:
    """A plan of QGroundControl over the corners: take-off, speed, waypoints, return."""
    items: list[dict[str, Any]] = [{"command": 22, "frame": 0, "params": [0, 0, 0, None, 46.6, 8.0, 1540.0]}]
    for corner in CORNERS:
        items.append({"command": 16, "frame": frame, "params": [0, 0, 0, None, *ORIGIN.to_geodetic(corner)]})
    items.append({"command": 20, "frame": 2, "params": [0] * 7})
    speeds = {"cruiseSpeed": 15.0, "hoverSpeed": 4.0}  # of a wing and of a multirotor
    mission = {"items": items, "version": 2, **speeds, "plannedHomePosition": [46.6, 8.0, 1500.0]}
    path.write_text(json.dumps({"fileType": "Plan", "mission": mission}))
    return path


def test_a_plan_of_a_ground_station_is_flown_where_it_lies_on_earth(brief: Any, flight: Any, tmp_path: Path) -> None:
    method = create(f"route:{plan(tmp_path / 'one.plan')}")
    assert method.name == "route" and "route" not in names() and method.eligible
    method.reset(brief(origin=(46.6, 8.0, 1500.0)), 0)
    goals = [decision.goal for decision in flight(method).run(200).decisions if decision.goal is not None]
    assert goals[0].position == pytest.approx([0.0, 0.0, 45.0], abs=0.01), "as high as the first waypoint"
    assert np.array([goal.position for goal in goals[1:4]]) == pytest.approx(CORNERS, abs=0.01)
    assert goals[1].speed == 4.0


def test_a_plan_states_its_speed_before_its_first_waypoint_alone(brief: Any, flight: Any, tmp_path: Path) -> None:
    path = plan(tmp_path / "one.plan")
    content = json.loads(path.read_text())
    content["mission"]["items"].insert(0, {"command": 178, "frame": 2, "params": [1, 2.5, -1, 0, 0, 0, 0]})
    path.write_text(json.dumps(content))
    method = create(f"route:{path}")
    method.reset(brief(origin=(46.6, 8.0, 1500.0)), 0)
    assert [d.goal.speed for d in flight(method).run(20).decisions if d.goal is not None][-1] == 2.5
    content["mission"]["items"].insert(4, {"command": 178, "frame": 2, "params": [1, 8.0, -1, 0, 0, 0, 0]})
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="changes its speed on the way: plan one speed"):
        create(f"route:{path}")


def test_heights_above_home_count_from_the_planned_home(brief: Any, tmp_path: Path) -> None:
    path = plan(tmp_path / "relative.plan", frame=3)
    content = json.loads(path.read_text())
    for item in content["mission"]["items"][1:4]:
        item["params"][6] -= 1500.0
    path.write_text(json.dumps(content))
    above_home: Any = create(f"route:{path}")
    above_sea: Any = create(f"route:{plan(tmp_path / 'one.plan')}")
    for method in (above_home, above_sea):
        method.reset(brief(origin=(46.6, 8.0, 1500.0)), 0)
    np.testing.assert_allclose(above_home._corners, above_sea._corners, atol=1e-6)


def test_a_plan_that_cannot_be_flown_is_refused_in_one_line(brief: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read plan .*no file"):
        create(f"route:{tmp_path / 'none.plan'}")
    with pytest.raises(UsageError, match="counts heights in frame 10: above the sea or home"):
        create(f"route:{plan(tmp_path / 'terrain.plan', frame=10)}")
    for other, named in (({"command": 84, "frame": 3}, "84"), ({"complexItemType": "survey"}, "survey")):
        path = plan(tmp_path / "more.plan")
        content = json.loads(path.read_text())
        content["mission"]["items"].insert(2, other)
        path.write_text(json.dumps(content))
        with pytest.raises(UsageError, match=f"holds {named}, which is no waypoint"):
            create(f"route:{path}")
    content["mission"]["version"] = 7
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="is a mission of version 7: save it as version 2"):
        create(f"route:{path}")
    content["mission"] |= {"items": [], "version": 2}
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="has no waypoint"):
        create(f"route:{path}")
    (tmp_path / "other.plan").write_text('{"mission": {"items": "all"}}')
    with pytest.raises(UsageError, match="is no plan of QGroundControl"):
        create(f"route:{tmp_path / 'other.plan'}")
    far = create(f"route:{plan(tmp_path / 'one.plan')}")
    with pytest.raises(UsageError, match=r"lies \d+ km from the map"):
        far.reset(brief(origin=(46.6, 9.0, 1500.0)), 0)
