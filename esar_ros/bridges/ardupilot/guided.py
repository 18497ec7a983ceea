"""The rules of bridges/px4 for ArduPilot's GUIDED mode, where the two autopilots differ.

By ArduPilot's source and documentation ("Copter Commands in Guided Mode"):

- GUIDED stands when it is entered, and when no velocity has come for GUID_TIMEOUT (3 s); it never leaves by itself. So
  there is no heartbeat, and nothing to prove before it is asked for;
- it obeys velocities in GUIDED alone, and not on the ground: NAV_TAKEOFF lifts it off;
- it is armed over MAVLink in GUIDED, and not in BRAKE, the mode that this bridge holds in;
- a velocity of zero in GUIDED stops it in less way than BRAKE does (measured: 3.0 against 5.6 m from 3 m/s). So it is
  stopped first, and then taken to BRAKE;
- a ground station uses GUIDED, too ("fly here"). A vehicle that this bridge has not brought there is left in it.

Pure: takes messages and times (s, steady clock), returns what to send.
"""

from __future__ import annotations

import math
from typing import Final

from esar_ros.bridges.ardupilot.state import ArdupilotState
from esar_ros.bridges.px4.commands import MODE_HOLD, MODE_OFFBOARD, Command, End, Manoeuvre, Outcome
from esar_ros.bridges.px4.offboard import LIFT, Offboard, Script
from esar_ros.bridges.px4.state import HOLD, OFFBOARD, mode_name
from esar_ros.bridges.px4.stream import Output, Stream, Timing
from esar_ros.mission.modes import Mode
from esar_ros.safety.limits import STANDING

NAV_TAKEOFF: Final = 22
_ACCEPTED: Final = 0  # MAV_RESULT
STOPPING: Final = 5.0  # s until it is taken to BRAKE though it moves
GUID_TIMEOUT: Final = 3.0  # s without a velocity after which GUIDED stands by itself; ArduPilot's default
_SHORT: Final = 0.8  # share of its height at which a take-off counts, as ArduPilot's own end of it leaves some


class GuidedStream(Stream):
    """Set-points for one vehicle. It is commanded out of GUIDED only where this bridge has brought it there."""

    def __init__(self, state: ArdupilotState, timing: Timing | None = None) -> None:
        super().__init__(state, timing)
        self._abandoned = False  # in GUIDED, by this bridge, without its set-points
        self._held_at = -math.inf  # s, the last hold of the bridge's own

    def engage(self) -> None:
        """The vehicle is in GUIDED, asked by this bridge: safe commands are streamed."""
        super().engage()
        self._abandoned = False

    def end(self, idle: bool) -> Output:
        """Returns what to send in this step; without PX4's heartbeats, which ArduPilot does not know."""
        output = super().end(idle)
        return Output(setpoint=output.setpoint, commands=output.commands)

    def _hold(self, why: str) -> None:
        super()._hold(why)
        self._abandoned, self._held_at = True, self.now

    def _guard(self, idle: bool) -> None:
        if self.state.is_linked(self.now) and self.state.nav_state != OFFBOARD:
            self._abandoned = False
        if self.state.age("VehicleLocalPosition", self.now) > GUID_TIMEOUT:
            self._abandoned = False  # it stands by itself by now, or a ground station flies it
        if self._abandoned or self.mode >= Mode.TERMINATE:
            super()._guard(idle)

    def _reset_mode(self) -> None:
        local = self.state.newest("VehicleLocalPosition")
        moves = math.hypot(float(local.vx), float(local.vy), float(local.vz)) > STANDING
        if self._abandoned and moves and self.now - self._held_at <= STOPPING:
            self.stand()
        else:
            super()._reset_mode()


class Guided(Offboard):
    """Manoeuvres of one vehicle."""

    state: ArdupilotState

    def __init__(self, stream: GuidedStream) -> None:
        super().__init__(stream)

    def _refusal(self, manoeuvre: Manoeuvre, height: float) -> Outcome | None:
        refusal = super()._refusal(manoeuvre, height)
        rises = manoeuvre in (Manoeuvre.MISSION, Manoeuvre.TAKE_OFF) and self.state.landed
        if refusal is None and rises and not math.isfinite(self.state.above_home):
            return Outcome(End.REFUSED, "its home is not known", "not ready")
        return refusal

    def _failed(self, what: str, command: Command) -> Outcome:
        outcome, said = super()._failed(what, command), self.state.said(self.stream.now)
        return Outcome(outcome.end, f"{outcome.text}; it says: {said}") if said else outcome

    def _go(self, command: Command, nav_state: int) -> Script:
        outcome = yield from super()._go(command, nav_state)
        if nav_state == HOLD and outcome.end is End.DONE and not self._by_itself:
            self.state.acknowledge_failsafe()
        return outcome

    def _stand_to_arm(self) -> Script:
        """Into GUIDED, where nothing moves it: it is armed and lifted there, and only then streamed to."""
        self.stream.leave("arming was asked for", is_asked_for=True)
        return (yield from self._into_guided())

    def _into_guided(self) -> Script:
        untaken = self._untaken(OFFBOARD)
        if (yield from self._until(MODE_OFFBOARD, self._at(OFFBOARD), self.timing.patience, untaken)):
            return Outcome(End.DONE)
        return self._failed(f"it did not go to {mode_name(OFFBOARD)}", MODE_OFFBOARD)

    def _mission(self) -> Script:
        """From the ground through a take-off, then as in the air: through hold into GUIDED."""
        if not self.stream.engaged and self.state.landed:
            risen = yield from self._take_off(LIFT)
            if risen.end is not End.DONE:
                return risen
        return (yield from super()._mission())

    def _take_off(self, height: float) -> Script:
        """ArduPilot's own take-off, in GUIDED; done when it stands in hold near the height."""
        self.stream.leave("take-off was asked for", is_asked_for=True)
        guided = yield from self._into_guided()
        if guided.end is not End.DONE:
            return guided
        start = self.state.above_home
        command = Command(NAV_TAKEOFF, param7=start + height)
        # Every further one would begin it anew, and the motors take seconds to lift: the answer ends the asking.
        stays = self._at(OFFBOARD)  # in a mode that a person has taken it would be obeyed, too
        if not (yield from self._until(command, self._is_granted, self.timing.patience, stays)):
            return self._failed("it did not take off", command)
        limit, risen = self.stream.now + self.timing.climb, 0.0
        while self.stream.now < limit and self.state.armed and self.state.nav_state == OFFBOARD:
            risen = self.state.above_home - start
            self.stage = f"{risen:.1f} of {height:.1f} m"
            if not self.state.landed and not self.state.taking_off and risen >= _SHORT * height:
                return (yield from self._go(MODE_HOLD, HOLD))
            yield
        failed = self._failed(f"it rose {risen:.1f} of {height:.1f} m", command)
        if self.state.armed and not self.state.landed and self.state.nav_state == OFFBOARD:
            yield from self._go(MODE_HOLD, HOLD)  # it would go on by itself
        return failed

    def _is_granted(self) -> bool:
        return not self.state.landed or self._acks.get(NAV_TAKEOFF) == _ACCEPTED
