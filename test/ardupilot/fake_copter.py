"""A small ArduCopter: its modes, arming, take-off, GUIDED and failsafes by ArduPilot's source, each named where it is.

Messages come and go as pymavlink's own. Only what the bridge relies on is here; how it flies is a first-order lag.
Sources are of ArduPilot 4.7 (development, July 2025), folder ArduCopter/ where no other is named. Time is told, in s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from esar_ros.geometry.geodesy import Origin

STABILIZE, ALT_HOLD, AUTO, GUIDED, LOITER, RTL, LAND, BRAKE = 0, 2, 3, 4, 5, 6, 9, 17
TICK = 0.01  # s
GUID_TIMEOUT = 3.0  # s; Parameters.cpp
ARMING_DELAY = 2.0  # s until the motors turn; config.h
SPOOL = 0.5  # s from there until it lifts; AP_MotorsMulticopter's MOT_SPOOL_TIME
DISARM_DELAY = 10.0  # s on the ground until it disarms by itself; config.h, motors.cpp
LAG = 0.8  # s, of the velocity
CLIMB, SINK = 2.5, 1.5  # m/s, WPNAV_SPEED_UP and _DN
RETURN_HEIGHT = 15.0  # m, RTL_ALT
OK, DENIED, UNSUPPORTED, FAILED = 0, 2, 3, 4
DEFAULT_RATES = {0: 1.0}  # Hz, by a message's id: HEARTBEAT alone, as SRn_ parameters of 0 leave it
ANSWER = 0.02  # s
SENSORS = 1 | 0x200000 | 0x2000000 | 0x10000000  # gyro, AHRS, battery, pre-arm checks
RECEIVER, PREARM = 0x10000, 0x10000000


class FakeCopter:
    """One vehicle. Truth is NED of its local frame, whose origin is `origin`."""

    def __init__(self, system_id: int = 1, origin: Origin | None = None, mode: int = STABILIZE) -> None:
        self.system_id, self.origin = system_id, origin or Origin(34.0, 107.8, 3000.0)
        self.now = 0.0
        self.mode, self.armed, self.landed = mode, False, True
        self.place, self.velocity, self.yaw = np.zeros(3), np.zeros(3), 0.3
        self.home = np.zeros(3)
        self.failsafes: set[str] = set()
        self.checks: list[str] = []  # pre-arm checks that fail
        self.has_receiver = False
        self.ratio, self.fix, self.charge = 0.1, 3, 1
        self.jump = np.zeros(3)  # m, by which the estimate is off
        self.obeys = self.speaks = True
        self.modes: list[tuple[float, int]] = []
        self.commands: list[tuple[float, Any]] = []
        self.setpoints: list[tuple[float, int]] = []  # when, and in which mode
        self._target, self._turn, self._told = np.zeros(3), 0.0, -math.inf
        self._take_off_to: float | None = None  # m above home
        self._armed_at = self._landed_at = 0.0
        self._rates = dict(DEFAULT_RATES)
        self._sent: dict[int, float] = {}
        self._out: list[tuple[float, Any]] = []
        self._boot = 1.0

    # -- what is done to it -----------------------------------------------------------------------

    def set_mode(self, mode: int) -> int:
        """A person, a ground station or a command changes the mode."""
        if not self.obeys:
            return FAILED
        if mode == self.mode:  # mode.cpp, Copter::set_mode: nothing begins anew
            return OK
        self.modes.append((self.now, mode))
        self.mode = mode
        # mode_guided.cpp, ModeGuided::init: it begins with a velocity of zero, whatever came before
        self._target, self._turn, self._take_off_to = np.zeros(3), 0.0, None
        return OK

    def fail(self, what: str, mode: int) -> None:
        """A failsafe begins and takes its mode (events.cpp); the state is critical for as long as its cause lasts."""
        self.failsafes.add(what)
        self._say(4, f"{what} Failsafe")
        self.set_mode(mode)

    def restart_messages(self) -> None:
        """It forgets the rates that it was asked for, as one that was started again."""
        self._rates, self._boot = dict(DEFAULT_RATES), 1.0 - self.now

    def hear(self, message: Any) -> None:
        """COMMAND_LONG or SET_POSITION_TARGET_LOCAL_NED, for this system."""
        if getattr(message, "target_system", 0) not in (0, self.system_id):
            return
        if message.get_type() == "SET_POSITION_TARGET_LOCAL_NED":
            self._velocity(message)
        elif message.get_type() == "COMMAND_LONG":
            self.commands.append((self.now, message))
            result = self._obey(message)
            self._out.append((self.now + ANSWER, mavlink.MAVLink_command_ack_message(int(message.command), result)))

    def _velocity(self, message: Any) -> None:
        self.setpoints.append((self.now, self.mode))
        # GCS_MAVLink_Copter.cpp, handle_message_set_position_target_local_ned: in GUIDED alone; a position, an
        # acceleration or a yaw that is not masked would be flown, too
        assert message.coordinate_frame == 1 and message.type_mask == 0b0000_0101_1100_0111
        if self.mode == GUIDED and self._take_off_to is None:
            self._target, self._turn = np.array([message.vx, message.vy, message.vz]), float(message.yaw_rate)
            self._told = self.now

    def _obey(self, command: Any) -> int:
        code = int(command.command)
        if code == 511:
            self._rates[int(command.param1)] = 1e6 / command.param2
            return OK
        if code == 176:
            return self.set_mode(int(command.param2)) if int(command.param1) & 1 else DENIED
        if code == 400:
            return self._arm() if command.param1 == 1.0 else self._disarm()
        if code == 22:
            return self._take_off(float(command.param7))
        if code == 185 and command.param1 > 0.5:  # handle_flight_termination: motors off, wherever it is
            self.armed = False
            return OK
        return UNSUPPORTED

    def _arm(self) -> int:
        if self.armed:
            return OK
        # AP_Arming_Copter.cpp, arm_checks; mode.h: BRAKE, LAND, RTL and AUTO do not allow arming
        names = {BRAKE: "BRAKE", LAND: "LAND", RTL: "RTL", AUTO: "AUTO"}
        why = self.checks[:1] or ([f"{names[self.mode]} mode not armable"] if self.mode in names else [])
        if why or not self.obeys:
            self._say(2, f"Arm: {why[0] if why else 'no'}")
            return FAILED
        self.armed, self._armed_at, self._landed_at = True, self.now, self.now
        self.home = self.place.copy()  # arm(): home is where it is armed
        return OK

    def _disarm(self) -> int:
        if self.armed and not self.landed:  # AP_Arming_Copter.cpp, disarm: not by MAVLink in the air
            return FAILED
        self.armed = False
        return OK

    def _take_off(self, height: float) -> int:
        # takeoff.cpp, Mode::do_user_takeoff: armed, on the ground, upwards
        refused = not self.armed or not self.landed or self.mode != GUIDED or height <= self.above_home
        if refused or not self.obeys:
            return FAILED
        self._take_off_to = height
        return OK

    # -- time -------------------------------------------------------------------------------------

    @property
    def above_home(self) -> float:
        """m."""
        return float(self.home[2] - self.place[2])

    @property
    def taking_off(self) -> bool:
        """ModeGuided::is_taking_off."""
        return self._take_off_to is not None and self.above_home < self._take_off_to - 0.1

    def advance(self, now: float) -> None:
        """Live until then."""
        while self.now + TICK <= now + 1e-9:
            self.now += TICK
            self._fly()

    def _wish(self) -> np.ndarray:
        """The velocity that its mode wants, NED, m/s."""
        down = np.array([0.0, 0.0, SINK])
        if self.mode == GUIDED and self._take_off_to is not None:
            return np.array([0.0, 0.0, -min(CLIMB, 1.0 * max(self._take_off_to - self.above_home, 0.0))])
        if self.mode == GUIDED:
            # velaccel_control_run: zero when nothing has come for GUID_TIMEOUT
            return self._target if self.now - self._told <= GUID_TIMEOUT else np.zeros(3)
        if self.mode == LAND:
            return down
        if self.mode == RTL:
            away = self.home - self.place
            return down if np.hypot(*away[:2]) < 1.0 else np.array([*np.clip(away[:2], -5.0, 5.0), 0.0])
        return np.zeros(3)

    def _fly(self) -> None:
        if not self.armed:
            self.velocity = np.zeros(3)
            self.place[2] = min(self.place[2] + (0.0 if self.landed else 9.8 * TICK), 0.0)
            self.landed = self.landed or self.place[2] >= 0.0
            return
        wish = self._wish()
        if self.landed:
            # velaccel_control_run: on the ground nothing but a take-off lifts it
            ready = self.now - self._armed_at > ARMING_DELAY + SPOOL
            if self.mode == GUIDED and self._take_off_to is not None and ready:
                self.landed = False
            elif self.mode in (LAND, RTL) or self.now - self._landed_at > DISARM_DELAY:
                self.armed = False  # mode_land.cpp, gps_run; motors.cpp, auto_disarm_check
            return
        self.velocity = self.velocity + (wish - self.velocity) * TICK / LAG
        self.place = self.place + self.velocity * TICK
        self.yaw += (self._turn if self.mode == GUIDED else 0.0) * TICK
        if self.place[2] >= 0.0 and wish[2] >= 0.0:
            self.place[2], self.velocity, self.landed, self._landed_at = 0.0, np.zeros(3), True, self.now

    # -- what it says -------------------------------------------------------------------------------

    def _say(self, severity: int, text: str) -> None:
        self._out.append((self.now, mavlink.MAVLink_statustext_message(severity, text.encode())))

    def speak(self) -> list[Any]:
        """Returns the messages that are due."""
        due = [message for at, message in self._out if at <= self.now]
        self._out = [(at, message) for at, message in self._out if at > self.now]
        for number, rate in self._rates.items():
            if self.now - self._sent.get(number, -math.inf) >= 1.0 / rate - 1e-6:
                self._sent[number] = self.now
                due += self._made(number)
        if self.checks and self.now - self._sent.get(-1, -math.inf) > 30.0:  # AP_Arming.cpp, PREARM_DISPLAY_PERIOD
            self._sent[-1] = self.now
            due += [mavlink.MAVLink_statustext_message(2, f"PreArm: {text}".encode()) for text in self.checks]
        return due if self.speaks else []

    def _made(self, number: int) -> Iterator[Any]:
        boot = round((self.now + self._boot) * 1e3)
        estimate, (vx, vy, vz) = self.place + self.jump, self.velocity
        home = self.origin.to_geodetic([self.home[1], self.home[0], -self.home[2]])
        match number:
            case 0:
                # GCS_MAVLink_Copter.cpp, vehicle_system_status
                state = 5 if self.failsafes else 3 if self.landed else 4
                yield mavlink.MAVLink_heartbeat_message(2, 3, 1 | (128 if self.armed else 0), self.mode, state, 3)
            case 32:
                yield mavlink.MAVLink_local_position_ned_message(boot, *estimate, vx, vy, vz)
            case 31:
                w, z = math.cos(self.yaw / 2.0), math.sin(self.yaw / 2.0)
                yield mavlink.MAVLink_attitude_quaternion_message(boot, w, 0.0, 0.0, z, 0.0, 0.0, self._turn)
            case 245:
                # landed_state(): the land detector's word goes before the mode's
                landing = self.mode in (LAND, RTL) and self.velocity[2] > 0.5
                word = 1 if self.landed else 4 if landing else 3 if self.taking_off else 2
                yield mavlink.MAVLink_extended_sys_state_message(0, word)
            case 193:
                ratio = self.ratio
                yield mavlink.MAVLink_ekf_status_report_message(0x33F, ratio, ratio, ratio, ratio, 0.0)
            case 24:
                yield mavlink.MAVLink_gps_raw_int_message(
                    boot * 1000, self.fix, 0, 0, 0, 80, 90, 0, 0, 14, 0, h_acc=400, v_acc=600, vel_acc=150
                )
            case 1:
                present = SENSORS | RECEIVER
                enabled = SENSORS | (RECEIVER if self.has_receiver else 0)
                healthy = SENSORS & ~(PREARM if self.checks and not self.armed else 0)
                healthy |= 0 if "Radio" in self.failsafes else RECEIVER
                yield mavlink.MAVLink_sys_status_message(
                    present, enabled, healthy, 100, 15800, 900, 87, 0, 0, 0, 0, 0, 0
                )
            case 147:
                cells = [15800] + [65535] * 9
                yield mavlink.MAVLink_battery_status_message(
                    0, 0, 0, 2500, cells, 900, 0, 0, 87, charge_state=self.charge
                )
            case 49:
                at = self.origin
                yield mavlink.MAVLink_gps_global_origin_message(
                    round(at.latitude * 1e7), round(at.longitude * 1e7), round(at.altitude * 1e3)
                )
            case 242:
                place = round(float(home[0]) * 1e7), round(float(home[1]) * 1e7), round(float(home[2]) * 1e3)
                yield mavlink.MAVLink_home_position_message(*place, 0, 0, 0, [1, 0, 0, 0], 0, 0, 0)
            case 162:
                yield mavlink.MAVLink_fence_status_message(0, 0, 0, 0)
