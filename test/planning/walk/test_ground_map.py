"""The map of the ground about a walker: what is floor, what is in the way, and what lies low."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN
from esar_ros.planning.walk.ground_map import GroundMap
from helpers.box_view import Box, BoxView

WALL: Box = ((5.0, -8.0, 0.0), (5.2, 8.0, 2.4))
HERE = np.zeros(3)


def seen(*boxes: Box, turns: int = 1, carrying: bool = False) -> GroundMap:
    """The map of one who looks about from the origin, to the east first."""
    ground = GroundMap(HERE)
    for turn in range(turns):
        ground.look(BoxView(HERE, turn * math.tau / turns, boxes), 0.0, carrying)
    return ground


def at(ground: GroundMap, x: float, y: float) -> int:
    grid = ground.grid()
    row, column = grid.cell_of(np.array([x, y]))
    inside = 0 <= row < grid.cells.shape[0] and 0 <= column < grid.cells.shape[1]
    return int(grid.cells[row, column]) if inside else UNKNOWN


def test_floor_is_free_up_to_a_wall_and_nothing_is_known_behind_it() -> None:
    ground = seen(WALL)
    for x, y in ((2.0, 0.0), (4.5, 0.0), (3.0, 2.0), (3.0, -2.0)):
        assert at(ground, x, y) == FREE
    assert at(ground, 5.1, 0.1) == OCCUPIED
    assert at(ground, 6.5, 0.0) == at(ground, -3.0, 0.0) == UNKNOWN
    assert at(ground, -0.5, 0.0) == FREE  # under the feet, where the camera does not see


def test_floor_is_read_no_farther_than_it_can_be() -> None:
    ground = seen()
    assert at(ground, 8.0, 0.0) == FREE and at(ground, 12.0, 0.0) == UNKNOWN


def test_a_step_is_walked_and_a_ledge_is_not() -> None:
    assert at(seen(((3.0, -4.0, 0.0), (20.0, 4.0, 0.2))), 4.5, 0.1) == FREE
    ledge = seen(((3.0, -4.0, 0.0), (20.0, 4.0, 0.6)))
    assert at(ledge, 3.1, 0.1) == OCCUPIED and at(ledge, 5.0, 0.1) == UNKNOWN


def test_a_lintel_is_walked_under_and_a_table_is_not() -> None:
    assert at(seen(((3.0, -2.0, 2.1), (3.4, 2.0, 2.6)), WALL), 4.0, 0.1) == FREE
    table = seen(((3.0, -1.0, 0.7), (4.0, 1.0, 0.8)), WALL)
    assert OCCUPIED in {at(table, x, 0.1) for x in (3.1, 3.3)}


@pytest.mark.parametrize(("height", "found"), [(0.4, 1), (0.15, 0), (0.8, 0)])
def test_low_things_are_found_by_their_measures(height: float, found: int) -> None:
    ground = GroundMap(HERE)
    thing: Box = ((3.0, -0.3, 0.0), (5.0, 0.3, height))
    for x, y, yaw in ((0.0, 0.0, 0.0), (4.0, -2.5, math.pi / 2), (4.0, 2.5, -math.pi / 2)):
        ground.look(BoxView((x, y), yaw, [thing, WALL]), 0.0, False)
    things = ground.low_things((0.3, 0.5), (1.4, 2.6))
    assert len(things) == found
    for middle in things:
        assert middle == pytest.approx([4.0, 0.0], abs=0.3)


def test_who_is_carried_is_nobodys_obstacle() -> None:
    arms: Box = ((0.3, -0.8, 0.9), (0.55, 0.8, 1.2))
    assert at(seen(arms, WALL, carrying=True), 3.0, 0.1) == FREE
    assert at(seen(arms, carrying=True), 0.5, 0.1) == FREE
    assert at(seen(arms), 0.5, 0.1) == OCCUPIED


def test_what_was_walked_against_is_in_the_way() -> None:
    ground = seen()
    ground.block(np.array([2.0, 0.0]))
    assert at(ground, 2.0, 0.1) == OCCUPIED and at(ground, 2.6, 0.1) == FREE
