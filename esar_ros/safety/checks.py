"""The checks of a governor's inputs: their age, whether they are finite, whether they contradict each other.

Each check passes an input on while it can be trusted, and notes a reason to hold otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.acceleration import MAX_STEP
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.failsafe import Latch
from esar_ros.safety.inputs import Command, Findings, RangeImageData, State
from esar_ros.safety.limits import ON_GROUND, STANDING, Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.echoes import EchoMonitor
from esar_ros.safety.surroundings.observed_space import ObservedSpace
from esar_ros.safety.surroundings.scene import Scene
from esar_ros.safety.traffic import OtherVehicle, Team, gaps, in_the_air, is_silent, layer_height, layer_velocity
from esar_ros.safety.watch import (
    Clock,
    HeadingResidual,
    MotionConsistency,
    PositionResidual,
    ScanRepetition,
    age_text,
    usable,
)
from esar_ros.safety.wind import WindDisturbance

_MIN_SPEED_IN_WIND = 1.5  # m/s that a wind leaves, so that the vehicle can get away
_FIRST_STEP = 0.05  # s, assumed before the first decision


class InputChecks:
    """The checks of a governor's inputs by its limits."""

    limits: Limits
    team: Team
    envelope: Envelope

    @property
    def site(self) -> Site | None:
        """The fence, ceiling and home in force; without a site the vehicle stays on the ground."""
        return self.envelope.site

    def _check_clock(self, clock: Clock, now: float, findings: Findings) -> tuple[Clock, float]:
        """Returns the clock at now (s), and the step (s) since the last reading within 0..MAX_STEP."""
        after, step, jumped = clock.advance(now, self.limits.clock_gap, self.limits.clock_settle)
        if jumped:
            findings.add(Mode.HOLD, Reason.CLOCK_JUMP, f"the clock jumped by {step:+.2f} s")
        elif after.settling:
            findings.add(Mode.HOLD, Reason.CLOCK_JUMP, "waiting after a jump of the clock")
        return after, _FIRST_STEP if math.isinf(step) else min(max(step, 0.0), MAX_STEP)

    def _check_odometry(self, state: State | None, now: float, findings: Findings) -> State | None:
        """Returns the state while it is finite and fresh."""
        if state is not None and not state.is_finite():
            findings.add(Mode.HOLD, Reason.STALE_ODOMETRY, "odometry not finite")
            return None
        if state is None or not usable(state.stamp, now, self.limits.odometry_age, self.limits.future):
            findings.add(Mode.HOLD, Reason.STALE_ODOMETRY, age_text("odometry", state.stamp if state else None, now))
            return None
        return state

    def _check_command(self, command: Command | None, now: float, findings: Findings) -> Command | None:
        """Returns the command while it is fresh and finite."""
        if command is None or not usable(command.stamp, now, self.limits.command_age, self.limits.future):
            findings.add(Mode.HOLD, Reason.STALE_COMMAND, age_text("command", command.stamp if command else None, now))
            return None
        if not (np.isfinite(command.velocity).all() and math.isfinite(command.yaw_rate)):
            findings.add(Mode.HOLD, Reason.NON_FINITE, "command not finite")
            return None
        return command

    def _check_link(
        self, lost_since: float | None, heartbeat_age: float, now: float, findings: Findings
    ) -> float | None:
        """Returns the time (s) since which the producer of commands is silent; None while it is alive."""
        if heartbeat_age <= self.limits.heartbeat_age:
            return None
        findings.add(Mode.HOLD, Reason.LINK, f"pilot silent for {heartbeat_age:.1f} s")
        return now if lost_since is None or lost_since > now else lost_since

    def _check_authority(self, conflicting_publisher: str, findings: Findings) -> None:
        """Notes a foreign publisher of an input or output."""
        if conflicting_publisher:
            findings.add(Mode.HOLD, Reason.LINK, conflicting_publisher)

    def _check_ranges(self, image: RangeImageData | None, now: float, findings: Findings) -> RangeImageData | None:
        """Returns the range image while its pose is finite and it is fresh."""
        if image is not None and not image.is_finite():
            findings.add(Mode.HOLD, Reason.STALE_RANGES, "ranges without a pose")
            return None
        if image is None or not usable(image.stamp, now, self.limits.ranges_age, self.limits.future):
            findings.add(Mode.HOLD, Reason.STALE_RANGES, age_text("ranges", image.stamp if image else None, now))
            return None
        return image

    def _check_landed(
        self, state: State | None, image: RangeImageData | None, rest_position: Vector | None
    ) -> State | None:
        """Returns the state, in which `landed` remains only while speed and the surface measured below agree with it.

        Where no surface is measured, a vehicle that was at rest on the ground is still there, and one in the air has
        not landed.
        """
        if state is None or not state.landed:
            return state
        return state if self._is_standing(state, image, rest_position) else replace(state, landed=False)

    def _check_armed(
        self, state: State | None, image: RangeImageData | None, now: float, rest_position: Vector | None
    ) -> State | None:
        """Returns the state of a vehicle in the air, in which `armed` is false only where the vehicle stands."""
        if state is None or state.armed:
            return state
        fresh = image is not None and image.is_finite() and usable(image.stamp, now, self.limits.ranges_age, 0.0)
        standing = self._is_standing(state, image if fresh else None, rest_position)
        return state if standing else replace(state, armed=True)

    def _is_standing(self, state: State, image: RangeImageData | None, rest_position: Vector | None) -> bool:
        """Returns whether the vehicle is slow and near a surface measured below, or else near its rest_position."""
        position = state.pose.position
        gap = ObservedSpace(position, image, None, self.limits.own_radius).gap_below()
        if gap is None:
            gap = math.inf if rest_position is None else magnitude(position - rest_position)
        return gap <= ON_GROUND and magnitude(state.velocity) <= STANDING

    def _check_scan(
        self, scan: ScanRepetition, image: RangeImageData | None, state: State | None, findings: Findings
    ) -> tuple[RangeImageData | None, ScanRepetition]:
        """Returns the range image while its ranges change as the vehicle moves; on the ground they need not change.

        Without a position nothing tells how far it moved: the first of those that repeat is kept.
        """
        if image is None:
            return None, scan
        if state is None:
            stuck = scan.repeats(image.stamp, image.ranges)
            return image, scan if stuck else ScanRepetition(image.stamp, image.ranges, image.pose)
        if not state.flying:
            return image, ScanRepetition()
        speed = magnitude(state.velocity)
        after = scan.updated(image.stamp, image.ranges, state.pose, speed)
        if after.repeated <= self.limits.scan_repeat:
            return image, after
        findings.add(Mode.HOLD, Reason.STALE_RANGES, f"the same ranges over {after.repeated:.1f} m of motion")
        return None, after

    def _check_echoes(
        self,
        echoes: EchoMonitor,
        image: RangeImageData | None,
        state: State | None,
        window: OccupancyWindow | None,
        last_ground: Vector | None,
        findings: Findings,
    ) -> tuple[RangeImageData | None, EchoMonitor]:
        """Returns the range image while its empty cells may count as free space; those of blind sectors are unknown.

        last_ground: the point (m, map) of the ground measured last. On the ground every range image passes.
        """
        if image is None or state is None:
            return image, echoes
        if not state.flying:
            return image, EchoMonitor()
        after = echoes
        if image.stamp != echoes.stamp:
            position = image.pose.position
            surface = ObservedSpace(position, image, window, self.limits.own_radius).surface_below()
            if surface is None and last_ground is not None:
                near = math.hypot(*(position - last_ground)[:2]) <= self.limits.column_radius
                surface = float(last_ground[2]) if near else None
            height = None if surface is None else float(position[2]) - surface
            after = echoes.updated(image, height, self.limits.ground_slope, window)
        if after.text:
            findings.add(Mode.HOLD, Reason.STALE_RANGES, after.text)
        return after.trusted, after

    def _check_wind(self, wind: WindDisturbance, state: State, last_output: Vector | None) -> WindDisturbance:
        """Returns the wind's disturbance after another state; none while the vehicle does not fly the outputs."""
        if not (state.flying and state.obeyed):
            return WindDisturbance()
        return wind.updated(state.stamp, state.velocity, state.velocity if last_output is None else last_output)

    def _limit_wind(self, velocity: Vector, wind: WindDisturbance, findings: Findings) -> Vector:
        """Returns the velocity, shortened the more the stronger the wind disturbs the vehicle."""
        limits = self.limits
        if wind.rms <= limits.blown_slow:
            return velocity
        share = (limits.blown_return - wind.rms) / max(limits.blown_return - limits.blown_slow, 1e-9)
        max_speed = max(limits.speed_horizontal * share, _MIN_SPEED_IN_WIND)
        speed = magnitude(velocity)
        if speed <= max_speed:
            return velocity
        findings.add(Mode.SLOW, Reason.CONDITIONS, f"the wind moves it by {wind.rms:.1f} m/s")
        return velocity * (max_speed / speed)

    def _check_map(self, window: OccupancyWindow | None, now: float) -> OccupancyWindow | None:
        """Returns the window while it is fresh; without one the vehicle flies slowly by ranges alone."""
        fresh = window is not None and usable(window.stamp, now, self.limits.map_age, self.limits.future)
        return window if fresh else None

    def _check_traffic(
        self, others: Sequence[OtherVehicle], state: State, now: float
    ) -> tuple[tuple[Vector, float], ...]:
        """Returns direction to and distance (m) of each other vehicle in the air whose report is possible.

        Above home one that is silent does not count: the vehicle must come down somewhere.
        """
        flying = in_the_air([o for o in others if o.is_finite()], self.site, now, self.limits)
        if self.site is not None and self._is_at_home(state.pose.position):
            flying = [other for other in flying if not is_silent(other, now, self.limits)]
        return tuple(gaps(flying, state.pose.position, now, self.limits))

    def _check_reports(self, deaf_since: float | None, others: Sequence[OtherVehicle], now: float) -> float | None:
        """Returns the time (s) since which a vehicle of the team is not heard that may be in the air; None: all are."""
        heard = [o for o in others if o.is_finite()]
        flying = in_the_air(heard, self.site, now, self.limits)
        missed = len(heard) < self.team.size - 1 or any(is_silent(other, now, self.limits) for other in flying)
        if self.team.size < 2 or not missed:
            return None
        return now if deaf_since is None or deaf_since > now else deaf_since

    def _check_layer(
        self, scene: Scene, state: State, deaf_since: float | None, latch: Latch, now: float, findings: Findings
    ) -> tuple[Scene, Latch]:
        """Returns scene and latch while a vehicle of the team is not heard (since, s): this one flies in its layer.

        Without a layer it holds, and returns after link_return. Above home it may climb and come down.
        """
        flying = state.flying and not scene.in_takeoff_column and not scene.near_ground
        if deaf_since is None or self.site is None or not flying or self._is_at_home(scene.position):
            return scene, latch
        foot = scene.last_ground if scene.surface is None else np.array([0.0, 0.0, scene.surface])
        height = None if foot is None else layer_height(self.site, float(foot[2]), self.limits)
        if foot is not None and height is not None:
            return replace(scene, above_layer=float(scene.position[2] - foot[2]) - height), latch
        text = "a vehicle of the team is silent, and the ceiling leaves no layer"
        if latch.mode is not Mode.NORMAL:
            return scene, latch
        if now - deaf_since >= self.limits.link_return:
            return scene, latch.raised(Mode.RETURN, Reason.TRAFFIC, text)
        findings.add(Mode.HOLD, Reason.TRAFFIC, text)
        return scene, latch

    def _limit_to_layer(self, velocity: Vector, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity (m/s, map), in its layer or straight into it while a teammate is not heard."""
        if scene.above_layer is None:
            return velocity
        findings.add(Mode.SLOW, Reason.TRAFFIC, "a vehicle of the team is silent: in its own layer of height")
        return layer_velocity(velocity, scene.above_layer, self.limits)

    def _is_at_home(self, position: Vector) -> bool:
        """Returns whether a return ends at a position (m, map); without a site it ends anywhere."""
        if self.site is None:
            return True
        return math.hypot(*(self.site.home - position)[:2]) <= self.limits.home_radius

    def _check_estimator(self, state: State | None, findings: Findings) -> None:
        """Notes a position whose stated standard deviation is too large."""
        deviation = None if state is None else state.deviation
        if deviation is not None and not deviation < self.limits.deviation_hold:
            findings.add(Mode.HOLD, Reason.ESTIMATOR, f"position known to {deviation:.1f} m only")

    def _check_motion(
        self, motion: MotionConsistency, state: State | None, findings: Findings
    ) -> tuple[State | None, MotionConsistency]:
        """Returns the state while its position moves as its velocity says; otherwise the position is not known.

        It remains unknown until the position is back where the velocity led, or a person clears it.
        """
        if state is None:
            return None, motion
        if not state.armed and motion.exceeded is None:
            return state, self._initial_motion()  # a vehicle that is carried measures no velocity
        deviation = state.velocity_deviation or 0.0
        after = motion.updated(state.stamp, state.pose.position, state.velocity, self.limits.clock_gap, deviation)
        if after.stuck_distance > self.limits.slip_hold:
            findings.add(Mode.HOLD, Reason.ESTIMATOR, f"the same position over {after.stuck_distance:.1f} m of way")
            return None, after
        if after.exceeded is None:
            return state, after
        text = f"position moved {after.exceeded.size:.1f} m otherwise than its velocity"
        findings.add(Mode.HOLD, Reason.ESTIMATOR, f"{text}: until it is back or a person clears it")
        return None, after

    def _check_heading(
        self, heading: HeadingResidual, state: State | None, findings: Findings
    ) -> tuple[State | None, HeadingResidual]:
        """Returns the state while its heading turns as its rates say; otherwise nothing is where the ranges show it.

        It remains so until the heading is back where the rates led, or a person clears it.
        """
        if state is None:
            return None, heading
        if not state.armed and not heading.exceeds_limit():
            return state, HeadingResidual()  # a vehicle that is carried measures no rates
        after = heading.updated(state.stamp, state.pose, state.rates)
        if not after.exceeds_limit():
            return state, after
        text = f"heading turned by {math.degrees(after.angle):.0f} degrees otherwise than its rates"
        findings.add(Mode.HOLD, Reason.ESTIMATOR, f"{text}: until it is back or a person clears it")
        return None, after

    def _initial_motion(self) -> MotionConsistency:
        """Returns the state before any odometry: one residual of a short memory, one of a long one."""
        limits = self.limits
        fast = PositionResidual(limits.slip_memory, limits.slip_hold)
        slow = PositionResidual(limits.drift_memory, limits.drift_hold)
        return MotionConsistency(residuals=(fast, slow))
