"""The governor replaces a command that would break a limit by a safe one, and gives its reasons.

Each decision checks the inputs, chooses the mode, takes the velocity of that mode (the pilot's command, a hold, the
return, a landing), and keeps it within every limit:

    speed -> fence, ceiling, floor, obstacles (projection onto half-spaces) -> unseen space -> acceleration.

Each of these steps shortens the velocity or turns it away from danger, except for three named recoveries: backing off
from an obstacle (OBSTACLE), coming back over the fence or below the ceiling (FENCE, CEILING), and climbing back above
the floor (CLIMB). In a hold it also flies back to where it came to rest, when the wind has carried it from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode, Reason, by_severity
from esar_ros.safety.checks import InputChecks
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.failsafe import Latch, battery_needed, landing_velocity, return_velocity
from esar_ros.safety.inputs import Command, Findings, RangeImageData, SafeCommand, State
from esar_ros.safety.landing import come_down, is_vetoed, look_below
from esar_ros.safety.limits import TOUCH_DOWN_FROM, Limits
from esar_ros.safety.memory import Memory
from esar_ros.safety.site import Site
from esar_ros.safety.station import LastScan, stay
from esar_ros.safety.surroundings.echoes import EchoMonitor
from esar_ros.safety.surroundings.landing_site import LandingSite
from esar_ros.safety.surroundings.observed_space import ObservedSpace
from esar_ros.safety.surroundings.scene import Scene
from esar_ros.safety.traffic import OtherVehicle, Team
from esar_ros.safety.watch import HeadingResidual

_UP = np.array([0.0, 0.0, 1.0])
_ZERO = np.zeros(3)
_BLOCKED = 0.3  # share of the level speed of a return; where the limits leave less, the vehicle climbs instead
_CLIMB_WHERE_BLOCKED = 1.5  # m/s


class Governor(InputChecks):
    """The governor of one vehicle decides step by step; it holds no clock and no thread."""

    def __init__(self, limits: Limits, site: Site | None = None, team: Team | None = None) -> None:
        self.team = team or Team()
        return_height = self.team.in_layer(limits.return_height, limits)
        self.limits = limits.model_copy(update={"return_height": return_height})
        self.envelope = Envelope(self.limits, site)
        self._elapsed = 0.0  # s into the mission
        self._memory = Memory(motion=self._initial_motion())
        self._previous = self._memory
        self._flying = False
        self._last_position: Vector | None = None  # m, map
        self._last_height: float | None = None  # m above the surface below

    def set_site(self, site: Site) -> None:
        """Puts a site in force. In flight it must be as strict as the last and hold the vehicle; raises UsageError."""
        site = site.at(self._elapsed)
        if self._flying and self.site is not None:
            if site.is_looser_than(self.site):
                raise UsageError("fence, ceiling and home cannot be loosened in flight", "land first")
            if self._last_position is not None:
                site.require_inside(self._last_position, self._last_height)
        self.envelope.site = site

    def keep_pace(self, elapsed: float) -> None:
        """Puts the greatest speeds of a time (s into the mission) in force."""
        self._elapsed = elapsed
        if self.site is not None:
            self.envelope.site = self.site.at(elapsed)

    def terminate(self) -> None:
        """Stops the motors for good: no later call of anything changes it."""
        self._memory = replace(self._memory, latch=Latch(Mode.TERMINATE, Reason.BREACH))
        self._previous = self._memory

    @property
    def is_terminated(self) -> bool:
        """Returns whether the motors are stopped for good."""
        return self._memory.latch.mode is Mode.TERMINATE

    def clear(self) -> bool:
        """Ends a latched return or landing and trusts position, heading and ranges; causes that persist act again.

        Returns False after a termination, which is final.
        """
        if self.is_terminated:
            return False
        self._memory = replace(
            self._memory,
            latch=Latch(),
            link_lost_since=None,
            echoes=EchoMonitor(),
            motion=self._initial_motion(),
            heading=HeadingResidual(),
        )
        self._previous = self._memory
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
        others: Sequence[OtherVehicle] = (),
        conflicting_publisher: str = "",
        people: Sequence[Vector] = (),
    ) -> SafeCommand:
        """Returns the answer to the step at now (s, the stamps' clock).

        heartbeat_age: s of wall time since the last heartbeat of the commands' producer. touching_down: a touch-down
        was requested; it is granted above measured ground within TOUCH_DOWN_FROM only. others: the mission's other
        vehicles. conflicting_publisher: a text that names a foreign publisher of an input or output; empty: none.
        people: where (m, map) a detector has seen some; they make nothing but a landing stricter.
        A step that is repeated with the same now is answered from the same memory, and so with the same answer.
        """
        memory = self._previous if now == self._memory.clock.now else self._memory
        findings = Findings()
        if not math.isfinite(now):
            findings.add(Mode.HOLD, Reason.CLOCK_JUMP, "the clock shows no time")
            return self._answer(findings, command, _ZERO, 0.0, memory, None, None)
        clock, step = self._check_clock(memory.clock, now, findings)
        fresh_state = self._check_odometry(state, now, findings)
        if self._flying:
            fresh_state = self._check_armed(fresh_state, ranges, now, memory.rest_position)
        usable_state, motion = self._check_motion(memory.motion, fresh_state, findings)
        oriented_state, heading = self._check_heading(memory.heading, fresh_state, findings)
        usable_state = usable_state if oriented_state is not None else None
        self._check_estimator(usable_state, findings)
        usable_command = self._check_command(command, now, findings)
        self._check_authority(conflicting_publisher, findings)
        link_lost_since = self._check_link(memory.link_lost_since, heartbeat_age, now, findings)
        image = self._check_ranges(ranges, now, findings)
        usable_state = self._check_landed(usable_state, image, memory.rest_position)
        image, scan = self._check_scan(memory.scan, image, usable_state, findings)
        window = self._check_map(window, now)
        image, echoes = self._check_echoes(memory.echoes, image, usable_state, window, memory.last_ground, findings)
        cause = by_severity(findings.reasons)[0] if findings.reasons else Reason.NONE
        hold = memory.hold.updated(cause, now, self.limits.release)
        if hold.reason is not Reason.NONE and not findings.reasons:
            findings.add(Mode.HOLD, hold.reason, "waiting for steady inputs")
        after = memory.replaced(
            clock=clock, motion=motion, heading=heading, scan=scan, echoes=echoes, hold=hold,
            link_lost_since=link_lost_since, last_output=_ZERO,
        )  # fmt: skip
        if usable_state is None or clock.settling:
            # Without a known position the vehicle holds off what the ranges show, or lands by them alone.
            output, after = _ZERO, after.replaced(last_scan=LastScan())
            if fresh_state is not None:
                after = after.replaced(battery=after.battery.updated(fresh_state, self.limits.endurance))
                after = after.replaced(latch=self._check_charge(after.latch, after.battery.charge))
            if after.latch.mode is not Mode.NORMAL:
                findings.add(after.latch.mode, after.latch.reason, "latched")
            if usable_state is None:
                fresh_state = self._check_landed(fresh_state, image, memory.rest_position)
                if findings.mode < Mode.LAND:
                    output = self._back_off_without_position(fresh_state, image, after, findings)
                    after = after.replaced(backed_off=after.backed_off + magnitude(output) * step)
                else:
                    output = self._land_without_position(findings, fresh_state, image, after)
            return self._commit(memory, after.replaced(last_output=output), findings, command, output, 0.0, None, None)

        self._flying, self._last_position = usable_state.flying, usable_state.pose.position
        after = after.after(usable_state, self.site, self.limits)
        after = after.replaced(wind=self._check_wind(memory.wind, usable_state, memory.last_output))
        moving = None if scan.repeated > 0.0 else image
        after = after.replaced(last_scan=memory.last_scan.updated(moving, usable_state, step))
        after = after.replaced(latch=self._check_failsafes(after, usable_state, now))
        scene, after = self._build_scene(after, usable_state, image, window, touching_down)
        self._last_height = scene.height
        scene = replace(scene, traffic=self._check_traffic(others, usable_state, now))
        deaf_since = self._check_reports(memory.deaf_since, others, now)
        scene, latch = self._check_layer(scene, usable_state, deaf_since, after.latch, now, findings)
        after = after.replaced(deaf_since=deaf_since, latch=latch)
        clearance = self._check_envelope(usable_state, scene, findings)
        if after.latch.mode is not Mode.NORMAL:
            findings.add(after.latch.mode, after.latch.reason, after.latch.text)
        holds = findings.mode is Mode.HOLD or image is None
        station = memory.station.updated(holds, usable_state, step, self.limits)
        below = look_below(self.envelope, memory.landing_aim, scene, people, after.battery.charge)
        after = after.replaced(station=station, landing_aim=below.aim)
        output, yaw_rate = self._velocity_of_mode(findings, usable_command, usable_state, scene, after, below)
        base = usable_state.velocity if memory.last_output is None else memory.last_output
        output, acceleration = memory.acceleration.limited(output, base, usable_command, step, self.limits, findings)
        after = after.replaced(acceleration=acceleration, last_output=output)
        return self._commit(memory, after, findings, command, output, yaw_rate, scene, clearance)

    # The surroundings and what they ask for

    def _build_scene(
        self,
        memory: Memory,
        state: State,
        image: RangeImageData | None,
        window: OccupancyWindow | None,
        touching_down: bool,
    ) -> tuple[Scene, Memory]:
        """Returns the vehicle's surroundings, without traffic, and the memory with the ground that they show."""
        position = state.pose.position
        observed = ObservedSpace(position, image, window, self.limits.own_radius)
        surface = observed.surface_below()
        if surface is not None:
            memory = memory.replaced(last_ground=np.array([position[0], position[1], surface]))
        lands = memory.latch.mode is Mode.LAND
        height = math.inf if surface is None else float(position[2]) - surface
        touches = touching_down and not lands and height <= TOUCH_DOWN_FROM
        velocity = self._closing_velocity(state)
        in_takeoff_column = memory.takeoff_column is not None
        free = not (in_takeoff_column or lands or touches)
        drift = memory.wind.drift(self.limits.blown_return) if free else 0.0
        scene = Scene(
            position, velocity, observed, image, window, surface, memory.last_ground, in_takeoff_column, lands, touches,
            drift,
        )  # fmt: skip
        return scene, memory

    def _closing_velocity(self, state: State) -> Vector:
        """Returns the velocity (m/s, map) by which the vehicle closes in on obstacles and fence."""
        return state.velocity

    def _check_failsafes(self, memory: Memory, state: State, now: float) -> Latch:
        """Returns the latch, raised to a return or a landing by battery, wind, a lost link, or arrival at home."""
        battery, wind = memory.battery, memory.wind
        latch = self._check_charge(memory.latch, battery.charge)
        needed = battery_needed(self.site, state.pose.position, self.limits, battery.drain.rate)
        if battery.charge is not None and battery.charge <= needed:
            latch = latch.raised(Mode.RETURN, Reason.BATTERY_RESERVE, f"battery {battery.charge:.0%}")
        if self.site is not None and self.site.wind > self.limits.wind_limit:
            latch = latch.raised(Mode.RETURN, Reason.CONDITIONS, f"a wind of {self.site.wind:.0f} m/s is forecast")
        if wind.rms >= self.limits.blown_return:
            latch = latch.raised(Mode.RETURN, Reason.CONDITIONS, f"the wind moves it by {wind.rms:.1f} m/s")
        lost_since = memory.link_lost_since
        if state.flying and lost_since is not None and now - lost_since >= self.limits.link_return:
            latch = latch.raised(Mode.RETURN, Reason.LINK, "pilot lost")
        if latch.mode is Mode.RETURN and self._is_at_home(state.pose.position):
            latch = latch.raised(Mode.LAND, latch.reason, f"{latch.text}, at home")
        return latch

    def _check_charge(self, latch: Latch, charge: float | None) -> Latch:
        """Returns the latch, raised to a landing on the spot where the charge (0..1) suffices for no more."""
        if charge is not None and charge <= self.limits.battery_land:
            return latch.raised(Mode.LAND, Reason.BATTERY_EMPTY, f"battery {charge:.0%}")
        return latch

    def _back_off_without_position(
        self, state: State | None, image: RangeImageData | None, memory: Memory, findings: Findings
    ) -> Vector:
        """Returns the velocity (m/s, map) of a hold by the ranges alone: away from what wind or lag carry it towards.

        Of the pose of the ranges only the directions count, not the place. It is zero on the ground, where heading or
        ranges cannot be trusted, and once it has led as far as the clearance: whatever is still near then, it is not
        what the ranges say. state: a fresh one whose position is not known, if there is any.
        """
        flying = self._flying if state is None else state.flying
        if image is None or not flying or memory.backed_off >= self.limits.clearance:
            return _ZERO
        if memory.heading.exceeds_limit() or memory.echoes.text or memory.scan.repeats(image.stamp, image.ranges):
            return _ZERO
        there = State(image.stamp, image.pose, _ZERO, armed=True, landed=False)
        scene, _ = self._build_scene(memory, there, image, None, False)
        return self.envelope.back_off(scene, findings)

    def _land_without_position(
        self, findings: Findings, state: State | None, image: RangeImageData | None, memory: Memory
    ) -> Vector:
        """Returns the velocity (m/s, map) of a landing by the ranges alone; zero in every other mode."""
        if findings.mode is not Mode.LAND or state is None or not state.flying:
            return _ZERO
        scene, _ = self._build_scene(memory, state, image, None, False)
        if is_vetoed(look_below(self.envelope, None, scene, (), memory.battery.charge), findings):
            return _ZERO
        return Envelope(self.limits, None).keep(landing_velocity(self.limits), state, scene, findings)

    def _check_envelope(self, state: State, scene: Scene, findings: Findings) -> float | None:
        """Returns the distance (m) to the nearest obstacle, and notes a breach of the hard envelope."""
        limits = self.limits
        measured, known = self.envelope.nearest(scene)
        if not state.flying:
            return known if math.isfinite(known) else None
        if measured < limits.body_radius and not scene.in_takeoff_column and not scene.near_ground:
            findings.add(Mode.HOLD, Reason.BREACH, f"obstacle at {measured:.2f} m")
        if any(gap < 2.0 * limits.body_radius for _, gap in scene.traffic):
            findings.add(Mode.HOLD, Reason.BREACH, "another vehicle within reach")
        if self.site is not None:
            outside = self.site.outside(scene.position)
            if outside > 0.0:
                findings.add(Mode.HOLD, Reason.BREACH, f"{outside:.1f} m outside the fence")
            if self.site.inside_keep_out(scene.position) > 0.0:
                findings.add(Mode.HOLD, Reason.BREACH, "in a keep-out zone")
            if scene.position[2] > self.site.top + limits.ceiling_margin:
                findings.add(Mode.HOLD, Reason.BREACH, "above the ceiling above sea level")
            if scene.height is not None and scene.height > self.site.ceiling + limits.ceiling_margin:
                findings.add(Mode.HOLD, Reason.BREACH, f"{scene.height:.0f} m above ground")
        return known if math.isfinite(known) else None

    # The velocity

    def _velocity_of_mode(
        self,
        findings: Findings,
        command: Command | None,
        state: State,
        scene: Scene,
        memory: Memory,
        below: LandingSite,
    ) -> tuple[Vector, float]:
        """Returns the velocity (m/s, map) and yaw rate (rad/s) of the mode, within the spatial and speed limits."""
        mode = findings.mode
        if mode is Mode.TERMINATE:
            return _ZERO, 0.0
        if not state.armed or (state.landed and mode is not Mode.NORMAL):
            findings.add(Mode.HOLD, Reason.NOT_FLYING, "on the ground" if state.armed else "not armed")
            return _ZERO, 0.0
        if mode is Mode.LAND:
            return come_down(self.envelope, state, scene, below, findings), 0.0
        if mode is Mode.RETURN and self.site is not None and scene.image is not None:
            asked = return_velocity(self.site, scene.position, scene.height, self.limits)
            asked = self._limit_to_layer(asked, scene, findings)
            kept = self.envelope.keep(asked, state, scene, findings)
            if math.hypot(*kept[:2]) < _BLOCKED * math.hypot(*asked[:2]):
                kept = self.envelope.keep(_CLIMB_WHERE_BLOCKED * _UP, state, scene, findings)
            return kept, 0.0
        if mode is not Mode.NORMAL or command is None:
            return stay(self.envelope, memory.station, memory.last_scan, state, scene, findings), 0.0
        asked = self.envelope.limit_speed(command.velocity, state.deviation, findings)
        asked = self._limit_wind(asked, memory.wind, findings)
        asked = self._limit_to_layer(asked, scene, findings)
        if asked[2] < 0.0 and is_vetoed(below, findings):
            asked = _ZERO
        return self.envelope.keep(asked, state, scene, findings), self._limit_yaw_rate(command.yaw_rate, findings)

    def _limit_yaw_rate(self, yaw_rate: float, findings: Findings) -> float:
        """Returns the yaw rate (rad/s) within its limit."""
        max_rate = self.limits.yaw_rate
        if abs(yaw_rate) <= max_rate:
            return yaw_rate
        findings.add(Mode.SLOW, Reason.YAW_RATE, "turning too fast")
        return math.copysign(max_rate, yaw_rate)

    # The answer

    def _commit(
        self,
        before: Memory,
        after: Memory,
        findings: Findings,
        command: Command | None,
        velocity: Vector,
        yaw_rate: float,
        scene: Scene | None,
        clearance: float | None,
    ) -> SafeCommand:
        """Returns the answer, and keeps the memory before and after it."""
        answer = self._answer(findings, command, velocity, yaw_rate, after, scene, clearance)
        count = before.interventions + int(answer.changed and self._flying)
        self._previous, self._memory = before, after.replaced(interventions=count)
        return replace(answer, interventions=count)

    def _answer(
        self,
        findings: Findings,
        command: Command | None,
        velocity: Vector,
        yaw_rate: float,
        memory: Memory,
        scene: Scene | None,
        clearance: float | None,
    ) -> SafeCommand:
        """Returns the velocity (m/s, map) and yaw rate (rad/s) with everything that the status reports of them."""
        changed = command is None or not (np.array_equal(velocity, command.velocity) and yaw_rate == command.yaw_rate)
        reasons = by_severity(findings.reasons)
        stop = 0.0
        if scene is not None:
            stop = self.limits.stopping_distance(magnitude(scene.velocity))
        return SafeCommand(
            velocity=np.array(velocity, dtype=np.float64),
            yaw_rate=float(yaw_rate),
            mode=findings.mode,
            reasons=reasons,
            text="; ".join(dict.fromkeys(findings.texts)),
            changed=changed,
            breach=Reason.BREACH in reasons,
            clearance=clearance,
            stopping_distance=stop,
            height=scene.height if scene is not None else None,
            interventions=memory.interventions,
        )
