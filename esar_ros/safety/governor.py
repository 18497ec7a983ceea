"""The governor: what the vehicle is given instead of what was asked, and why.

Each decision: watch the inputs, find the mode, take what that mode wants (the pilot's command, a hold,
the way home, a landing), and keep it within every limit:

    speed -> fence, ceiling, floor, obstacles (projection onto half-spaces) -> unseen space -> acceleration.

Everything after the mode only ever shortens or turns away, except three named recoveries: backing off
from an obstacle (OBSTACLE), coming back over the fence or below the ceiling (FENCE, CEILING), and
climbing back above the floor (CLIMB).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode, Reason, by_severity
from esar_ros.safety.braking import stopping_distance
from esar_ros.safety.checks import LONGEST_STEP, InputChecks
from esar_ros.safety.envelope import Envelope, Scene
from esar_ros.safety.failsafe import Drain, Latch, battery_needed, landing, way_home
from esar_ros.safety.inputs import Command, Findings, RangeImageData, SafeCommand, State
from esar_ros.safety.limits import TOUCH_DOWN_FROM, Limits
from esar_ros.safety.sight import Sight
from esar_ros.safety.silence import Silence
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import Other
from esar_ros.safety.watch import Clock, Hold, Motion, Scan
from esar_ros.safety.wind import Blown

_UP = np.array([0.0, 0.0, 1.0])
_ZERO = np.zeros(3)


@dataclass(frozen=True)
class _Memory:
    """What one decision leaves for the next."""

    clock: Clock = field(default_factory=Clock)
    hold: Hold = field(default_factory=Hold)
    latch: Latch = field(default_factory=Latch)
    motion: Motion = field(default_factory=Motion)
    scan: Scan = field(default_factory=Scan)
    silence: Silence = field(default_factory=Silence)
    given: Vector | None = None  # last velocity given
    tracked: bool = False  # whether a usable state was ever seen
    column: Vector | None = None  # take-off spot, while below the floor after take-off
    ground: Vector | None = None  # last point of ground seen
    stood: Vector | None = None  # where it came to stand on the ground, until it leaves it
    battery: float | None = None
    told: float | None = None  # s, when the battery told anything
    blown: Blown = field(default_factory=Blown)
    drain: Drain = field(default_factory=Drain)
    asked: float | None = None  # s, stamp of the last command taken
    gain: float | None = None  # m/s^2, by which the last command taken sped up
    link_lost: float | None = None  # s, since when the producer of commands is silent
    interventions: int = 0


class Governor(InputChecks):
    """Decides step by step; holds no clock and no thread. One instance a vehicle."""

    def __init__(self, limits: Limits, site: Site | None = None) -> None:
        self.limits = limits
        self.envelope = Envelope(limits, site)
        self._memory = _Memory(motion=self._at_rest())
        self._before = self._memory
        self._flying = False
        self._where: Vector | None = None  # m, map, where the vehicle was last known to be
        self._height: float | None = None  # m above the surface below

    @property
    def site(self) -> Site | None:
        """Fence, ceiling and home in force; without one the vehicle is not let off the ground."""
        return self.envelope.site

    def set_site(self, site: Site) -> None:
        """Put a site in force. In flight only a stricter one that holds the vehicle replaces one; raises UsageError."""
        if self._flying and self.site is not None:
            if site.looser_than(self.site):
                raise UsageError("fence, ceiling and home cannot be loosened in flight", "land first")
            if self._where is not None:
                site.must_hold(self._where, self._height)
        self.envelope.site = site

    def terminate(self) -> None:
        """Motors off for good: no later call of anything changes it."""
        self._memory = replace(self._memory, latch=Latch(Mode.TERMINATE, Reason.BREACH))
        self._before = self._memory

    def clear(self) -> bool:
        """End a latched return or landing, and believe position and ranges as they are; causes that persist act again.

        Termination is final.
        """
        if self._memory.latch.mode is Mode.TERMINATE:
            return False
        self._memory = replace(self._memory, latch=Latch(), link_lost=None, silence=Silence(), motion=self._at_rest())
        self._before = self._memory
        return True

    def decide(
        self,
        state: State | None,
        command: Command | None,
        ranges: RangeImageData | None,
        window: OccupancyWindow | None,
        now: float,
        heartbeat_age: float = 0.0,
        touching_down: bool = False,
        others: Sequence[Other] = (),
        usurper: str = "",
    ) -> SafeCommand:
        """Answer the step at now (s, the stamps' clock).

        heartbeat_age: s of wall time since the producer of commands was last heard. touching_down: the last metres to
        the ground were asked for; heeded above seen ground within TOUCH_DOWN_FROM alone. others: the mission's other
        vehicles. usurper: who else writes what is decided by, in words; empty while nobody does. Asking again with the
        same now answers from the same memory, so a repeated step gets the same answer.
        """
        memory = self._before if now == self._memory.clock.now else self._memory
        found = Findings()
        if not math.isfinite(now):
            found.add(Mode.HOLD, Reason.CLOCK_JUMP, "the clock shows no time")
            return self._answer(found, command, _ZERO, 0.0, memory, None, None)
        clock, step = self._check_clock(memory.clock, now, found)
        present = self._check_odometry(state, now, found)
        if self._flying:
            present = self._check_armed(present, ranges, now, memory.stood)
        usable_state, motion = self._check_motion(memory.motion, present, found)
        self._check_estimator(usable_state, found)
        safe_command = self._check_command(command, now, found)
        self._check_authority(usurper, found)
        link_lost = self._check_link(memory.link_lost, heartbeat_age, now, found)
        image = self._check_ranges(ranges, now, found)
        usable_state = self._check_landed(usable_state, image, memory.stood)
        image, scan = self._check_scan(memory.scan, image, usable_state, found)
        window = self._check_map(window, now)
        image, silence = self._check_silence(memory.silence, image, usable_state, window, memory.ground, found)
        cause = by_severity(found.reasons)[0] if found.reasons else Reason.NONE
        hold = memory.hold.update(cause, now, self.limits.release)
        if hold.reason is not Reason.NONE and not found.reasons:
            found.add(Mode.HOLD, hold.reason, "waiting for steady inputs")
        after = replace(memory, clock=clock, motion=motion, scan=scan, silence=silence, hold=hold, link_lost=link_lost)
        after = replace(after, given=_ZERO)
        if usable_state is None or clock.settling:
            # Without knowing where the vehicle is nothing can be steered but a landing, by the ranges alone.
            given = _ZERO
            if present is not None:
                after = self._follow_charge(after, present)
                after = replace(after, latch=self._check_charge(after.latch, after.battery))
            if after.latch.mode is not Mode.NORMAL:
                found.add(after.latch.mode, after.latch.reason, "latched")
            if usable_state is None and present is not None:
                given = self._come_down(found, self._check_landed(present, image, memory.stood), image, after)
            return self._commit(memory, replace(after, given=given), found, command, given, 0.0, None, None)

        after = self._track(after, usable_state)
        after = replace(after, blown=self._check_wind(memory.blown, usable_state, memory.given))
        scene, after = self._look(after, usable_state, image, window, touching_down)
        self._height = scene.height
        scene = replace(scene, traffic=self._check_traffic(others, usable_state, now))
        after = replace(after, latch=self._check_voyage(after, usable_state, now))
        clearance = self._check_envelope(usable_state, scene, found)
        if after.latch.mode is not Mode.NORMAL:
            found.add(after.latch.mode, after.latch.reason, after.latch.text)
        given, yaw_rate = self._steer(found, safe_command, usable_state, scene, after.blown)
        base = usable_state.velocity if memory.given is None else memory.given
        given, after = self._limit_acceleration(given, base, safe_command, step, after, found)
        return self._commit(memory, replace(after, given=given), found, command, given, yaw_rate, scene, clearance)

    # The vehicle's own state

    def _track(self, memory: _Memory, state: State) -> _Memory:
        """Follow take-off and landing, and remember the last charge measured."""
        position = state.pose.position
        column = memory.column
        if state.landed or not state.armed:
            column = position.copy()
        elif not memory.tracked:
            column = self._column_at_home(position)  # started in the air: perhaps in the middle of a take-off
        elif column is not None:
            left = math.hypot(*(position - column)[:2]) > self.limits.column_radius
            if left or position[2] - column[2] >= self.limits.floor:
                column = None
        self._flying = state.armed and not state.landed
        self._where = position
        return replace(
            self._follow_charge(memory, state),
            tracked=True,
            column=column,
            ground=position.copy() if state.landed else memory.ground,
            stood=(position.copy() if memory.stood is None else memory.stood) if state.landed else None,
            drain=self._drain(memory, state),
        )

    def _follow_charge(self, memory: _Memory, state: State) -> _Memory:
        """Remember the last charge measured."""
        told = memory.told if state.battery is None else state.stamp
        return replace(memory, battery=self._charge(memory, state), told=told)

    def _drain(self, memory: _Memory, state: State) -> Drain:
        """How fast the battery empties, wind and cold included."""
        if state.charge is None or not self._flying:
            return memory.drain
        return memory.drain.measured(state.charge, state.stamp)

    def _charge(self, memory: _Memory, state: State) -> float | None:
        """The battery's, 0..1; where it tells what cannot be, what the endurance has left of the last or a full one."""
        if state.charge is not None or state.battery is None:
            return memory.battery if state.charge is None else state.charge
        since = 0.0 if memory.told is None else max(state.stamp - memory.told, 0.0)
        return max((1.0 if memory.battery is None else memory.battery) - since / self.limits.endurance, 0.0)

    def _column_at_home(self, position: Vector) -> Vector | None:
        """The take-off column of a vehicle met low above home."""
        if self.site is None:
            return None
        above = position - self.site.home
        inside = math.hypot(*above[:2]) <= self.limits.column_radius and above[2] < self.limits.floor
        return self.site.home.copy() if inside else None

    def _look(
        self,
        memory: _Memory,
        state: State,
        image: RangeImageData | None,
        window: OccupancyWindow | None,
        touching_down: bool,
    ) -> tuple[Scene, _Memory]:
        position = state.pose.position
        sight = Sight(position, image, window, self.limits.own_radius)
        surface = sight.surface_below()
        if surface is not None:
            memory = replace(memory, ground=np.array([position[0], position[1], surface]))
        lands = memory.latch.mode is Mode.LAND
        height = math.inf if surface is None else float(position[2]) - surface
        touches = touching_down and not lands and height <= TOUCH_DOWN_FROM
        velocity = self._closing_velocity(state)
        in_column = memory.column is not None
        scene = Scene(position, velocity, sight, image, window, surface, memory.ground, in_column, lands, touches)
        return scene, memory

    def _closing_velocity(self, state: State) -> Vector:
        """Present velocity by which obstacles and fence are braked for, whatever is asked."""
        return state.velocity

    def _check_voyage(self, memory: _Memory, state: State, now: float) -> Latch:
        """Whether it is time to return or to land: battery, link, arrival at home."""
        latch = self._check_charge(memory.latch, memory.battery)
        needed = battery_needed(self.site, state.pose.position, self.limits, memory.drain.rate)
        if memory.battery is not None and memory.battery <= needed:
            latch = latch.raised(Mode.RETURN, Reason.BATTERY_RESERVE, f"battery {memory.battery:.0%}")
        if memory.blown.speed >= self.limits.blown_return:
            latch = latch.raised(Mode.RETURN, Reason.CONDITIONS, f"the wind moves it by {memory.blown.speed:.1f} m/s")
        flying = state.armed and not state.landed
        if flying and memory.link_lost is not None and now - memory.link_lost >= self.limits.link_return:
            latch = latch.raised(Mode.RETURN, Reason.LINK, "pilot lost")
        if latch.mode is Mode.RETURN and self._at_home(state.pose.position):
            latch = latch.raised(Mode.LAND, latch.reason, f"{latch.text}, at home")
        return latch

    def _check_charge(self, latch: Latch, battery: float | None) -> Latch:
        """Whether the charge left is only good for a landing here."""
        if battery is not None and battery <= self.limits.battery_land:
            return latch.raised(Mode.LAND, Reason.BATTERY_EMPTY, f"battery {battery:.0%}")
        return latch

    def _come_down(self, found: Findings, state: State | None, image: RangeImageData | None, memory: _Memory) -> Vector:
        """Velocity of a landing where the place is not known; zero in every other mode."""
        if found.mode is not Mode.LAND or state is None or not state.armed or state.landed:
            return _ZERO
        scene, _ = self._look(memory, state, image, None, False)
        return Envelope(self.limits, None).keep(landing(self.limits), state, scene, found)

    def _at_home(self, position: Vector) -> bool:
        if self.site is None:
            return True  # no way home is known: come down here
        return math.hypot(*(self.site.home - position)[:2]) <= self.limits.home_radius

    def _check_envelope(self, state: State, scene: Scene, found: Findings) -> float | None:
        """Distance (m) to the nearest obstacle; notes a breach of the hard envelope."""
        limits = self.limits
        measured, known = self.envelope.nearest(scene)
        if not state.armed or state.landed:
            return known if math.isfinite(known) else None
        if measured < limits.body_radius and not scene.in_column and not scene.near_ground:
            found.add(Mode.HOLD, Reason.BREACH, f"obstacle at {measured:.2f} m")
        if any(gap < 2.0 * limits.body_radius for _, gap in scene.traffic):
            found.add(Mode.HOLD, Reason.BREACH, "another vehicle within reach")
        if self.site is not None:
            outside = self.site.outside(scene.position)
            if outside > 0.0:
                found.add(Mode.HOLD, Reason.BREACH, f"{outside:.1f} m outside the fence")
            if self.site.inside_keep_out(scene.position) > 0.0:
                found.add(Mode.HOLD, Reason.BREACH, "in a keep-out zone")
            if scene.position[2] > self.site.top + limits.ceiling_margin:
                found.add(Mode.HOLD, Reason.BREACH, "above the ceiling above sea level")
            if scene.height is not None and scene.height > self.site.ceiling + limits.ceiling_margin:
                found.add(Mode.HOLD, Reason.BREACH, f"{scene.height:.0f} m above ground")
        return known if math.isfinite(known) else None

    # Steering

    def _steer(
        self, found: Findings, command: Command | None, state: State, scene: Scene, blown: Blown
    ) -> tuple[Vector, float]:
        """Velocity and yaw rate of the mode, within the limits of the place."""
        mode = found.mode
        if mode is Mode.TERMINATE:
            return _ZERO, 0.0
        if not state.armed or (state.landed and mode is not Mode.NORMAL):
            found.add(Mode.HOLD, Reason.NOT_FLYING, "on the ground" if state.armed else "not armed")
            return _ZERO, 0.0
        if mode is Mode.LAND:
            return self.envelope.keep(landing(self.limits), state, scene, found), 0.0
        if mode is Mode.RETURN and self.site is not None:
            if scene.image is None:
                return _ZERO, 0.0
            asked = way_home(self.site, scene.position, scene.height, self.limits)
            kept = self.envelope.keep(asked, state, scene, found)
            if math.hypot(*kept[:2]) < 0.3 * math.hypot(*asked[:2]):
                kept = self.envelope.keep(min(1.5, self.limits.speed_unseen_up) * _UP, state, scene, found)
            return kept, 0.0
        if mode is not Mode.NORMAL or command is None:
            return self.envelope.keep(_ZERO, state, scene, found), 0.0
        asked = self.envelope.limit_speed(command.velocity, state.deviation, found)
        asked = self._limit_wind(asked, blown, found)
        return self.envelope.keep(asked, state, scene, found), self._limit_yaw_rate(command.yaw_rate, found)

    def _limit_yaw_rate(self, yaw_rate: float, found: Findings) -> float:
        most = self.limits.yaw_rate
        if abs(yaw_rate) <= most:
            return yaw_rate
        found.add(Mode.SLOW, Reason.YAW_RATE, "turning too fast")
        return math.copysign(most, yaw_rate)

    def _limit_acceleration(
        self, velocity: Vector, base: Vector, command: Command | None, step: float, memory: _Memory, found: Findings
    ) -> tuple[Vector, _Memory]:
        """The share of velocity nearest to what acceleration and jerk reach from the last given; slowing is free.

        A command stands until the next one, so that what it changes has had all the time between them.
        """
        stamp = None if command is None else command.stamp
        if stamp is not None and memory.asked is not None and stamp != memory.asked:
            step = min(max(step, stamp - memory.asked), LONGEST_STEP)
        given = self._reach(velocity, base, self.limits.acceleration * step, found)
        given = self._ramp(given, base, memory.gain, step, found)
        if stamp != memory.asked:
            gain = float(np.linalg.norm(given) - np.linalg.norm(base)) / max(step, 1e-9)
            memory = replace(memory, asked=stamp, gain=max(gain, 0.0))
        return given, memory

    def _ramp(self, velocity: Vector, base: Vector, gain: float | None, step: float, found: Findings) -> Vector:
        """Slowed where it speeds up by more than jerk lets the gain (m/s^2) of the last command grow."""
        speed = float(np.linalg.norm(velocity))
        most = float(np.linalg.norm(base)) + ((gain or 0.0) + self.limits.jerk * step) * step
        if gain is None or speed <= most + 1e-9:
            return velocity
        found.add(Mode.SLOW, Reason.ACCELERATION, "speeding up too fast")
        return velocity * (most / speed)

    def _reach(self, velocity: Vector, base: Vector, most: float, found: Findings) -> Vector:
        """The share of velocity nearest to within most (m/s) of base; a slower one is always reached."""
        if np.linalg.norm(velocity - base) <= most + 1e-9:
            return velocity
        square = float(velocity @ velocity)
        along = float(velocity @ base)
        # Greatest share s in 0..1 with |s v - base| <= most; the nearest when there is none.
        inside = along * along - square * (float(base @ base) - most * most)
        share = (along + math.sqrt(inside)) / square if square > 0.0 and inside > 0.0 else along / max(square, 1e-300)
        share = min(max(share, 0.0), 1.0)
        if share == 1.0 or square == 0.0:
            return velocity
        found.add(Mode.SLOW, Reason.ACCELERATION, "changing too fast")
        return velocity * share

    # The answer

    def _commit(
        self,
        before: _Memory,
        after: _Memory,
        found: Findings,
        command: Command | None,
        velocity: Vector,
        yaw_rate: float,
        scene: Scene | None,
        clearance: float | None,
    ) -> SafeCommand:
        answer = self._answer(found, command, velocity, yaw_rate, after, scene, clearance)
        count = before.interventions + int(answer.changed and self._flying)
        self._before, self._memory = before, replace(after, interventions=count)
        return replace(answer, interventions=count)

    def _answer(
        self,
        found: Findings,
        command: Command | None,
        velocity: Vector,
        yaw_rate: float,
        memory: _Memory,
        scene: Scene | None,
        clearance: float | None,
    ) -> SafeCommand:
        changed = command is None or not (np.array_equal(velocity, command.velocity) and yaw_rate == command.yaw_rate)
        reasons = by_severity(found.reasons)
        stop = 0.0
        if scene is not None:
            speed = float(np.linalg.norm(scene.velocity))
            stop = float(stopping_distance(speed, self.limits.deceleration, self.limits.latency))
        return SafeCommand(
            velocity=np.array(velocity, dtype=np.float64),
            yaw_rate=float(yaw_rate),
            mode=found.mode,
            reasons=reasons,
            text="; ".join(dict.fromkeys(found.texts)),
            changed=changed,
            breach=Reason.BREACH in reasons,
            clearance=clearance,
            stopping_distance=stop,
            height=scene.height if scene is not None else None,
            interventions=memory.interventions,
        )
