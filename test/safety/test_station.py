"""The place that a hold keeps, and the way back there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from esar_ros.geometry.frames import Pose
from esar_ros.safety.inputs import State
from esar_ros.safety.limits import Limits
from esar_ros.safety.station import LastScan, Station

Kit = SimpleNamespace
PLACE = np.array([1.0, 0.0, 4.0])


def at(x: float, speed: float = 0.0) -> State:
    return State(100.0, Pose(np.array([x, 0.0, 4.0])), np.array([speed, 0.0, 0.0]), armed=True, landed=False)


def test_it_is_where_the_vehicle_comes_to_rest(limits: Limits) -> None:
    assert Station().updated(True, at(0.0, 3.0), 0.05, limits).place is None, "it has not stopped yet"
    rests = Station().updated(True, at(0.3), 0.05, limits)
    np.testing.assert_array_equal(rests.place, [0.3, 0.0, 4.0])


def test_it_stays_in_the_hold_and_is_forgotten_in_flight_and_on_the_ground(limits: Limits) -> None:
    station, here = Station(PLACE), at(1.5)
    assert station.updated(True, here, 0.05, limits).place is PLACE
    for holds, state in ((False, here), (True, replace(here, landed=True)), (True, replace(here, armed=False))):
        assert station.updated(holds, state, 0.05, limits).place is None


def test_a_position_that_moved_far_is_another_place(limits: Limits) -> None:
    moved = Station(PLACE, np.array([1.0, 0.0, 0.0])).updated(True, at(4.5), 0.05, limits)
    np.testing.assert_array_equal(moved.place, [4.5, 0.0, 4.0])
    assert not moved.carried.any()


def test_only_as_much_of_the_way_is_known_as_its_velocity_explains(limits: Limits) -> None:
    station, position = Station(PLACE), np.array([3.0, 0.0, 4.0])
    assert not Station().way(position).any() and not Station().way_back(position).any()
    np.testing.assert_array_equal(station.way(position), [-2.0, 0.0, 0.0])
    np.testing.assert_array_equal(station.way_back(position), np.zeros(3), err_msg="it crept there")
    for _ in range(20):  # 1 m/s for a second
        station = station.updated(True, at(3.0, 1.0), 0.05, limits)
    back = station.way_back(position)
    assert back is not None
    np.testing.assert_allclose(back, [-1.0, 0.0, 0.0])


def test_the_last_scan_stays_where_it_was_while_the_vehicle_is_carried(kit: Kit, limits: Limits) -> None:
    """If the position moved without a velocity, what the scan showed goes along."""
    assert LastScan().seen_from(PLACE) is None
    image = kit.World().image(Pose(PLACE), 100.0)
    scan = LastScan().updated(image, at(1.0), 0.05)
    for _ in range(20):  # 1 m/s for a second
        scan = scan.updated(None, at(2.0, 1.0), 0.05)
    for x, crept in ((2.0, 0.0), (1.5, 0.0), (3.0, 1.0)):
        seen = scan.seen_from(at(x).pose.position)
        assert seen is not None and seen.ranges is image.ranges
        np.testing.assert_allclose(seen.pose.position, PLACE + [crept, 0.0, 0.0])
