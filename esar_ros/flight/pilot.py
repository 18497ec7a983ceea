"""The pilot: phases of a flight, and in each the velocity set-point for one control step.

DISARMED -> ARMING -> TAKE_OFF -> FLY -> RETURN -> LAND -> DONE; HOLD while the planner is silent, has no
goal, or the mission has ended with `mission_end: hold`. Pure: no clock but the `now` it is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np
from numpy.typing import NDArray

from esar_ros.flight.limits import PilotLimits
from esar_ros.flight.local_planner import LocalPlanner, Motion, Steering
from esar_ros.geometry.frames import FARTHEST, FASTEST, Pose, Vector, magnitude
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.safety.braking import allowed_speed
from esar_ros.safety.limits import Limits
from esar_ros.safety.traffic import Team
from esar_ros.safety.watch import usable

_STILL = 0.3  # m/s, slow enough to take the present place as the one to hold
_STOPPED = 4.0  # s, after which it is taken at any speed: the rest is wind
_HOLD_GAIN = 0.5  # 1/s
_HOLD_SPEED = 1.0  # m/s, back to the place held
_HOLD_NEAR = 0.3  # m off the place held that are left alone
_TOP = 0.3  # m below the take-off height that count as reached
_FIRST_STEP = 0.05  # s
_LONGEST_STEP = 0.2  # s


class Phase(IntEnum):
    """Values equal those of msg/PilotState.msg."""

    UNKNOWN = 0
    DISARMED = 1
    ARMING = 2
    TAKE_OFF = 3
    FLY = 4
    HOLD = 5
    RETURN = 6
    LAND = 7
    DONE = 8


class Request(Enum):
    """Request of the pilot to the autopilot, through the bridge's actions."""

    ARM = "arm"
    DISARM = "disarm"
    TOUCH_DOWN = "touch_down"


@dataclass(frozen=True)
class Governed:
    """The governor's answer to the last set-point."""

    mode: Mode
    given: Vector  # (3,) m/s, map: the velocity that the vehicle was given
    height: float | None = None  # m above the surface below; None: not seen


@dataclass(frozen=True)
class PilotInput:
    """Everything one control step decides on. Map frame ENU, SI units."""

    now: float  # s
    pose: Pose  # base_link in map
    velocity: Vector  # (3,) m/s
    armed: bool
    landed: bool
    running: bool  # the mission's clock runs
    ended: bool  # the mission has ended
    home: Vector  # (3,) m
    goal: Goal | None = None  # the planner's last; the same object as long as it is the same goal
    planner_silence: float = 0.0  # s since the planner's process was last heard
    window: OccupancyWindow | None = None  # the newest; used while it is fresh
    governed: Governed | None = None  # None before the governor's first answer
    touching_down: bool = False  # a touch-down is under way, whoever asked for it

    @property
    def height(self) -> float | None:
        """Height (m) above the surface below; None: not known."""
        return None if self.governed is None else self.governed.height

    @property
    def mode(self) -> Mode:
        """The governor's mode; NORMAL while it is not known."""
        return self.governed.mode or Mode.NORMAL if self.governed is not None else Mode.NORMAL


@dataclass(frozen=True)
class PilotOutput:
    """One control step's answer."""

    velocity: Vector  # (3,) m/s, map
    yaw_rate: float  # rad/s
    phase: Phase
    request: Request | None = None
    goal_reached: bool = False
    goal_blocked: bool = False
    height: float | None = None  # m above ground
    text: str = ""
    path: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) m, way being flown


class Pilot:
    """One vehicle's pilot."""

    def __init__(self, limits: PilotLimits, safety: Limits) -> None:
        self.limits = self._own = limits
        self._safety = safety
        self._touch_down_speed = min(limits.land_speed, safety.land_speed)
        self._tau = safety.tau
        self._planner = LocalPlanner(limits, safety)
        self._fastest = math.inf  # m/s, in any direction
        self.reset()

    def reset(self) -> None:
        """Forget the flight: for a new mission, on the ground or (a restarted process) in the air."""
        self.phase = Phase.DISARMED
        self._planner.reset()
        self._now: float | None = None
        self._last = np.zeros(3)
        self._gain = 0.0  # m/s^2, by which the last set-point sped up
        self._place: Vector | None = None  # position held
        self._stopping_since: float | None = None  # s
        self._take_off_from: float | None = None  # m, map z
        self._asked: tuple[Request, float] | None = None
        self._home_goal: Goal | None = None
        self._goal: Goal | None = None  # of the last step
        self._called_off: tuple[Goal | None] | None = None  # goal under which a touch-down was called off
        self._is_guest = False  # landing because somebody else asked for the touch-down
        self._was_armed = False  # its motors ran in this mission

    def call_off(self) -> None:
        """The touch-down that this pilot asked for was called off: hold until there is another goal, or need."""
        self._called_off = (self._goal,)
        self.phase = Phase.HOLD

    def slow_to(self, speed: float) -> None:
        """Fly no faster than speed (m/s) until told again, climbing and sinking included: weather, light."""
        if speed == self._fastest:
            return
        self._fastest = speed
        self.limits = self.limits.model_copy(update={"speed": min(self._own.speed, speed)})
        self._planner.limits = self.limits

    def rise_into_layer(self, team: Team, ceiling: float) -> None:
        """Take off and come home in the vehicle's own layer of height, below the mission's ceiling (m above ground)."""
        heights = {
            key: team.in_layer(getattr(self._own, key), self._safety, ceiling)
            for key in ("take_off_height", "return_height")
        }
        self.limits = self.limits.model_copy(update=heights)
        self._planner.limits = self.limits

    def step(self, seen: PilotInput) -> PilotOutput:
        """Answer one control step."""
        self.phase = self._next_phase(seen)
        self._goal = seen.goal
        if self.phase is not Phase.HOLD and not (self.phase is Phase.FLY and _holds(seen.goal)):
            self._place = self._stopping_since = None
        steering, request, text = self._act(seen)
        velocity = self._shape(steering.velocity, seen)
        self._now, self._last = seen.now, velocity
        return PilotOutput(
            velocity=velocity,
            yaw_rate=steering.yaw_rate,
            phase=self.phase,
            request=self._ask(request, seen.now),
            goal_reached=steering.reached and self.phase is Phase.FLY,
            goal_blocked=steering.blocked and self.phase is Phase.FLY,
            height=seen.height,
            text=text or steering.text,
            path=steering.path,
        )

    def _next_phase(self, seen: PilotInput) -> Phase:
        phase, flying = self.phase, seen.armed and not seen.landed
        if phase is Phase.DONE:
            return phase
        self._was_armed = self._was_armed or seen.armed
        if self._was_armed and not seen.armed and seen.landed:
            return Phase.DONE  # whoever stopped the motors: they never start again by themselves
        if phase in (Phase.DISARMED, Phase.ARMING):
            if flying:
                self._take_off_from = _ground(seen)
                return Phase.TAKE_OFF  # a restarted pilot finds itself here, too
            if seen.armed:
                self._take_off_from = float(seen.pose.position[2])
                return Phase.TAKE_OFF
            wanted = seen.running and not seen.ended and seen.planner_silence <= self.limits.planner_silence
            wanted = wanted and not self._was_armed  # out of a bridge that was started again, it is in the air
            return Phase.ARMING if wanted else Phase.DISARMED
        if not seen.armed:
            return Phase.DONE if phase in (Phase.LAND, Phase.RETURN) or seen.ended else Phase.DISARMED
        if seen.touching_down and flying:
            self._is_guest = self._is_guest or phase is not Phase.LAND
            return Phase.LAND
        if self._is_guest and flying:
            phase, self._is_guest = Phase.HOLD, False
        if phase is Phase.LAND or seen.mode == Mode.LAND:
            return Phase.LAND
        if self._is_called_off(seen):
            return Phase.HOLD
        if phase is Phase.TAKE_OFF and not self._is_up(seen) and not seen.ended:
            return Phase.TAKE_OFF
        ends_at_home = seen.ended and self.limits.mission_end == "return_land"
        if phase is Phase.RETURN or ends_at_home or seen.mode == Mode.RETURN:
            at_home = math.hypot(*(seen.home - seen.pose.position)[:2]) <= self.limits.arrival
            return Phase.LAND if at_home else Phase.RETURN
        if seen.ended or seen.goal is None or seen.planner_silence > self.limits.planner_silence:
            return Phase.HOLD
        if seen.goal.type is GoalType.RETURN:
            return Phase.RETURN
        return Phase.LAND if seen.goal.type is GoalType.LAND else Phase.FLY

    def _is_called_off(self, seen: PilotInput) -> bool:
        """Returns whether a touch-down was called off and neither a new goal nor a mode of RETURN or above has come
        since."""
        if self._called_off is None:
            return False
        if seen.goal is not self._called_off[0] or seen.mode >= Mode.RETURN:
            self._called_off = None
        return self._called_off is not None

    def _is_up(self, seen: PilotInput) -> bool:
        base = self._take_off_from if self._take_off_from is not None else float(seen.pose.position[2])
        return float(seen.pose.position[2]) - base >= self.limits.take_off_height - _TOP

    def _act(self, seen: PilotInput) -> tuple[Steering, Request | None, str]:
        """Steering, request and words of the present phase."""
        still = Steering(np.zeros(3), 0.0)
        if self.phase is Phase.ARMING:
            return still, Request.ARM, "arming"
        if self.phase is Phase.TAKE_OFF:
            return self._climb(seen), None, "taking off"
        if self.phase is Phase.HOLD:
            return self._hold(seen), None, self._why_hold(seen)
        if self.phase is Phase.RETURN:
            return self._return(seen), None, "flying home"
        if self.phase is Phase.LAND:
            return self._land(seen)
        if self.phase is Phase.FLY and seen.goal is not None:
            return self._fly(seen, seen.goal), None, ""
        return still, None, "landed" if self.phase is Phase.DONE else "waiting for the mission"

    def _climb(self, seen: PilotInput) -> Steering:
        base = self._take_off_from if self._take_off_from is not None else float(seen.pose.position[2])
        left = base + self.limits.take_off_height - float(seen.pose.position[2])
        braked = float(allowed_speed(left, self.limits.deceleration, 0.0, self._tau))
        speed = min(self.limits.take_off_speed, braked + 0.1)
        return Steering(np.array([0.0, 0.0, speed]), 0.0)

    def _fly(self, seen: PilotInput, goal: Goal) -> Steering:
        limits = self.limits
        if goal.type is GoalType.VELOCITY:
            velocity = np.where(np.abs(goal.velocity) < FASTEST, goal.velocity, 0.0)
            yaw_rate = goal.yaw_rate if math.isfinite(goal.yaw_rate) else 0.0
            return Steering(self._within(velocity), min(max(yaw_rate, -limits.yaw_rate), limits.yaw_rate))
        if goal.type is GoalType.WAYPOINT and _is_place(goal):
            return self._planner.steer(goal, _motion(seen), self._fresh_window(seen), seen.now)
        return self._hold(seen)

    def _within(self, velocity: Vector) -> Vector:
        """The same direction within the pilot's speeds."""
        limits = self.limits
        level = math.hypot(velocity[0], velocity[1])
        excess = max(level / limits.speed, velocity[2] / limits.speed_up, -velocity[2] / limits.speed_down, 1.0)
        return velocity / excess

    def _hold(self, seen: PilotInput) -> Steering:
        """Stop, then stay where it stopped."""
        position = seen.pose.position
        if self._place is None:
            if self._stopping_since is None or seen.now < self._stopping_since:
                self._stopping_since = seen.now
            if np.linalg.norm(seen.velocity) <= _STILL or seen.now - self._stopping_since >= _STOPPED:
                self._place = position.copy()
            return Steering(np.zeros(3), 0.0)
        off = self._place - position
        distance = magnitude(off)
        if distance <= _HOLD_NEAR:
            return Steering(np.zeros(3), 0.0)
        return Steering(off / distance * min(_HOLD_SPEED, _HOLD_GAIN * distance), 0.0)

    def _why_hold(self, seen: PilotInput) -> str:
        if self._called_off is not None:
            return "the touch-down was called off"
        if seen.ended:
            return "the mission has ended"
        return "no goal yet" if seen.goal is None else "the planner is silent"

    def _return(self, seen: PilotInput) -> Steering:
        if self._home_goal is None:
            above = np.array([seen.home[0], seen.home[1], self.limits.return_height])
            self._home_goal = Goal(GoalType.WAYPOINT, above, HeightReference.GROUND)
        return self._planner.steer(self._home_goal, _motion(seen), self._fresh_window(seen), seen.now)

    def _land(self, seen: PilotInput) -> tuple[Steering, Request | None, str]:
        still = Steering(np.zeros(3), 0.0)
        if seen.landed:
            return still, Request.DISARM, "landed"
        if seen.height is None or seen.height > self.limits.touch_down_height:
            left = math.inf if seen.height is None else seen.height - self.limits.touch_down_height
            speed = min(self.limits.land_speed, 0.3 + 0.5 * left)
            return Steering(np.array([0.0, 0.0, -speed]), 0.0), None, "coming down"
        down = Steering(np.array([0.0, 0.0, -self._touch_down_speed]), 0.0)
        return down, None if self._is_guest else Request.TOUCH_DOWN, "touching down"

    def _ask(self, request: Request | None, now: float) -> Request | None:
        """The request, once, and again when it was not followed for a while."""
        if request is None:
            self._asked = None
            return None
        asked = self._asked
        if asked is not None and asked[0] is request and 0.0 <= now - asked[1] < self.limits.request_again:
            return None
        self._asked = (request, now)
        return request

    def _fresh_window(self, seen: PilotInput) -> OccupancyWindow | None:
        """Returns the local map while the governor would believe it, too."""
        window, limits = seen.window, self._safety
        return window if window is not None and usable(window.stamp, seen.now, limits.map_age, limits.future) else None

    def _shape(self, wanted: Vector, seen: PilotInput) -> Vector:
        """Change no faster than acceleration and jerk allow, from what the vehicle was last really given."""
        step = _FIRST_STEP if self._now is None else min(max(seen.now - self._now, 0.0), _LONGEST_STEP)
        wanted = wanted * min(1.0, self._fastest / max(magnitude(wanted), 1e-9))
        last = self._last
        if seen.governed is not None and seen.mode != Mode.NORMAL and np.isfinite(seen.governed.given).all():
            last = seen.governed.given
        delta = wanted - last
        size = magnitude(delta)
        max_change = self.limits.acceleration * step
        shaped = wanted.copy() if size <= max_change else last + delta * (max_change / size)
        before, speed = magnitude(last), magnitude(shaped)
        fastest = before + (self._gain + self.limits.jerk * step) * step
        if speed > fastest:
            shaped, speed = shaped * (fastest / speed), fastest
        self._gain = max(speed - before, 0.0) / max(step, 1e-9)
        return shaped


def _is_place(goal: Goal) -> bool:
    """Returns whether a waypoint can be flown to: its position on Earth, its heading and speed finite."""
    finite = math.isfinite(goal.speed) and (goal.yaw is None or math.isfinite(goal.yaw))
    return finite and bool(np.abs(goal.position).max() < FARTHEST)


def _holds(goal: Goal | None) -> bool:
    return goal is not None and goal.type is GoalType.HOLD


def _ground(seen: PilotInput) -> float:
    """Ground (m, map z) below a vehicle in the air; a height not known is taken as none."""
    return float(seen.pose.position[2]) - (seen.height or 0.0)


def _motion(seen: PilotInput) -> Motion:
    return Motion(seen.pose.position, seen.velocity, seen.pose.yaw, seen.height)
