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
from fake_estimator import FakeEstimator
from fake_facts import (
    ACK_DELAY,
    AGENT_RESTART,
    AUTO_DISARM,
    AUTO_DISARM_UNFLOWN,
    CHECK_ID,
    CHECK_LOST,
    CHECK_PERIOD,
    DENIED,
    DESCEND,
    EXTERNAL,
    HOLD,
    LAND,
    MAIN_AUTO,
    MAIN_OFFBOARD,
    OFFBOARD,
    OK,
    OLD_STAMP,
    PERIODS,
    REENTRY,
    REJECTED,
    RTL,
    SIGNAL_GAP,
    SIGNAL_LOST,
    SIGNAL_PROOF,
    SUB_MODES,
    TAKE_OFF,
    TERMINATION,
    TICK,
    UNSUPPORTED,
    VELOCITY_TAU,
)
from fake_losses import FakeLosses
from fake_messages import MESSAGES, acknowledgement, arming_check, registration_reply
from fake_motion import fly

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.physics.dynamics import Quadrotor, limits_of


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
        self._losses = FakeLosses()
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
        self.dead_reckoning = False
        self.valid = True
        self.release = "1.17"
        self.obeys = True  # False: acknowledges mode changes and does nothing
        self.refuses_arming = False  # for a reason that its status does not tell
        self.mutes: set[str] = set()  # kinds of messages that it does not send
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
        self.estimator = FakeEstimator(system_id)
        self.stopping: tuple[float, np.ndarray] | None = (
            None  # since when (s) it is asked to stand, and where it flew to
        )
        self._heartbeat = -math.inf
        self._signal_since = math.inf
        self._returned = math.inf  # when the heartbeat came back
        self._flags: Any = None
        self.setpoint: Any = None
        self.setpoint_at = -math.inf
        self._inbox: list[tuple[float, Any]] = []
        self.agent_back = -math.inf
        self._last: dict[str, float] = {}
        self.changed = True
        self._acks: list[Any] = []
        self._armed_at = self.touched_at = 0.0
        self.flown = False
        self._flew_offboard = False
        self.hold_at: np.ndarray | None = None
        self.take_off_to = 0.0
        self.take_off_over: np.ndarray | None = None  # m, ENU; where the command has latitude and longitude

    # -- what happens to it ---------------------------------------------------------------------

    def restart_agent(self) -> None:
        """The agent dies and comes back: nothing passes either way meanwhile."""
        self.agent_back = self.now + AGENT_RESTART

    def switch_mode(self, nav_state: int) -> None:
        """A person or a ground station changes the mode."""
        self.intend(nav_state)

    def force_failsafe(self, nav_state: int) -> None:
        """A failsafe other than the signal's chooses the mode."""
        self.failsafe = True
        self._forced = nav_state
        self.set_mode(nav_state)

    _forced: int | None = None

    def lose(self, what: str) -> None:
        """One of LOSSES is lost from now on."""
        self._losses.lose(what, self.now)
        if what == "charge":
            self.charge, self.battery_warning = 0.06, 2

    def has_noticed(self, what: str) -> bool:
        """Returns whether one of LOSSES shows."""
        return self._losses.has_noticed(what, self.now)

    @property
    def linked(self) -> bool:
        """True while the agent passes messages."""
        return self.now >= self.agent_back

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
        self.setpoint, self.setpoint_at = message, self.now

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
        self._replies.append(("RegisterExtComponentReply", registration_reply(self, message, taken)))

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
            fly(self)
            self.estimator.advance()

    def _obey_commands(self) -> None:
        due = [message for at, message in self._inbox if at <= self.now]
        self._inbox = [(at, message) for at, message in self._inbox if at > self.now]
        for message in due:
            self._acks.append(acknowledgement(self, message, self._command(message)))

    def _command(self, message: Any) -> int:
        code = int(message.command)
        if code == 400:
            return self.arm() if message.param1 > 0.5 else self.disarm()
        if code == 176:
            return self._mode(int(message.param2), int(message.param3))
        if code in (20, 21):
            return self.intend(RTL if code == 20 else LAND)
        if code == 22:
            self.take_off_to = float(message.param7) - self.reference.altitude
            place = float(message.param5), float(message.param6)
            given = all(map(math.isfinite, place))
            self.take_off_over = self.reference.to_enu(*place, float(message.param7))[:2] if given else None
            return self.intend(TAKE_OFF)
        if code == 100001:
            return self.intend(EXTERNAL) if message.param1 == EXTERNAL and self.external else REJECTED
        if code == 192:
            return self.intend(HOLD)  # to where it is, as a ground station pauses it
        if code == 185:
            self.set_mode(TERMINATION)
            return OK
        return UNSUPPORTED

    def _mode(self, main: int, sub: int) -> int:
        if main == MAIN_OFFBOARD:
            if not self.signal or self.now - self._signal_since <= SIGNAL_PROOF:
                return REJECTED
            return self.intend(OFFBOARD)
        if main == MAIN_AUTO and sub in SUB_MODES:
            if sub == 2:
                self.take_off_to, self.take_off_over = float(self.body.position[2]) + 2.5, None
            return self.intend(SUB_MODES[sub])
        return DENIED

    def intend(self, nav_state: int) -> int:
        """A mode is asked for; returns the result of a command."""
        if not self.obeys:
            return OK
        if self.nav_state == TERMINATION:
            return REJECTED  # until it is started again
        if not self.valid and nav_state not in (LAND, DESCEND):
            return REJECTED  # these modes need a position
        # A mode that is asked for in a failsafe takes over from it: what was lost has no effect any more.
        if self.failsafe:
            self._losses.take_over(self.now)
        self.intention, self.failsafe, self._forced = nav_state, False, None
        self.set_mode(nav_state)
        return OK

    def set_mode(self, nav_state: int) -> None:
        """Flies in a mode from now on."""
        if nav_state != self.nav_state:
            self.nav_state = nav_state
            self.modes.append((self.now, nav_state))
            self.entered_in_flight += [self.now] if nav_state == OFFBOARD and self.armed else []
            self.changed = True
            self.hold_at = None

    def arm(self) -> int:
        """Arms, as far as its checks pass; returns the result of a command."""
        if self.armed:
            return OK
        if not self.preflight_ok or not self.valid or not self.landed or self.refuses_arming:
            return REJECTED
        self.armed, self.flown, self._armed_at = True, False, self.now
        self._flew_offboard = False
        self.home = self.body.position.copy()
        self.changed = True
        return OK

    def disarm(self) -> int:
        """Disarms on the ground; returns the result of a command."""
        if self.armed and not self.landed:
            return DENIED
        if self.nav_state == TERMINATION:
            return REJECTED  # armed for as long
        if self.armed:
            self.armed, self.changed = False, True
            if self._flew_offboard:
                # Back to what it flew before it landed; and the next heartbeat would keep it there.
                self.intention = OFFBOARD
                self.set_mode(OFFBOARD)
        return OK

    def _judge(self) -> None:
        """Failsafe of the offboard signal, and what follows when it comes back; and those of what is lost."""
        self._judge_losses()
        if self.intention == OFFBOARD and self.armed and self._forced is None:
            if not self.signal and self.nav_state == OFFBOARD:
                self.failsafe = True
                self.set_mode(self.on_loss)
            elif self.failsafe and self.signal and self.now - self._returned >= REENTRY - TICK:
                self.failsafe = False
                self.set_mode(OFFBOARD)
        if self.intention == EXTERNAL and self.armed and self._forced is None:
            if not self.external and self.nav_state == EXTERNAL:
                self.failsafe = True
                self.set_mode(RTL)  # on_loss is of offboard alone
            elif self.failsafe and self.external:  # assumed as of offboard: it goes back by itself
                self.failsafe = False
                self.set_mode(EXTERNAL)
        if self.now - self._check_last >= CHECK_PERIOD:
            self._check_last, self._checks = self.now, self._checks + 1
            self._replies.append(("ArmingCheckRequest", arming_check(self, self._checks, bool(self.external_name))))
        if self.nav_state == OFFBOARD and self.armed and not self.landed:
            self._flew_offboard = True
        if self.armed and self.landed:
            limit = AUTO_DISARM if self.flown else AUTO_DISARM_UNFLOWN
            if self.now - max(self.touched_at, self._armed_at) >= limit:
                self.disarm()

    def _judge_losses(self) -> None:
        """Hold at first, then the failsafe's own mode. It acts on an armed vehicle alone."""
        self.dead_reckoning = self.dead_reckoning or self.has_noticed("satellites")
        for what, wanted in self._losses.acting(self.now) if self.armed else ():
            self.valid = self.valid and what != "satellites"
            if what == "fence" and self.intention == OFFBOARD and not self.signal:
                wanted = self.on_loss  # the graver of two failsafes: nobody sends a signal for a mode that was left
            if self._forced != wanted:
                self.force_failsafe(wanted)

    # -- what it says ---------------------------------------------------------------------------

    def speak(self) -> Iterator[tuple[str, SimpleNamespace]]:
        """Messages due by now: name and fields."""
        acks, self._acks = self._acks, []
        replies, self._replies = self._replies, []
        changed, self.changed = self.changed, False
        if not self.linked:
            return
        for ack in acks:
            yield "VehicleCommandAck", ack
        yield from replies
        for name, period in PERIODS.items():
            on_change = changed and name in ("VehicleStatus", "VehicleLandDetected", "FailsafeFlags")
            silent = {"TimesyncStatus": self.clock_offset is None, "HomePosition": self.home is None}
            if silent.get(name) or name in self.mutes:
                continue
            if on_change or self.now - self._last.get(name, -math.inf) >= period - 1e-6:
                self._last[name] = self.now
                yield name, MESSAGES[name](self)

    def microseconds(self) -> int:
        """Returns its clock, as its messages are stamped."""
        return round((self.now + (self.clock_offset or 0.0)) * 1e6)
