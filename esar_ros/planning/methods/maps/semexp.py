"""SemExp: goal-oriented semantic exploration over a bird's-eye semantic map.

Source: Chaplot et al., Object goal navigation using goal-oriented semantic exploration, NeurIPS 2020; in ESARBench,
section 4.1, the learned global policy is replaced by a frontier heuristic without training. Adapted for the air: the
map is the bird's-eye grid at flight level and a channel of scores for each kind of object, fused by the maximum; a seen
person is the goal object and is flown to; otherwise every 25 steps the frontier with the most semantic evidence around
it and the shortest path is chosen. A position where the path was found blocked is added to a collision map. There may
be several victims, so that a person looked at from near does not end the search: it ends when no frontier is left.
Needs no model.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Grid, Observation
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.map_method import MapMethod, MapSettings, closeness
from esar_ros.planning.registry import register


class SemExpSettings(MapSettings):
    """Section `semexp` of config/planners.yaml."""

    steps: int = Field(default=25, ge=1, description="decisions for which a frontier is kept")
    evidence_radius: float = Field(default=40.0, gt=0, description="m around a frontier in which objects count")
    semantic_weight: float = Field(default=1.0, ge=0, description="of the evidence against the closeness")


@register("semexp")
class SemExp(MapMethod):
    """The frontier near what was found, persons first."""

    name = "semexp"
    settings_type = SemExpSettings
    _settings: SemExpSettings

    def prepare(self) -> None:
        """No object is known."""
        self._channels: dict[str, list[tuple[float, float, float]]] = {}  # kind -> x, y (m), score

    def look(self, observation: Observation) -> None:
        """Fuse the objects into the channels of their kinds; the maximum score at a place is kept."""
        super().look(observation)
        for clue in observation.clues:
            channel = self._channels.setdefault(clue.kind, [])
            x, y = float(clue.position[0]), float(clue.position[1])
            near = [n for n, (px, py, _) in enumerate(channel) if (px - x) ** 2 + (py - y) ** 2 <= 25.0]
            score = max([clue.probability, *(channel[n][2] for n in near)])
            self._channels[clue.kind] = [entry for n, entry in enumerate(channel) if n not in near] + [(x, y, score)]

    def keeps_frontier(self, observation: Observation, grid: Grid) -> bool:
        """A frontier is chosen anew every `steps` decisions."""
        return self._since < self._settings.steps

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Closeness plus the evidence of every kind around it, persons already looked at apart."""
        reach = self._settings.evidence_radius
        evidence = 0.0
        for kind, channel in self._channels.items():
            if kind == PERSON:
                continue
            x, y, score = np.array(channel).T
            distance = np.hypot(x - frontier.position[0], y - frontier.position[1])
            evidence += float(np.max(score * np.clip(1.0 - distance / reach, 0.0, 1.0)))
        return closeness(frontier.position, observation) + self._settings.semantic_weight * evidence
