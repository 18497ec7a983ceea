"""VLFM: vision-language frontier maps.

Source: Yokoyama et al., VLFM: vision-language frontier maps for zero-shot semantic navigation, ICRA 2024, section IV,
and its public code, whose functions are named; as a baseline in ESARBench, section 4.1. Its steps, by its headings:

- "Frontier waypoint generation": map_method.py;
- "Value map generation": each view's image-text score painted over the ground that its depth shows, with confidence
  cos^2 of the angle off its axis, remapped to [0.25, 1] (`ValueMap._get_confidence_mask`), fused by confidence
  (`_fuse_new_data`); the layer is mapping.layers.ground_layers.ValueLayer;
- "Waypoint navigation": the frontier of the greatest value, a frontier worth the maximum around its target
  (`ValueMap.sort_waypoints`), the last one kept unless another beats it by 0.01 (`BaseITMPolicy._get_best_frontier`).

Adapted for the air: cells of 4 m, values painted to the range at which a person is seen (5 m indoors) and counted
within 10 m of a frontier (0.5 m indoors), frontiers of map_method.py, the brief in place of "seems like there is a
TARGET ahead", sentence by sentence (planning/image_text.py), CLIP in place of BLIP-2; a person seen is flown to, and
the search goes on after it. Needs CLIP weights (open_clip) but no language model. `vlfm_labels` and `vlfm_text` are the
same method with offline stand-ins over detected labels, weighted by the brief's words or by sentence embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from esar_ros.mapping.layers.ground_layers import GroundGrid, ValueLayer
from esar_ros.mission.observation import Grid, Observation
from esar_ros.planning.image_text import (
    ClipScorer,
    ImageTextScorer,
    LabelScoring,
    ScorerSettings,
    Scoring,
    SentenceScoring,
    SentenceSettings,
)
from esar_ros.planning.method import scaled
from esar_ros.planning.methods.maps.exploration import ExplorationSettings
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.map_method import MapMethod, MapSettings, closeness
from esar_ros.planning.registry import register

_TIE = 1e-3  # what the way counts against the value: it decides between frontiers of equal value


class VlfmSettings(MapSettings):
    """Sections `vlfm` and `vlfm_labels` of config/planners.yaml."""

    cell: float = Field(default=4.0, gt=0, description="m, of the value map")
    value_radius: float = Field(default=10.0, gt=0, description="m around a frontier whose greatest value counts")
    stick: float = Field(default=0.01, ge=0, description="by how much another frontier must be better")
    scorer: ScorerSettings = Field(default_factory=ScorerSettings)


class VlfmTextSettings(VlfmSettings):
    """Section `vlfm_text` of config/planners.yaml."""

    sentences: SentenceSettings = Field(default_factory=SentenceSettings)


@register("vlfm")
class Vlfm(Scoring, MapMethod):
    """The frontier of the greatest value."""

    name = "vlfm"
    settings_type: ClassVar[type[ExplorationSettings]] = VlfmSettings
    _settings: VlfmSettings

    def scorer(self) -> ImageTextScorer:
        """Returns CLIP as the scorer of images. Raises UsageError without weights."""
        return ClipScorer(self._settings.scorer, self.name)

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails: the scorer and the frontiers."""
        return {**super().details, "frontiers": self.frontiers_in_words}

    def prepare(self) -> None:
        """Lays an empty value map over the search area."""
        self._values = ValueLayer(GroundGrid(self._area.min(axis=0), self._area.max(axis=0), self._settings.cell))

    def look(self, observation: Observation) -> None:
        """Paint every view's score."""
        super().look(observation)
        for view in observation.views.values():
            score = self._scorer.score(view, observation)
            self._values.paint(view, score, self._settings.look_range)

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Returns the greatest value around the frontier's target; of equals the nearer frontier is worth more."""
        return self._value_at(frontier) + _TIE * closeness(frontier.position, observation)

    def keeps_frontier(self, observation: Observation, grid: Grid) -> bool:
        """Until another frontier is worth clearly more."""
        assert self._aim is not None
        frontiers = self.frontiers(observation, grid)
        if not frontiers:
            return True
        own = float(self._values.best_within(self._aim.position[None, :2], self._settings.value_radius)[0])
        best = max(self._value_at(frontier) for frontier in frontiers)
        return best <= (own if np.isfinite(own) else 0.0) + self._settings.stick

    def belief_grid(self) -> Grid | None:
        """See planning.method.HasBeliefGrid: the value map."""
        ground = self._values.grid
        return Grid(scaled(self._values.value, self._values.confidence > 0.0), ground.cell, ground.origin)

    def _value_at(self, frontier: Frontier) -> float:
        best = float(self._values.best_within(frontier.position[None], self._settings.value_radius)[0])
        return best if np.isfinite(best) else 0.0


@register("vlfm_labels")
class VlfmLabels(LabelScoring, Vlfm):
    """VLFM's rule over the stand-in's scores."""

    name = "vlfm_labels"


@register("vlfm_text")
class VlfmText(SentenceScoring, Vlfm):
    """VLFM's rule over sentence embeddings of labels."""

    name = "vlfm_text"
    without = VlfmLabels.name
    settings_type: ClassVar[type[ExplorationSettings]] = VlfmTextSettings
