"""The calibration flight in the embedded simulator: steps of velocity and stops in free air, without ROS.

The velocities reach the vehicle as the bridge sends them, once a control period.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.benchmark.engine.wire import seconds
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.modes import Mode
from esar_ros.mission.vehicle import Vehicle
from esar_ros.safety.calibration import Flight
from esar_ros.sim.terrain.maps import PlaceMap

_NAME = "uav1"
_HEIGHT = 100.0  # m above the start: free air
_LEVEL = (1.0, 2.0, 3.0, 4.0, 5.0)  # m/s
_UP, _DOWN = (1.0, 2.0, 3.0), (1.0, 2.0)  # m/s, to the governor's limits
_FLY, _STAND = 8.0, 8.0  # s of each step and of the stop after it


def fly_steps(place: PlaceMap, rig: Vehicle) -> Flight:
    """Returns a flight east, west, north, south, up and down at each speed in turn, with a stop after each."""
    simulator = LocalSimulator(place, 0, rig, (_NAME,))
    try:
        return _fly(simulator, rig)
    finally:
        simulator.close()


def _steps() -> Iterator[Vector]:
    """Yields the velocities (m/s, map)."""
    for speed in _LEVEL:
        for axis in (0, 1):
            yield speed * np.eye(3)[axis]
            yield -speed * np.eye(3)[axis]
    for speed in _UP:
        yield np.array([0.0, 0.0, speed])
    for speed in _DOWN:
        yield np.array([0.0, 0.0, -speed])


def _fly(simulator: LocalSimulator, rig: Vehicle) -> Flight:
    """Returns the flight of the steps high above the start."""
    client = simulator.connect()
    remote = AirSimVehicle(client, _NAME)
    actuation = Actuation(remote)
    remote.arm(True)
    drone = simulator.context.drone(_NAME)
    drone.place(Pose(drone.position + np.array([0.0, 0.0, _HEIGHT])))
    period = 1.0 / rig.rates.control
    rows = []
    for velocity in _steps():
        for asked, lasts in ((velocity, _FLY), (np.zeros(3), _STAND)):
            for _ in range(round(lasts / period)):
                reading = remote.read()
                rows.append((seconds(reading.ns), reading.pose.position, reading.velocity, asked))
                actuation.obey(reading, Mode.NORMAL, (asked, 0.0), period)
                client.call("simContinueForTime", period)
    time, position, velocities, commands = (np.array(column) for column in zip(*rows, strict=True))
    return Flight(time, position, velocities, time, commands)
