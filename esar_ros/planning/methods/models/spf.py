"""SPF: see, point, fly. The model points at a pixel, depth makes it a place, the drone flies there.

Source: Hu et al., See, point, fly: a learning-free VLM framework for universal unmanned aerial navigation, CoRL 2025,
re-implemented from the paper; as a baseline in ESARBench, section 4.1. Adapted: the distance is measured by the depth
camera in place of the model's guess, and a leg is at most 30 m and ends 5 m before what is pointed at; the drone
turns first when the point is more than 10 degrees off its nose, then flies. There may be several victims, so `done`
is asked for the whole mission. Needs a model that sees images for every leg; without an answer it takes the first
free path.
"""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.decision import Goal
from esar_ros.mission.observation import CameraView, Observation
from esar_ros.planning.depth_view import depth_near
from esar_ros.planning.discrete import STOP
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.leg import waypoint
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import images_of

GRID = 1000  # the model's coordinates run from 0 to this over the image
SYSTEM = (
    "You steer a search-and-rescue drone by pointing into its front camera picture. Point at where the drone "
    "should fly next to find the missing people or their traces: [x, y] with 0 to 1000 from left to right and "
    "from top to bottom. Point at free air beside obstacles, not at them. Say done only when every missing person "
    "has been found."
)


class SpfSettings(ModelStepSettings):
    """Section `spf` of config/planners.yaml."""

    longest: float = Field(default=30.0, gt=0, description="m of one leg")
    standoff: float = Field(default=5.0, ge=0, description="m kept from what is pointed at")
    aligned_deg: float = Field(default=10.0, gt=0, le=90, description="degrees off the nose that need no turn first")


class Point(Form):
    """Where to fly."""

    label: str = Field(default="", description="what you point at and why, one sentence")
    point: tuple[float, float] = Field(description="[x, y], each 0 to 1000")
    done: bool = False


@register("spf")
class SeePointFly(ActionMethod):
    """Points, turns, flies."""

    name = "spf"
    settings_type = SpfSettings
    prompts = (SYSTEM,)
    _settings: SpfSettings

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
            "The camera looks along the heading. The drone turns towards the point, flies at most "
            f"{settings.longest:g} m and ends {settings.standoff:g} m before what is there."
        )
        images = images_of(observation, ("front",), self.sends_images)
        answer, trouble = yield from ask("point", SYSTEM, text, Point, images)
        if answer is None:
            return self.fallback(observation, trouble)
        if not all(0.0 <= value <= GRID for value in answer.point):
            return self.fallback(observation, "the model points beside the picture")
        why = clean(answer.label) or "the model gave no reason"
        return Choice(STOP, why) if answer.done else self._towards(answer.point, view, observation, why)

    def _towards(self, point: tuple[float, float], view: CameraView, observation: Observation, why: str) -> Choice:
        """Turn towards a point of the image if it is off the nose, else fly there."""
        settings = self._settings
        u, v = point[0] / GRID * view.model.width, point[1] / GRID * view.model.height
        depth = depth_near(view, u, v)
        ray = view.pose.rotation @ view.model.back_project([u, v], 1.0)
        range_ = depth * float(np.linalg.norm(ray)) if math.isfinite(depth) and depth > 0.0 else math.inf
        if math.isnan(depth) or depth < 0.0:
            return self.fallback(observation, "no depth where the model points")
        length = min(max(range_ - settings.standoff, 0.0), settings.longest)
        offset = ray / np.linalg.norm(ray) * length
        x, y, _ = observation.pose.position + offset
        yaw = math.atan2(ray[1], ray[0]) if math.hypot(ray[0], ray[1]) > 1e-6 else observation.pose.yaw
        height = self._mover.clamped(self._mover.height + float(offset[2]))
        seen = "far away" if math.isinf(range_) else f"{range_:.0f} m away"
        goal = waypoint(x, y, height, settings.speed, yaw)
        off = wrap_angle(yaw - observation.pose.yaw)
        if abs(off) <= math.radians(settings.aligned_deg):
            return Choice("fly", f"{why} ({seen})", goal=goal, considered=1)
        self._after_turn = goal, f"{why} ({seen})"
        here = observation.pose.position
        turn = waypoint(here[0], here[1], self._mover.height, settings.speed, yaw)
        action = "turn_left" if off > 0 else "turn_right"
        return Choice(action, f"{why}: {abs(math.degrees(off)):.0f} degrees off the nose", goal=turn, considered=1)
