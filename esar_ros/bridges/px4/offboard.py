"""Manoeuvres of the autopilot, each a script over the steps that ends by the autopilot's status.

- Into offboard only on request (MISSION, ARM), or back from the bridge's own hold, and then through hold first;
- an answer to a command proves nothing; the status does. Best-effort commands are repeated until it does.

The set-points streamed meanwhile, and the end of the stream, follow the rules of stream.py.

Pure: takes messages and times (s, steady clock), returns what to send.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, Final

from esar_ros.bridges.px4.commands import (
    ACCEPTED,
    ARM,
    CHOOSING,
    DISARM,
    MODE_HOLD,
    MODE_LAND,
    MODE_RETURN,
    OWN_COMPONENT,
    OWN_SYSTEM,
    Command,
    End,
    Manoeuvre,
    Outcome,
    result_name,
    take_off,
)
from esar_ros.bridges.px4.state import HOLD, LAND, RETURN, TAKE_OFF, TERMINATED, mode_name
from esar_ros.bridges.px4.stream import Output, Stream, Timing
from esar_ros.mission.modes import Mode
from esar_ros.safety.limits import ON_GROUND, STANDING, TOUCH_DOWN_FROM

Script = Generator[None, None, Outcome]
_NOBODY: Final = (0, 0)  # asker of a firmware that does not tell it
LIFT: Final = 2.5  # m, of the take-off before an external mode: PX4 lifts off by set-points in offboard alone


class Offboard:
    """Manoeuvres of one autopilot."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.state = stream.state
        self.ceiling = math.inf  # m above the ground, of the brief
        self.stage = ""  # of the manoeuvre under way, for people
        self._acks: dict[int, int] = {}
        self._script: Script | None = None
        self._running: Manoeuvre | None = None
        self._by_itself = False  # whether nobody has asked for the manoeuvre under way
        self._outcomes: dict[Manoeuvre, Outcome] = {}
        self._has_flown = False

    def on_ack(self, ack: Any) -> None:
        """Takes in an answer to a command: to quote the autopilot in an error, and to see what others have commanded.

        Whoever commands a mode has the vehicle, also where it is in that mode already and its status does not change.
        """
        asker = int(ack.target_system), int(ack.target_component)
        if asker in ((OWN_SYSTEM, OWN_COMPONENT), _NOBODY):
            self._acks[int(ack.command)] = int(ack.result)
            return
        engages = self._running in (Manoeuvre.ARM, Manoeuvre.MISSION)
        if int(ack.command) in CHOOSING and int(ack.result) == ACCEPTED and (self.stream.comeback.is_open or engages):
            why = f"system {asker[0]} has commanded it (MAV_CMD {int(ack.command)})"
            if self._running is not None and engages:
                self._outcomes[self._running] = Outcome(End.FAILED, why)
                self._script = self._running = None
            self.stream.leave(why)

    def ask(self, manoeuvre: Manoeuvre, now: float, height: float = 0.0) -> Outcome | None:
        """Begin a manoeuvre; the refusal when it cannot. The same one goes on, another is replaced.

        height: m above the vehicle, of TAKE_OFF.
        """
        self.stream.now = now
        if self._running is manoeuvre is not Manoeuvre.TAKE_OFF:
            return None
        refusal = self._refusal(manoeuvre, height)
        if refusal is not None:
            return refusal
        if self._running is not None:
            down = self._running in (Manoeuvre.LAND, Manoeuvre.TOUCH_DOWN) and self.state.landed
            replaced = Outcome(End.REPLACED, f"{manoeuvre.name} was asked for")
            self._outcomes[self._running] = Outcome(End.DONE) if down else replaced
        scripts: dict[Manoeuvre, Callable[[], Script]] = {
            Manoeuvre.ARM: self._arm,
            Manoeuvre.DISARM: self._disarm,
            Manoeuvre.MISSION: self._mission,
            Manoeuvre.HOLD: lambda: self._go(MODE_HOLD, HOLD),
            Manoeuvre.RETURN: lambda: self._go(MODE_RETURN, RETURN),
            Manoeuvre.LAND: self._land,
            Manoeuvre.TOUCH_DOWN: self._touch_down,
            Manoeuvre.TAKE_OFF: lambda: self._take_off(height),
        }
        self._outcomes.pop(manoeuvre, None)
        self._script, self._running, self._by_itself = scripts[manoeuvre](), manoeuvre, False
        return None

    def call_off(self, manoeuvre: Manoeuvre) -> None:
        """End a manoeuvre that is under way where it is; safe commands go on being streamed if they are."""
        if self._running is manoeuvre:
            self._outcomes[manoeuvre] = Outcome(End.CALLED_OFF, "it was called off")
            self._script = self._running = None
            self.stream.stop_unless_engaged()

    def outcome(self, manoeuvre: Manoeuvre) -> Outcome | None:
        """Returns, once, the outcome of the manoeuvre requested last; None while it is under way."""
        return self._outcomes.pop(manoeuvre, None)

    @property
    def timing(self) -> Timing:
        """s; as the stream has it."""
        return self.stream.timing

    @property
    def running(self) -> Manoeuvre | None:
        """The manoeuvre under way."""
        return self._running

    @property
    def is_down_again(self) -> bool:
        """True where it has flown, as far as this process has seen, and is disarmed."""
        return self._has_flown and not self.state.armed

    def step(self, now: float) -> Output:
        """Returns what to send at now (s); call at 50 Hz or more."""
        self._has_flown = self._has_flown or (self.state.armed and not self.state.landed)
        self.stream.begin(now)
        self._come_back()
        self._advance()
        return self.stream.end(idle=self._running is None)

    def why_not_ready(self, now: float) -> str:
        """Returns why arming, in the air the mission, would be refused now; empty when it would begin, or flies."""
        self.stream.now = now
        if self.stream.engaged:
            return ""
        refusal = self._refusal(Manoeuvre.MISSION if self.state.armed else Manoeuvre.ARM, 0.0)
        return "" if refusal is None else refusal.text

    def _come_back(self) -> None:
        """Begins the mission again after a hold that nobody but this bridge asked for. It is tried once a hold."""
        if self._running is None and self.stream.may_come_back():
            self.stream.comeback.begin(self.stream.now)
            refusal = self.ask(Manoeuvre.MISSION, self.stream.now)
            self._by_itself = refusal is None
            if refusal is not None:
                self.stream.leave(f"it could not come back: {refusal.text}")

    def _advance(self) -> None:
        if self.stream.mode >= Mode.TERMINATE and (self.stream.engaged or self._script is not None):
            if self._running is not None:
                self._outcomes[self._running] = Outcome(End.FAILED, "the governor has terminated")
            self._script = self._running = None
            self.stream.leave("the governor has terminated")
        if self._script is None or self._running is None:
            return
        try:
            next(self._script)
        except StopIteration as end:
            self._outcomes[self._running] = end.value
            self._script = self._running = None
            self.stream.stop_unless_engaged()
            if self._by_itself and end.value.end is not End.DONE:
                self.stream.leave(f"it could not come back: {end.value.text}")

    # -- manoeuvres -----------------------------------------------------------------------------

    def _refusal(self, manoeuvre: Manoeuvre, height: float) -> Outcome | None:
        state, refused = self.state, End.REFUSED
        if self.stream.mode >= Mode.TERMINATE:
            return Outcome(refused, "the governor has terminated", "safety")
        # What ends a flight needs no position: an estimator that fails is when it is asked for.
        ends = manoeuvre in (Manoeuvre.HOLD, Manoeuvre.RETURN, Manoeuvre.LAND)
        if not (state.is_fresh("VehicleStatus", self.stream.now) if ends else state.is_linked(self.stream.now)):
            return Outcome(refused, "the autopilot is silent", "not ready")
        if state.terminated:
            return Outcome(refused, TERMINATED, "not ready")
        if manoeuvre is Manoeuvre.ARM and self.stream.engaged:
            return None
        if manoeuvre is Manoeuvre.ARM and state.armed and not state.landed:
            return Outcome(refused, f"it is armed and in the air; {self.stream.advice}", "flying")
        if manoeuvre is Manoeuvre.ARM:
            if self.stream.mode >= Mode.RETURN:
                return Outcome(refused, "the governor is in return or worse", "safety")
            reasons = state.reasons_against_arming(self.stream.now)
            if self.stream.external is not None and self.stream.external.complaint:
                reasons.append(self.stream.external.complaint)
            if not self.stream.is_commanded():
                reasons.append("no fresh safe command from the governor")
            return Outcome(refused, "; ".join(reasons), "not ready") if reasons else None
        if manoeuvre is Manoeuvre.DISARM:
            return None if self._is_down() else Outcome(refused, "it is in the air", "flying")
        if not state.armed:
            return Outcome(refused, "it is not armed", "not ready")
        if manoeuvre in (Manoeuvre.LAND, Manoeuvre.TOUCH_DOWN) and state.landed:
            return Outcome(refused, "it is on the ground", "on ground")
        if manoeuvre is Manoeuvre.TOUCH_DOWN and not self.stream.engaged:
            return Outcome(refused, f"it does not fly safe commands: {self.stream.left_because}", "not ready")
        seen = self.stream.height
        if manoeuvre is Manoeuvre.TOUCH_DOWN and (seen is None or not seen <= TOUCH_DOWN_FROM):
            where = "none is seen" if seen is None else f"it is {seen:.1f} m below"
            words = f"the ground must be seen within {TOUCH_DOWN_FROM:.0f} m: {where}"
            return Outcome(refused, words, "safety")
        if manoeuvre is Manoeuvre.TAKE_OFF and not (0.0 < height < math.inf):
            return Outcome(refused, f"height {height} m", "not ready")
        if manoeuvre is Manoeuvre.TAKE_OFF and height > self.ceiling:
            return Outcome(refused, f"height {height:g} m is above the ceiling of {self.ceiling:g} m", "safety")
        if manoeuvre is Manoeuvre.TAKE_OFF and not state.landed:
            return Outcome(refused, "it is in the air", "flying")
        rises = manoeuvre in (Manoeuvre.MISSION, Manoeuvre.TAKE_OFF) and state.landed
        if rises and not state.newest("VehicleLocalPosition").z_global:
            return Outcome(refused, "its height above the sea is not known", "not ready")
        if manoeuvre in (Manoeuvre.MISSION, Manoeuvre.TAKE_OFF) and state.failsafe:
            text = f"it is {state.failsafe_words}: a person may ask for hold first, which ends the failsafe"
            return Outcome(refused, text, "not ready")
        if manoeuvre is Manoeuvre.MISSION and not self.stream.is_commanded():
            return Outcome(refused, "no fresh safe command from the governor", "not ready")
        return None

    def _until(
        self,
        command: Command,
        done: Callable[[], bool],
        patience: float,
        meanwhile: Callable[[], bool] = lambda: True,
    ) -> Generator[None, None, bool]:
        """Repeat a command until its effect shows; false when it does not in time, or meanwhile() says to give up."""
        self._acks.pop(command.command, None)
        limit, sent = self.stream.now + patience, -math.inf
        while not done():
            if self.stream.now > limit or not meanwhile():
                return False
            if self.stream.now - sent >= self.timing.again:
                sent = self.stream.now
                self.stream.command(command)
            yield
        return True

    def _failed(self, what: str, command: Command) -> Outcome:
        result = self._acks.get(command.command)
        answer = "it did not answer" if result is None else f"its answer was {result_name(result)}"
        return Outcome(End.FAILED, f"{what}: {answer}, its mode is {mode_name(self.state.nav_state)}")

    def _at(self, nav_state: int) -> Callable[[], bool]:
        return lambda: self.state.nav_state == nav_state and self.state.intention == nav_state

    def _untaken(self, wanted: int) -> Callable[[], bool]:
        """Returns a test of whether nobody else chooses another mode from now on; a failsafe counts as nobody."""
        ours = {self.state.intention, wanted, *self.stream.asked()}  # of a slow link the latter show late
        return lambda: self.state.failsafe or self.state.intention in ours

    def _go(self, command: Command, nav_state: int) -> Script:
        """Out of offboard into one of the autopilot's own modes."""
        why = "it is coming back" if self._by_itself else f"{mode_name(nav_state)} was asked for"
        self.stream.leave(why, is_asked_for=True)
        if (yield from self._until(command, self._at(nav_state), self.timing.patience, self._untaken(nav_state))):
            return Outcome(End.DONE)
        return self._failed(f"it did not go to {mode_name(nav_state)}", command)

    def _arm(self) -> Script:
        """A mode in which nothing moves it, arm, and only then stream and go to the own mode."""
        if self.stream.engaged:
            return Outcome(End.DONE)
        stands = yield from self._stand_to_arm()
        if stands.end is not End.DONE:
            return stands
        self.stage, stood = "arming", self.state.nav_state

        def stays() -> bool:
            return self.state.nav_state == stood and not self.state.failsafe

        if not (yield from self._until(ARM, lambda: self.state.armed, self.timing.patience, stays)):
            return self._failed("it did not arm", ARM)
        engaged = (yield from self._mission()) if stays() else self._failed("its mode was changed", ARM)
        ours = self.state.intention in (stood, HOLD, TAKE_OFF, self.stream.own_state)
        if engaged.end is not End.DONE and self.state.landed and ours:  # else somebody has taken it
            yield from self._until(DISARM, lambda: not self.state.armed, self.timing.patience)
        return engaged

    def _stand_to_arm(self) -> Script:
        """Into hold: an armed vehicle must not be in the own mode by itself."""
        return (yield from self._go(MODE_HOLD, HOLD))

    def _disarm(self) -> Script:
        self.stream.leave("disarming was asked for", is_asked_for=True)
        if not (yield from self._until(DISARM, lambda: not self.state.armed, self.timing.patience)):
            return self._failed("it did not disarm", DISARM)
        return Outcome(End.DONE)

    def _mission(self) -> Script:
        """Through hold into the own mode, with heartbeats for longer than PX4 wants before offboard is asked for."""
        if self.stream.engaged:
            return Outcome(End.DONE)
        self.stream.choose()
        external = self.stream.flown
        if external is not None and external.nav_state is None:
            return Outcome(End.FAILED, external.complaint)
        if external is not None and self.state.landed:
            risen = yield from self._take_off(LIFT)
            if risen.end is not End.DONE:
                return risen
        held = yield from self._go(MODE_HOLD, HOLD)
        if held.end is not End.DONE:
            return held
        command = self.stream.request
        self.stage = "streaming"
        self.stream.start()
        begun = self.stream.now
        while self.stream.now - begun < self.stream.proof:
            if not self.stream.may_stream():
                return Outcome(End.FAILED, self.stream.left_because)
            if self.stream.now - begun >= self.stream.proof - self.timing.window:
                self.stream.stand()
            yield
        name = mode_name(self.stream.own_state)
        self.stage = f"asking for {name}"
        granted = self._at(self.stream.own_state)
        if not (yield from self._until(command, granted, self.timing.patience, self._stand)):
            if not self.stream.streaming:
                return Outcome(End.FAILED, self.stream.left_because)
            self.stream.leave(f"{name} was not granted")
            self.stream.command(MODE_HOLD)  # should it be granted late
            return self._failed(f"it did not go to {name}", command)
        self.stream.engage()
        return Outcome(End.DONE)

    def _stand(self) -> bool:
        """Zeros while they may be streamed; whether they may."""
        may = self.stream.may_stream()
        if may:
            self.stream.stand()
        return may

    def _take_off(self, height: float) -> Script:
        """The autopilot's own take-off; done when it stands in hold near the height."""
        self.stream.leave("take-off was asked for", is_asked_for=True)
        local = self.state.newest("VehicleLocalPosition")
        start = -float(local.z)
        command = take_off(float(local.ref_alt) + start + height)
        rises = lambda: self.state.nav_state == TAKE_OFF  # noqa: E731
        if not (yield from self._until(command, rises, self.timing.patience, self._untaken(TAKE_OFF))):
            return self._failed("it did not take off", command)
        limit = self.stream.now + self.timing.climb
        while self.stream.now < limit and self.state.armed and self.state.nav_state == TAKE_OFF:
            risen = -float(self.state.newest("VehicleLocalPosition").z) - start
            self.stage = f"{risen:.1f} of {height:.1f} m"
            yield
        risen = -float(self.state.newest("VehicleLocalPosition").z) - start
        stands = self.state.armed and not self.state.landed and not self.state.failsafe and self._at(HOLD)()
        if stands and risen >= height - max(1.0, 0.1 * height):
            return Outcome(End.DONE)
        failed = f"it rose {risen:.1f} of {height:.1f} m, its mode is {mode_name(self.state.nav_state)}"
        if self.state.armed and self.state.nav_state == TAKE_OFF:
            yield from self._go(MODE_HOLD, HOLD)  # it would go on by itself
        return Outcome(End.FAILED, failed)

    def _touch_down(self) -> Script:
        """The last metres by safe commands, and on the ground disarmed; the governor has the last word all the way."""
        limit, stands = self.stream.now + self.timing.landing, self.stream.now
        while self.stream.now - stands < self.timing.stand:
            if not self.stream.engaged:
                return Outcome(End.FAILED, self.stream.left_because)
            if self.stream.now > limit:
                late = ": ".join(filter(None, ("it did not come down in time", self.stream.text)))
                return Outcome(End.FAILED, late)
            if not self._is_down():
                stands = self.stream.now
            self.stage = "on the ground" if self.state.landed else "coming down"
            yield
        return (yield from self._disarm())

    def _is_down(self) -> bool:
        """Returns whether the vehicle stands: reported so, and contradicted neither by its speed nor by its height."""
        local, height = self.state.newest("VehicleLocalPosition"), self.stream.height
        slow = math.hypot(float(local.vx), float(local.vy), float(local.vz)) <= STANDING
        return self.state.landed and slow and (height is None or height <= ON_GROUND)

    def _land(self) -> Script:
        """Down and disarmed, and then out of the mode to which PX4 would go back."""
        going = yield from self._go(MODE_LAND, LAND)
        if going.end is not End.DONE:
            return going
        limit = self.stream.now + self.timing.landing
        while self.state.armed or not self.state.landed:
            if self.stream.now > limit:
                return Outcome(End.FAILED, "it did not come down in time")
            if self.state.armed and self.state.nav_state != LAND and not self.state.landed:
                return Outcome(End.FAILED, f"its mode was changed: {mode_name(self.state.nav_state)}")
            local = self.state.newest("VehicleLocalPosition")
            self.stage = "coming down" if local is None else f"{-float(local.z):.1f} m above its origin"
            yield
        return Outcome(End.DONE)
