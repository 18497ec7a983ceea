"""Outputs of the rules as MAVLink messages' fields; and the messages that are asked for, how often.

Pure: bridges/ardupilot/link.py puts them on a link.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from esar_ros.bridges.ardupilot.modes import TO_COPTER
from esar_ros.bridges.px4.commands import LEADS_TO, Command
from esar_ros.bridges.px4.frames import VelocitySetpoint

SET_MODE, SET_MESSAGE_INTERVAL = 176, 511  # MAV_CMD
_CUSTOM: Final = 1.0  # MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
LOCAL_NED: Final = 1  # MAV_FRAME
# POSITION_TARGET_TYPEMASK: all is ignored but velocity and yaw rate. ArduPilot reads a number that is not masked.
VELOCITY_AND_YAW_RATE: Final = 0b0000_0101_1100_0111
_SILENT: Final = 1.0  # s beyond three of its periods, after which a message is asked for again
_AGAIN: Final = 2.0  # s between two such rounds


@dataclass(frozen=True)
class Wanted:
    """A message that the vehicle must send. number: its id; rate: Hz; needed: nothing flies without it."""

    number: int
    rate: float
    needed: bool = True


# HEARTBEAT tells the mode, which a person may change at any time; others as often as the rules' ages want them.
WANTED: Final[dict[str, Wanted]] = {
    "HEARTBEAT": Wanted(0, 5.0),
    "LOCAL_POSITION_NED": Wanted(32, 50.0),
    "ATTITUDE_QUATERNION": Wanted(31, 50.0),
    "EXTENDED_SYS_STATE": Wanted(245, 5.0),
    "EKF_STATUS_REPORT": Wanted(193, 5.0),
    "GPS_RAW_INT": Wanted(24, 2.0),
    "SYS_STATUS": Wanted(1, 2.0),
    "BATTERY_STATUS": Wanted(147, 1.0),
    "GPS_GLOBAL_ORIGIN": Wanted(49, 1.0),
    "HOME_POSITION": Wanted(242, 1.0),
    "FENCE_STATUS": Wanted(162, 1.0, needed=False),
}
ANSWERS: Final = ("COMMAND_ACK", "STATUSTEXT")  # come by themselves


def to_ardupilot(command: Command) -> Command:
    """A command of the rules with ArduPilot's numbers: only the modes' differ."""
    rules = LEADS_TO.get(command)
    return command if rules is None else Command(SET_MODE, _CUSTOM, float(TO_COPTER[rules]))


def setpoint_fields(point: VelocitySetpoint) -> tuple[float, ...]:
    """Returns SET_POSITION_TARGET_LOCAL_NED's fields after the addresses: frame, mask, and eleven numbers.

    Position (m), velocity (m/s), acceleration (m/s^2), yaw (rad), yaw rate (rad/s), NED.
    """
    ignored = (0.0, 0.0, 0.0)
    return (LOCAL_NED, VELOCITY_AND_YAW_RATE, *ignored, *point.velocity, *ignored, 0.0, point.yawspeed)


@dataclass
class Streams:
    """Asks for the messages that do not come; a vehicle that was started again forgets what it was asked for."""

    _heard: dict[str, float] = field(default_factory=dict)  # s, by name
    _asked: float = -math.inf

    def hear(self, kind: str, now: float) -> None:
        """A message came."""
        self._heard[kind] = now

    def lacking(self, now: float) -> list[str]:
        """Returns the messages that do not come as often as wanted."""
        return [
            kind for kind, wanted in WANTED.items()
            if now - self._heard.get(kind, -math.inf) > 3.0 / wanted.rate + _SILENT
        ]  # fmt: skip

    def requests(self, now: float) -> tuple[Command, ...]:
        """Returns the commands that ask for what lacks and is needed; all at first, none too often."""
        if now - self._asked < _AGAIN:
            return ()
        lacking = [kind for kind in self.lacking(now) if WANTED[kind].needed]
        # What lacks more than one was started again, or never heard it: it has no fence's status then, either.
        kinds = list(WANTED) if math.isinf(self._asked) or len(lacking) > 1 else lacking
        self._asked = now
        return tuple(interval(kind) for kind in kinds)


def interval(kind: str) -> Command:
    """SET_MESSAGE_INTERVAL for one of WANTED."""
    wanted = WANTED[kind]
    return Command(SET_MESSAGE_INTERVAL, float(wanted.number), 1e6 / wanted.rate)
