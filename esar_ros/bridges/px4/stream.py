"""Streaming that keeps the autopilot in the mode that flies safe commands, and the conditions that end it.

PX4 leaves offboard one second after the heartbeat stops, returns to it by itself when the heartbeat comes back, flies
the last velocity for ever while the heartbeat goes on, and takes set-points in any mode. Hence:

- the heartbeat goes on as long as safe commands are fresh, and not a step longer;
- set-points are sent only in offboard and in the short window before it is asked for;
- once offboard is left, it is entered again only on request, or from a hold that this bridge asked for itself
  (comeback.py). An autopilot that intends to return to offboard is commanded out of it at once;
- a failsafe, a person's mode switch and a ground station are not overridden.

With an ExternalMode a mode of our own takes offboard's place; it is kept alive by its answers, not by heartbeats.

Pure: takes messages and times (s, steady clock), returns what to send.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.bridges.px4.comeback import Comeback
from esar_ros.bridges.px4.commands import MODE_HOLD, MODE_OFFBOARD, TERMINATE, Command, mode_of, set_nav_state
from esar_ros.bridges.px4.external import CheckAnswer, ExternalMode, Registration
from esar_ros.bridges.px4.frames import VelocitySetpoint, velocity_setpoint
from esar_ros.bridges.px4.state import HOLD, OFFBOARD, TERMINATED, TERMINATION, Px4State, mode_name
from esar_ros.geometry.frames import Vector
from esar_ros.mission.modes import Mode

SIGNAL_LOST = 1.0  # s without a heartbeat, after which PX4 leaves offboard by itself
_UNREGISTERED = -2  # no mode of the autopilot


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
    steady: float = 2.0  # of sound safe commands before it comes back from a hold of its own
    within: float = 60.0  # in such a hold until only a person may end it
    comebacks: int = 3  # in ten minutes; after these only a person may end such a hold
    stand: float = 0.3  # on the ground until the motors stop, sooner than PX4's own COM_DISARM_LAND


@dataclass(frozen=True)
class Output:
    """Messages to send in this step."""

    heartbeat: bool = False
    setpoint: VelocitySetpoint | None = None
    commands: tuple[Command, ...] = ()
    registration: Registration | None = None  # of an external mode
    answer: CheckAnswer | None = None
    control: int | None = None  # external mode that now takes velocities


class Stream:
    """Heartbeats and set-points for one autopilot. A step is `begin`, whatever is asked of it, and `end`."""

    def __init__(self, state: Px4State, timing: Timing | None = None, external: ExternalMode | None = None) -> None:
        self.state = state
        self.external = external
        self._fallen_back = False  # to offboard, from an external mode
        self.timing = timing or Timing()
        self.now = -math.inf  # s, of the present step
        self.mode = Mode.UNKNOWN  # of the governor
        self.height: float | None = None  # m above the surface below, as the governor told; None: not seen
        self.text = ""  # why the governor changes what is commanded, in words
        self.left_because = "nobody has asked for offboard"
        self._is_asked_for = False  # whether that was for a manoeuvre that somebody asked for
        self.engaged = False  # in the own mode by this bridge's doing
        self.streaming = False  # signs of life are sent
        self.comeback = Comeback()
        self._late = False
        self._has_held = False  # has reached the hold of its own
        self._command: tuple[VelocitySetpoint, float] | None = None  # and when it came
        self._setpoint: VelocitySetpoint | None = None  # of the present step
        self._commands: list[Command] = []  # of the present step
        self._asked: dict[int, float] = {}  # modes, and when each was commanded last, s
        self._last_beat = -math.inf
        self._last_reset = -math.inf
        self._last_control = -math.inf
        self._last_termination = -math.inf

    def obey(self, velocity: Vector, yaw_rate: float, now: float) -> None:
        """A safe command has come (m/s ENU, rad/s). One that is not finite counts as none."""
        try:
            self._command = (velocity_setpoint(velocity, yaw_rate), now)
        except ValueError:
            self._command = None

    def is_commanded(self) -> bool:
        """Returns whether a safe command is fresh."""
        return self._command is not None and self.now - self._command[1] <= self.timing.fresh

    @property
    def flown(self) -> ExternalMode | None:
        """The external mode in which safe commands are flown; None for offboard."""
        return None if self._fallen_back else self.external

    def choose(self) -> None:
        """Fly in the external mode, or in offboard where a vehicle in the air does not register it."""
        external = self.external
        self._fallen_back = (
            external is not None and external.nav_state is None and external.refused and not self.state.landed
        )

    @property
    def own_state(self) -> int:
        """The mode in which the autopilot flies safe commands; none of its modes while that is not registered."""
        if self.flown is None:
            return OFFBOARD
        return _UNREGISTERED if self.flown.nav_state is None else self.flown.nav_state

    @property
    def request(self) -> Command:
        """The command that requests that mode."""
        return MODE_OFFBOARD if self.flown is None else set_nav_state(self.own_state)

    @property
    def proof(self) -> float:
        """s of signs of life before it is asked for; only offboard wants more than the set-points' window."""
        return self.timing.stream if self.flown is None else self.timing.window

    # -- a step ---------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Nothing is sent yet."""
        # A step after a pause of this process comes before the messages that waited for it: judge at the next.
        self._late = now - self.now > 0.5 * self.timing.fresh and not self._late
        self.now = now
        self._setpoint, self._commands = None, []

    def command(self, command: Command) -> None:
        """Send a command in this step."""
        self._commands.append(command)
        mode = mode_of(command)
        if mode is not None:
            self._asked[mode] = self.now

    def asked(self) -> set[int]:
        """Returns the modes that were commanded a moment ago: the status may show them yet."""
        return {mode for mode, at in self._asked.items() if self.now - at <= self.timing.patience}

    def stand(self) -> None:
        """Send a set-point of zero in this step."""
        self._setpoint = velocity_setpoint(np.zeros(3), 0.0)

    def start(self) -> None:
        """From now on signs of life are sent, while `may_stream` says that they are true."""
        self.streaming = True

    def engage(self) -> None:
        """The autopilot is in the own mode, asked by this bridge: safe commands are streamed."""
        self.engaged, self.left_because = True, ""
        self.comeback.forget()

    def stop_unless_engaged(self) -> None:
        """Ends streaming unless the mode is engaged; called when the manoeuvre that began it has ended."""
        self.streaming = self.streaming and self.engaged

    def leave(self, why: str, is_asked_for: bool = False) -> None:
        """No more signs of life, for this reason. is_asked_for: another manoeuvre is under way instead."""
        self.engaged = self.streaming = False
        self.left_because, self._is_asked_for = why, is_asked_for
        self.comeback.forget()

    def _hold(self, why: str) -> None:
        """No more signs of life, until it may come back by itself: nobody but this bridge has ended them."""
        self.leave(why)
        self._has_held = False
        self.comeback.hold(self.now)

    def may_come_back(self) -> bool:
        """Returns whether the own mode may be asked for without anybody's request."""
        state = self.state
        in_hold = state.nav_state == HOLD and state.intention == HOLD and not state.landed
        return in_hold and self.comeback.is_due(self.now, self.timing.steady)

    @property
    def advice(self) -> str:
        """The reason for which safe commands are not obeyed in the air, and what ends it; empty: they are."""
        why = self.left_because
        if self.engaged or self.state.terminated:
            return TERMINATED if self.state.terminated else ""
        if self.comeback.is_open:
            return f"{why}: it comes back by itself once safe commands are sound for {self.timing.steady:.0f} s"
        if not self.state.armed or self._is_asked_for:
            return why
        if self.state.failsafe:
            words = self.state.failsafe_words
            return f"{words}: a person may ask for hold, which ends the failsafe, and then for mission"
        return f"{why}: a person must ask for mission"

    def may_stream(self) -> bool:
        """Returns whether the conditions of streaming still hold; streaming ends otherwise."""
        if self._late:
            return True
        for wrong, why in (
            (not self.state.is_linked(self.now), "the autopilot is silent"),
            (not self.is_commanded(), "no fresh safe command"),
            (not self.state.armed, "it has disarmed"),
            (self.state.failsafe, "failsafe"),
            (self.state.nav_state not in (HOLD, self.own_state), "its mode was changed"),
        ):
            if wrong:
                self.leave(why)
                return False
        return True

    def end(self, idle: bool) -> Output:
        """Returns what to send in this step. idle: no manoeuvre is under way."""
        self._watch()
        self._guard(idle)
        self._watch_hold()
        registration, answer = None, None
        if self.external is not None and not self._late:
            able = self.is_commanded() and self.mode < Mode.TERMINATE
            may_ask = self.state.is_linked(self.now) and not (self.external.refused and self.state.armed)
            registration, answer = self.external.step(self.now, may_ask, able)
        control = None
        if self.flown is not None and self._setpoint is not None and self._is_due(self._last_control):
            self._last_control, control = self.now, self.flown.nav_state
        return Output(self._beats(), self._setpoint, tuple(self._commands), registration, answer, control)

    def _beats(self) -> bool:
        """Returns whether a heartbeat of offboard is due, and counts it as sent."""
        if self.flown is not None or not self.streaming or self._late:
            return False
        if self.now - self._last_beat < self.timing.heartbeat - 1e-6:
            return False
        self._last_beat = self.now
        return True

    def _watch(self) -> None:
        """While engaged: go on, or leave."""
        if not self.engaged or self._late:
            return
        state = self.state
        if not state.is_linked(self.now):
            self._hold("the autopilot is silent")
        elif not state.armed:
            self.leave("it has disarmed")
        elif state.nav_state != self.own_state:
            why = "failsafe" if state.failsafe else "its mode was changed"
            self.leave(f"{why}: {mode_name(state.nav_state)}")
        elif not self.is_commanded():
            self._hold("no fresh safe command")
            self.stand()  # the last one would be flown on
            self._reset_mode()
        else:
            assert self._command is not None
            self._setpoint = self._command[0]

    def _watch_hold(self) -> None:
        """In a hold of its own: nobody else has taken the vehicle, and whether what failed is sound again."""
        state, linked = self.state, self.state.is_linked(self.now)
        sound = linked and self.is_commanded() and Mode.UNKNOWN < self.mode < Mode.TERMINATE
        self.comeback.watch(self.now, sound and self.mode is not Mode.HOLD)
        if not self.comeback.is_open:
            return
        if state.age("VehicleLocalPosition", self.now) > SIGNAL_LOST:
            # PX4 has answered it by now, and a hold of its failsafe may look like the bridge's own.
            self.leave(f"the autopilot was silent for more than {SIGNAL_LOST:.0f} s")
        elif not state.is_fresh("VehicleStatus", self.now):  # who has taken hold meanwhile is not seen
            self.leave("the autopilot's status was silent")
        if not linked:
            return
        self._has_held = self._has_held or state.nav_state == HOLD
        left = state.nav_state != HOLD and (self._has_held or state.nav_state != self.own_state)
        for wrong, why in (
            (not state.armed or state.landed, "it is on the ground"),
            (state.failsafe, f"failsafe: {mode_name(state.nav_state)}"),
            (left, f"its mode was changed: {mode_name(state.nav_state)}"),
            (self.mode >= Mode.TERMINATE, "the governor has terminated"),
            (self.comeback.is_late(self.now, self.timing.within), f"{self.left_because} for too long"),
            (self.comeback.is_used_up(self.now, self.timing.comebacks), f"{self.left_because}, too often"),
        ):
            if wrong:
                self.leave(why)
                return

    def _guard(self, idle: bool) -> None:
        """Commands an idle autopilot out of offboard, where it would fly at the first heartbeat; or to terminate."""
        if self.streaming:
            return
        if self.mode >= Mode.TERMINATE:  # also of one that is silent: the half of the link that still works may be this
            if self._is_due(self._last_termination) and self.state.armed and self.state.nav_state != TERMINATION:
                self._last_termination = self.now
                self.command(TERMINATE)
            return
        if not self.state.is_linked(self.now):
            return
        own = self.own_state
        wants = self.state.nav_state == own or (not self.state.armed and self.state.intention == own)
        if wants and idle:
            self._reset_mode()

    def _reset_mode(self) -> None:
        if self._is_due(self._last_reset):
            self._last_reset = self.now
            self.command(MODE_HOLD)

    def _is_due(self, last: float) -> bool:
        return self.now - last >= self.timing.again
