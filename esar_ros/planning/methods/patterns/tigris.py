"""TIGRIS: along the best way of a tree that informed sampling grows, replanned from every next place.

Source: Moon, Chatterjee and Scherer, *TIGRIS: An Informed Sampling-based Algorithm for Informative Path Planning* (IROS
2022, arXiv 2203.12830), Algorithm 1; that the tree is kept, re-rooted at the next place, reckoned anew over the belief
of that time and grown while the vehicle flies there, to a horizon, is IA-TIGRIS (Moon et al., arXiv 2502.15961),
followed by its abstract and its authors' published planner (BSD), not by the paper's text, which was not at hand.
Adapted: a vehicle that turns on the spot and looks to all sides, so a state is a place, sampled above the cell and
without Dubins paths; a number of samples a second of mission time in place of a planning time, so that a seed gives one
way; the POD of the detector in use and looks from four sides (belief/look_map.py) for the sensor model; the reward is
people found, the paper's fall of entropy flies as `tigris@entropy`; looks count as finding nobody, as what is seen is
the report policy's. A place that cannot be reached is closed and the tree begun anew. The prior is as `greedy`'s.
Needs no model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.detection_probability import Curves, Detection, DetectionSettings
from esar_ros.planning.belief.sight import Sight, Warmth
from esar_ros.planning.leg import LegState
from esar_ros.planning.methods.patterns.heat_map import HeatMapPattern, HeatMapSettings
from esar_ros.planning.methods.patterns.information_tree import Ground, InformationTree, Reach, count_looks
from esar_ros.planning.methods.patterns.pattern import PatternSettings
from esar_ros.planning.registry import register

_TELLING = 0.02  # a look with a lower POD is none
_CLOSED = 25.0  # m around a place that could not be flown to


class TigrisSettings(HeatMapSettings):
    """Section `tigris` of config/planners.yaml."""

    step: float = Field(default=200.0, gt=0, description="m, the longest edge of the tree")
    near: float = Field(default=200.0, gt=0, description="m, nodes so near to a new one are led there too")
    prune: float = Field(
        default=200.0, ge=0, description="m, a node is left out where one so near is as good or better"
    )
    horizon: float = Field(default=600.0, gt=0, description="m of way planned ahead, less where less time is left")
    samples: float = Field(default=3.0, gt=0, description="1/s, places drawn while the vehicle flies")
    fresh: int = Field(default=200, ge=1, description="places drawn for a tree that is begun anew")
    reward: Literal["found", "entropy"] = Field(
        default="found", description="of a way: people found, or the paper's fall of the cells' entropy"
    )
    detection: DetectionSettings = Field(default_factory=DetectionSettings)


@register("tigris")
class Tigris(HeatMapPattern):
    """Flies to the next place of its tree's best way, over and over, and stops when the time for it is used."""

    name = "tigris"
    settings_type: ClassVar[type[PatternSettings]] = TigrisSettings
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **HeatMapPattern.variants,
        "entropy": {"reward": "entropy"},
        "brief+entropy": {"reads_brief": True, "reward": "entropy"},
    }
    _settings: TigrisSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if self._settings.reward == "entropy":
            self.name += "+entropy" if "@" in self.name else "@entropy"

    @property
    def details(self) -> Mapping[str, str]:
        """The tree's reward, and on which pictures its POD was measured (see planning.method.HasDetails)."""
        return {"reward": self._settings.reward, "pod_measured_on": self._settings.detection.measured_on}

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: plant the tree at home. Random numbers come from the seed alone."""
        self._random = np.random.default_rng(seed)
        thermal = load_vehicle().thermal
        self._warmth = Warmth(self._settings.detection, brief, thermal) if thermal.mounted else None
        self._in_use: object = ()  # detector, focal length and cameras of the newest pictures
        self._grown = 0.0  # s, elapsed when the tree was grown last
        super().reset(brief, seed)

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        heat = self._fine_heat(home, corners, spacing, longest)
        self._corner, self._longest = home - heat.half * heat.cell, longest
        seen = np.zeros((4, *heat.expected.shape))
        self._ground = Ground(heat.cell, heat.expected, seen, heat.allowed, self._curves("", 0.0, ()))
        self._here = home - self._corner  # m, as the tree has it
        self._plant(0.0)
        return np.zeros((0, 2))

    def act(self, observation: Observation) -> Decision:
        """Count the looks on the way since, grow the tree, and fly on."""
        in_use = (observation.detector, observation.focal, observation.cameras)
        if in_use != self._in_use:
            self._in_use = in_use
            beside = self._curves(*in_use)
            self._ground = self._ground._replace(beside=beside)
            self._tree.revalue(self._tree.ground._replace(beside=beside))
        here = observation.pose.position[:2] - self._corner
        if observation.cameras:
            count_looks(self._here, here, self._ground)
        self._here = here
        drawn = int(self._settings.samples * (observation.elapsed - self._grown))
        if drawn > 0 and not self._stopped:
            self._grown = observation.elapsed
            self._tree.grow(min(drawn, self._settings.fresh), self._random)
        return super().act(observation)

    def _curves(self, detector: str, focal: float, cameras: Collection[str]) -> Curves:
        """Returns the POD beside the way, as far as it tells."""
        detection = Detection(self._settings.detection, self._brief, detector, focal)
        beside = Sight(detection, self._warmth, cameras).beside(self._height)
        telling = np.flatnonzero(beside.person > _TELLING)
        count = int(telling[-1]) + 2 if len(telling) else 1
        return Curves(beside.person[:count].copy(), beside.clue[:count].copy())

    def _has_more(self, observation: Observation, state: LegState) -> bool:
        """Adds the first place of the tree's best way, if there is one, and re-roots the tree there."""
        if state is LegState.BLOCKED and self._next > 0:
            self._close(self._route[self._next - 1] - self._corner)
        left = self._longest - self._settings.speed * observation.elapsed
        way = self._tree.best(left)
        if not len(way) or state is LegState.BLOCKED:
            self._plant(observation.elapsed)
            way = self._tree.best(left)
        if not len(way):
            return False
        ahead = self._ground._replace(seen=self._ground.seen.copy())
        count_looks(self._here, way[0], ahead)
        left -= float(np.linalg.norm(way[0] - self._here))
        self._tree.reroot(way[0], min(self._settings.horizon, left), ahead)
        self._route = np.concatenate([self._route, way[:1] + self._corner])
        return True

    def _plant(self, elapsed: float) -> None:
        """Begins a tree where the vehicle is."""
        settings = self._settings
        left = self._longest - settings.speed * elapsed
        reach = Reach(settings.step, settings.near, settings.prune, settings.reward == "entropy")
        self._tree = InformationTree(self._here, min(settings.horizon, left), self._ground, reach)
        self._tree.grow(settings.fresh, self._random)

    def _close(self, place: Vector) -> None:
        """Lets no way lead to a place (m, as the tree has it) again."""
        rows, columns = np.indices(self._ground.allowed.shape)
        away = np.hypot(columns * self._ground.cell - place[0], rows * self._ground.cell - place[1])
        self._ground.allowed[away <= _CLOSED] = False

    def _where(self) -> str:
        return "climb" if self._next == 0 else f"place {self._next}"
