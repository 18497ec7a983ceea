"""FBE: frontier-based exploration, always to the nearest frontier.

Source: Yamauchi, A frontier-based approach for autonomous exploration, CIRA 1997; as a baseline in
ESARBench, section 4.1 ("FBE"). Adapted for the air: the map is the bird's-eye grid at flight level,
a frontier is a FREE cell with an UNKNOWN 8-neighbour inside the search area, clusters of fewer than
four cells are dropped, and the nearest is by geodesic distance over free cells that keep clear of
obstacles (chamfer distance in place of fast marching). The vehicle sees ahead, left and right but
not behind, so the exploration opens with half a turn; Yamauchi's sweep at each frontier is left out. In a team,
which shares the map, a frontier is left to the vehicle that is or will be nearest to it. Needs no
model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.observation import Grid, Observation
from esar_ros.planning.methods.maps.exploration import Exploration, Target
from esar_ros.planning.methods.maps.grid_walk import GridWalk
from esar_ros.planning.registry import register


@register("fbe")
class FrontierExploration(Exploration):
    """Flies to the nearest frontier, sticks to it until it is reached, and stops when none is left."""

    name = "fbe"
    plans_with_team = True

    def walk(self) -> GridWalk:
        """To the frontier's cell itself, and positions where the path was blocked are not remembered."""
        return GridWalk(self._settings, self._area, self._height, slack=0.0, collisions=False)

    def targets(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[Target]:
        """The frontier cell at the end of the shortest path; in a team first of those that no teammate is nearer to."""
        for mine in (True, False) if observation.team else (False,):
            frontiers = self._walk.frontier_cells(grid, observation, mine)
            path = self._walk.nearest(grid, passable, observation, frontiers.cells)
            if path is not None:
                why = f"nearest frontier is {path.length * grid.resolution:.0f} m away"
                yield Target(grid.center_of(*path.cells[-1]), why, considered=frontiers.clusters, path=path)
