"""The last messages of an autopilot, and the reasons against arming it: every reason has a name.

Ages are judged by arrival on a steady clock that the caller reads: the autopilot's stamps count from its own
start. Messages are PX4's, or anything with the same fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

ARMED: Final = 2  # VehicleStatus.ARMING_STATE_ARMED

# VehicleStatus.NAVIGATION_STATE_*
POSITION, HOLD, RETURN, DESCEND, TERMINATION, OFFBOARD, TAKE_OFF, LAND, PRECISION_LAND = 2, 4, 5, 12, 13, 14, 17, 18, 20
TERMINATED: Final = "it has terminated the flight and obeys nothing until it is started again"
MODE_NAMES: Final[dict[int, str]] = {
    0: "manual", 1: "altitude", 2: "position", 3: "auto mission", 4: "hold", 5: "return", 6: "position slow",
    8: "altitude cruise", 10: "acro", 12: "descend", 13: "termination", 14: "offboard", 15: "stabilized",
    17: "take-off", 18: "land", 19: "follow target", 20: "precision land", 21: "orbit", 22: "VTOL take-off",
}  # fmt: skip

# s after which a message no longer counts: three of the slow ones' periods, as PX4 1.17 sends them over DDS. Of the
# quick ones half a second: the governor holds on its own when odometry is older than 0.2 s, and to leave offboard
# for a hiccup would end a flight for nothing.
AGES: Final[dict[str, float]] = {
    "VehicleStatus": 1.5,
    "VehicleLocalPosition": 0.5,
    "VehicleOdometry": 0.5,
    "VehicleLandDetected": 3.0,
    "BatteryStatus": 3.0,
    "FailsafeFlags": 1.5,
}
# Standard deviation (rad) of the heading above which it may not fly. PX4's heading_good_for_control is no condition: it
# is set only in flight, once the magnetometer is aligned there.
HEADING_DEVIATION: Final = 0.25
# Flags that forbid arming. The others are true of a sound vehicle on the ground without remote control, ground
# station, mission or offboard signal; the home position comes only with arming. Names of 1.16 to 1.18: a release
# has those that it has.
FORBIDDING: Final = (
    "angular_velocity_invalid", "attitude_invalid", "local_altitude_invalid", "local_position_invalid",
    "local_velocity_invalid", "battery_low_remaining_time", "battery_unhealthy", "geofence_breached",
    "wind_limit_exceeded", "flight_time_limit_exceeded", "position_accuracy_low", "local_position_accuracy_low",
    "navigator_failure", "fd_critical_failure", "fd_esc_arming_failure", "fd_imbalanced_prop", "fd_motor_failure",
    "fd_alt_loss", "parachute_unhealthy", "remote_id_unhealthy", "gnss_lost",
)  # fmt: skip

# What a failsafe may have come from, by its flag, for people.
CAUSES: Final[dict[str, str]] = {
    "manual_control_signal_lost": "the remote control is lost",
    "gcs_connection_lost": "the ground station is lost",
    "battery_warning": "the battery is low",
    "battery_low_remaining_time": "the battery is low for the way home",
    "geofence_breached": "its own fence is left",
    "local_position_invalid": "its position is not known",
    "gnss_lost": "satellites are lost",
    "wind_limit_exceeded": "the wind is too strong",
    "flight_time_limit_exceeded": "the flight is too long",
    "fd_motor_failure": "a motor has failed",
    "fd_critical_failure": "a failure was detected",
}
_LINKS = ("manual_control_signal_lost", "gcs_connection_lost")  # no failsafe where they lacked at arming


def mode_name(nav_state: int) -> str:
    """A mode for people."""
    return MODE_NAMES.get(nav_state, f"external mode {nav_state - 22}" if 23 <= nav_state <= 30 else f"{nav_state}")


@dataclass(frozen=True)
class Received:
    """A message and when it came (s, steady clock)."""

    message: Any
    arrived: float


class Px4State:
    """The newest message of each kind."""

    def __init__(self, target_system: int) -> None:
        self.target_system = target_system
        self._received: dict[str, Received] = {}
        # Links that were not there while it was disarmed. Who first hears it in the air cannot tell what was lost.
        self._lacked: set[str] = set(_LINKS)

    def receive(self, name: str, message: Any, now: float) -> None:
        """Keep a message."""
        self._received[name] = Received(message, now)
        if name == "FailsafeFlags" and not self.armed:
            self._lacked = {link for link in _LINKS if getattr(message, link, False)}

    def newest(self, name: str) -> Any:
        """The newest message of a kind, however old; None before the first."""
        last = self._received.get(name)
        return None if last is None else last.message

    def known(self, name: str, now: float) -> Any:
        """The newest message of a kind; None where it is older than its limit (AGES; the others are sent on change)."""
        return self.newest(name) if self.age(name, now) <= AGES.get(name, math.inf) else None

    def forget(self, name: str) -> None:
        """Drop the newest message of a kind."""
        self._received.pop(name, None)

    def age(self, name: str, now: float) -> float:
        """s since the newest came; inf before the first."""
        last = self._received.get(name)
        return math.inf if last is None else now - last.arrived

    def is_fresh(self, name: str, now: float) -> bool:
        """Returns whether a message's age is within its limit (AGES, s)."""
        return self.age(name, now) <= AGES[name]

    def is_linked(self, now: float) -> bool:
        """Returns whether the autopilot is connected: its status and its position are fresh."""
        return self.is_fresh("VehicleStatus", now) and self.is_fresh("VehicleLocalPosition", now)

    @property
    def armed(self) -> bool:
        """As the autopilot says."""
        status = self.newest("VehicleStatus")
        return status is not None and int(status.arming_state) == ARMED

    @property
    def landed(self) -> bool:
        """As the land detector says; False while it is not known."""
        land = self.newest("VehicleLandDetected")
        return land is not None and bool(land.landed)

    @property
    def nav_state(self) -> int:
        """The active mode, -1 before the first status."""
        status = self.newest("VehicleStatus")
        return -1 if status is None else int(status.nav_state)

    @property
    def intention(self) -> int:
        """The requested mode, -1 before the first status."""
        status = self.newest("VehicleStatus")
        return -1 if status is None else int(status.nav_state_user_intention)

    @property
    def failsafe(self) -> bool:
        """True when a failsafe has chosen the mode."""
        status = self.newest("VehicleStatus")
        return status is not None and bool(status.failsafe)

    @property
    def terminated(self) -> bool:
        """True when it has terminated the flight: it stays armed and obeys nothing until it is started again."""
        return self.nav_state == TERMINATION

    def causes(self) -> list[str]:
        """Returns in words what a failsafe may have come from; empty where its flags do not tell."""
        flags = self.newest("FailsafeFlags")
        raised = [flag for flag in CAUSES if getattr(flags, flag, False) and flag not in self._lacked]
        return [CAUSES[flag] for flag in raised]

    @property
    def failsafe_words(self) -> str:
        """The failsafe's mode, and what it may have come from, for people."""
        causes = " and ".join(self.causes())
        return f"in failsafe ({mode_name(self.nav_state)}){f', {causes}' if causes else ''}"

    def reasons_against_arming(self, now: float) -> list[str]:
        """Returns the reasons in words for which it may not be armed, the most severe first; empty when it may."""
        silent = [name for name in AGES if not self.is_fresh(name, now)]
        reasons = [f"{name} is {_age(self.age(name, now))}" for name in silent]
        return reasons + [reason for name in AGES if name not in silent for reason in self._against(name)]

    def _against(self, name: str) -> Iterator[str]:
        message = self.newest(name)
        match name:
            case "VehicleStatus":
                yield from self._against_status(message)
            case "VehicleLocalPosition":
                yield from _against_position(message)
            case "VehicleOdometry":
                if int(message.pose_frame) != 1:
                    yield f"odometry is in frame {int(message.pose_frame)}, not NED"
            case "VehicleLandDetected":
                if not message.landed:
                    yield "it is not on the ground"
            case "BatteryStatus":
                if not message.connected:
                    yield "no battery is connected"
                if int(message.warning) != 0:
                    yield f"battery warning {int(message.warning)}"
            case "FailsafeFlags":
                if int(message.battery_warning) != 0:
                    yield f"failsafe flag battery_warning {int(message.battery_warning)}"
                yield from (f"failsafe flag {flag}" for flag in FORBIDDING if getattr(message, flag, False))

    def _against_status(self, status: Any) -> Iterator[str]:
        if self.terminated:
            yield TERMINATED
        if int(status.system_id) != self.target_system:
            yield f"it is system {int(status.system_id)}, commands go to {self.target_system}: set target_system"
        if not status.pre_flight_checks_pass:
            yield "its pre-flight checks fail"
        if status.failsafe:
            yield f"it is in failsafe ({mode_name(int(status.nav_state))})"
        if status.rc_calibration_in_progress or status.calibration_enabled:
            yield "it is being calibrated"


def _against_position(local: Any) -> Iterator[str]:
    for flag, text in (
        ("xy_valid", "horizontal position"),
        ("z_valid", "height"),
        ("v_xy_valid", "horizontal velocity"),
        ("v_z_valid", "vertical velocity"),
    ):
        if not getattr(local, flag):
            yield f"{text} is not valid"
    if not math.isfinite(local.heading):
        yield "heading is not known"
    if not 0.0 <= local.heading_var <= HEADING_DEVIATION**2:
        deviation = math.sqrt(local.heading_var) if local.heading_var >= 0.0 else math.nan
        yield f"heading is uncertain: its deviation is {math.degrees(deviation):.0f} degrees"
    if not (local.xy_global and local.z_global):
        yield "no global reference: its place on the map is not known"
    if local.dead_reckoning:
        yield "position is dead reckoning"


def _age(seconds: float) -> str:
    return "silent" if math.isinf(seconds) else f"{seconds:.1f} s old"
