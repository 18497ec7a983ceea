"""UniGoal: the scene graph of what was found is matched with the goal graph of the brief, and guides the frontiers.

Source: Yin et al., UniGoal: towards universal zero-shot goal-oriented navigation, CVPR 2025; as a baseline in
ESARBench, section 4.1. The goal graph has at most five objects and their relations; the overlap is the mean of node
and edge similarity. Below 0.5 the search explores; from 0.5 on with two or more common nodes the goal's place is
predicted by the similarity transform of the relative layout; from 0.9 on what was found is verified from near. A
frontier is worth its closeness plus its closeness to the predicted goal. Adapted for the air: nodes are the
detector's fused objects, an edge says which things lie within 60 m of each other, and a person seen is always flown
to. The goal graph needs a model, once a mission; without one it is read off the brief by the names of the kinds, with
no layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS, PERSON, kinds_named
from esar_ros.mission.observation import Grid, Observation, SeenClue
from esar_ros.planning.exchange import Form
from esar_ros.planning.methods.maps.exploration import ExplorationSettings, Target
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.map_method import MapMethod, MapSettings, closeness
from esar_ros.planning.model.mind import Mind, Thought
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.planning.model.thinker import Thinker, ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import mission_words

MAX_NODES = 5
MATCHED, VERIFY = 0.5, 0.9  # overlaps
SYSTEM = (
    "From the brief of a search-and-rescue mission, list at most five objects a drone should find on the way to a "
    "missing person, the person first, where each probably lies relative to the first (metres east and north), "
    "and which pairs lie near each other."
)


class UniGoalSettings(MapSettings):
    """Section `unigoal` of config/planners.yaml."""

    near: float = Field(default=60.0, gt=0, description="m between two objects that count as related")
    goal_scale: float = Field(default=100.0, gt=0, description="m over which closeness to the predicted goal falls")
    model: ModelSettings = Field(default_factory=ModelSettings)


class GoalNode(Form):
    """An object of the goal graph."""

    kind: Literal[KINDS]  # type: ignore[valid-type]
    east: float | None = Field(default=None, ge=-5000, le=5000)
    north: float | None = Field(default=None, ge=-5000, le=5000)


class GoalGraph(Form):
    """What is looked for, and how it lies; edges are pairs of positions in the list, from 0."""

    nodes: list[GoalNode] = Field(min_length=1, max_length=MAX_NODES)
    edges: list[tuple[int, int]] = Field(default_factory=list, max_length=10)


@dataclass(frozen=True)
class Match:
    """Match of the goal graph with the scene graph: node -> object, and the overlap 0..1."""

    found: dict[int, SeenClue]
    overlap: float


def graph_of_words(prompt: str) -> GoalGraph:
    """Goal graph without a model: a person, and the kinds that the brief names in its order, each near the person."""
    kinds = [PERSON, *(kind for kind in kinds_named(prompt) if kind != PERSON)][:MAX_NODES]
    return GoalGraph(nodes=[GoalNode(kind=kind) for kind in kinds], edges=[(0, n) for n in range(1, len(kinds))])


def match(goal: GoalGraph, scene: list[SeenClue], near: float) -> Match:
    """Match nodes by kind, the surest object first, and edges by nearness; a kind named twice needs two objects."""
    left = sorted(scene, key=lambda clue: (-clue.probability, clue.id))
    found: dict[int, SeenClue] = {}
    for number, node in enumerate(goal.nodes):
        clue = next((clue for clue in left if clue.kind == node.kind), None)
        if clue is not None:
            found[number] = clue
            left.remove(clue)
    nodes = len(found) / len(goal.nodes)
    edges = [(a, b) for a, b in goal.edges if a != b and 0 <= min(a, b) and max(a, b) < len(goal.nodes)]
    if not edges:
        return Match(found, nodes)
    held = sum(
        a in found and b in found and float(np.linalg.norm(found[a].position - found[b].position)) <= near
        for a, b in edges
    )
    return Match(found, (nodes + held / len(edges)) / 2.0)


def similarity(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Least-squares similarity transform (2, 3) of points (N, 2), N >= 2, onto others (Umeyama 1991).

    None where the source's points coincide.
    """
    a, b = (points[:, 0] + 1j * points[:, 1] for points in (source, target))
    centre_a, centre_b = a.mean(), b.mean()
    spread = float((np.abs(a - centre_a) ** 2).sum())
    if spread < 1e-6:
        return None
    # In the plane a rotation with scale is one complex factor.
    factor = (np.conj(a - centre_a) * (b - centre_b)).sum() / spread
    shift = centre_b - factor * centre_a
    return np.array([[factor.real, -factor.imag, shift.real], [factor.imag, factor.real, shift.imag]])


def predicted_goal(goal: GoalGraph, matched: Match) -> Vector | None:
    """Returns the predicted position (2,) of the goal's first node from two or more other found nodes, else None."""
    if not MATCHED <= matched.overlap or len(matched.found) < 2:
        return None
    places = {n: (node.east, node.north) for n, node in enumerate(goal.nodes)}
    known = [n for n in matched.found if None not in places[n]]
    scene = np.array([matched.found[n].position[:2] for n in matched.found])
    first = places[0]
    if len(known) >= 2 and None not in first:
        transform = similarity(
            np.array([places[n] for n in known], float), np.array([matched.found[n].position[:2] for n in known])
        )
        if transform is not None:
            place: Vector = transform @ np.array([first[0], first[1], 1.0], float)
            return place
    middle: Vector = scene.mean(axis=0)
    return middle


@register("unigoal")
class UniGoal(Thinker, MapMethod):
    """Frontiers towards where the goal graph says the goal is."""

    name = "unigoal"
    asks_model = True
    settings_type: ClassVar[type[ExplorationSettings]] = UniGoalSettings
    prompts = (SYSTEM,)
    _settings: UniGoalSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._mind: Mind[tuple[GoalGraph | None, str]] = Mind(self._settings.model, self.name, self.prompts)
        self.name = self._mind.method

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.Detailed: the model and the frontiers."""
        return {**super().details, "frontiers": self.frontiers_in_words}

    def prepare(self) -> None:
        """The goal graph by words, until the model has made a better one."""
        self._mind.reset(self._brief)
        self._goal, self._read_by = graph_of_words(self._brief.prompt), ""
        self._match = Match({}, 0.0)
        self._predicted: Vector | None = None

    def look(self, observation: Observation) -> None:
        """Take the model's goal graph when it comes; match what was found."""
        super().look(observation)
        if not self._read_by:
            if not self._mind.busy:
                self._mind.begin(self._read())
            outcome = self._mind.poll(observation)
            if outcome is not None:
                graph, reason = outcome.value
                self._goal = graph or self._goal
                self._read_by = f"goal graph by words, fell back ({reason})" if graph is None else "goal graph by model"
                self._tokens, self._trouble = (outcome.tokens_in, outcome.tokens_out), outcome.trouble
            self._thinking = outcome is None
        self._match = match(self._goal, list(observation.clues), self._settings.near)
        self._predicted = predicted_goal(self._goal, self._match)

    def object_target(self, observation: Observation) -> Target | None:
        """A person not looked at, as always; with the whole graph found, that is the verification."""
        target = super().object_target(observation)
        if target is not None and self._match.overlap >= VERIFY:
            return Target(target.position, f"{target.why}; overlap {self._match.overlap:.2f}: verify", True)
        return target

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Closeness plus closeness to the predicted goal."""
        value = closeness(frontier.position, observation)
        if self._predicted is not None:
            away = float(np.linalg.norm(frontier.position - self._predicted))
            value += float(np.exp(-away / self._settings.goal_scale))
        return value

    def words(self) -> str:
        """Overlap, and who read the brief."""
        where = "" if self._predicted is None else f", goal expected at {self._predicted.round().tolist()}"
        return f"; overlap {self._match.overlap:.2f}{where}, {self._read_by or 'goal graph by words'}"

    def _read(self) -> Thought[tuple[GoalGraph | None, str]]:
        text = f"{mission_words(self._brief)}\nKinds: {', '.join(KINDS)}."
        return (yield from ask("goal_graph", SYSTEM, text, GoalGraph))
