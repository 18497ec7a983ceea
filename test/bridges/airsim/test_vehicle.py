"""One AirSim vehicle: what a server's refusal and its silence say of a battery."""

from __future__ import annotations

import json
from typing import Any

import pytest

from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError
from esar_ros.bridges.airsim.vehicle import AirSimVehicle

ZERO = {"x_val": 0.0, "y_val": 0.0, "z_val": 0.0}
STATE = {
    "timestamp": 1,
    "landed_state": 0,
    "kinematics_estimated": {
        "position": ZERO, "orientation": {"w_val": 1.0, **ZERO}, "linear_velocity": ZERO, "angular_velocity": ZERO,
    },
    "collision": {
        "has_collided": False, "time_stamp": 0, "normal": ZERO, "penetration_depth": 0.0, "object_name": "",
    },
}  # fmt: skip


class Server:
    """A Caller whose battery is said, or whose error is raised."""

    def __init__(self) -> None:
        self.battery: dict[str, float] | AirSimError = {"charge": 0.4, "voltage": 15.0, "current": 9.0}

    def call(self, method: str, *arguments: Any) -> Any:
        if method == "getSettingsString":
            return json.dumps({"Vehicles": {"uav1": {}}})
        if method == "esarGetBattery" and isinstance(self.battery, AirSimError):
            raise self.battery
        return self.battery if method == "esarGetBattery" else STATE

    def notify(self, method: str, *arguments: Any) -> None:
        raise AssertionError(method)

    def close(self) -> None:
        """Nothing to close."""


def test_a_server_without_batteries_is_always_full_and_asked_once() -> None:
    server = Server()
    server.battery = AirSimError("there is no method esarGetBattery")
    vehicle = AirSimVehicle(server, "uav1")
    assert vehicle.read_battery().charge == 1.0
    server.battery = {"charge": 0.4, "voltage": 15.0, "current": 9.0}
    assert vehicle.read_battery().charge == 1.0


def test_an_answer_that_does_not_come_makes_no_battery_full() -> None:
    server = Server()
    vehicle = AirSimVehicle(server, "uav1")
    assert vehicle.read_battery().charge == 0.4
    answer, server.battery = server.battery, AirSimConnectionError("it did not answer within 30 s")
    with pytest.raises(AirSimConnectionError):
        vehicle.read_battery()
    server.battery = answer
    assert vehicle.read_battery().charge == 0.4
