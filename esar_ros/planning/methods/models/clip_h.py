"""CLIP-H: fly towards the view that fits the words best, stop when one fits well.

Source: Xiao et al., UAV-ON, 2025, section 6.1 ("CLIP-based heuristic exploration"): the cosine of each of four views
with the target's description; above a threshold it stops, else it moves in the direction of the best view by a fixed
step; moves out of the area are suppressed and a minimum height is kept. Adapted: the description is the brief, the
threshold is 0.24 (the paper's text gives no figure), stop is not obeyed in the first ten actions, and a direction in
which depth shows an obstacle is passed over. Needs CLIP weights (open_clip) but no language model. `clip_h_labels` and
`clip_h_text` are the same method with offline stand-ins over detected labels, weighted by the brief's words or by
sentence embeddings; their scores are not CLIP's, so they stop at thresholds of their own.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.depth_view import surface_points
from esar_ros.planning.discrete import STOP, TOWARDS
from esar_ros.planning.image_text import (
    ClipScorer,
    ImageTextScorer,
    LabelScoring,
    ScorerSettings,
    Scoring,
    SentenceScoring,
    SentenceSettings,
)
from esar_ros.planning.leg import LegSettings
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, StepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.registry import register


class ClipHSettings(StepSettings):
    """Section `clip_h` of config/planners.yaml."""

    step: float = Field(default=5.0, gt=0, description="m, forward, left and right")
    climb: float = Field(default=2.0, gt=0, description="m, down")
    turn_deg: float = Field(default=15.0, gt=0, le=180, description="degrees")
    stop_at: float = Field(default=0.24, description="score of a view at which the search ends")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=1.0, patience=10.0))
    scorer: ScorerSettings = Field(default_factory=ScorerSettings)


class ClipHLabelsSettings(ClipHSettings):
    """Section `clip_h_labels` of config/planners.yaml."""

    stop_at: float = Field(default=0.9, description="score of a view at which the search ends")


class ClipHTextSettings(ClipHLabelsSettings):
    """Section `clip_h_text` of config/planners.yaml."""

    sentences: SentenceSettings = Field(default_factory=SentenceSettings)


@register("clip_h")
class ClipH(Scoring, ActionMethod):
    """The best view's direction."""

    name = "clip_h"
    asks_model = False
    settings_type: ClassVar[type[StepSettings]] = ClipHSettings
    _settings: ClipHSettings

    def scorer(self) -> ImageTextScorer:
        """Raises UsageError without weights."""
        return ClipScorer(self._settings.scorer, self.name)

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Score the four views. Asks nothing."""
        yield from ()
        scores = {
            name: self._scorer.score(observation.views[name], observation)
            for name in TOWARDS  # also the order at a tie
            if name in observation.views
        }
        ranked = sorted(scores, key=lambda name: -scores[name])
        points = surface_points(observation.views.values())
        best = ranked[0] if ranked else ""
        ready = self._actions >= self._settings.stop_from_step
        if ready and best and scores[best] >= self._settings.stop_at:
            return Choice(STOP, f"the {best} view fits with {scores[best]:.2f}", considered=len(ranked))
        for name in ranked:
            action = TOWARDS[name]
            higher = action != "down" or self._mover.height > self._settings.least_height
            if higher and self.is_safe(action, observation, points):
                return Choice(action, f"the {name} view fits with {scores[name]:.2f}", considered=len(ranked))
        return Choice("turn_left", "no view's direction is free", considered=len(ranked))


@register("clip_h_labels")
class ClipHLabels(LabelScoring, ClipH):
    """CLIP-H's rule over the stand-in's scores."""

    name = "clip_h_labels"
    settings_type: ClassVar[type[StepSettings]] = ClipHLabelsSettings


@register("clip_h_text")
class ClipHText(SentenceScoring, ClipH):
    """CLIP-H's rule over sentence embeddings of labels."""

    name = "clip_h_text"
    without = ClipHLabels.name
    settings_type: ClassVar[type[StepSettings]] = ClipHTextSettings
