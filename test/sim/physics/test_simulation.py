"""The other vehicles of a world, as a vehicle's sensors see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.geometry.frames import Pose
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.physics.simulation import VEHICLE_ID_BASE
from esar_ros.sim.terrain.maps import PlaceMap

FAR = 8.0  # m between the vehicles
RIG = load_vehicle().with_image_size(320, 240)


@pytest.fixture(scope="module")
def pair(place: PlaceMap) -> Iterator[LocalSimulator]:
    """Returns a simulator of two vehicles in the air, the second FAR ahead of the first."""
    simulator = LocalSimulator(place, 0, RIG, ("uav1", "uav2"))
    world = simulator.context.world
    middle = np.array([0.0, 0.0, float(world.ground_height((0.0, 0.0))) + 40.0])
    for name, at in (("uav1", middle), ("uav2", middle + [FAR, 0.0, 0.0])):
        simulator.context.drone(name).armed = True
        simulator.context.drone(name).place(Pose(at))
    yield simulator
    simulator.close()


def near(points: Any, distance: float) -> Any:
    return points[np.linalg.norm(points, axis=1) < distance]


def test_the_lidar_measures_the_other_vehicle_and_not_its_own(pair: LocalSimulator) -> None:
    points = AirSimLidar(pair.connect(truth=True), "uav1").read()
    radius = pair.context.drone("uav2").radius
    seen = near(points, FAR + 1.0)
    assert len(seen) >= 3 and np.linalg.norm(seen, axis=1).min() == pytest.approx(FAR - radius, abs=0.15)
    assert (np.abs(seen[:, 1]) < radius + 0.2).all()


def test_a_ray_meets_what_is_nearer(pair: LocalSimulator) -> None:
    simulation, one = pair.context.simulation, pair.context.drone("uav1")
    seen = simulation.seen_by(one)
    ahead, down = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, -1.0])
    ranges, ids = seen.raycast(one.position, np.array([ahead, down, -ahead]), 30.0)
    assert ids[0] == VEHICLE_ID_BASE + 1 and ranges[0] == pytest.approx(FAR - one.radius, abs=1e-3)
    assert ids[1] == ids[2] == -1 and np.isinf(ranges[1:]).all()
    beyond, _ = seen.raycast(one.position, ahead[None], FAR - 2.0)
    assert np.isinf(beyond[0])
    behind, ids = seen.raycast(one.position - [30.0, 0.0, 0.0], ahead[None], 60.0)
    assert ids[0] == VEHICLE_ID_BASE + 1 and behind[0] == pytest.approx(30.0 + FAR - one.radius, abs=1e-3)


def test_alone_the_world_is_what_it_sees(place: PlaceMap) -> None:
    simulator = LocalSimulator(place, 0, RIG, ("uav1",))
    try:
        simulation = simulator.context.simulation
        assert simulation.seen_by(simulator.context.drone("uav1")) is simulator.context.world
    finally:
        simulator.close()


@pytest.mark.parametrize("colour", [False, True])
def test_cameras_show_the_other_vehicle_and_not_their_own(pair: LocalSimulator, colour: bool) -> None:
    front = pair.images("uav1", segmentation=False, colour=colour).views()["front"].depth
    assert front.min() == pytest.approx(FAR - 0.7, abs=0.5)
    other = pair.images("uav2", segmentation=False, colour=colour).views()["front"].depth
    assert other.min() > FAR  # it looks away
