"""When the autopilot is streamed to and what it is asked: the rules between this graph and PX4's modes.

PX4 leaves offboard one second after the heartbeat stops, returns to it by itself when the heartbeat comes back,
flies the last velocity for ever while the heartbeat goes on, and takes set-points in any mode. Hence:

- the heartbeat lives as long as safe commands are fresh, and not a step longer;
- set-points are sent only in offboard and in the short window before it is asked for;
- what has left offboard, for whatever reason, comes back only when somebody asks (MISSION, ARM), and then through
  hold first. The autopilot's wish to be in offboard is taken from it as soon as it shows;
- an answer to a command proves nothing; the status does. Best-effort commands are repeated until it does;
- a failsafe, a person's mode switch and a ground station are not fought.

With an ExternalMode a mode of our own takes offboard's place; what keeps it alive are its answers, not heartbeats.

Pure: messages and times (s, steady clock) in, what to send out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from esar_ros.bridges.px4_commands import (
    ARM,
    DISARM,
    MODE_HOLD,
    MODE_LAND,
    MODE_OFFBOARD,
    MODE_RETURN,
    TERMINATE,
    Command,
    End,
    Manoeuvre,
    Outcome,
    result_name,
    set_nav_state,
)
from esar_ros.bridges.px4_external import CheckAnswer, ExternalMode, Registration
from esar_ros.bridges.px4_frames import VelocitySetpoint, velocity_setpoint
from esar_ros.bridges.px4_state import (
    HOLD,
    LAND,
    OFFBOARD,
    RETURN,
    TAKE_OFF,
    TERMINATION,
    Px4State,
    mode_name,
)
from esar_ros.geometry.frames import Vector
from esar_ros.safety.codes import Mode


@dataclass(frozen=True)
class Timing:
    """s, on the caller's steady clock."""

    heartbeat: float = 0.05  # between two; PX4 wants 2 Hz or more
    fresh: float = 0.2  # a safe command older than this is not obeyed
    stream: float = 1.2  # heartbeats before offboard is asked for; PX4 wants more than 1
    window: float = 0.3  # set-points before it
    again: float = 0.4  # until a command without an effect is repeated
    patience: float = 3.0  # until a mode that does not come counts as failed
    climb: float = 30.0  # until a take-off must be over
    landing: float = 90.0  # until the ground must be reached


@dataclass(frozen=True)
class Output:
    """What to send in this step."""

    heartbeat: bool = False
    setpoint: VelocitySetpoint | None = None
    commands: tuple[Command, ...] = ()
    registration: Registration | None = None  # of an external mode
    answer: CheckAnswer | None = None
    control: int | None = None  # external mode that now takes velocities


Script = Generator[None, None, Outcome]


@dataclass
class _Sending:
    """What the present step sends."""

    setpoint: VelocitySetpoint | None = None
    commands: list[Command] = field(default_factory=list)


class Offboard:
    """Modes of one autopilot."""

    def __init__(self, state: Px4State, timing: Timing | None = None, external: ExternalMode | None = None) -> None:
        self.state = state
        self.external = external
        self.timing = timing or Timing()
        self.mode = Mode.UNKNOWN  # of the governor
        self.left_because = "nobody has asked for offboard"
        self.engaged = False  # in offboard by this bridge's doing
        self._streaming = False
        self._now = -math.inf
        self._late = False
        self._command: tuple[VelocitySetpoint, float] | None = None  # and when it came
        self._last_beat = -math.inf
        self._last_setpoint = -math.inf
        self._last_reset = -math.inf
        self._last_control = -math.inf
        self._last_termination = -math.inf
        self._acks: dict[int, int] = {}
        self._script: Script | None = None
        self._running: Manoeuvre | None = None
        self._outcomes: dict[Manoeuvre, Outcome] = {}
        self._send = _Sending()
        self.stage = ""

    # -- in -------------------------------------------------------------------------------------

    def obey(self, velocity: Vector, yaw_rate: float, now: float) -> None:
        """A safe command has come (m/s ENU, rad/s). One that is not finite counts as none."""
        try:
            self._command = (velocity_setpoint(velocity, yaw_rate), now)
        except ValueError:
            self._command = None

    def hear_ack(self, ack: Any) -> None:
        """An answer to a command; kept only to say in an error what the autopilot said."""
        self._acks[int(ack.command)] = int(ack.result)

    def ask(self, manoeuvre: Manoeuvre, now: float, height: float = 0.0) -> Outcome | None:
        """Begin a manoeuvre; the refusal when it cannot. The same one goes on, another is replaced.

        height: m above the vehicle, of TAKE_OFF.
        """
        self._now = now
        if self._running is manoeuvre is not Manoeuvre.TAKE_OFF:
            return None
        refusal = self._refusal(manoeuvre, height)
        if refusal is not None:
            return refusal
        if self._running is not None:
            down = self._running is Manoeuvre.LAND and self.state.landed
            replaced = Outcome(End.REPLACED, f"{manoeuvre.name} was asked for")
            self._outcomes[self._running] = Outcome(End.DONE) if down else replaced
        scripts: dict[Manoeuvre, Callable[[], Script]] = {
            Manoeuvre.ARM: self._arm,
            Manoeuvre.DISARM: self._disarm,
            Manoeuvre.MISSION: self._mission,
            Manoeuvre.HOLD: lambda: self._go(MODE_HOLD, HOLD),
            Manoeuvre.RETURN: lambda: self._go(MODE_RETURN, RETURN),
            Manoeuvre.LAND: self._land,
            Manoeuvre.TAKE_OFF: lambda: self._take_off(height),
        }
        self._outcomes.pop(manoeuvre, None)
        self._script, self._running = scripts[manoeuvre](), manoeuvre
        return None

    def outcome(self, manoeuvre: Manoeuvre) -> Outcome | None:
        """How the manoeuvre asked for last ended, once; None while it is under way."""
        return self._outcomes.pop(manoeuvre, None)

    @property
    def running(self) -> Manoeuvre | None:
        """The manoeuvre under way."""
        return self._running

    # -- out ------------------------------------------------------------------------------------

    def step(self, now: float) -> Output:
        """What to send now; call at 50 Hz or more."""
        # A step after a pause of this process comes before the messages that waited for it: judge at the next.
        self._late = now - self._now > 0.5 * self.timing.fresh and not self._late
        self._now = now
        self._send = _Sending()
        self._advance()
        self._watch()
        self._guard()
        registration, answer = None, None
        if self.external is not None and not self._late:
            able = self.is_commanded() and self.mode < Mode.TERMINATE
            registration, answer = self.external.step(now, self.state.is_linked(now), able)
        beats = (
            self.external is None
            and self._streaming
            and not self._late
            and now - self._last_beat >= self.timing.heartbeat - 1e-6
        )
        if beats:
            self._last_beat = now
        control = None
        if self._send.setpoint is not None and now - self._last_control >= self.timing.again:
            self._last_control, control = now, self._external_state
        return Output(beats, self._send.setpoint, tuple(self._send.commands), registration, answer, control)

    @property
    def _external_state(self) -> int | None:
        return None if self.external is None else self.external.nav_state

    @property
    def own_state(self) -> int:
        """The mode in which the autopilot flies safe commands; -2, which none is, while it is not registered."""
        if self.external is None:
            return OFFBOARD
        return -2 if self._external_state is None else self._external_state

    def is_commanded(self) -> bool:
        """Whether a safe command is fresh."""
        return self._command is not None and self._now - self._command[1] <= self.timing.fresh

    def _watch(self) -> None:
        """While engaged: go on, or leave."""
        if not self.engaged or self._late:
            return
        state = self.state
        if not state.is_linked(self._now):
            self._leave("the autopilot is silent")
        elif not state.armed:
            self._leave("it has disarmed")
        elif state.nav_state != self.own_state:
            why = "failsafe" if state.failsafe else "its mode was changed"
            self._leave(f"{why}: {mode_name(state.nav_state)}")
        elif not self.is_commanded():
            self._leave("no fresh safe command")
            self._send.setpoint = velocity_setpoint(np.zeros(3), 0.0)  # the last one would be flown on
            self._reset_mode()
        else:
            assert self._command is not None
            self._send.setpoint = self._command[0]

    def _leave(self, why: str) -> None:
        self.engaged = self._streaming = False
        self.left_because = why

    def _guard(self) -> None:
        """An autopilot that wants offboard while nobody streams to it would go there at the first heartbeat."""
        if self._streaming or not self.state.is_linked(self._now):
            return
        if self.mode >= Mode.TERMINATE:
            due = self._now - self._last_termination >= self.timing.again
            if due and self.state.armed and self.state.nav_state != TERMINATION:
                self._last_termination = self._now
                self._send.commands.append(TERMINATE)
            return
        own = self.own_state
        wants = self.state.nav_state == own or (not self.state.armed and self.state.intention == own)
        if wants and self._running is None:
            self._reset_mode()

    def _reset_mode(self) -> None:
        if self._now - self._last_reset >= self.timing.again:
            self._last_reset = self._now
            self._send.commands.append(MODE_HOLD)

    def _advance(self) -> None:
        if self.mode >= Mode.TERMINATE and (self.engaged or self._script is not None):
            if self._running is not None:
                self._outcomes[self._running] = Outcome(End.FAILED, "the governor has terminated")
            self._script = self._running = None
            self._leave("the governor has terminated")
        if self._script is None or self._running is None:
            return
        try:
            next(self._script)
        except StopIteration as end:
            self._outcomes[self._running] = end.value
            self._script = self._running = None
            if not self.engaged:
                self._streaming = False

    # -- manoeuvres -----------------------------------------------------------------------------

    def _refusal(self, manoeuvre: Manoeuvre, height: float) -> Outcome | None:
        state, refused = self.state, End.REFUSED
        if self.mode >= Mode.TERMINATE:
            return Outcome(refused, "the governor has terminated", "safety")
        if not state.is_linked(self._now):
            return Outcome(refused, "the autopilot is silent", "not ready")
        if manoeuvre is Manoeuvre.ARM:
            if self.mode >= Mode.RETURN:
                return Outcome(refused, "the governor is in return or worse", "safety")
            reasons = state.reasons_against_arming(self._now)
            if not self.is_commanded():
                reasons.append("no fresh safe command from the governor")
            return Outcome(refused, "; ".join(reasons), "not ready") if reasons else None
        if manoeuvre is Manoeuvre.DISARM:
            return None if state.landed else Outcome(refused, "it is in the air", "flying")
        if not state.armed:
            return Outcome(refused, "it is not armed", "not ready")
        if manoeuvre is Manoeuvre.LAND and state.landed:
            return Outcome(refused, "it is on the ground", "on ground")
        if manoeuvre is Manoeuvre.TAKE_OFF and not (0.0 < height < math.inf):
            return Outcome(refused, f"height {height} m", "not ready")
        if manoeuvre is Manoeuvre.TAKE_OFF and not state.landed:
            return Outcome(refused, "it is in the air", "flying")
        if manoeuvre in (Manoeuvre.MISSION, Manoeuvre.TAKE_OFF) and state.failsafe:
            return Outcome(refused, f"it is in failsafe ({mode_name(state.nav_state)})", "not ready")
        if manoeuvre is Manoeuvre.MISSION and not self.is_commanded():
            return Outcome(refused, "no fresh safe command from the governor", "not ready")
        return None

    def _until(self, command: Command, done: Callable[[], bool], patience: float) -> Generator[None, None, bool]:
        """Repeat a command until its effect shows, or does not in time."""
        self._acks.pop(command.command, None)
        limit, sent = self._now + patience, -math.inf
        while not done():
            if self._now > limit:
                return False
            if self._now - sent >= self.timing.again:
                sent = self._now
                self._send.commands.append(command)
            yield
        return True

    def _failed(self, what: str, command: Command) -> Outcome:
        result = self._acks.get(command.command)
        said = "it did not answer" if result is None else f"its answer was {result_name(result)}"
        return Outcome(End.FAILED, f"{what}: {said}, its mode is {mode_name(self.state.nav_state)}")

    def _at(self, nav_state: int) -> Callable[[], bool]:
        return lambda: self.state.nav_state == nav_state and self.state.intention == nav_state

    def _go(self, command: Command, nav_state: int) -> Script:
        """Out of offboard into one of the autopilot's own modes."""
        self._leave(f"{mode_name(nav_state)} was asked for")
        if (yield from self._until(command, self._at(nav_state), self.timing.patience)):
            return Outcome(End.DONE)
        return self._failed(f"it did not go to {mode_name(nav_state)}", command)

    def _arm(self) -> Script:
        """Hold, arm, and only then stream and go to offboard: an armed vehicle must not be there by itself."""
        if self.engaged:
            return Outcome(End.DONE)
        held = yield from self._go(MODE_HOLD, HOLD)
        if held.end is not End.DONE:
            return held
        self.stage = "arming"
        if not (yield from self._until(ARM, lambda: self.state.armed, self.timing.patience)):
            return self._failed("it did not arm", ARM)
        engaged = yield from self._mission()
        if engaged.end is not End.DONE and self.state.landed:
            yield from self._until(DISARM, lambda: not self.state.armed, self.timing.patience)
        return engaged

    def _disarm(self) -> Script:
        self._leave("disarming was asked for")
        if not (yield from self._until(DISARM, lambda: not self.state.armed, self.timing.patience)):
            return self._failed("it did not disarm", DISARM)
        return Outcome(End.DONE)

    def _mission(self) -> Script:
        """Through hold into offboard, with heartbeats for longer than PX4 wants before it is asked."""
        if self.engaged:
            return Outcome(End.DONE)
        held = yield from self._go(MODE_HOLD, HOLD)
        if held.end is not End.DONE:
            return held
        if self.external is not None and self.external.nav_state is None:
            return Outcome(End.FAILED, self.external.complaint)
        command = MODE_OFFBOARD if self.external is None else set_nav_state(self.own_state)
        self.stage = "streaming"
        self._streaming = True
        begun = self._now
        stream = self.timing.stream if self.external is None else self.timing.window  # only offboard wants a proof
        while self._now - begun < stream:
            if not self._may_stream():
                return Outcome(End.FAILED, self.left_because)
            if self._now - begun >= stream - self.timing.window:
                self._send.setpoint = velocity_setpoint(np.zeros(3), 0.0)
            yield
        self.stage = f"asking for {mode_name(self.own_state)}"
        asking = self._until(command, self._at(self.own_state), self.timing.patience)
        while True:
            try:
                next(asking)
            except StopIteration as end:
                if not end.value:
                    name = mode_name(self.own_state)
                    self._leave(f"{name} was not granted")
                    self._send.commands.append(MODE_HOLD)  # should it be granted late
                    return self._failed(f"it did not go to {name}", command)
                break
            if not self._may_stream():
                # Offboard may have been granted meanwhile: the guard takes it back.
                self._send.commands.clear()
                return Outcome(End.FAILED, self.left_because)
            self._send.setpoint = velocity_setpoint(np.zeros(3), 0.0)
            yield
        self.engaged = True
        self.left_because = ""
        return Outcome(End.DONE)

    def _may_stream(self) -> bool:
        """Whether what a heartbeat states is still true; streaming ends otherwise."""
        if self._late:
            return True
        for wrong, why in (
            (not self.state.is_linked(self._now), "the autopilot is silent"),
            (not self.is_commanded(), "no fresh safe command"),
            (not self.state.armed, "it has disarmed"),
            (self.state.failsafe, "failsafe"),
            (self.state.nav_state not in (HOLD, self.own_state), "its mode was changed"),
        ):
            if wrong:
                self._leave(why)
                return False
        return True

    def _take_off(self, height: float) -> Script:
        """The autopilot's own take-off; done when it stands in hold near the height."""
        self._leave("take-off was asked for")
        local = self.state.newest("VehicleLocalPosition")
        start = -float(local.z)
        command = Command(22, param7=float(local.ref_alt) + start + height)
        if not (yield from self._until(command, lambda: self.state.nav_state == TAKE_OFF, self.timing.patience)):
            return self._failed("it did not take off", command)
        limit = self._now + self.timing.climb
        while self._now < limit and self.state.armed and self.state.nav_state == TAKE_OFF:
            risen = -float(self.state.newest("VehicleLocalPosition").z) - start
            self.stage = f"{risen:.1f} of {height:.1f} m"
            yield
        risen = -float(self.state.newest("VehicleLocalPosition").z) - start
        if self.state.armed and not self.state.landed and risen >= height - max(1.0, 0.1 * height):
            return Outcome(End.DONE)
        return Outcome(
            End.FAILED, f"it rose {risen:.1f} of {height:.1f} m, its mode is {mode_name(self.state.nav_state)}"
        )

    def _land(self) -> Script:
        """Down and disarmed, and then out of the mode to which PX4 would go back."""
        going = yield from self._go(MODE_LAND, LAND)
        if going.end is not End.DONE:
            return going
        limit = self._now + self.timing.landing
        while self.state.armed or not self.state.landed:
            if self._now > limit:
                return Outcome(End.FAILED, "it did not come down in time")
            if self.state.armed and self.state.nav_state != LAND and not self.state.landed:
                return Outcome(End.FAILED, f"its mode was changed: {mode_name(self.state.nav_state)}")
            self.stage = f"{-float(self.state.newest('VehicleLocalPosition').z):.1f} m above its origin"
            yield
        return Outcome(End.DONE)
