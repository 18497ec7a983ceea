"""SPF: see, point, fly. The model points at what it looks for, the point becomes a place, the drone flies there.

Source: Hu et al., See, Point, Fly: a learning-free VLM framework for universal unmanned aerial navigation, CoRL 2025,
section 3, re-implemented from the paper; as a baseline in ESARBench, section 4.1. Its steps, by the paper's words:

- obstacle-aware planning: from the front image and the instruction the model gives O = {u, v, d}: a pixel and a label
  d of 1 to L of how far to travel, with the target pointed at, or a way to it beside obstacles;
- adaptive travel distance: a leg is max(d_min, s (d / L)^p) long, short near the target and long far from it;
- from 2D to 3D: the pixel's ray, as long as that, is the displacement; it is flown as one, its vertical part too;
- reactive control: turn first where the point is off the nose, fly, look again.

Adapted: s, p and d_min are of flights outdoors (30 m, 1.8 and 5 m; the public code flies 5 to 8 m with p of 1.8 to
2.4), the ray ends `standoff` before what depth measures on it (ESARBench's back-projection; `spf@unmeasured` flies
the paper's length), a place nearer to the ground than `least_height` is raised to it. There may be several victims,
so `done` is asked for the whole mission. Needs a model that sees images, one call a leg; without an answer it takes
the first free path.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.observation import Observation
from esar_ros.planning.depth_view import depth_near
from esar_ros.planning.discrete import STOP
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import images_of

GRID = 1000  # the model's coordinates run from 0 to this over the image
LABELS = 10  # L, the greatest label of a distance
UNMEASURED = "unmeasured"
SYSTEM = (
    "You are the navigator of a search-and-rescue drone and see its front camera. Find in the picture what the mission "
    "looks for: a missing person, else a trace of one (a tent, a rucksack, clothing, smoke, a light, tracks), else "
    "the place where the brief makes you expect one. Point at it: [x, y] with 0 to 1000 from left to right and from "
    "top to bottom, on its middle; where an obstacle is in the way, beside the obstacle. Say how far the drone should "
    f"travel towards it: 1 when it is very close or large in the picture, {LABELS} when it is far away or small. Say "
    "done only when every missing person has been found."
)


class SpfSettings(ModelStepSettings):
    """Section `spf` of config/planners.yaml."""

    longest: float = Field(default=30.0, gt=0, description="m of a leg at the greatest label: s")
    shortest: float = Field(default=5.0, ge=0, description="m of a leg at least: d_min")
    curve: float = Field(default=1.8, gt=0, description="exponent of the label: p")
    measured: bool = Field(default=True, description="end a leg before what depth measures; false: spf@unmeasured")
    standoff: float = Field(default=5.0, ge=0, description="m kept from what depth measures")
    aligned_deg: float = Field(default=10.0, gt=0, le=90, description="degrees off the nose that need no turn first")


class Point(Form):
    """Where the target is, and how far to travel towards it."""

    label: str = Field(default="", description="what you point at and why, one sentence")
    point: tuple[float, float] = Field(description="[x, y], each 0 to 1000")
    distance: int = Field(default=LABELS // 2, ge=1, le=LABELS, description="1 very close to 10 far away")
    done: bool = False


@register("spf")
class SeePointFly(ActionMethod):
    """Points, turns, flies."""

    name = "spf"
    settings_type = SpfSettings
    prompts = (SYSTEM,)
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {UNMEASURED: {"measured": False}}
    _settings: SpfSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if not self._settings.measured:
            self.name = f"{self.name}@{UNMEASURED}"

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        settings = self._settings
        end = f"ended {settings.standoff:g} m before what depth measures" if settings.measured else "as the model says"
        legs = f"{settings.shortest:g} to {settings.longest:g} m by {LABELS} labels, {end}"
        return {**super().details, "legs": legs}

    def prepare(self) -> None:
        """Nothing is pointed at."""
        self._after_turn: tuple[Goal, str] | None = None  # the leg that follows a turn

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Fly what was pointed at before the turn, or ask for a point."""
        if self._after_turn is not None:
            (goal, why), self._after_turn = self._after_turn, None
            return Choice("fly", f"{why}; turned towards it", goal=goal, considered=1)
        view = observation.views.get("front")
        if view is None:
            return self.fallback(observation, "no picture")
        if self.sends_images is None:
            return self.fallback(observation, "the model does not see pictures")
        settings = self._settings
        text = (
            f"{self.situation(observation)}\n"
            f"The picture is {self._field(view)} degrees wide; its middle is straight ahead. The drone turns towards "
            f"the point and flies {settings.shortest:g} to {settings.longest:g} m towards it, up or down as it lies, "
            f"but not below {settings.least_height:g} m above the ground. Then you are asked again."
        )
        images = images_of(observation, ("front",), self.sends_images)
        answer, trouble = yield from ask("point", SYSTEM, text, Point, images)
        if answer is None:
            return self.fallback(observation, trouble)
        if not all(0.0 <= value <= GRID for value in answer.point):
            return self.fallback(observation, "the model points beside the picture")
        why = clean(answer.label) or "the model gave no reason"
        return Choice(STOP, why) if answer.done else self._towards(answer, view, observation, why)

    def travel_distance(self, label: int) -> float:
        """Returns the length (m) of a leg for a label of 1 to LABELS: max(d_min, s (d / L)^p)."""
        settings = self._settings
        return max(settings.shortest, settings.longest * (label / LABELS) ** settings.curve)

    def _towards(self, answer: Point, view: CameraFrame, observation: Observation, why: str) -> Choice:
        """Returns the turn towards a point of the image if it is off the nose, else the leg to it."""
        settings = self._settings
        u, v = answer.point[0] / GRID * view.model.width, answer.point[1] / GRID * view.model.height
        ray = view.pose.rotation @ view.model.back_project([u, v], 1.0)
        length = self.travel_distance(answer.distance)
        seen = f"distance {answer.distance} of {LABELS}"
        if settings.measured:
            depth = depth_near(view, u, v)
            if math.isnan(depth) or depth <= 0.0:
                return self.fallback(observation, "no depth where the model points")
            range_ = depth * float(np.linalg.norm(ray))
            length = min(length, max(range_ - settings.standoff, 0.0))
            seen += ", far away" if math.isinf(range_) else f", {range_:.0f} m away"
        place = observation.pose.position + ray / np.linalg.norm(ray) * length
        yaw = math.atan2(ray[1], ray[0]) if math.hypot(ray[0], ray[1]) > 1e-6 else observation.pose.yaw
        goal = self._place_goal(place, yaw, observation)
        off = wrap_angle(yaw - observation.pose.yaw)
        if abs(off) <= math.radians(settings.aligned_deg):
            return Choice("fly", f"{why} ({seen})", goal=goal, considered=1)
        self._after_turn = goal, f"{why} ({seen})"
        turn = self._place_goal(observation.pose.position, yaw, observation)
        action = "turn_left" if off > 0 else "turn_right"
        return Choice(action, f"{why}: {abs(math.degrees(off)):.0f} degrees off the nose", goal=turn, considered=1)

    def _place_goal(self, place: Vector, yaw: float, observation: Observation) -> Goal:
        """Returns the waypoint at a place (3,) of the map frame, kept above the ground below the vehicle."""
        z = float(place[2])
        if observation.height is not None:
            ground = float(observation.pose.position[2]) - observation.height
            z = ground + self._mover.clamped(z - ground)
        position = np.array([place[0], place[1], z])
        return Goal(GoalType.WAYPOINT, position, HeightReference.MAP, yaw, speed=self._settings.speed)

    @staticmethod
    def _field(view: CameraFrame) -> str:
        return f"{2.0 * math.degrees(math.atan(view.model.width / 2.0 / view.model.fx)):.0f}"
