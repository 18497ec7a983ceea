"""Messages of a vehicle's state say what is not measured as their definitions want it."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time

from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.messages.vehicle import battery_message, fix_message, mount_transforms


def test_a_battery_states_what_it_measures_and_nothing_else() -> None:
    message = battery_message(0.5, 15.2, -9.0, Time(sec=3))
    assert (message.percentage, message.current, message.present) == (0.5, -9.0, True)
    for name in ("temperature", "charge", "capacity", "design_capacity"):
        assert math.isnan(getattr(message, name)), f"sensor_msgs/BatteryState: an unmeasured {name} is NaN"
    assert not message.cell_voltage and not message.cell_temperature


def test_a_fix_does_not_claim_a_covariance() -> None:
    message = fix_message("uav1", (47.0, 8.0, 412.0), 0.0, Time())
    assert message.position_covariance_type == message.COVARIANCE_TYPE_UNKNOWN and message.altitude == 412.0


def test_a_fix_is_above_the_ellipsoid() -> None:
    assert fix_message("uav1", (47.0, 8.0, 412.0), 48.5, Time()).altitude == 460.5, "sea 48.5 m above the ellipsoid"


def test_every_sensor_has_its_frame_below_the_vehicle() -> None:
    rig = load_vehicle()
    transforms = {one.child_frame_id: one for one in mount_transforms("uav2", rig, Time(sec=3))}
    assert set(transforms) == {"uav2/lidar"} | {f"uav2/camera_{camera}_optical" for camera in rig.cameras}
    assert {(one.header.frame_id, one.header.stamp.sec) for one in transforms.values()} == {("uav2/base_link", 3)}
    turn = transforms["uav2/lidar"].transform.rotation
    assert (turn.x, turn.y, turn.z, turn.w) == (0.0, 0.0, 0.0, 1.0)
