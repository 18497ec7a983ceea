"""NED and FRD to ENU and FLU, with offsets: against facts a pilot would check, and round trips."""

from __future__ import annotations

import json
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.bridges.airsim.frames import VehicleFrame, yaw_rate_to_airsim
from esar_ros.bridges.airsim.types import from_quaternionr, from_vector3r, quaternionr, vector3r, yaw_mode
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.geometry.frames import Pose, quaternion_from_rpy, quaternion_from_yaw

numbers = st.floats(-1e5, 1e5)
vectors = st.tuples(numbers, numbers, numbers).map(lambda v: np.array(v, dtype=np.float64))
angles = st.floats(-math.pi, math.pi)


def test_north_east_down_of_a_vehicle() -> None:
    frame = VehicleFrame(np.array([100.0, 50.0, 20.0]))  # east, north, up
    assert frame.position_in_map([1.0, 2.0, -3.0]).tolist() == [102.0, 51.0, 23.0]
    assert VehicleFrame().position_in_map([1.0, 2.0, -3.0]).tolist() == [2.0, 1.0, 3.0]


def test_the_offset_is_read_from_the_settings() -> None:
    settings = json.dumps({"Vehicles": {"uav1": {"X": 4.0, "Y": -2.0, "Z": -1.5}, "uav2": {}}})
    assert VehicleFrame.of_settings(settings, "uav1").offset.tolist() == [-2.0, 4.0, 1.5]
    for text, name in ((settings, "uav2"), (settings, "other"), ("", "uav1"), ("{}", "uav1")):
        assert np.all(VehicleFrame.of_settings(text, name).offset == 0.0)


def test_turning_left_is_negative_there() -> None:
    assert yaw_rate_to_airsim(math.pi / 2.0) == -90.0
    assert yaw_mode(yaw_rate_to_airsim(0.0), True)["is_rate"] is True


@given(vectors, vectors)
def test_positions_round_trip(offset: np.ndarray, point: np.ndarray) -> None:
    frame = VehicleFrame(offset)
    assert frame.position_to_airsim(frame.position_in_map(point)) == pytest.approx(point, abs=1e-6)


@given(angles)
def test_a_level_pose_has_the_heading_that_yaw_conversion_gives(yaw: float) -> None:
    told = VehicleFrame().pose_to_airsim(Pose(quaternion=quaternion_from_yaw(yaw)))["orientation"]
    heading = 2.0 * math.atan2(told["z_val"], told["w_val"])
    assert math.remainder(heading - (math.pi / 2.0 - yaw), math.tau) == pytest.approx(0.0, abs=1e-6)
    assert told["x_val"] == pytest.approx(0.0, abs=1e-9) and told["y_val"] == pytest.approx(0.0, abs=1e-9)


def test_nose_down_stays_nose_down() -> None:
    """A nose-down FLU pitch is positive, FRD's is negative: the nose points below the horizon in both."""
    pose = Pose(quaternion=quaternion_from_rpy(0.0, math.radians(20.0), 0.0))
    w, x, y, z = from_quaternionr(VehicleFrame().pose_to_airsim(pose)["orientation"])
    down = 2.0 * (x * z - w * y)  # third component of the rotated x axis, NED
    assert down == pytest.approx(math.sin(math.radians(20.0)))
    assert pose.rotation[2, 0] == pytest.approx(-math.sin(math.radians(20.0)))


@given(vectors)
def test_dictionaries_round_trip(values: np.ndarray) -> None:
    assert (from_vector3r(vector3r(values)) == values).all()
    four = [1.0, *values]
    assert from_quaternionr(quaternionr(four)).tolist() == four


@pytest.mark.parametrize(
    "settings",
    ["{", "[" * 3000, "[]", '{"Vehicles": {"uav1": {"X": "far"}}}', f'{{"Vehicles": {{"uav1": {{"X": {10**400}}}}}}}'],
)
def test_settings_that_make_no_sense_are_the_server_s_fault(settings: str) -> None:
    class Server:
        def call(self, method: str, *_: object) -> object:
            return settings

        notify = call

    with pytest.raises(AirSimError, match="the server's settings cannot be read"), patch.object(AirSimVehicle, "read"):
        AirSimVehicle(Server(), "uav1")  # type: ignore[arg-type]
