"""SemExp: goal-oriented semantic exploration over a bird's-eye semantic map.

Source: Chaplot et al., Object goal navigation using goal-oriented semantic exploration, NeurIPS 2020, section 3, and
its public code, whose functions are named; as a baseline in ESARBench, section 4.1. Its steps, by the paper's headings:

- "Semantic Mapping": obstacles, explored area and a channel a class (`Semantic_Mapping`; semantic_map.py);
- "Goal-Oriented Semantic Policy": the goal object is flown to once it is seen; before, a long-term goal every 25 steps
  (`num_local_steps`), which ESARBench takes from a frontier heuristic without training in place of the learned policy:
  the frontier near the vehicle and near what was found, wherever on the map, since the policy sees the whole map;
- "Deterministic Local Policy": fast marching to it (grid_path.py), and the code's collision map
  (`Sem_Exp_Env_Agent._plan`): a position where the path was found blocked is not flown through again.

Adapted for the air: obstacles are those at flight level, explored is searched ground, and there may be several victims,
so that a person looked at from near does not end the search: it ends when no frontier is left. Needs no model.
"""

from __future__ import annotations

from pydantic import Field

from esar_ros.mission.observation import Brief, Grid, Observation
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.map_method import AIR, MapMethod, MapSettings, closeness
from esar_ros.planning.methods.maps.semantic_map import SemanticMap
from esar_ros.planning.registry import register


class SemExpSettings(MapSettings):
    """Section `semexp` of config/planners.yaml."""

    steps: int = Field(default=25, ge=1, description="decisions for which a frontier is kept")
    evidence_scale: float = Field(default=100.0, gt=0, description="m over which an object's evidence falls")
    semantic_weight: float = Field(default=1.0, ge=0, description="of the evidence against the closeness")


@register("semexp")
class SemExp(MapMethod):
    """The frontier near what was found, persons first."""

    name = "semexp"
    settings_type = SemExpSettings
    _settings: SemExpSettings

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission with an empty map. Raises UsageError when the brief cannot be worked with."""
        super().reset(brief, seed)
        self._map = SemanticMap(self._searched.grid())

    def look(self, observation: Observation) -> None:
        """Fuse what is searched, known to be an obstacle, and seen."""
        super().look(observation)
        self._map.add(self._searched.grid(), observation.grid, observation.clues)

    def frontiers(self, observation: Observation, grid: Grid) -> list[Frontier]:
        """Those of the semantic map, or of the known air."""
        if self._settings.frontiers == AIR:
            return super().frontiers(observation, grid)
        return self._walk.frontiers(self._map.explored(), observation, self._settings.piece)

    def keeps_frontier(self, observation: Observation, grid: Grid) -> bool:
        """A frontier is chosen anew every `steps` decisions."""
        return self._since < self._settings.steps

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Closeness plus the evidence there."""
        evidence = self._map.evidence(frontier.position, self._settings.evidence_scale)
        return closeness(frontier.position, observation) + self._settings.semantic_weight * evidence
