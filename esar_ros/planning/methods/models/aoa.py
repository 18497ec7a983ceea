"""AOA: the aerial object-navigation agent of UAV-ON, with fixed (aoa_f) or chosen (aoa_v) step lengths.

Source: Xiao et al., UAV-ON: a benchmark for open-world object goal navigation with aerial agents, 2025, section 6.1.
Captions of the four views, depth pooled to 3 x 3 minima, the last ten poses [x, y, z, yaw] and the target go into one
prompt; the model answers with an action, and in the variable variant with its magnitude. Adapted: the target is the
mission brief, a step is flown as a waypoint above ground, UAV-ON's smaller steps (5 m, 2 m, 15 degrees) are the fixed
ones, and stop is not obeyed in the first ten actions. Captions and decisions need a model; without a decision the first
free path is taken.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Literal

import numpy as np
from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.depth_view import pooled_words
from esar_ros.planning.discrete import CLIMBS, MOVES, TURNS
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.leg import LegSettings
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import CAPTION_SYSTEM, ORDER, caption_questions, sector_words

POSES = 10  # that the model is told
SYSTEM = (
    "You control a search-and-rescue drone step by step. You get captions of four cameras, the nearest depth in a "
    "3 x 3 grid of each picture in metres, and your last poses [x, y, z, yaw]: metres east, north and up of the start, "
    "and degrees to the left of east. Keep away from obstacles, search for the missing people and their traces, and do "
    "not fly in circles. Stop when all have been found."
)
Action = Literal["forward", "left", "right", "up", "down", "turn_left", "turn_right", "stop"]


class AoaSettings(ModelStepSettings):
    """Sections `aoa_f` and `aoa_v` of config/planners.yaml."""

    step: float = Field(default=5.0, gt=0, description="m, forward, left and right")
    climb: float = Field(default=2.0, gt=0, description="m, up and down")
    turn_deg: float = Field(default=15.0, gt=0, le=180, description="degrees")
    most_step: float = Field(default=20.0, gt=0, description="m, the longest variable step")
    most_climb: float = Field(default=10.0, gt=0, description="m, the largest variable climb")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=1.0, patience=10.0))


class FixedStep(Form):
    """An action of fixed length."""

    reason: str = Field(default="", description="one sentence")
    action: Action


class VariableStep(FixedStep):
    """An action and how far."""

    magnitude: float = Field(ge=0, le=360, description="metres, or degrees for turns; 0 for stop")


@register("aoa_f")
class AoaFixed(ActionMethod):
    """Fixed steps."""

    name = "aoa_f"
    settings_type = AoaSettings
    prompts = (SYSTEM, CAPTION_SYSTEM)
    form: type[FixedStep] = FixedStep
    _settings: AoaSettings

    def prepare(self) -> None:
        """No poses."""
        self._poses: deque[str] = deque(maxlen=POSES)

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Captions, then one action."""
        x, y, z = observation.pose.position - np.asarray(self._brief.home, dtype=np.float64)
        yaw = math.degrees(observation.pose.yaw)
        self._poses.append(f"[{round(x)}, {round(y)}, {round(z)}, {round(yaw)}]")
        questions = caption_questions(observation, self.sends_images)
        replies = (yield questions) if questions else ()
        words = sector_words(observation, replies)
        lines = [self.situation(observation), self.action_words()]
        for name in ORDER:
            lines.append(f"{name}: {words[name]} Depth: {self._depth(observation, name)}")
        lines.append(f"Poses, oldest first: {' '.join(self._poses)}")
        answer, trouble = yield from ask("step", SYSTEM, "\n".join(lines), self.form)
        return self.fallback(observation, trouble) if answer is None else self.choice(answer)

    def choice(self, answer: FixedStep) -> Choice:
        """The action as the model gave it."""
        return Choice(answer.action, clean(answer.reason) or "the model gave no reason")

    @staticmethod
    def _depth(observation: Observation, name: str) -> str:
        view = observation.views.get(name)
        return "unknown" if view is None else pooled_words(view.depth)


@register("aoa_v")
class AoaVariable(AoaFixed):
    """Steps as long as the model says, within limits."""

    name = "aoa_v"
    form = VariableStep

    def action_words(self) -> str:
        """Returns what each action does, and its greatest magnitude."""
        settings = self._settings
        return (
            f"Actions with their greatest magnitude: forward along the heading {settings.most_step:g} m; left, right "
            f"to that side, heading kept, {settings.most_step:g} m; up, down {settings.most_climb:g} m; turn_left, "
            "turn_right on the spot 180 degrees; stop ends the mission."
        )

    def choice(self, answer: FixedStep) -> Choice:
        """The action with its magnitude cut to the limits; none without length."""
        assert isinstance(answer, VariableStep)
        limit = {**dict.fromkeys(MOVES, self._settings.most_step), **dict.fromkeys(CLIMBS, self._settings.most_climb),
                **dict.fromkeys(TURNS, 180.0)}.get(answer.action, 0.0)  # fmt: skip
        amount = min(answer.magnitude, limit)
        why = clean(answer.reason) or "the model gave no reason"
        return Choice(answer.action, why if amount == answer.magnitude else f"{why} (cut to {amount:g})", amount)
