"""ArduPilot's messages as the rules read them: frames, resets, health, and what is not told."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copter_loop import CopterLoop
from fake_copter import FakeCopter, mavlink

from esar_ros.bridges.ardupilot.translation import JUMP, Translation, stranger
from esar_ros.bridges.px4.frames import LocalFrame
from esar_ros.geometry.geodesy import Origin


def standing(seconds: float = 2.0) -> CopterLoop:
    loop = CopterLoop()
    loop.run(seconds)
    return loop


def motion(loop: CopterLoop, frame: LocalFrame) -> Any:
    local, odometry = loop.state.newest("VehicleLocalPosition"), loop.state.newest("VehicleOdometry")
    frame.update(local)
    found = frame.motion(local, odometry)
    assert found is not None
    return found


def test_position_velocity_and_attitude_are_enu_and_flu(flying: CopterLoop) -> None:
    flying.fake.yaw = 0.3
    flying.velocity = np.array([2.0, 1.0, 0.0])
    flying.run(5.0)
    found = motion(flying, LocalFrame())
    north, east, down = flying.fake.place
    np.testing.assert_allclose(found.pose.position, [east, north, -down], atol=0.1)
    assert found.pose.yaw == pytest.approx(math.pi / 2.0 - flying.fake.yaw, abs=1e-3)
    np.testing.assert_allclose(found.pose.rotation @ found.velocity, [2.0, 1.0, 0.0], atol=0.05)


def test_the_deviation_is_the_receivers_own() -> None:
    found = motion(standing(), LocalFrame())
    assert found.pose_covariance[0, 0] == pytest.approx(0.4**2 + 0.15**2)
    assert found.pose_covariance[2, 2] == pytest.approx(0.6**2 + 0.15**2)


@pytest.mark.parametrize("change", [{"ratio": 1.2}, {"fix": 1}])
def test_it_is_not_known_where_the_estimator_refuses_or_satellites_are_lost(change: dict[str, Any]) -> None:
    loop = standing()
    for name, value in change.items():
        setattr(loop.fake, name, value)
    loop.run(1.0)
    assert motion(loop, LocalFrame()).pose_covariance[0, 0] == -1.0


def test_a_receiver_that_states_no_accuracy_leaves_it_unknown() -> None:
    translation = Translation(1)
    for kind, message in (
        ("EKF_STATUS_REPORT", mavlink.MAVLink_ekf_status_report_message(0x33F, 0.1, 0.1, 0.1, 0.1, 0.0)),
        ("GPS_RAW_INT", mavlink.MAVLink_gps_raw_int_message(0, 3, 0, 0, 0, 80, 90, 0, 0, 14)),
    ):
        translation.take(kind, message, 5.0)
    (heard,) = translation.take(
        "LOCAL_POSITION_NED", mavlink.MAVLink_local_position_ned_message(100, 0, 0, 0, 0, 0, 0), 5.0
    )
    assert math.isnan(heard.message.eph) and math.isnan(heard.message.evv)
    assert heard.message.xy_valid and not heard.message.dead_reckoning


def test_health_that_has_stopped_coming_counts_as_bad() -> None:
    translation = Translation(1)
    translation.take(
        "EKF_STATUS_REPORT", mavlink.MAVLink_ekf_status_report_message(0x33F, 0.1, 0.1, 0.1, 0.1, 0.0), 5.0
    )
    local = mavlink.MAVLink_local_position_ned_message(100, 0, 0, 0, 0, 0, 0)
    assert translation.take("LOCAL_POSITION_NED", local, 7.9)[0].message.xy_valid
    assert not translation.take("LOCAL_POSITION_NED", local, 8.1)[0].message.xy_valid


@pytest.mark.parametrize("jump", [[3.0, -1.0, 0.0], [0.0, 0.0, 4.0], [-2.0, 2.0, -1.0]])
def test_a_jump_of_the_estimate_does_not_move_odom(flying: CopterLoop, jump: list[float]) -> None:
    frame = LocalFrame()
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(4.0)
    motion(flying, frame)
    flying.fake.jump = np.array(jump)
    flying.run(0.02)
    before = flying.fake.place.copy()
    found = motion(flying, frame)
    north, east, down = before
    np.testing.assert_allclose(found.pose.position, [east, north, -down], atol=0.15)
    assert frame.resets == 1
    odom = frame.odom_in_map(flying.fake.origin)
    assert odom is not None
    np.testing.assert_allclose(odom.position, [jump[1], jump[0], -jump[2]], atol=0.15)


def test_hard_flying_and_lost_messages_are_no_jump() -> None:
    translation, place, velocity = Translation(1), np.zeros(3), np.zeros(3)
    rng, boot = np.random.default_rng(3), 0.0
    for _ in range(3000):
        gap = float(rng.choice([0.02, 0.02, 0.02, 0.1, 0.5, 1.0]))
        change = rng.uniform(-1.0, 1.0, size=3)
        push = 8.0 * change / max(float(np.linalg.norm(change)), 1.0) - 0.3 * velocity  # m/s^2
        place, velocity = place + velocity * gap + 0.5 * push * gap**2, velocity + push * gap
        boot += gap
        noise = rng.normal(scale=0.02, size=3)
        message = mavlink.MAVLink_local_position_ned_message(round(boot * 1e3), *(place + noise), *velocity)
        (heard,) = translation.take("LOCAL_POSITION_NED", message, boot)
    assert heard.message.xy_reset_counter == heard.message.z_reset_counter == 0
    assert JUMP == 0.5


def test_home_is_told_in_the_local_frame() -> None:
    translation = Translation(1)
    origin = Origin(34.0, 107.8, 3000.0)
    home = origin.to_geodetic([20.0, -30.0, 4.0])
    translation.take(
        "GPS_GLOBAL_ORIGIN", SimpleNamespace(latitude=340000000, longitude=1078000000, altitude=3000000), 1.0
    )
    at = SimpleNamespace(
        latitude=round(float(home[0]) * 1e7),
        longitude=round(float(home[1]) * 1e7),
        altitude=round(float(home[2]) * 1e3),
    )
    (heard,) = translation.take("HOME_POSITION", at, 1.0)
    np.testing.assert_allclose([heard.message.x, heard.message.y, heard.message.z], [-30.0, 20.0, -4.0], atol=0.02)


@pytest.mark.parametrize(("autopilot", "kind", "why"), [(12, 2, "autopilot 12, type 2"), (3, 1, "type 1"), (3, 2, "")])
def test_an_arducopter_is_told_from_others_by_its_heartbeat(autopilot: int, kind: int, why: str) -> None:
    told = stranger(mavlink.MAVLink_heartbeat_message(kind, autopilot, 1, 4, 4, 3), 7)
    assert told.endswith(why) and bool(told) == bool(why)
    assert not told or told.startswith("system 7 is no ArduCopter: ")


@pytest.mark.parametrize(("charge", "warning"), [(1, 0), (2, 1), (3, 2)])
def test_battery(charge: int, warning: int) -> None:
    fake = FakeCopter()
    fake.charge = charge
    loop = CopterLoop(fake)
    loop.run(3.0)
    battery = loop.state.newest("BatteryStatus")
    assert (battery.connected, battery.warning) == (True, warning)
    assert (battery.remaining, battery.voltage_v, battery.current_a) == (0.87, 15.8, 9.0)


def test_what_a_battery_monitor_does_not_measure_is_unknown() -> None:
    cells = [65535] * 10
    message = mavlink.MAVLink_battery_status_message(0, 0, 0, 2500, cells, -1, 0, 0, -1)
    (heard,) = Translation(1).take("BATTERY_STATUS", message, 1.0)
    assert not heard.message.connected and heard.message.current_a == -1.0 and heard.message.remaining < 0.0


def test_a_second_battery_is_not_mistaken_for_the_first() -> None:
    message = mavlink.MAVLink_battery_status_message(1, 0, 0, 2500, [12000] + [65535] * 9, 1, 0, 0, 3)
    assert Translation(1).take("BATTERY_STATUS", message, 1.0) == []


def test_a_message_that_waited_is_as_old_as_it_waited() -> None:
    loop = standing()
    local = mavlink.MAVLink_local_position_ned_message(round((loop.now + 0.7) * 1e3), 0, 0, 0, 0, 0, 0)
    (heard,) = loop.state.translation.take("LOCAL_POSITION_NED", local, loop.now)
    assert loop.now - heard.at == pytest.approx(0.3, abs=0.02)
    assert heard.message.timestamp - heard.message.timestamp_sample == pytest.approx(0.3e6, abs=2e4)
