"""ArduPilot's MAVLink messages as the rules of bridges/px4 read them.

Each becomes a message with PX4's name and fields, NED and FRD as both autopilots have them. What ArduPilot does not
tell is made of what it does, and said here:

- a failsafe is MAV_STATE_CRITICAL (ArduCopter/GCS_MAVLink_Copter.cpp, vehicle_system_status);
- jumps of the estimate are not announced: a position that its own velocity does not explain is one;
- the deviation of position and velocity is the satellite receiver's own (GPS_RAW_INT h_acc, v_acc, vel_acc), and not
  known where the estimator refuses what it is given (EKF_STATUS_REPORT's ratios, 1 at its gates).

Pure: takes messages and times (s, steady clock).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from esar_ros.bridges.ardupilot.boot_clock import BootClock
from esar_ros.bridges.ardupilot.modes import nav_state
from esar_ros.bridges.px4.state import ARMED
from esar_ros.geometry.frames import Vector, enu_to_ned
from esar_ros.geometry.geodesy import Origin

ARDUPILOT: Final = 3  # MAV_AUTOPILOT_ARDUPILOTMEGA
COPTERS: Final = (2, 3, 4, 13, 14, 15, 29, 35)  # MAV_TYPE: multirotors and the helicopter, which ArduCopter flies
_SAFETY_ARMED: Final = 128  # MAV_MODE_FLAG
_CALIBRATING, _CRITICAL = 2, 5  # MAV_STATE
# EKF_STATUS_FLAGS
_ATTITUDE, _VELOCITY_XY, _VELOCITY_Z, _POSITION_XY, _POSITION_Z, _CONSTANT = 1, 2, 4, 16, 32, 128
# MAV_SYS_STATUS_SENSOR
_GYRO, _RECEIVER, _AHRS, _BATTERY, _PREARM = 1, 0x10000, 0x200000, 0x2000000, 0x10000000
_ON_GROUND, _TAKING_OFF = 1, 3  # MAV_LANDED_STATE
_FIX_3D: Final = 3  # GPS_FIX_TYPE
_GATE: Final = 1.0  # of a test ratio, at which the estimator refuses a measurement
_UNKNOWN_VOLTAGE: Final = 65535
_WARNINGS: Final = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5}  # MAV_BATTERY_CHARGE_STATE as BatteryStatus.warning
SLOW_AGE: Final = 3.0  # s, after which what comes a few times a second no longer counts
JUMP: Final = 0.5  # m that a velocity does not explain
_STRAY: Final = 5.0  # m/s^2, twice the acceleration that it may have meanwhile
_LONGEST_GAP: Final = 2.0  # s, over which a velocity explains anything


def stranger(beat: Any, system_id: int) -> str:
    """Returns in words why a heartbeat is no ArduCopter's; empty where it is."""
    if int(beat.autopilot) == ARDUPILOT and int(beat.type) in COPTERS:
        return ""
    return f"system {system_id} is no ArduCopter: autopilot {int(beat.autopilot)}, type {int(beat.type)}"


@dataclass(frozen=True)
class Heard:
    """A message for the rules. at: s, when what it tells was so."""

    name: str
    message: SimpleNamespace
    at: float


class Translation:
    """Turns the messages of one vehicle; the newest of those that go into others are kept."""

    def __init__(self, system_id: int) -> None:
        self.system_id = system_id
        self.custom_mode = -1
        self.taking_off = False
        self.critical = False  # a failsafe has begun
        self.origin: Origin | None = None  # of the local frame
        self.home: Vector | None = None  # m, NED
        self.ratios: dict[str, float] = {}  # of the estimator's tests, by what is tested
        self._newest: dict[str, tuple[Any, float]] = {}
        self._clock = BootClock()
        self._heading = math.nan
        self._resets = [0, 0]  # horizontal, vertical
        self._jump = np.zeros(3)  # m, NED, the last
        self._last: tuple[float, Vector, Vector] | None = None  # s, m and m/s, NED

    def take(self, kind: str, message: Any, now: float) -> list[Heard]:
        """Returns what a message tells the rules; kind: its name in MAVLink."""
        self._newest[kind] = (message, now)
        match kind:
            case "HEARTBEAT":
                return self._status(message, now)
            case "LOCAL_POSITION_NED":
                return [self._position(message, now)]
            case "ATTITUDE_QUATERNION":
                return [self._attitude(message, now)]
            case "EXTENDED_SYS_STATE":
                self.taking_off = int(message.landed_state) == _TAKING_OFF
                landed = int(message.landed_state) == _ON_GROUND
                return [Heard("VehicleLandDetected", SimpleNamespace(landed=landed), now)]
            case "BATTERY_STATUS" if int(message.id) == 0:
                return [Heard("BatteryStatus", self._battery(message), now)]
            case "EKF_STATUS_REPORT":
                self.ratios = {
                    "velocity": float(message.velocity_variance), "position": float(message.pos_horiz_variance),
                    "height": float(message.pos_vert_variance), "compass": float(message.compass_variance),
                }  # fmt: skip
                return [Heard("FailsafeFlags", self._flags(now), now)]
            case "GPS_GLOBAL_ORIGIN":
                self.origin = _place(message)
            case "HOME_POSITION" if self.origin is not None:
                home = _place(message)
                self.home = enu_to_ned(self.origin.to_enu(home.latitude, home.longitude, home.altitude))
                north, east, down = (float(value) for value in self.home)
                return [Heard("HomePosition", SimpleNamespace(valid_lpos=True, x=north, y=east, z=down), now)]
            case "COMMAND_ACK":
                answer = SimpleNamespace(
                    command=int(message.command), result=int(message.result), target_system=0, target_component=0
                )  # it answers on the link on which it was asked
                return [Heard("VehicleCommandAck", answer, now)]
        return []

    def _get(self, kind: str, now: float) -> Any:
        """The newest of a kind; None where it is older than SLOW_AGE."""
        message, arrived = self._newest.get(kind, (None, -math.inf))
        return message if now - arrived <= SLOW_AGE else None

    def fails(self, now: float) -> bool:
        """Returns whether a failsafe has begun. That of the fence does not make ArduPilot's state critical."""
        return self.critical or self._is_outside(now)

    def _is_outside(self, now: float) -> bool:
        """Returns whether its own fence is left."""
        fence = self._get("FENCE_STATUS", now)
        return fence is not None and bool(fence.breach_status)

    def _sensor(self, bit: int, what: str, now: float) -> bool:
        """Returns a bit of SYS_STATUS; what: present, enabled or health."""
        status = self._get("SYS_STATUS", now)
        return status is not None and bool(int(getattr(status, f"onboard_control_sensors_{what}")) & bit)

    def _status(self, beat: Any, now: float) -> list[Heard]:
        self.custom_mode, state = int(beat.custom_mode), int(beat.system_status)
        self.critical = state >= _CRITICAL
        mode = nav_state(self.custom_mode)
        status = SimpleNamespace(
            arming_state=ARMED if int(beat.base_mode) & _SAFETY_ARMED else 1,
            nav_state=mode, nav_state_user_intention=mode, failsafe=self.fails(now), system_id=self.system_id,
            # Where all checks are turned off (ARMING_CHECK 0) the bit is not enabled and says nothing.
            pre_flight_checks_pass=self._sensor(_PREARM, "health", now),
            rc_calibration_in_progress=False, calibration_enabled=state == _CALIBRATING,
        )  # fmt: skip
        return [Heard("VehicleStatus", status, now)]

    def _position(self, local: Any, now: float) -> Heard:
        at = now - self._clock.age(int(local.time_boot_ms), now)
        place = np.array([local.x, local.y, local.z], dtype=np.float64)
        velocity = np.array([local.vx, local.vy, local.vz], dtype=np.float64)
        self._watch(int(local.time_boot_ms) * 1e-3, place, velocity)
        flags, gps = self._estimator(now), self._get("GPS_RAW_INT", now)
        fixed = gps is not None and int(gps.fix_type) >= _FIX_3D
        accepted = {what: self.ratios.get(what, math.inf) < _GATE for what in ("velocity", "position", "height")}
        speed = _deviation(gps, "vel_acc")
        origin = self.origin
        message = SimpleNamespace(
            timestamp=round(1e6 + (now - at) * 1e6), timestamp_sample=1_000_000,  # only their difference is read
            x=float(place[0]), y=float(place[1]), z=float(place[2]),
            vx=float(velocity[0]), vy=float(velocity[1]), vz=float(velocity[2]),
            xy_valid=bool(flags & _POSITION_XY) and accepted["position"],
            z_valid=bool(flags & _POSITION_Z) and accepted["height"],
            v_xy_valid=bool(flags & _VELOCITY_XY) and accepted["velocity"],
            v_z_valid=bool(flags & _VELOCITY_Z) and accepted["velocity"],
            dead_reckoning=bool(flags & _CONSTANT) or not fixed,
            heading=self._heading, heading_var=0.0,  # not told; the compass's ratio is judged in its place
            xy_global=origin is not None, z_global=origin is not None,
            ref_lat=math.nan if origin is None else origin.latitude,
            ref_lon=math.nan if origin is None else origin.longitude,
            ref_alt=math.nan if origin is None else origin.altitude,
            eph=_deviation(gps, "h_acc"), epv=_deviation(gps, "v_acc"), evh=speed, evv=speed,
            xy_reset_counter=self._resets[0], z_reset_counter=self._resets[1], heading_reset_counter=0,
            delta_xy=(float(self._jump[0]), float(self._jump[1])), delta_z=float(self._jump[2]),
        )  # fmt: skip
        return Heard("VehicleLocalPosition", message, at)

    def _watch(self, boot: float, place: Vector, velocity: Vector) -> None:
        """Counts a jump of the estimate: a step that the velocity before and after it does not explain."""
        if self._last is not None and 0.0 < boot - self._last[0] <= _LONGEST_GAP:
            then, before, speed = self._last
            passed = boot - then
            step = place - before - 0.5 * passed * (speed + velocity)
            may = JUMP + 0.5 * _STRAY * passed**2
            jumps = (bool(np.hypot(step[0], step[1]) > may), bool(abs(step[2]) > may))
            if any(jumps):
                self._jump = step * np.array([jumps[0], jumps[0], jumps[1]])
                self._resets = [count + jumped for count, jumped in zip(self._resets, jumps, strict=True)]
        self._last = (boot, place, velocity)

    def _attitude(self, attitude: Any, now: float) -> Heard:
        w, x, y, z = (float(getattr(attitude, name)) for name in ("q1", "q2", "q3", "q4"))
        self._heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        rates = (float(attitude.rollspeed), float(attitude.pitchspeed), float(attitude.yawspeed))
        message = SimpleNamespace(
            pose_frame=1, q=(w, x, y, z), angular_velocity=rates, orientation_variance=(math.nan,) * 3
        )
        return Heard("VehicleOdometry", message, now - self._clock.age(int(attitude.time_boot_ms), now))

    def _estimator(self, now: float) -> int:
        report = self._get("EKF_STATUS_REPORT", now)
        return 0 if report is None else int(report.flags)

    def _battery(self, battery: Any) -> SimpleNamespace:
        cells = [int(value) for value in battery.voltages if int(value) != _UNKNOWN_VOLTAGE]
        return SimpleNamespace(
            connected=bool(cells),
            warning=_WARNINGS.get(int(getattr(battery, "charge_state", 0)), 0),
            remaining=int(battery.battery_remaining) / 100.0,  # -1 % where it is not known
            voltage_v=sum(cells) * 1e-3,
            current_a=int(battery.current_battery) * 1e-2 if int(battery.current_battery) >= 0 else -1.0,
        )

    def _flags(self, now: float) -> SimpleNamespace:
        """Possible causes of a failsafe, and obstacles to arming, by the names of PX4's FailsafeFlags."""
        flags, battery, gps = self._estimator(now), self._get("BATTERY_STATUS", now), self._get("GPS_RAW_INT", now)
        warning = 0 if battery is None else _WARNINGS.get(int(getattr(battery, "charge_state", 0)), 0)
        return SimpleNamespace(
            battery_warning=warning,
            manual_control_signal_lost=self._sensor(_RECEIVER, "enabled", now)
            and not self._sensor(_RECEIVER, "health", now),
            geofence_breached=self._is_outside(now),
            gnss_lost=gps is None or int(gps.fix_type) < _FIX_3D,
            attitude_invalid=not flags & _ATTITUDE or not self._sensor(_AHRS, "health", now),
            angular_velocity_invalid=not self._sensor(_GYRO, "health", now),
            local_position_invalid=not flags & _POSITION_XY,
            local_altitude_invalid=not flags & _POSITION_Z,
            local_velocity_invalid=not flags & _VELOCITY_XY,
            battery_unhealthy=not self._sensor(_BATTERY, "present", now),
        )


def _place(message: Any) -> Origin:
    return Origin(int(message.latitude) * 1e-7, int(message.longitude) * 1e-7, int(message.altitude) * 1e-3)


def _deviation(gps: Any, field: str) -> float:
    """A standard deviation (m, m/s) of GPS_RAW_INT, which has mm; NaN where the receiver does not tell it."""
    value = 0 if gps is None else int(getattr(gps, field, 0))
    return value * 1e-3 if value > 0 else math.nan
