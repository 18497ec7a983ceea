"""Numbers of commands and set-points, and which messages are asked for."""

from __future__ import annotations

import pytest
from fake_copter import mavlink

from esar_ros.bridges.ardupilot.wire import WANTED, Streams, interval, setpoint_fields, to_ardupilot
from esar_ros.bridges.px4 import commands
from esar_ros.bridges.px4.commands import Command
from esar_ros.bridges.px4.frames import velocity_setpoint


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        (commands.MODE_OFFBOARD, mavlink.COPTER_MODE_GUIDED),
        (commands.MODE_HOLD, mavlink.COPTER_MODE_BRAKE),
        (commands.MODE_RETURN, mavlink.COPTER_MODE_RTL),
        (commands.MODE_LAND, mavlink.COPTER_MODE_LAND),
    ],
)
def test_modes_are_ardupilots_numbers(command: Command, mode: int) -> None:
    custom = float(mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED)
    assert to_ardupilot(command) == Command(mavlink.MAV_CMD_DO_SET_MODE, custom, float(mode))


@pytest.mark.parametrize("command", [commands.ARM, commands.DISARM, commands.TERMINATE, Command(22, param7=5.0)])
def test_all_else_is_mavlinks_for_both(command: Command) -> None:
    assert to_ardupilot(command) == command


def test_a_set_point_is_a_velocity_and_a_yaw_rate_and_all_else_is_masked() -> None:
    frame, mask, *numbers = setpoint_fields(velocity_setpoint([3.0, 1.0, -0.5], 0.2))
    message = mavlink.MAVLink_set_position_target_local_ned_message(0, 1, 1, int(frame), int(mask), *numbers)
    assert (message.vx, message.vy, message.vz, message.yaw_rate) == (1.0, 3.0, 0.5, -0.2)
    assert message.coordinate_frame == mavlink.MAV_FRAME_LOCAL_NED
    flown = mavlink.POSITION_TARGET_TYPEMASK_VX_IGNORE | mavlink.POSITION_TARGET_TYPEMASK_VY_IGNORE
    flown |= mavlink.POSITION_TARGET_TYPEMASK_VZ_IGNORE | mavlink.POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE
    assert message.type_mask == 0xFFF & ~flown & ~mavlink.POSITION_TARGET_TYPEMASK_FORCE_SET


@pytest.mark.parametrize("kind", WANTED)
def test_the_numbers_of_messages_are_mavlinks(kind: str) -> None:
    assert WANTED[kind].number == getattr(mavlink, f"MAVLINK_MSG_ID_{kind}")
    asked = interval(kind)
    assert asked.command == mavlink.MAV_CMD_SET_MESSAGE_INTERVAL
    assert asked.param2 == pytest.approx(1e6 / WANTED[kind].rate)


def test_all_is_asked_for_at_first_and_then_what_lacks() -> None:
    streams = Streams()
    assert len(streams.requests(0.0)) == len(WANTED) and streams.requests(1.0) == ()
    for step in range(100):
        for kind in WANTED:
            if kind != "SYS_STATUS":
                streams.hear(kind, 0.05 * step)
    assert [int(command.param1) for command in streams.requests(5.0)] == [1]
    assert streams.lacking(5.0) == ["SYS_STATUS"]


def test_a_vehicle_that_was_started_again_is_asked_again() -> None:
    streams = Streams()
    streams.requests(0.0)
    for kind in WANTED:
        streams.hear(kind, 1.0)
    streams.hear("HEARTBEAT", 9.0)
    assert "HEARTBEAT" not in streams.lacking(9.0)
    assert len(streams.requests(9.0)) == len(WANTED)


def test_a_fence_that_is_off_has_no_status_and_is_asked_for_once() -> None:
    streams = Streams()
    assert len(streams.requests(0.0)) == len(WANTED)
    for kind in WANTED:
        if kind != "FENCE_STATUS":
            streams.hear(kind, 9.0)
    assert streams.requests(9.0) == ()
