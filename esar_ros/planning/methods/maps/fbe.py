"""FBE: frontier-based exploration, always to the nearest frontier.

Source: Yamauchi, A frontier-based approach for autonomous exploration, CIRA 1997, and as a baseline in ESARBench,
section 4.1, "a BEV occupancy map and FMM local planning". Its steps, by the paper's headings:

- "Frontier Detection": known free cells beside unknown ones, grouped, small groups left out: those of the bird's-eye
  grid at flight level inside the search area (frontier.py), clusters of four cells or more;
- "Navigating to Frontiers": the nearest one not yet visited, by arrival time of a fast-marching front over free cells
  that keep clear of obstacles (grid_path.py); the path down that front's times is flown, as far ahead at a time as it
  is in sight; one that cannot be reached is put on a list;
- "Navigating to Frontiers", at its end: a sweep of the sensors. Half a turn: the cameras see ahead, left and right, so
  that sweeps all round; then the next.

In a team, which shares the map, a frontier is left to the vehicle that is or will be nearest to it. Needs no model.
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
    sweeps = True

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
