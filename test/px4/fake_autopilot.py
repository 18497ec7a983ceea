"""A strict model of PX4 1.17 as it was measured over uXRCE-DDS: modes, failsafes, arming, and what surprises.

No ROS: messages go in and come out as plain namespaces with PX4's field names. The dangers of
docs/reference/px4.md behave here as they did there. Time is told by the caller, in s.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from esar_ros.geometry.frames import (
    Pose,
    attitude_enu_flu_to_ned_frd,
    enu_to_ned,
    flu_to_frd,
    ned_to_enu,
    quaternion_from_yaw,
)
from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.physics.dynamics import Quadrotor, SetPoint, limits_of

MANUAL, HOLD, RTL, DESCEND, TERMINATION, OFFBOARD, TAKE_OFF, LAND = 0, 4, 5, 12, 13, 14, 17, 18
TICK = 0.01  # s
VELOCITY_TAU = 1.1  # s, with which it follows a velocity
REVERSING = 0.3  # m/s: against a faster motion it brakes first, so that 63 % of a reversal take up to 2.8 s
FOLLOWED = 0.88  # share of a velocity that it has come to in some seconds; the rest takes longer
CREEP, CREEP_FOR = 0.1, 2.0  # m/s and s, that a stop goes on for
STANDS = 0.3  # m/s, from where hold keeps a place: it brakes first, and does not fly back
ESTIMATE, ESTIMATE_TIME = 0.1, 10.0  # m, standard deviation an axis, and s, of the estimated position's error
HOME_WANDERS, HOME_TIME = 3.0, 60.0  # m, to either side, and s of the altitude that it reports of home
SIGNAL_LOST = 1.0  # s without a heartbeat
SIGNAL_GAP = 0.5  # s, 2 Hz
SIGNAL_PROOF = 1.0  # s of heartbeats before offboard is granted
REENTRY = 0.08  # s from the first heartbeat after a loss to offboard
ACK_DELAY = 0.015  # s
AGENT_RESTART = 9.4  # s
OLD_STAMP = 2.0  # s
OVERRIDE = 0.2  # s, how long a set-point counts in modes that are not offboard
AUTO_DISARM = 2.0  # s on the ground after a flight
AUTO_DISARM_UNFLOWN = 10.0  # s
ALIGN_HEIGHT = 1.5  # m above the ground, where the heading is aligned anew, after every take-off
GROUND_YAW_ERROR = 0.03  # rad, of the estimate until then
HEADING_VARIANCE = 0.018  # rad^2
HOLD_FIRST = 5.0  # s, COM_FAIL_ACT_T: it stands before most failsafes act
# What may be lost in flight: s until it is noticed, until it stands in hold, and until the mode is taken.
LOSSES = {
    "remote control": (0.72, 0.72, 0.72 + HOLD_FIRST, RTL),  # NAV_RCL_ACT 2
    "charge": (0.0, 0.0, HOLD_FIRST, RTL),  # critical, COM_LOW_BAT_ACT 3
    "satellites": (4.0, math.inf, 9.0, DESCEND),
    "fence": (0.0, 0.0, math.inf, HOLD),  # PX4's own, GF_ACTION 2
    # NAV_DLL_ACT 2 and COM_DL_LOSS_T 10, not measured: by its documentation
    "ground station": (10.0, 10.0, 10.0 + HOLD_FIRST, RTL),
}
PERIODS = {
    "VehicleOdometry": 0.01,
    "VehicleLocalPosition": 0.02,
    "VehicleStatus": 0.5,
    "FailsafeFlags": 0.5,
    "VehicleLandDetected": 1.0,
    "BatteryStatus": 1.0,
    "TimesyncStatus": 1.0,
    "HomePosition": 0.5,  # from arming on
}
MAIN_AUTO, MAIN_OFFBOARD = 4, 6
SUB_MODES = {2: TAKE_OFF, 3: HOLD, 5: RTL, 6: LAND}
OK, REJECTED, DENIED, UNSUPPORTED = 0, 1, 2, 3
# Of external modes; the names of 1.17's first slot.
EXTERNAL, CHECK_ID = 23, 0
CHECK_PERIOD = 0.3  # s
CHECK_LOST = 1.5  # s without an answer: 1.2 to 1.5 after its node has died


class FakeAutopilot:
    """One vehicle. Its local frame is north, east, down of `reference`; truth is kept in ENU of the same point."""

    def __init__(
        self,
        system_id: int = 1,
        reference: Origin | None = None,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
        yaw: float = 0.0,
        ground: Callable[[float, float], float] = lambda x, y: 0.0,
        on_loss: int = RTL,
        has_remote: bool = False,
        has_station: bool = False,
    ) -> None:
        """start: m, ENU; on_loss: the mode taken when the signal of offboard is lost (COM_OBL_RC_ACT).

        has_remote, has_station: a remote control is on, a ground station is there when it is armed; without one
        its loss is no failsafe.
        """
        self.system_id, self.on_loss, self.ground = system_id, on_loss, ground
        self.has_remote, self.has_station = has_remote, has_station
        self.clock_offset: float | None = None  # s from its clock to the agent's host's; None: not synchronised
        self._lost: dict[str, float] = {}  # and since when, s
        self._taken_over: set[str] = set()  # failsafes that a change of the mode has ended
        self.reference = reference or Origin(34.0, 107.8, 3000.0)
        x, y, _ = start
        at = Pose(np.array([x, y, ground(x, y)]), quaternion_from_yaw(yaw))
        self.body = Quadrotor(at, limits_of(VELOCITY_TAU))
        self.body.position[2] = max(start[2], ground(x, y))
        self.now = 0.0
        self.armed = False
        self.intention = self.nav_state = HOLD
        self.failsafe = False
        self.landed = True
        self.preflight_ok = True
        self.preflight_by_mode = True
        self.home: np.ndarray | None = None
        self.charge = 1.0
        self.battery_warning = 0
        self.eph, self.epv, self.evh, self.evv = 0.4, 0.5, 0.1, 0.1
        self.dead_reckoning = False
        self.valid = True
        self.release = "1.17"
        self.obeys = True  # False: acknowledges mode changes and does nothing
        self.log: list[tuple[float, str]] = []
        self.modes: list[tuple[float, int]] = [(0.0, HOLD)]
        self.entered_in_flight: list[float] = []  # times of entries into offboard while armed
        self.commands: list[tuple[float, Any]] = []
        self.setpoints = 0
        self.setpoint_times: deque[tuple[float, int, bool]] = deque(maxlen=100_000)  # mode, and whether it says: stop
        self.heartbeat_times: deque[float] = deque(maxlen=100_000)
        self.controls: list[tuple[int, bool]] = []  # mode, and whether it flies velocities
        self.external_name = b""  # of the registered mode, empty without one
        self.refuses_modes = False
        self.registers_armed = False  # COM_MODE_ARM_CHK
        self.answers: deque[tuple[float, bool]] = deque(maxlen=100_000)  # to arming checks
        self._checks = 0
        self._check_last = self._answered = -math.inf
        self._can_run = False
        self._replies: list[tuple[str, Any]] = []
        self._jump = np.zeros(3)  # NED, m, by which resets moved the estimate
        self._xy_resets = self._z_resets = self._heading_resets = 0
        self._delta = np.zeros(3)
        self._origin_raised = 0.0  # m
        self._aligned = self._heading_good = False  # the heading: in flight alone; once it is good it stays so
        self._noise = np.random.default_rng(system_id)
        self._error = np.zeros(3)  # m, ENU, of the estimated position
        self._stop: tuple[float, np.ndarray] | None = None  # since when (s) it is asked to stand, and where it flew to
        self._delta_heading = 0.0
        self._heartbeat = -math.inf
        self._signal_since = math.inf
        self._returned = math.inf  # when the heartbeat came back
        self._flags: Any = None
        self._setpoint: Any = None
        self._setpoint_at = -math.inf
        self._inbox: list[tuple[float, Any]] = []
        self._agent_back = -math.inf
        self._last: dict[str, float] = {}
        self._changed = True
        self._acks: list[Any] = []
        self._armed_at = self._touched_at = 0.0
        self._flown = False
        self._flew_offboard = False
        self._hold_at: np.ndarray | None = None
        self._take_off_to = 0.0
        self._take_off_over: np.ndarray | None = None  # m, ENU; where the command has latitude and longitude

    # -- what happens to it ---------------------------------------------------------------------

    def restart_agent(self) -> None:
        """The agent dies and comes back: nothing passes either way meanwhile."""
        self._agent_back = self.now + AGENT_RESTART

    def switch_mode(self, nav_state: int) -> None:
        """A person or a ground station changes the mode."""
        self._intend(nav_state)

    def force_failsafe(self, nav_state: int) -> None:
        """A failsafe other than the signal's chooses the mode."""
        self.failsafe = True
        self._forced = nav_state
        self._set(nav_state)

    _forced: int | None = None

    def lose(self, what: str) -> None:
        """One of LOSSES is lost from now on."""
        self._lost[what] = self.now
        if what == "charge":
            self.charge, self.battery_warning = 0.06, 2

    def _has_noticed(self, what: str) -> bool:
        return what in self._lost and self.now - self._lost[what] >= LOSSES[what][0]

    def reset_estimate(self, north: float, east: float, down: float = 0.0) -> None:
        """The estimator jumps."""
        delta = np.array([north, east, down])
        self._jump = self._jump + delta
        self._delta = delta
        self._xy_resets += bool(north or east)
        self._z_resets += bool(down)

    def raise_origin(self, up: float) -> None:
        """The altitude of the estimator's origin is moved in flight; delta_z then has the wrong sign."""
        self.reset_estimate(0.0, 0.0, up)
        self._origin_raised += up
        self._delta[2] = -up

    @property
    def linked(self) -> bool:
        """True while the agent passes messages."""
        return self.now >= self._agent_back

    @property
    def signal(self) -> bool:
        """True while the offboard signal is there."""
        return self.now - self._heartbeat <= SIGNAL_LOST

    def hear_heartbeat(self, message: Any) -> None:
        """An OffboardControlMode."""
        if not self.linked or self._is_old(message):
            return
        self.heartbeat_times.append(self.now)
        if self.now - self._heartbeat > SIGNAL_GAP:
            self._signal_since = self.now
        if not self.signal and self.intention == OFFBOARD:
            self._returned = self.now
        self._heartbeat, self._flags = self.now, message

    def hear_setpoint(self, message: Any) -> None:
        """A TrajectorySetpoint: taken in every mode."""
        if not self.linked or self._is_old(message):
            return
        self.setpoints += 1
        self.setpoint_times.append((self.now, self.nav_state, not any(message.velocity)))
        self._setpoint, self._setpoint_at = message, self.now

    def hear_command(self, message: Any) -> None:
        """A VehicleCommand; one for another system is not even answered."""
        if not self.linked or int(message.target_system) not in (0, self.system_id):
            return
        if int(message.target_component) not in (0, 1) or not message.from_external:
            return
        self.commands.append((self.now, message))
        self._inbox.append((self.now + ACK_DELAY, message))

    def hear_registration(self, message: Any) -> None:
        """A RegisterExtComponentRequest."""
        if not self.linked:
            return
        barred = self.refuses_modes or (self.armed and not self.registers_armed)
        taken = not barred and message.px4_ros2_api_version == 1 and message.register_arming_check
        if taken:
            self.external_name, self._answered = bytes(message.name).rstrip(b"\0"), self.now
        self._replies.append(
            ("RegisterExtComponentReply", SimpleNamespace(
                timestamp=self._us(), request_id=int(message.request_id), name=message.name, px4_ros2_api_version=1,
                success=taken, arming_check_id=CHECK_ID if taken else -1, mode_id=EXTERNAL if taken else -1,
                mode_executor_id=-1,
            ))
        )  # fmt: skip

    def hear_answer(self, message: Any) -> None:
        """An ArmingCheckReply; one to an older check is too late."""
        if not self.linked or not self.external_name or int(message.registration_id) != CHECK_ID:
            return
        if int(message.request_id) == self._checks % 256:
            self._answered, self._can_run = self.now, bool(message.can_arm_and_run)
            self.answers.append((self.now, self._can_run))

    def hear_control(self, message: Any) -> None:
        """A VehicleControlMode of an external mode: what it wants controlled."""
        self.controls.append((int(message.source_id), bool(message.flag_control_velocity_enabled)))

    def forget_modes(self) -> None:
        """The autopilot starts again in the air, as far as external modes know."""
        self.external_name, self._can_run = b"", False

    @property
    def external(self) -> bool:
        """True while the external mode can run."""
        return bool(self.external_name) and self._can_run and self.now - self._answered <= CHECK_LOST

    def _is_old(self, message: Any) -> bool:
        return message.timestamp != 0 and self.now - message.timestamp * 1e-6 > OLD_STAMP

    # -- time -----------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Live until then."""
        while self.now + TICK <= now + 1e-9:
            self.now += TICK
            self._obey_commands()
            self._judge()
            self._fly()
            pushed = ESTIMATE * math.sqrt(2.0 * TICK / ESTIMATE_TIME) * self._noise.normal(size=3)
            self._error = self._error * (1.0 - TICK / ESTIMATE_TIME) + pushed

    def _obey_commands(self) -> None:
        due = [message for at, message in self._inbox if at <= self.now]
        self._inbox = [(at, message) for at, message in self._inbox if at > self.now]
        for message in due:
            result = self._command(message)
            self._acks.append(
                SimpleNamespace(
                    timestamp=self._us(), command=int(message.command), result=result, result_param1=0,
                    result_param2=0, target_system=int(message.source_system),
                    target_component=int(message.source_component), from_external=False,
                )
            )  # fmt: skip

    def _command(self, message: Any) -> int:
        code = int(message.command)
        if code == 400:
            return self._arm() if message.param1 > 0.5 else self._disarm()
        if code == 176:
            return self._mode(int(message.param2), int(message.param3))
        if code in (20, 21):
            return self._intend(RTL if code == 20 else LAND)
        if code == 22:
            self._take_off_to = float(message.param7) - self.reference.altitude
            place = float(message.param5), float(message.param6)
            given = all(map(math.isfinite, place))
            self._take_off_over = self.reference.to_enu(*place, float(message.param7))[:2] if given else None
            return self._intend(TAKE_OFF)
        if code == 100001:
            return self._intend(EXTERNAL) if message.param1 == EXTERNAL and self.external else REJECTED
        if code == 185:
            self._set(TERMINATION)
            return OK
        return UNSUPPORTED

    def _mode(self, main: int, sub: int) -> int:
        if main == MAIN_OFFBOARD:
            if not self.signal or self.now - self._signal_since <= SIGNAL_PROOF:
                return REJECTED
            return self._intend(OFFBOARD)
        if main == MAIN_AUTO and sub in SUB_MODES:
            if sub == 2:
                self._take_off_to, self._take_off_over = float(self.body.position[2]) + 2.5, None
            return self._intend(SUB_MODES[sub])
        return DENIED

    def _intend(self, nav_state: int) -> int:
        if not self.obeys:
            return OK
        if self.nav_state == TERMINATION:
            return REJECTED  # until it is started again
        if not self.valid and nav_state not in (LAND, DESCEND):
            return REJECTED  # these modes need a position
        # A mode that is asked for in a failsafe takes over from it: what was lost has no effect any more.
        self._taken_over |= {what for what in self._lost if self.failsafe and self._has_noticed(what)}
        self.intention, self.failsafe, self._forced = nav_state, False, None
        self._set(nav_state)
        return OK

    def _set(self, nav_state: int) -> None:
        if nav_state != self.nav_state:
            self.nav_state = nav_state
            self.modes.append((self.now, nav_state))
            self.entered_in_flight += [self.now] if nav_state == OFFBOARD and self.armed else []
            self._changed = True
            self._hold_at = None

    def _arm(self) -> int:
        if self.armed:
            return OK
        if not self.preflight_ok or not self.valid or not self.landed:
            return REJECTED
        self.armed, self._flown, self._armed_at = True, False, self.now
        self._flew_offboard = False
        self.home = self.body.position.copy()
        self._changed = True
        return OK

    def _disarm(self) -> int:
        if self.armed and not self.landed:
            return DENIED
        if self.nav_state == TERMINATION:
            return REJECTED  # armed for as long
        if self.armed:
            self.armed, self._changed = False, True
            if self._flew_offboard:
                # Back to what it flew before it landed; and the next heartbeat would keep it there.
                self.intention = OFFBOARD
                self._set(OFFBOARD)
        return OK

    def _judge(self) -> None:
        """Failsafe of the offboard signal, and what follows when it comes back; and those of what is lost."""
        self._judge_losses()
        if self.intention == OFFBOARD and self.armed and self._forced is None:
            if not self.signal and self.nav_state == OFFBOARD:
                self.failsafe = True
                self._set(self.on_loss)
            elif self.failsafe and self.signal and self.now - self._returned >= REENTRY - TICK:
                self.failsafe = False
                self._set(OFFBOARD)
        if self.intention == EXTERNAL and self.armed and self._forced is None:
            if not self.external and self.nav_state == EXTERNAL:
                self.failsafe = True
                self._set(RTL)  # on_loss is of offboard alone
            elif self.failsafe and self.external:  # assumed as of offboard: it goes back by itself
                self.failsafe = False
                self._set(EXTERNAL)
        if self.now - self._check_last >= CHECK_PERIOD:
            self._check_last, self._checks = self.now, self._checks + 1
            mask = 1 << CHECK_ID if self.external_name else 0
            check = SimpleNamespace(timestamp=self._us(), request_id=self._checks % 256, valid_registrations_mask=mask)
            self._replies.append(("ArmingCheckRequest", check))
        if self.nav_state == OFFBOARD and self.armed and not self.landed:
            self._flew_offboard = True
        if self.armed and self.landed:
            limit = AUTO_DISARM if self._flown else AUTO_DISARM_UNFLOWN
            if self.now - max(self._touched_at, self._armed_at) >= limit:
                self._disarm()

    def _judge_losses(self) -> None:
        """Hold at first, then the failsafe's own mode. It acts on an armed vehicle alone."""
        if self._has_noticed("satellites"):
            self.dead_reckoning = True
        for what, since in self._lost.items():
            _, stands, acts, nav_state = LOSSES[what]
            elapsed = self.now - since
            if not self.armed or what in self._taken_over or elapsed < min(stands, acts):
                continue
            if what == "satellites":
                self.valid = False
            wanted = nav_state if elapsed >= acts else HOLD
            if self._forced != wanted:
                self.force_failsafe(wanted)

    # -- motion ---------------------------------------------------------------------------------

    def _fly(self) -> None:
        body = self.body
        floor = self.ground(float(body.position[0]), float(body.position[1]))
        if not self.armed or self.nav_state == TERMINATION:
            if body.position[2] <= floor + 0.02:
                body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
                self._changed = self._changed or not self.landed
                self.landed = True
            else:
                body.fall(np.zeros(3), round(TICK / 0.002))
            return
        velocity, yaw_rate = self._wanted()
        lifts = self.nav_state in (OFFBOARD, TAKE_OFF)  # set-points lift it in no other mode
        if self.landed and (velocity[2] <= 0.05 or not lifts):
            body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
            return
        body.advance(SetPoint(values=velocity, yaw=yaw_rate).as_array(), np.zeros(3), round(TICK / 0.002))
        self.charge = max(0.0, self.charge - TICK / 1500.0)
        if body.position[2] <= floor and velocity[2] <= 0.0:
            body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
            if not self.landed:
                self.landed, self._touched_at, self._changed = True, self.now, True
                self._aligned = False
        elif body.position[2] > floor + 0.1 and self.landed:
            self.landed, self._flown, self._changed = False, True, True
        if not self._aligned and not self.landed and body.position[2] > floor + ALIGN_HEIGHT:
            self._aligned, self._heading_good, self._delta_heading = True, True, GROUND_YAW_ERROR
            self._heading_resets += 1
        body.position[2] = max(float(body.position[2]), floor)

    def _wanted(self) -> tuple[np.ndarray, float]:
        """Velocity (ENU) and yaw rate that the present mode flies."""
        given = self._setpoint
        if self.nav_state in (OFFBOARD, EXTERNAL):
            return self._of_setpoint(given) if given is not None else (np.zeros(3), 0.0)
        if given is not None and self.now - self._setpoint_at < OVERRIDE:
            return self._of_setpoint(given)  # no mode keeps them out
        if self.nav_state in (LAND, DESCEND):
            return np.array([0.0, 0.0, -0.7]), 0.0
        if self.nav_state == TAKE_OFF:
            left = self._take_off_to - float(self.body.position[2])
            if left < 0.3:
                self.intention = HOLD
                self._set(HOLD)
            away = np.zeros(2) if self._take_off_over is None else self._take_off_over - self.body.position[:2]
            level = away * min(1.0, 5.0 / max(1e-6, math.hypot(away[0], away[1])))
            return np.array([*level, float(np.clip(left, 0.3, 1.5))]), 0.0
        if self.nav_state == RTL and self.home is not None:
            return self._return(), 0.0
        if self.landed:
            return np.zeros(3), 0.0
        if self._hold_at is None and float(np.linalg.norm(self.body.velocity)) > STANDS:
            return np.zeros(3), 0.0
        if self._hold_at is None:
            self._hold_at = self.body.position.copy()
        return np.clip(0.9 * (self._hold_at - self.body.position), -3.0, 3.0), 0.0

    def _return(self) -> np.ndarray:
        assert self.home is not None
        away = self.home - self.body.position
        if math.hypot(away[0], away[1]) < 1.0:
            return np.array([0.0, 0.0, -0.7])
        climb = np.clip(self.home[2] + 30.0 - self.body.position[2], -1.0, 1.5)
        level = away[:2] * min(1.0, 5.0 / max(1e-6, math.hypot(away[0], away[1])))
        return np.array([*(level if climb < 1.0 else np.zeros(2)), climb])

    def _of_setpoint(self, message: Any) -> tuple[np.ndarray, float]:
        """Every number that is not NaN is used, whatever the flags say."""
        velocity = np.array([float(v) for v in message.velocity])
        position = np.array([float(v) for v in message.position])
        estimate = enu_to_ned(self.body.position) + self._jump
        towards = np.clip(0.95 * (position - estimate), -12.0, 12.0)
        mixed = np.where(np.isnan(position), 0.0, towards) + np.where(np.isnan(velocity), 0.0, velocity)
        yaw_rate = 0.0 if math.isnan(message.yawspeed) else -float(message.yawspeed)
        wanted, moving = self._creeping(ned_to_enu(mixed)), self.body.velocity
        if not self.landed and wanted @ moving < 0.0 and float(np.linalg.norm(moving)) > REVERSING:
            wanted = np.zeros(3)
        return wanted, yaw_rate

    def _creeping(self, wanted: np.ndarray) -> np.ndarray:
        """Returns a velocity (m/s, ENU) that is asked for: a stop in flight ends later than its lag says."""
        speed = float(np.linalg.norm(self.body.velocity))
        if self.landed or wanted.any():
            self._stop = None
        elif self._stop is None:
            self._stop = self.now, self.body.velocity / max(speed, STANDS)
        if self._stop is None or self.now - self._stop[0] > CREEP_FOR:
            return wanted
        return CREEP * self._stop[1]

    # -- what it says ---------------------------------------------------------------------------

    def speak(self) -> Iterator[tuple[str, SimpleNamespace]]:
        """Messages due by now: name and fields."""
        acks, self._acks = self._acks, []
        replies, self._replies = self._replies, []
        changed, self._changed = self._changed, False
        if not self.linked:
            return
        for ack in acks:
            yield "VehicleCommandAck", ack
        yield from replies
        for name, period in PERIODS.items():
            on_change = changed and name in ("VehicleStatus", "VehicleLandDetected", "FailsafeFlags")
            if (name == "TimesyncStatus" and self.clock_offset is None) or (
                name == "HomePosition" and self.home is None
            ):
                continue
            if on_change or self.now - self._last.get(name, -math.inf) >= period - 1e-6:
                self._last[name] = self.now
                yield name, getattr(self, f"_{name}")()

    def _us(self) -> int:
        return round((self.now + (self.clock_offset or 0.0)) * 1e6)

    def _TimesyncStatus(self) -> SimpleNamespace:
        offset = round((self.clock_offset or 0.0) * 1e6)
        return SimpleNamespace(
            timestamp=self._us(), source_protocol=2, remote_timestamp=self._us(), observed_offset=offset,
            estimated_offset=offset, round_trip_time=1500,
        )  # fmt: skip

    def _VehicleStatus(self) -> SimpleNamespace:
        return SimpleNamespace(
            timestamp=self._us(), arming_state=2 if self.armed else 1, latest_disarming_reason=8,
            nav_state_user_intention=self.intention, nav_state=self.nav_state, failsafe=self.failsafe,
            system_id=self.system_id, component_id=1, vehicle_type=1, rc_calibration_in_progress=False,
            calibration_enabled=False, pre_flight_checks_pass=self.preflight_ok,
        )  # fmt: skip

    def _VehicleLocalPosition(self) -> SimpleNamespace:
        x, y, z = enu_to_ned(self.body.position + self._error) + self._jump
        vx, vy, vz = enu_to_ned(self.body.velocity)
        heading = math.pi / 2.0 - self.body.yaw - self._yaw_error
        return SimpleNamespace(
            timestamp=self._us(), timestamp_sample=self._us(), xy_valid=self.valid, z_valid=self.valid,
            v_xy_valid=self.valid, v_z_valid=self.valid, x=float(x), y=float(y), z=float(z),
            delta_xy=[float(self._delta[0]), float(self._delta[1])], xy_reset_counter=self._xy_resets % 256,
            delta_z=float(self._delta[2]), z_reset_counter=self._z_resets % 256, vx=float(vx), vy=float(vy),
            vz=float(vz), heading=math.remainder(heading, 2.0 * math.pi), heading_reset_counter=self._heading_resets,
            delta_heading=self._delta_heading, heading_good_for_control=self._heading_good,
            heading_var=HEADING_VARIANCE, xy_global=True, z_global=True,
            ref_lat=self.reference.latitude, ref_lon=self.reference.longitude,
            ref_alt=self.reference.altitude + self._origin_raised,
            eph=self.eph, epv=self.epv, evh=self.evh, evv=self.evv, dead_reckoning=self.dead_reckoning,
        )  # fmt: skip

    @property
    def _yaw_error(self) -> float:
        """rad, counter-clockwise, of the estimated heading."""
        return 0.0 if self._aligned else GROUND_YAW_ERROR

    def _attitude(self) -> np.ndarray:
        """As it is estimated, ENU and FLU."""
        return (
            Pose(quaternion=quaternion_from_yaw(self._yaw_error))
            .compose(Pose(quaternion=self.body.quaternion))
            .quaternion
        )

    def _VehicleOdometry(self) -> SimpleNamespace:
        return SimpleNamespace(
            timestamp=self._us(), timestamp_sample=self._us(), pose_frame=1, velocity_frame=1,
            position=[float(v) for v in enu_to_ned(self.body.position + self._error) + self._jump],
            q=[float(v) for v in attitude_enu_flu_to_ned_frd(self._attitude())],
            velocity=[float(v) for v in enu_to_ned(self.body.velocity)],
            angular_velocity=[float(v) for v in flu_to_frd(self.body.rates)],
            position_variance=[0.1] * 3, orientation_variance=[1e-4] * 3, velocity_variance=[0.01] * 3,
            reset_counter=(self._xy_resets + self._z_resets) % 256, quality=0,
        )  # fmt: skip

    def _VehicleLandDetected(self) -> SimpleNamespace:
        return SimpleNamespace(timestamp=self._us(), landed=self.landed, maybe_landed=self.landed, at_rest=self.landed)

    def _BatteryStatus(self) -> SimpleNamespace:
        return SimpleNamespace(
            timestamp=self._us(), connected=True, voltage_v=15.2, current_a=17.0 if self.armed else 0.5,
            remaining=self.charge, warning=self.battery_warning, id=1,
        )  # fmt: skip

    def _FailsafeFlags(self) -> SimpleNamespace:
        return SimpleNamespace(
            timestamp=self._us(), offboard_control_signal_lost=not self.signal,
            manual_control_signal_lost=not self.has_remote or self._has_noticed("remote control"),
            geofence_breached=self._has_noticed("fence"), auto_mission_missing=True,
            gcs_connection_lost=not self.has_station or self._has_noticed("ground station"),
            home_position_invalid=self.home is None,
            battery_warning=self.battery_warning, local_position_invalid=not self.valid,
            global_position_invalid=not self.valid, local_velocity_invalid=not self.valid,
        )  # fmt: skip

    def _HomePosition(self) -> SimpleNamespace:
        assert self.home is not None
        wanders = HOME_WANDERS * math.sin(2.0 * math.pi * self.now / HOME_TIME)
        x, y, z = enu_to_ned(self.home + [0.0, 0.0, wanders])
        latitude, longitude, altitude = map(float, self.reference.to_geodetic(self.home))
        return SimpleNamespace(
            timestamp=self._us(), lat=latitude, lon=longitude, alt=altitude + wanders, x=float(x), y=float(y),
            z=float(z), yaw=0.0, valid_alt=True, valid_hpos=True, valid_lpos=True,
        )  # fmt: skip
