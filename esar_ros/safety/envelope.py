"""Spatial and speed limits: speed, obstacles, other vehicles, floor, ceiling, fence, keep-out zones and unseen space.

The speed limits scale a velocity. The others are half-spaces of velocities, and the nearest velocity that keeps all of
them is taken, so that the vehicle slides along obstacles. Unseen space scales it again.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.half_spaces import TOLERANCE, project
from esar_ros.safety.inputs import Findings, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.observed_space import SECTORS
from esar_ros.safety.surroundings.obstacles import (
    ALL_AROUND,
    NO_LIMITS,
    HalfSpaces,
    Surroundings,
    from_ranges,
    from_window,
    reach_of,
)
from esar_ros.safety.surroundings.scene import Scene
from esar_ros.safety.traffic import separation_limits

_UP = np.array([0.0, 0.0, 1.0])
_ZERO = np.zeros(3)
_SECTOR = math.tau / SECTORS
_LEVEL = np.array(
    [[math.cos(n * _SECTOR - math.pi), math.sin(n * _SECTOR - math.pi), 0.0] for n in np.arange(SECTORS) + 0.5]
)  # (SECTORS, 3) the middle of each sector of azimuth
_OVERHEAD = math.sin(math.radians(60.0))  # sine of the elevation above which the take-off column must be free
_HALF_MAX = 8e307  # m/s, of which the double is finite still
_ROUNDING = 1e-12  # of a share
_DISTANCE_TOLERANCE = 1e-9  # m
_MIN_TRUST = 0.01  # share of the greatest speed that is left to the most uncertain position
_TRIES = 4  # of a tighter clearance, each halving what may be left of the margin: to 0.1 m
_SLOPE_CELLS = 1.5  # cells of the ground that reach above a vehicle which stands on a slope
_TEXTS = {
    Reason.SPEED: "too fast",
    Reason.CONDITIONS: "too fast for weather or light",
    Reason.ESTIMATOR: "position uncertain",
    Reason.OBSTACLE: "obstacle within stopping distance",
    Reason.FLOOR: "too low above ground",
    Reason.FENCE: "fence within stopping distance",
    Reason.CEILING: "too high above ground",
    Reason.UNKNOWN_SPACE: "climbing into unseen air",
    Reason.KEEP_OUT: "keep-out zone within stopping distance",
    Reason.TRAFFIC: "another vehicle is near",
}


class Envelope:
    """The spatial and speed limits, and the velocities within them; without a site the vehicle stays on the ground."""

    def __init__(self, limits: Limits, site: Site | None) -> None:
        self.limits = limits
        self.site = site

    def limit_speed(self, velocity: Vector, deviation: float | None, findings: Findings) -> Vector:
        """Returns the velocity (m/s, map), slowed into the speed limits.

        deviation: m, standard deviation of the position; None: not stated.
        """
        limits = self.limits
        # Halved before measuring so that the largest finite numbers do not overflow.
        half = 0.5 * velocity
        level, up, down = 2.0 * min(math.hypot(half[0], half[1]), _HALF_MAX), velocity[2], -velocity[2]
        speed = 2.0 * min(math.hypot(*half), _HALF_MAX)
        excess = {
            Reason.SPEED: max(level / limits.speed_horizontal, up / limits.speed_up, down / limits.speed_down),
            Reason.CONDITIONS: speed / self._conditions_speed(),
            Reason.ESTIMATOR: speed / self._trusted_speed(deviation),
        }
        for reason, share in excess.items():
            if share > 1.0 + _ROUNDING:
                findings.add(Mode.SLOW, reason, _TEXTS[reason])
        worst = max(excess.values())
        return velocity if worst <= 1.0 + _ROUNDING else velocity / worst

    def _conditions_speed(self) -> float:
        """Returns the greatest speed (m/s) in the mission's weather and light."""
        return math.inf if self.site is None else self.site.speed

    def _trusted_speed(self, deviation: float | None) -> float:
        """Returns the greatest speed (m/s) with a position of this standard deviation (m).

        It falls to almost standstill at deviation_hold.
        """
        limits = self.limits
        if deviation is None or deviation <= limits.deviation_slow:
            return math.inf
        share = (limits.deviation_hold - deviation) / max(limits.deviation_hold - limits.deviation_slow, 1e-9)
        return limits.speed_horizontal * max(share, _MIN_TRUST)

    def keep(self, asked: Vector, state: State, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity (m/s, map) nearest to asked within the spatial limits, slowed in unseen space."""
        asked = self._leave_ground_straight(asked, state.landed, scene, findings)
        asked = self._touch_down_straight(asked, scene, findings)
        speed = max(magnitude(asked), magnitude(scene.velocity))
        reach = reach_of(speed, self.limits) + scene.drift
        sources = (
            (Reason.OBSTACLE, self._obstacles(scene, reach)),
            (Reason.FLOOR, self._floor(scene)),
            (Reason.TRAFFIC, self._traffic(scene)),
            (Reason.FENCE, self._fence(scene)),
            (Reason.KEEP_OUT, self._keep_out(scene)),
            (Reason.CEILING, self._ceiling(scene)),
            (Reason.UNKNOWN_SPACE, self._unseen_climb(asked, scene)),
        )
        within = HalfSpaces(
            np.concatenate([limits.normals for _, limits in sources]),
            np.concatenate([limits.bounds for _, limits in sources]),
        )
        if scene.touching_down:
            kept = _share_within(asked, within)
        else:
            kept = self._nearest_within(asked, within, scene, reach)
        if np.array_equal(kept, asked):
            return self._slow_in_unseen(asked, scene, findings)
        for reason, limits in sources:
            if np.any(limits.normals @ asked > limits.bounds + TOLERANCE):
                recovers = reason is Reason.FLOOR and bool((limits.bounds < 0.0).any())
                findings.add(Mode.CLIMB if recovers else Mode.SLOW, reason, _TEXTS[reason])
        return self._slow_in_unseen(self.limit_speed(kept, state.deviation, Findings()), scene, findings)

    def back_off(self, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity (m/s, map) of a vehicle that stands still: away from what is too near, else zero."""
        reach = reach_of(0.0, self.limits)
        kept = self._nearest_within(_ZERO, self._obstacles(scene, reach), scene, reach)
        kept = self.limit_speed(kept, None, Findings())
        if kept.any():
            findings.add(Mode.HOLD, Reason.OBSTACLE, _TEXTS[Reason.OBSTACLE])
        return kept

    def _nearest_within(self, asked: Vector, within: HalfSpaces, scene: Scene, reach: float) -> Vector:
        """Returns the velocity (m/s, map) nearest to asked within the limits, those of the obstacles first.

        Squeezed from several sides it cannot back off from all. It then backs off from what is nearer than the largest
        clearance that all sides leave, and closes in on nothing more than that takes.
        """
        normals, bounds = within.normals, within.bounds
        kept = project(asked, normals, bounds)
        if kept is not None:
            return kept
        away, eased, calm = _ZERO, np.maximum(bounds, 0.0), replace(scene, drift=0.0)
        share = step = 0.5  # of the margin beyond the body
        for _ in range(_TRIES):
            step *= 0.5
            near = self._obstacles(calm, reach, share * self.limits.obstacle_margin).bounds
            tight = np.concatenate([near, np.maximum(bounds[len(near) :], 0.0)])
            found = project(_ZERO, normals, tight)
            share += -step if found is None else step
            if found is not None:
                away, eased = found, np.where(bounds < 0.0, np.minimum(tight, 0.0), bounds)
        kept = project(asked, normals, np.maximum(eased, normals @ away))
        return _ZERO if kept is None else kept

    def _leave_ground_straight(self, asked: Vector, landed: bool, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity, on the ground and in the take-off column without its level part."""
        if not scene.in_takeoff_column or scene.landing:
            return asked
        column = np.array([0.0, 0.0, max(asked[2], 0.0) if landed else asked[2]])
        if self.site is None:
            column = _ZERO
        if np.array_equal(column, asked):
            return asked
        if self.site is None:
            findings.add(Mode.HOLD, Reason.FENCE, "no fence is known before the brief")
        elif landed:
            findings.add(Mode.SLOW, Reason.NOT_FLYING, "on the ground")
        else:
            findings.add(Mode.SLOW, Reason.FLOOR, "straight up until above the floor")
        return column

    def _touch_down_straight(self, asked: Vector, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity, in a touch-down without its level part and no faster down than a landing."""
        if not scene.touching_down:
            return asked
        straight = np.array([0.0, 0.0, max(asked[2], -self.limits.land_speed)])
        if np.array_equal(straight, asked):
            return asked
        findings.add(Mode.SLOW, Reason.FLOOR, "straight down to the ground")
        return straight

    def _obstacles(self, scene: Scene, reach: float, margin: float | None = None) -> HalfSpaces:
        """Returns the limits of all obstacles within reach (m); margin: m kept beyond the body, None: as ever."""
        limits = self.limits if margin is None else self.limits.model_copy(update={"obstacle_margin": margin})
        push = 0.0 if scene.in_takeoff_column or scene.near_ground else self.limits.push_speed
        near = []
        if scene.image is not None:
            near.append(self._range_obstacles(scene, reach, push, limits).limits)
        if scene.window is not None:
            near.append(self._window_obstacles(scene, reach, limits).limits)
        if not near:
            return NO_LIMITS
        return HalfSpaces(np.concatenate([n.normals for n in near]), np.concatenate([n.bounds for n in near]))

    def _range_obstacles(self, scene: Scene, reach: float, push: float, limits: Limits) -> Surroundings:
        """Returns the obstacles in the ranges within reach (m), backed off from at up to push (m/s)."""
        assert scene.image is not None
        min_sine = ALL_AROUND if scene.touching_down else _min_sine(scene)
        ground = -scene.height if scene.touching_down and scene.height is not None else -math.inf
        return from_ranges(
            scene.image, scene.position, scene.velocity, limits, reach, push, min_sine, ground, scene.drift
        )

    def _window_obstacles(self, scene: Scene, reach: float, limits: Limits) -> Surroundings:
        """Returns the obstacles in the window within reach (m)."""
        assert scene.window is not None
        # On a slope the cells of the ground that the vehicle stands on reach above it.
        own = max(limits.body_radius, _SLOPE_CELLS * scene.window.resolution if scene.in_takeoff_column else 0.0)
        return from_window(
            scene.window, scene.position, scene.velocity, limits, reach, own, _min_sine(scene), scene.drift
        )

    def _floor(self, scene: Scene) -> HalfSpaces:
        """Returns the limit of the descent to the floor; below it the vehicle climbs."""
        height, limits = scene.height, self.limits
        if height is None or scene.near_ground or scene.in_takeoff_column:
            return NO_LIMITS
        if height < limits.floor - limits.floor_deadband:
            return HalfSpaces(-_UP[None], np.array([-min(limits.floor_climb, limits.floor - height)]))
        return self._brake(-_UP, height - limits.floor, scene)

    def _ceiling(self, scene: Scene) -> HalfSpaces:
        """Returns the limits of the way up to the ceilings above ground and above sea level; above them it descends.

        Where the ground falls away, level flight rises above it as a climb does: there the ceiling bounds the velocity
        along the normal of the ground, and above it the vehicle comes down along the slope.
        """
        limits = self.limits
        if self.site is None:
            return NO_LIMITS
        above_sea = float(scene.position[2]) - self.site.top
        if scene.height is not None:
            over = scene.height - self.site.ceiling
            # The highest point of the footprint counts as the surface; on a slope the foot point lies lower.
            max_over = max(over, (scene.observed.depth_below() or 0.0) - self.site.ceiling)
            falls = scene.observed.fall_around(limits.ground_slope)
        else:
            away = scene.position - (self.site.home if scene.last_ground is None else scene.last_ground)
            distance = math.hypot(away[0], away[1])
            over, max_over = -math.inf, float(away[2]) + limits.ground_slope * distance - self.site.ceiling
            falls = limits.ground_slope * np.maximum(_LEVEL[:, :2] @ away[:2] / max(distance, 1e-6), 0.0)
        rises = np.concatenate([_UP[None], falls[:, None] * _LEVEL + _UP])  # v . rise: m/s above ground
        overs = np.array([max(over, above_sea)] + SECTORS * [max_over])
        rooms = -np.maximum(overs, max_over)
        closing = rises @ scene.velocity
        bounds = np.array(
            [limits.closing_speed(room, float(speed)) for room, speed in zip(rooms, closing, strict=True)]
        )
        if scene.height is not None and not scene.near_ground:
            bounds = np.where(overs > limits.floor_deadband, -np.minimum(limits.push_speed, overs), bounds)
        if scene.height is None and scene.last_ground is None:
            bounds[0] = 0.0  # home tells how high it is at most, which is no ground to climb above
        lengths = np.linalg.norm(rises, axis=1)
        return HalfSpaces(rises / lengths[:, None], bounds / lengths)

    def _fence(self, scene: Scene) -> HalfSpaces:
        """Returns the limits of the fence, which do not act in the take-off column."""
        if self.site is None or scene.in_takeoff_column:
            return NO_LIMITS
        return self.site.fence_limits(scene.position, scene.velocity, self.limits)

    def _keep_out(self, scene: Scene) -> HalfSpaces:
        """Returns the limits of the keep-out zones, which do not act in the take-off column."""
        if self.site is None or scene.in_takeoff_column:
            return NO_LIMITS
        return self.site.keep_out_limits(scene.position, scene.velocity, self.limits)

    def _traffic(self, scene: Scene) -> HalfSpaces:
        """Returns the limits of the other vehicles, which do not act at take-off and landing."""
        if scene.in_takeoff_column or scene.near_ground:
            return NO_LIMITS
        return separation_limits(scene.traffic, scene.velocity, self.limits)

    def _brake(self, direction: Vector, room: float, scene: Scene) -> HalfSpaces:
        """Returns the limit that stops within room (m) along a direction, tighter while closing in faster already."""
        bound = self.limits.closing_speed(room, float(direction @ scene.velocity))
        return HalfSpaces(direction[None], np.array([bound]))

    def _unseen_climb(self, asked: Vector, scene: Scene) -> HalfSpaces:
        """Returns the limit of the climb where the space along asked (m/s, map) was not observed to be free."""
        speed = magnitude(asked)
        if asked[2] <= self.limits.speed_unseen_up or self._climb_is_seen(asked / speed, speed, scene):
            return NO_LIMITS
        return HalfSpaces(_UP[None], np.array([self.limits.speed_unseen_up]))

    def _slow_in_unseen(self, velocity: Vector, scene: Scene, findings: Findings) -> Vector:
        """Returns the velocity, slowed so that the vehicle stops within observed space, and where there is no map."""
        speed = magnitude(velocity)
        if scene.near_ground:
            return velocity
        share = 1.0
        if scene.window is None and speed > self.limits.speed_without_map:
            share = self.limits.speed_without_map / speed
            findings.add(Mode.SLOW, Reason.STALE_MAP, "no fresh local map")
        is_seen = speed < 1e-9 or self._can_stop_in_observed_space(velocity / speed, speed, scene)
        max_climb = self.limits.speed_unseen_up
        # Asked for less, but turned upwards by an obstacle.
        if velocity[2] > max_climb + TOLERANCE and not self._climb_is_seen(velocity / speed, speed, scene):
            findings.add(Mode.SLOW, Reason.UNKNOWN_SPACE, _TEXTS[Reason.UNKNOWN_SPACE])
            share = min(share, max_climb / float(velocity[2]))
        # Of a climb only the level part needs observed space.
        sought = velocity if velocity[2] <= 0.0 else np.array([velocity[0], velocity[1], 0.0])
        level = magnitude(sought)
        if not is_seen and level > 1e-9:
            free = self._free_lane(sought / level, level, scene)
            allowed = self.limits.allowed_speed(free)
            if allowed < level - TOLERANCE:
                findings.add(Mode.SLOW, Reason.UNKNOWN_SPACE, "never seen ahead")
                share = min(share, allowed / level)
        return velocity * share

    def _can_stop_in_observed_space(self, direction: Vector, speed: float, scene: Scene) -> bool:
        """Returns whether the vehicle can stop from speed (m/s) within the observed space along a direction."""
        wanted = self.limits.stopping_distance(speed)
        return self._free_lane(direction, speed, scene) >= wanted - _DISTANCE_TOLERANCE

    def _free_lane(self, direction: Vector, speed: float, scene: Scene) -> float:
        """Returns the free distance (m) of the vehicle's whole width along a direction, for a stop from speed (m/s).

        Beside a sector in which the sensor is blind the middle of the way may be seen and its edge not.
        """
        across = math.hypot(direction[0], direction[1])
        if across < 1e-6:
            return self._free_distance(direction, speed, scene)
        edge = self.limits.body_radius / across * np.array([-direction[1], direction[0], 0.0])
        return min(self._free_distance(direction, speed, scene, beside) for beside in (None, edge, -edge))

    def _climb_is_seen(self, direction: Vector, speed: float, scene: Scene) -> bool:
        """Returns whether the same holds of the vehicle's upper edge, too: what hangs over a way passes out of sight.

        A sensor that does not look up sees what is above a slanting way from afar alone.
        """
        upper = _UP - direction[2] * direction
        length = magnitude(upper)
        if length < 1e-6:
            return self._can_stop_in_observed_space(direction, speed, scene)
        wanted = self.limits.stopping_distance(speed)
        edge = self._free_distance(direction, speed, scene, upper * (self.limits.body_radius / length))
        return edge >= wanted - _DISTANCE_TOLERANCE and self._can_stop_in_observed_space(direction, speed, scene)

    def _free_distance(self, direction: Vector, speed: float, scene: Scene, beside: Vector | None = None) -> float:
        """Returns the free distance (m) along a direction, at most what a stop from speed (m/s) takes.

        beside: m, map: of the line from the vehicle's centre. The way back is free, seen or not: the vehicle has just
        come that way.
        """
        wanted = self.limits.stopping_distance(speed)
        free = scene.observed.known_free(direction, wanted, beside)
        if scene.way_back is None:
            return free
        distance = magnitude(scene.way_back)
        heads_back = direction @ scene.way_back >= distance - _DISTANCE_TOLERANCE
        return max(free, min(distance, wanted)) if heads_back else free

    def nearest(self, scene: Scene) -> tuple[float, float]:
        """Returns the distance (m) of the nearest obstacle in the ranges, and in ranges and window together."""
        reach = self.limits.clearance
        measured = self._range_obstacles(scene, reach, 0.0, self.limits).nearest if scene.image else math.inf
        mapped = self._window_obstacles(scene, reach, self.limits).nearest if scene.window else math.inf
        return measured, min(measured, mapped)


def _share_within(asked: Vector, within: HalfSpaces) -> Vector:
    """Returns the largest share of a velocity within the limits; zero where it would have to turn back.

    An obstacle stops the vehicle, which does not slide along it.
    """
    closing = within.normals @ asked
    over = closing > within.bounds + TOLERANCE
    if not over.any():
        return asked
    return asked * max(0.0, float((within.bounds[over] / closing[over]).min()))


def _min_sine(scene: Scene) -> float:
    """Returns the sine of the elevation below which obstacles are left out.

    In a landing everything below is taken for the ground that the vehicle comes down on. In the take-off column only
    what hangs over the vehicle counts, so that a slope beside it does not divert the climb.
    """
    if scene.near_ground:
        return 0.0
    return _OVERHEAD if scene.in_takeoff_column else ALL_AROUND
