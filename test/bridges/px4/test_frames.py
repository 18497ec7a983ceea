"""Frames of PX4 and of this project, against the definitions, by hand and as properties."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from loop import STEP, Loop
from transforms3d.euler import euler2quat

from esar_ros.bridges.px4.frames import (
    LocalFrame,
    pose_covariance,
    velocity_covariance,
    velocity_setpoint,
    yaw_ned_to_enu,
)
from esar_ros.geometry.frames import Pose, attitude_ned_frd_to_enu_flu, rotation_from_quaternion
from esar_ros.geometry.geodesy import Origin

ORIGIN = Origin(34.0, 107.8, 3400.0)
numbers = st.floats(-500.0, 500.0)
triples = st.tuples(numbers, numbers, numbers)
angles = st.floats(-math.pi, math.pi)
TURN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # NED to ENU, by definition
FLIP = np.diag([1.0, -1.0, -1.0])  # FRD to FLU, by definition


def local_position(**fields: Any) -> SimpleNamespace:
    values: dict[str, Any] = {
        "x": 0.0, "y": 0.0, "z": 0.0, "vx": 0.0, "vy": 0.0, "vz": 0.0, "xy_valid": True, "z_valid": True,
        "v_xy_valid": True, "v_z_valid": True, "delta_xy": [0.0, 0.0], "delta_z": 0.0, "xy_reset_counter": 0,
        "z_reset_counter": 0, "heading_reset_counter": 0, "xy_global": True, "z_global": True, "ref_lat": 34.0,
        "ref_lon": 107.8, "ref_alt": 3400.0, "eph": 0.5, "epv": 0.7, "evh": 0.1, "evv": 0.2, "dead_reckoning": False,
    }  # fmt: skip
    return SimpleNamespace(**{**values, **fields})


def odometry(**fields: Any) -> SimpleNamespace:
    values: dict[str, Any] = {
        "pose_frame": 1, "q": [1.0, 0.0, 0.0, 0.0], "angular_velocity": [0.0, 0.0, 0.0],
        "orientation_variance": [0.01, 0.02, 0.03],
    }  # fmt: skip
    return SimpleNamespace(**{**values, **fields})


# -- headings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("north_clockwise", "east_counter_clockwise"),
    [(0.0, 90.0), (90.0, 0.0), (180.0, -90.0), (-90.0, -180.0), (45.0, 45.0), (135.0, -45.0)],
)
def test_headings_by_hand(north_clockwise: float, east_counter_clockwise: float) -> None:
    got = math.degrees(yaw_ned_to_enu(math.radians(north_clockwise)))
    assert math.isclose(math.remainder(got - east_counter_clockwise, 360.0), 0.0, abs_tol=1e-9)


@given(angles)
def test_a_heading_converted_twice_is_itself(yaw: float) -> None:
    assert math.isclose(math.cos(yaw_ned_to_enu(yaw_ned_to_enu(yaw)) - yaw), 1.0, abs_tol=1e-12)
    assert -math.pi <= yaw_ned_to_enu(yaw) < math.pi


@given(angles)
def test_the_nose_points_the_same_way_on_both_sides(yaw: float) -> None:
    nose_ned = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    enu = yaw_ned_to_enu(yaw)
    np.testing.assert_allclose(TURN @ nose_ned, [math.cos(enu), math.sin(enu), 0.0], atol=1e-12)


# -- attitudes ----------------------------------------------------------------------------------


@given(angles, st.floats(-1.4, 1.4), angles)
def test_an_attitude_is_the_definition_s_product(roll: float, pitch: float, yaw: float) -> None:
    q = euler2quat(yaw, pitch, roll, "rzyx")  # FRD in NED
    wanted = TURN @ rotation_from_quaternion(q) @ FLIP
    np.testing.assert_allclose(rotation_from_quaternion(attitude_ned_frd_to_enu_flu(q)), wanted, atol=1e-9)


@given(angles, st.floats(-1.4, 1.4), angles)
def test_an_attitude_is_px4_s_formula(roll: float, pitch: float, yaw: float) -> None:
    w, x, y, z = euler2quat(yaw, pitch, roll, "rzyx")
    formula = np.array([w + z, x + y, x - y, w - z]) / math.sqrt(2.0)
    got = attitude_ned_frd_to_enu_flu([w, x, y, z])
    assert min(np.abs(got - formula).max(), np.abs(got + formula).max()) < 1e-12


def test_level_facing_north_is_level_facing_north() -> None:
    frame = LocalFrame()
    motion = frame.motion(local_position(), odometry(q=[1.0, 0.0, 0.0, 0.0]))
    assert motion is not None
    assert motion.pose.yaw == pytest.approx(math.pi / 2.0)
    np.testing.assert_allclose(motion.pose.rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-12)


def test_nose_down_in_px4_is_nose_down_here() -> None:
    q = euler2quat(0.0, -0.3, 0.0, "rzyx")  # aviation: positive pitch is nose up
    motion = LocalFrame().motion(local_position(), odometry(q=list(q)))
    assert motion is not None
    assert motion.pose.rotation[2, 0] < 0.0, "the x axis points below the horizon"


# -- set-points ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("enu", "ned"),
    [((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)), ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))],
)
def test_set_points_by_hand(enu: tuple[float, ...], ned: tuple[float, ...]) -> None:
    assert velocity_setpoint(enu, 0.5).velocity == ned
    assert velocity_setpoint(enu, 0.5).yawspeed == -0.5


@given(triples, st.floats(-3.0, 3.0))
def test_a_set_point_says_velocity_and_yaw_rate_and_nothing_else(velocity: Any, yaw_rate: float) -> None:
    point = velocity_setpoint(velocity, yaw_rate)
    np.testing.assert_allclose(TURN @ np.array(point.velocity), velocity)
    assert point.yawspeed == -yaw_rate
    assert all(map(math.isnan, (*point.position, *point.acceleration, *point.jerk, point.yaw)))


@given(triples)
def test_a_set_point_has_no_negative_zero(velocity: Any) -> None:
    numbers = (*velocity_setpoint(velocity, 0.0).velocity, velocity_setpoint((0.0, 0.0, 0.0), 0.0).yawspeed)
    assert not any(v == 0.0 and math.copysign(1.0, v) < 0.0 for v in numbers)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(4))
def test_what_is_not_finite_is_no_set_point(bad: float, place: int) -> None:
    values = [1.0, 2.0, 3.0, 0.1]
    values[place] = bad
    with pytest.raises(ValueError, match="not finite"):
        velocity_setpoint(values[:3], values[3])


# -- position and its origin --------------------------------------------------------------------


@given(triples)
def test_a_position_is_turned_and_a_velocity_is_in_the_body(ned: Any) -> None:
    local = local_position(x=ned[0], y=ned[1], z=ned[2], vx=ned[1], vy=ned[2], vz=ned[0])
    q = euler2quat(0.7, 0.2, -0.3, "rzyx")
    motion = LocalFrame().motion(local, odometry(q=list(q), angular_velocity=[0.1, 0.2, 0.3]))
    assert motion is not None
    np.testing.assert_allclose(motion.pose.position, TURN @ np.array(ned), atol=1e-9)
    world = motion.pose.rotation @ motion.velocity
    np.testing.assert_allclose(world, TURN @ np.array([ned[1], ned[2], ned[0]]), atol=1e-9)
    np.testing.assert_allclose(motion.angular_velocity, [0.1, -0.2, -0.3])


@given(st.floats(-900.0, 900.0), st.floats(-900.0, 900.0), st.floats(-50.0, 200.0))
def test_the_odometry_frame_lies_on_the_map_where_the_estimator_began(x: float, y: float, z: float) -> None:
    latitude, longitude, altitude = ORIGIN.to_geodetic([x, y, z])
    frame = LocalFrame()
    assert frame.odom_in_map(ORIGIN) is None
    frame.update(local_position(ref_lat=latitude, ref_lon=longitude, ref_alt=altitude))
    pose = frame.odom_in_map(ORIGIN)
    assert pose is not None
    np.testing.assert_allclose(pose.position, [x, y, z], atol=1e-6)
    assert pose == Pose(pose.position), "its axes are the map's"


def test_without_a_global_reference_there_is_no_place_on_the_map() -> None:
    frame = LocalFrame()
    frame.update(local_position(xy_global=False))
    assert frame.odom_in_map(ORIGIN) is None
    frame.update(local_position(z_global=False))
    assert frame.odom_in_map(ORIGIN) is None


# -- resets -------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["xy", "z", "both", "none"]), triples), max_size=8))
def test_odometry_is_continuous_over_resets_and_the_map_position_takes_them(resets: list[Any]) -> None:
    """A vehicle that stands still: what the estimator jumps by is seen in map -> odom alone."""
    frame = LocalFrame()
    estimate, counters, total = np.array([1.0, 2.0, -3.0]), [250, 250], np.zeros(3)
    frame.update(local_position(x=1.0, y=2.0, z=-3.0, xy_reset_counter=250, z_reset_counter=250))
    start = frame.position(local_position(x=1.0, y=2.0, z=-3.0))
    for kind, (dn, de, dd) in resets:
        delta = np.array([dn, de, 0.0]) * (kind in ("xy", "both")) + np.array([0.0, 0.0, dd]) * (kind in ("z", "both"))
        counters[0] = (counters[0] + (kind in ("xy", "both"))) % 256
        counters[1] = (counters[1] + (kind in ("z", "both"))) % 256
        estimate, total = estimate + delta, total + TURN @ delta
        local = local_position(
            x=estimate[0], y=estimate[1], z=estimate[2], delta_xy=[dn, de], delta_z=dd,
            xy_reset_counter=counters[0], z_reset_counter=counters[1],
        )  # fmt: skip
        changed = frame.update(local)
        assert changed or np.linalg.norm(delta) < 1e-3
        np.testing.assert_allclose(frame.position(local), start, atol=1e-6)
        pose = frame.odom_in_map(ORIGIN)
        assert pose is not None
        np.testing.assert_allclose(pose.apply(frame.position(local)), TURN @ estimate, atol=1e-6)
    np.testing.assert_allclose(frame.jump, total, atol=1e-6)


@given(st.floats(-50.0, 50.0), st.floats(-2.0, 2.0))
def test_an_origin_that_is_moved_in_height_moves_neither_odometry_nor_the_place_on_the_map(up: float, z: float) -> None:
    """PX4 1.17 then tells the step of z with the wrong sign."""
    frame = LocalFrame()
    frame.update(local_position(z=-10.0))
    frame.update(local_position(z=up - 10.0, ref_alt=3400.0 + up, delta_z=-up, z_reset_counter=1))
    after = local_position(z=z + up - 10.0, ref_alt=3400.0 + up, delta_z=-up, z_reset_counter=1)
    frame.update(after)
    np.testing.assert_allclose(frame.position(after), [0.0, 0.0, 10.0 - z], atol=1e-6)
    pose = frame.odom_in_map(ORIGIN)
    assert pose is not None
    np.testing.assert_allclose(pose.position, np.zeros(3), atol=1e-6)


def test_a_flight_over_a_moved_origin_is_continuous_and_true() -> None:
    """Against the fake autopilot, which climbs at 2 m/s meanwhile."""
    loop, frame = Loop().fly(), LocalFrame()
    loop.velocity = np.array([0.0, 0.0, 2.0])
    loop.run(2.0)
    heights, origin = [], loop.fake.reference
    for step in range(100):
        if step == 50:
            loop.fake.estimator.raise_origin(10.3)
        loop.run(STEP)
        local = loop.state.newest("VehicleLocalPosition")
        frame.update(local)
        heights.append(float(frame.position(local)[2]))
        pose = frame.odom_in_map(origin)
        assert pose is not None
        height = float(pose.apply(frame.position(local))[2])
        assert abs(height - float(loop.fake.body.position[2])) < 0.4, "no more than its estimator errs by"
    assert frame.resets == 1
    assert np.abs(np.diff(heights)).max() < 0.1, "m in 0.02 s"


def test_a_counter_that_stands_still_means_no_jump_whatever_delta_says() -> None:
    frame = LocalFrame()
    for _ in range(3):
        frame.update(local_position(delta_xy=[5.0, 5.0], delta_z=2.0, xy_reset_counter=3, z_reset_counter=1))
    np.testing.assert_array_equal(frame.jump, np.zeros(3))
    assert frame.resets == 0


def test_heading_resets_are_counted() -> None:
    frame = LocalFrame()
    for counter in (0, 0, 1, 2):
        frame.update(local_position(heading_reset_counter=counter))
    assert frame.heading_resets == 2


def test_a_reset_that_is_not_a_number_moves_nothing() -> None:
    frame = LocalFrame()
    frame.update(local_position())
    frame.update(local_position(xy_reset_counter=1, delta_xy=[math.nan, 1.0]))
    assert np.isfinite(frame.jump).all()


# -- what is not known --------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["x", "y", "z", "vx", "vy", "vz"])
def test_no_motion_from_what_is_not_known(field: str) -> None:
    assert LocalFrame().motion(local_position(**{field: math.nan}), odometry()) is None


@pytest.mark.parametrize(
    "fields",
    [{"pose_frame": 2}, {"pose_frame": 0}, {"q": [math.nan, 0.0, 0.0, 0.0]}, {"q": [0.0, 0.0, 0.0, 0.0]},
     {"angular_velocity": [math.nan, 0.0, 0.0]}],
)  # fmt: skip
def test_no_motion_from_another_frame_or_no_attitude(fields: dict[str, Any]) -> None:
    assert LocalFrame().motion(local_position(), odometry(**fields)) is None


# -- health -------------------------------------------------------------------------------------


@given(st.floats(0.0, 50.0), st.floats(0.0, 50.0), st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_the_estimator_s_deviations_are_the_covariance(eph: float, epv: float, evh: float, evv: float) -> None:
    covariance = pose_covariance(local_position(eph=eph, epv=epv, evh=evh, evv=evv), odometry())
    assert covariance[0, 0] == covariance[1, 1] >= eph**2
    assert covariance[0, 0] == pytest.approx(max(eph**2 + evh**2, 1e-6))
    assert covariance[2, 2] == pytest.approx(max(epv**2 + evv**2, 1e-6))
    assert np.array_equal(covariance, np.diag(np.diag(covariance)))
    assert covariance[0, 0] > 0.0, "zero would read as 'not stated'"


@given(st.floats(0.0, 20.0), st.floats(0.0, 20.0))
def test_a_worse_estimator_never_looks_better(eph: float, worse: float) -> None:
    assume(worse >= eph)
    better, poorer = (pose_covariance(local_position(eph=v), odometry())[0, 0] for v in (eph, worse))
    assert poorer >= better


@pytest.mark.parametrize(
    "fields",
    [
        {"dead_reckoning": True}, {"xy_valid": False}, {"z_valid": False}, {"v_xy_valid": False}, {"v_z_valid": False},
        {"eph": math.nan}, {"epv": math.inf}, {"evh": -1.0}, {"evv": math.nan},
    ],
)  # fmt: skip
def test_what_nobody_holds_is_not_known(fields: dict[str, Any]) -> None:
    """-1 in the whole position: the governor reads it as an infinite deviation and holds."""
    covariance = pose_covariance(local_position(**fields), odometry())
    assert covariance[0, 0] == covariance[1, 1] == covariance[2, 2] == -1.0


def test_attitude_variances_change_places_with_the_axes() -> None:
    covariance = pose_covariance(local_position(), odometry(orientation_variance=[0.1, 0.2, 0.3]))
    assert list(np.diag(covariance)[3:]) == [0.2, 0.1, 0.3]


def test_velocity_covariance_in_the_body_keeps_its_size() -> None:
    q = euler2quat(0.9, 0.3, 0.2, "rzyx")
    motion = LocalFrame().motion(local_position(evh=0.2, evv=0.4), odometry(q=list(q)))
    assert motion is not None
    wanted = motion.pose.rotation.T @ np.diag([0.04, 0.04, 0.16]) @ motion.pose.rotation
    np.testing.assert_allclose(motion.velocity_covariance, wanted)
    assert velocity_covariance(local_position(v_xy_valid=False))[0, 0] == -1.0
