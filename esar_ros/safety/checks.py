"""What each input is good for: its age, whether it is finite, whether it contradicts itself.

Each check passes an input on while it can be trusted, and notes a reason to hold otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.inputs import Command, Findings, RangeImageData, State
from esar_ros.safety.limits import ON_GROUND, STANDING, Limits
from esar_ros.safety.sight import Sight
from esar_ros.safety.silence import Silence
from esar_ros.safety.traffic import Other, gaps
from esar_ros.safety.watch import Clock, Motion, Scan, Slip, age_text, usable
from esar_ros.safety.wind import Blown

_LEAST = 1.5  # m/s that a wind leaves, so that the vehicle can get away
_FIRST_STEP = 0.05  # s, assumed before the first decision
LONGEST_STEP = 0.2  # s of acceleration granted at once, however long the step was


class InputChecks:
    """The checks of a governor's inputs, by its limits."""

    limits: Limits

    def _check_clock(self, clock: Clock, now: float, found: Findings) -> tuple[Clock, float]:
        after, step, jumped = clock.advance(now, self.limits.clock_gap, self.limits.clock_settle)
        if jumped:
            found.add(Mode.HOLD, Reason.CLOCK_JUMP, f"the clock jumped by {step:+.2f} s")
        elif after.settling:
            found.add(Mode.HOLD, Reason.CLOCK_JUMP, "waiting after a jump of the clock")
        return after, _FIRST_STEP if math.isinf(step) else min(max(step, 0.0), LONGEST_STEP)

    def _check_odometry(self, state: State | None, now: float, found: Findings) -> State | None:
        if state is not None and not state.is_finite():
            found.add(Mode.HOLD, Reason.STALE_ODOMETRY, "odometry not finite")
            return None
        if state is None or not usable(state.stamp, now, self.limits.odometry_age, self.limits.future):
            found.add(Mode.HOLD, Reason.STALE_ODOMETRY, age_text("odometry", state.stamp if state else None, now))
            return None
        return state

    def _check_command(self, command: Command | None, now: float, found: Findings) -> Command | None:
        if command is None or not usable(command.stamp, now, self.limits.command_age, self.limits.future):
            found.add(Mode.HOLD, Reason.STALE_COMMAND, age_text("command", command.stamp if command else None, now))
            return None
        if not (np.isfinite(command.velocity).all() and math.isfinite(command.yaw_rate)):
            found.add(Mode.HOLD, Reason.NON_FINITE, "command not finite")
            return None
        return command

    def _check_link(self, lost: float | None, heartbeat_age: float, now: float, found: Findings) -> float | None:
        """Since when (s) the producer of commands is silent."""
        if heartbeat_age <= self.limits.heartbeat_age:
            return None
        found.add(Mode.HOLD, Reason.LINK, f"pilot silent for {heartbeat_age:.1f} s")
        return now if lost is None or lost > now else lost

    def _check_authority(self, usurper: str, found: Findings) -> None:
        if usurper:
            found.add(Mode.HOLD, Reason.LINK, usurper)

    def _check_ranges(self, image: RangeImageData | None, now: float, found: Findings) -> RangeImageData | None:
        if image is not None and not image.is_finite():
            found.add(Mode.HOLD, Reason.STALE_RANGES, "ranges without a pose")
            return None
        if image is None or not usable(image.stamp, now, self.limits.ranges_age, self.limits.future):
            found.add(Mode.HOLD, Reason.STALE_RANGES, age_text("ranges", image.stamp if image else None, now))
            return None
        return image

    def _check_landed(self, state: State | None, image: RangeImageData | None, stood: Vector | None) -> State | None:
        """The state; that it has landed only while its speed and the surface seen below agree.

        Where no surface can be seen, a vehicle that stood (m, map) still stands there, and one in the air does not.
        """
        if state is None or not state.landed:
            return state
        return state if self._stands(state, image, stood) else replace(state, landed=False)

    def _check_armed(
        self, state: State | None, image: RangeImageData | None, now: float, stood: Vector | None
    ) -> State | None:
        """The state of a vehicle in the air; that it is disarmed only where it stands."""
        if state is None or state.armed:
            return state
        fresh = image is not None and image.is_finite() and usable(image.stamp, now, self.limits.ranges_age, 0.0)
        return state if self._stands(state, image if fresh else None, stood) else replace(state, armed=True)

    def _stands(self, state: State, image: RangeImageData | None, stood: Vector | None) -> bool:
        """Whether speed and the surface seen below, or the spot (m, map) where it stood, are a standing vehicle's."""
        position = state.pose.position
        gap = None if image is None else Sight(position, image, None, self.limits.own_radius).gap_below()
        if gap is None:
            gap = math.inf if stood is None else float(np.linalg.norm(position - stood))
        return gap <= ON_GROUND and float(np.linalg.norm(state.velocity)) <= STANDING

    def _check_scan(
        self, scan: Scan, image: RangeImageData | None, state: State | None, found: Findings
    ) -> tuple[RangeImageData | None, Scan]:
        """The ranges while they change as the vehicle moves. On the ground nothing need change."""
        if image is None or state is None:
            return image, scan
        if state.landed or not state.armed:
            return image, Scan()
        speed = float(np.linalg.norm(state.velocity))
        after = scan.taken(image.stamp, image.ranges, state.pose.position, speed)
        if after.repeated <= self.limits.scan_repeat:
            return image, after
        found.add(Mode.HOLD, Reason.STALE_RANGES, f"the same ranges over {after.repeated:.1f} m of way")
        return None, after

    def _check_silence(
        self,
        silence: Silence,
        image: RangeImageData | None,
        state: State | None,
        window: OccupancyWindow | None,
        ground: Vector | None,
        found: Findings,
    ) -> tuple[RangeImageData | None, Silence]:
        """The ranges while their silence may be believed; unknown where not. On the ground there is nothing to judge.

        ground: the last point (m, map) of it that was seen.
        """
        if image is None or state is None:
            return image, silence
        if state.landed or not state.armed:
            return image, Silence()
        after = silence
        if image.stamp != silence.stamp:
            position = image.pose.position
            surface = Sight(position, image, window, self.limits.own_radius).surface_below()
            near = ground is not None and math.hypot(*(position - ground)[:2]) <= self.limits.column_radius
            if surface is None and ground is not None and near:
                surface = float(ground[2])
            height = None if surface is None else float(position[2]) - surface
            after = silence.heard(image, height, self.limits.ground_slope, window)
        if after.text:
            found.add(Mode.HOLD, Reason.STALE_RANGES, after.text)
        return after.believed, after

    def _check_wind(self, blown: Blown, state: State, given: Vector | None) -> Blown:
        """How much of its velocity the vehicle was not given, while it flies by what it is given."""
        if state.landed or not state.armed or not state.obeyed:
            return Blown()
        return blown.measured(state.stamp, state.velocity, state.velocity if given is None else given)

    def _limit_wind(self, velocity: Vector, blown: Blown, found: Findings) -> Vector:
        """The same direction, the slower the more the wind has the vehicle."""
        limits = self.limits
        if blown.speed <= limits.blown_slow:
            return velocity
        share = (limits.blown_return - blown.speed) / max(limits.blown_return - limits.blown_slow, 1e-9)
        most = max(limits.speed_horizontal * share, _LEAST)
        speed = float(np.linalg.norm(velocity))
        if speed <= most:
            return velocity
        found.add(Mode.SLOW, Reason.CONDITIONS, f"the wind moves it by {blown.speed:.1f} m/s")
        return velocity * (most / speed)

    def _check_map(self, window: OccupancyWindow | None, now: float) -> OccupancyWindow | None:
        """The window while it is fresh; without one the vehicle flies slowly by ranges alone."""
        fresh = window is not None and usable(window.stamp, now, self.limits.map_age, self.limits.future)
        return window if fresh else None

    def _check_traffic(self, others: Sequence[Other], state: State, now: float) -> tuple[tuple[Vector, float], ...]:
        """Direction to and distance of each other vehicle that can be reckoned with."""
        return tuple(gaps([o for o in others if o.is_finite()], state.pose.position, now, self.limits))

    def _check_estimator(self, state: State | None, found: Findings) -> None:
        deviation = None if state is None else state.deviation
        if deviation is not None and not deviation < self.limits.deviation_hold:
            found.add(Mode.HOLD, Reason.ESTIMATOR, f"position known to {deviation:.1f} m only")

    def _check_motion(self, motion: Motion, state: State | None, found: Findings) -> tuple[State | None, Motion]:
        """The state while its position moves as its velocity says; where the vehicle is remains open otherwise.

        It remains so until the position is back where the velocity led, or a person clears it.
        """
        if state is None:
            return None, motion
        if not state.armed and motion.lost is None:
            return state, self._at_rest()  # whoever carries it tells no velocity
        after = motion.moved(state.stamp, state.pose.position, state.velocity, self.limits.clock_gap)
        if after.stuck > self.limits.slip_hold:
            found.add(Mode.HOLD, Reason.ESTIMATOR, f"the same position over {after.stuck:.1f} m of way")
            return None, after
        if after.lost is None:
            return state, after
        text = f"position moved {after.lost.size:.1f} m otherwise than its velocity"
        found.add(Mode.HOLD, Reason.ESTIMATOR, f"{text}: until it is back or a person clears it")
        return None, after

    def _at_rest(self) -> Motion:
        """Nothing known of the motion yet."""
        limits = self.limits
        return Motion(slips=(Slip(limits.slip_memory, limits.slip_hold), Slip(limits.drift_memory, limits.drift_hold)))
