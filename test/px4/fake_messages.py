"""Messages of the fake autopilot: a namespace with the fields of PX4's message of that name, for each."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fake_facts import CHECK_ID, EXTERNAL, HEADING_VARIANCE, HOME_TIME, HOME_WANDERS

from esar_ros.geometry.frames import attitude_enu_flu_to_ned_frd, enu_to_ned, flu_to_frd

if TYPE_CHECKING:
    from fake_autopilot import FakeAutopilot


def _timesync_status(fake: FakeAutopilot) -> SimpleNamespace:
    offset = round((fake.clock_offset or 0.0) * 1e6)
    return SimpleNamespace(
        timestamp=fake.microseconds(), source_protocol=2, remote_timestamp=fake.microseconds(), observed_offset=offset,
        estimated_offset=offset, round_trip_time=1500,
    )  # fmt: skip


def _vehicle_status(fake: FakeAutopilot) -> SimpleNamespace:
    return SimpleNamespace(
        timestamp=fake.microseconds(), arming_state=2 if fake.armed else 1, latest_disarming_reason=8,
        nav_state_user_intention=fake.intention, nav_state=fake.nav_state, failsafe=fake.failsafe,
        system_id=fake.system_id, component_id=1, vehicle_type=1, rc_calibration_in_progress=False,
        calibration_enabled=False, pre_flight_checks_pass=fake.preflight_ok,
    )  # fmt: skip


def _vehicle_local_position(fake: FakeAutopilot) -> SimpleNamespace:
    estimator, valid = fake.estimator, fake.valid
    x, y, z = map(float, estimator.position(fake.body))
    vx, vy, vz = map(float, estimator.velocity(fake.body))
    heading = math.pi / 2.0 - fake.body.yaw - estimator.yaw_error
    return SimpleNamespace(
        timestamp=fake.microseconds(), timestamp_sample=fake.microseconds(), xy_valid=valid, z_valid=valid,
        v_xy_valid=valid, v_z_valid=valid, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz,
        delta_xy=[float(estimator.delta[0]), float(estimator.delta[1])], xy_reset_counter=estimator.xy_resets % 256,
        delta_z=float(estimator.delta[2]), z_reset_counter=estimator.z_resets % 256,
        heading=math.remainder(heading, 2.0 * math.pi), heading_reset_counter=estimator.heading_resets,
        delta_heading=estimator.delta_heading, heading_good_for_control=estimator.heading_good,
        heading_var=HEADING_VARIANCE, xy_global=True, z_global=True,
        ref_lat=fake.reference.latitude, ref_lon=fake.reference.longitude,
        ref_alt=fake.reference.altitude + estimator.origin_raised,
        eph=estimator.eph, epv=estimator.epv, evh=estimator.evh, evv=estimator.evv,
        dead_reckoning=fake.dead_reckoning,
    )  # fmt: skip


def _vehicle_odometry(fake: FakeAutopilot) -> SimpleNamespace:
    return SimpleNamespace(
        timestamp=fake.microseconds(), timestamp_sample=fake.microseconds(), pose_frame=1, velocity_frame=1,
        position=[float(v) for v in fake.estimator.position(fake.body)],
        q=[float(v) for v in attitude_enu_flu_to_ned_frd(fake.estimator.attitude(fake.body))],
        velocity=[float(v) for v in fake.estimator.velocity(fake.body)],
        angular_velocity=[float(v) for v in flu_to_frd(fake.body.rates)],
        position_variance=[0.1] * 3, orientation_variance=[1e-4] * 3, velocity_variance=[0.01] * 3,
        reset_counter=(fake.estimator.xy_resets + fake.estimator.z_resets) % 256, quality=0,
    )  # fmt: skip


def _vehicle_land_detected(fake: FakeAutopilot) -> SimpleNamespace:
    return SimpleNamespace(
        timestamp=fake.microseconds(), landed=fake.landed, maybe_landed=fake.landed, at_rest=fake.landed
    )


def _battery_status(fake: FakeAutopilot) -> SimpleNamespace:
    return SimpleNamespace(
        timestamp=fake.microseconds(), connected=True, voltage_v=15.2, current_a=17.0 if fake.armed else 0.5,
        remaining=fake.charge, warning=fake.battery_warning, id=1,
    )  # fmt: skip


def _failsafe_flags(fake: FakeAutopilot) -> SimpleNamespace:
    return SimpleNamespace(
        timestamp=fake.microseconds(), offboard_control_signal_lost=not fake.signal,
        manual_control_signal_lost=not fake.has_remote or fake.has_noticed("remote control"),
        geofence_breached=fake.has_noticed("fence"), auto_mission_missing=True,
        gcs_connection_lost=not fake.has_station or fake.has_noticed("ground station"),
        home_position_invalid=fake.home is None,
        battery_warning=fake.battery_warning, local_position_invalid=not fake.valid,
        global_position_invalid=not fake.valid, local_velocity_invalid=not fake.valid,
    )  # fmt: skip


def _home_position(fake: FakeAutopilot) -> SimpleNamespace:
    assert fake.home is not None
    wanders = HOME_WANDERS * math.sin(2.0 * math.pi * fake.now / HOME_TIME)
    x, y, z = enu_to_ned(fake.home + [0.0, 0.0, wanders])
    latitude, longitude, altitude = map(float, fake.reference.to_geodetic(fake.home))
    return SimpleNamespace(
        timestamp=fake.microseconds(), lat=latitude, lon=longitude, alt=altitude + wanders, x=float(x), y=float(y),
        z=float(z), yaw=0.0, valid_alt=True, valid_hpos=True, valid_lpos=True,
    )  # fmt: skip


def acknowledgement(fake: FakeAutopilot, command: Any, result: int) -> SimpleNamespace:
    """Returns the answer to a command."""
    return SimpleNamespace(
        timestamp=fake.microseconds(), command=int(command.command), result=result, result_param1=0, result_param2=0,
        target_system=int(command.source_system), target_component=int(command.source_component), from_external=False,
    )  # fmt: skip


def registration_reply(fake: FakeAutopilot, request: Any, taken: bool) -> SimpleNamespace:
    """Returns the answer to the registration of a mode."""
    return SimpleNamespace(
        timestamp=fake.microseconds(), request_id=int(request.request_id), name=request.name, px4_ros2_api_version=1,
        success=taken, arming_check_id=CHECK_ID if taken else -1, mode_id=EXTERNAL if taken else -1,
        mode_executor_id=-1,
    )  # fmt: skip


def arming_check(fake: FakeAutopilot, number: int, registered: bool) -> SimpleNamespace:
    """Returns the question whether a registered mode can run."""
    mask = 1 << CHECK_ID if registered else 0
    return SimpleNamespace(timestamp=fake.microseconds(), request_id=number % 256, valid_registrations_mask=mask)


MESSAGES: dict[str, Callable[[FakeAutopilot], SimpleNamespace]] = {
    "TimesyncStatus": _timesync_status,
    "VehicleStatus": _vehicle_status,
    "VehicleLocalPosition": _vehicle_local_position,
    "VehicleOdometry": _vehicle_odometry,
    "VehicleLandDetected": _vehicle_land_detected,
    "BatteryStatus": _battery_status,
    "FailsafeFlags": _failsafe_flags,
    "HomePosition": _home_position,
}
