"""Messages that cannot be are refused where they are read."""

from __future__ import annotations

import array
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import Point
from nav_msgs.msg import OccupancyGrid

from esar_ros.mission.decision import GoalType
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, Forecast
from esar_ros.msg import Goal, LocalMap
from esar_ros.nodes.messages import convert


def window(**changes: object) -> LocalMap:
    fields = {"resolution": 1.0, "size_x": 4, "size_y": 4, "size_z": 4, "cells": array.array("B", bytes(16))}
    return LocalMap(**(fields | changes))


def test_a_sound_map_is_read() -> None:
    assert convert.window_of(window()).cells.shape == (4, 4, 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": Point(x=-1e308)},
        {"origin": Point(z=math.nan)},
        {"resolution": 0.0},
        {"resolution": 1e30},
        {"resolution": 1e-30},
        {"size_x": 65535},
        {"cells": array.array("B", bytes(3))},
    ],
)
def test_a_map_that_cannot_be_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="window"):
        convert.window_of(window(**changes))


@pytest.mark.parametrize("changes", [{"type": 77}, {"height_reference": 9}])
def test_a_goal_that_cannot_be_is_refused(changes: dict[str, object]) -> None:
    fields = {"type": GoalType.WAYPOINT.value, "height_reference": 1}
    assert convert.goal_of(Goal(**fields)).type is GoalType.WAYPOINT
    with pytest.raises(ValueError, match="is not a valid"):
        convert.goal_of(Goal(**(fields | changes)))


def test_a_grid_that_cannot_be_is_refused() -> None:
    grid = OccupancyGrid(data=array.array("b", [0] * 4))
    grid.info.resolution, grid.info.width, grid.info.height = 1.0, 2, 2
    assert convert.grid_of(grid).cells.shape == (2, 2)
    grid.info.width = 3
    with pytest.raises(ValueError, match="reshape"):
        convert.grid_of(grid)
    grid.info.width, grid.info.origin.position.x = 2, math.nan
    with pytest.raises(ValueError, match="grid"):
        convert.grid_of(grid)


def test_a_mode_that_nobody_knows_is_a_hold() -> None:
    assert convert.mode_of(SimpleNamespace(mode=5)) is Mode.RETURN
    assert convert.mode_of(SimpleNamespace(mode=200)) is Mode.HOLD


def test_a_brief_travels_with_what_it_foretells() -> None:
    forecast = (Forecast(-30.0, 570.0, "fog", 3.0), Forecast(600.0, 1170.0, "", 12.5))
    area = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    brief = Brief("m", "k2", "", "clear", "", 60.0, area, 50.0, np.zeros(3), 5, forecast=forecast, wind_speed=12.5)
    assert convert.brief_of(convert.brief_message(brief)).forecast == forecast
    calm = Forecast(0.0, 1.0, "clear", math.nan)
    (told,) = convert.brief_of(convert.brief_message(replace(brief, forecast=(calm,)))).forecast
    assert math.isnan(told.wind_speed) and told.weather == "clear"
