"""UniGoal: the scene graph of what was found is matched with the goal graph of the brief, and guides the frontiers.

Source: Yin et al., UniGoal: towards universal zero-shot goal-oriented navigation, CVPR 2025, and its public code, whose
functions are named; as a baseline in ESARBench, section 4.1. Its steps, by the paper's sections:

- 3.2, "Graph Construction": goal graph of the brief (supplement, D.1), scene graph of what was found and of the
  landmarks that the model sees in the pictures, its groups (`Graph.update_scenegraph`, `update_group`; goal_graph.py);
- 3.2, "Graph Matching", equations 1 to 3: overlap of the two as in the code (`GraphMatcher.overlap`; goal_graph.py),
  which decides the stage (`Graph.explore`);
- 3.3, "Stage 1: Zero Matching", below 0.5 or with fewer than two common nodes: the goal graph decomposed (supplement,
  D.3; `GoalGraphDecomposer.goal_decomposition`), each group of the scene scored for how probably the first part of it
  is near, and the best group draws the frontiers (`Graph.insert_goal`);
- 3.3, "Stage 2: Partial Matching", equations 4 and 5, from 0.5 on: the goal's place by the similarity transform of the
  relative layout (`GraphMatcher.predict_remaining_node_positions`), or, where the graph has none, the middle of what
  has matched; it draws the frontiers until the ground near it is searched;
- 3.3, "Stage 3: Perfect Matching", equations 6 to 8, from 0.9 on: the scene graph is corrected
  (`SceneGraphCorrector.correct_scene_graph`), and the predicted place is flown to and looked at;
- 3.3, frontier selection: closeness plus closeness to what draws (`Graph.get_goal`);
- 3.4, "Robust Blacklist Mechanism": objects whose match has led to nobody match no more.

Adapted for the air: nodes are the detector's fused objects, and trails, huts, edges of woods and water that the goal
graph names, looked for by the model every `look_every` and placed by its boxes and the depth in them; an edge says
which lie within 60 m of each other, a person seen is always flown to, closeness falls exponentially over 100 m (in the
code linearly over 10 m), and the correlations are one question for all new groups in place of four for each. A look
takes the place of equation 8's confidence, one question about what has matched that of equations 6 and 7. Graph,
correlations and correction need a model; without one the graph is read off the brief by the names of the kinds, with no
layout, a correlation is the share of kinds in common, and nothing is corrected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import UNKNOWN, Grid, Observation, SeenClue
from esar_ros.planning.depth_view import BOX_GRID, surface_in_box
from esar_ros.planning.flight_words import flight_words
from esar_ros.planning.methods.maps.exploration import ExplorationSettings, Target
from esar_ros.planning.methods.maps.frontier import clear_disc
from esar_ros.planning.methods.maps.goal_graph import (
    LANDMARKS,
    MATCHED,
    VERIFY,
    GoalGraph,
    Match,
    correlation_of_words,
    graph_of_words,
    groups_of,
    match,
    predicted_goal,
)
from esar_ros.planning.methods.maps.goal_questions import (
    PROMPTS,
    About,
    Answer,
    Correction,
    Correlations,
    Landmarks,
    ask_for_correction,
    ask_for_correlations,
    ask_for_graph,
    ask_for_landmarks,
    ids_of,
)
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.map_method import MapMethod, MapSettings, closeness
from esar_ros.planning.model.mind import Mind, Thought
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.planning.model.thinker import Thinker
from esar_ros.planning.registry import register
from esar_ros.planning.search_area import nearest_inside
from esar_ros.planning.sectors import mission_words

_MOVED = 10.0  # m: a predicted place that shifts less is the same


class UniGoalSettings(MapSettings):
    """Section `unigoal` of config/planners.yaml."""

    near: float = Field(default=60.0, gt=0, description="m between two objects that count as related")
    object_score: float = Field(default=0.4, ge=0, le=1, description="an object is in the scene graph from it on")
    look_every: float = Field(default=30.0, gt=0, description="s between two looks for landmarks of the goal graph")
    goal_scale: float = Field(default=100.0, gt=0, description="m over which closeness to what draws frontiers falls")
    model: ModelSettings = Field(default_factory=ModelSettings)


@register("unigoal")
class UniGoal(Thinker, MapMethod):
    """Frontiers towards where the goal graph says the goal is."""

    name = "unigoal"
    asks_model = True
    settings_type: ClassVar[type[ExplorationSettings]] = UniGoalSettings
    prompts = PROMPTS
    _settings: UniGoalSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._mind: Mind[Answer] = Mind(self._settings.model, self.name, self.prompts)
        self.name = self._mind.method

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails: the model and the frontiers."""
        return {**super().details, "frontiers": self.frontiers_in_words}

    def prepare(self) -> None:
        """The goal graph by words, until the model has made a better one."""
        self._mind.reset(self._brief)
        self._home: Vector = np.asarray(self._brief.home, dtype=np.float64)  # (3,)
        self._goal, self._read_by = graph_of_words(self._brief.prompt), ""
        self._finds: list[SeenClue] = []  # of the detector
        self._landmarks: list[SeenClue] = []  # of the model, with ids below 0
        self._scene: list[SeenClue] = []  # both
        self._looked = -math.inf  # s of the mission, when the model was asked for landmarks
        self._track: list[Vector] = []  # places (3,) at every observation
        self._blacklist: set[int] = set()
        self._match = Match({}, 0.0)
        self._drawn_to: Vector | None = None  # (2,) the predicted goal, or the middle of the best group
        self._asked: set[About] = set()  # what the model was asked about
        self._scores: dict[tuple[int, ...], float] = {}  # the model's, by the ids of a group

    def look(self, observation: Observation) -> None:
        """Match what was found; ask the model what is due; find what draws the frontiers."""
        super().look(observation)
        self._track.append(observation.pose.position)
        least = self._settings.object_score
        self._finds = [c for c in observation.clues if c.probability >= least and np.isfinite(c.position).all()]
        self._scene = [*self._finds, *self._landmarks]
        self._rematch()
        if self._is_refuted(observation):
            self._give_up()
        self._think(observation)
        self._drawn_to = self._predicted()
        if self._drawn_to is None:
            self._drawn_to = self._best_group()

    # -- the exploration --------------------------------------------------------------------------

    def targets(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[Target]:
        """Stage 3's place to be looked at, then frontiers."""
        place = self._to_verify()
        if place is not None:
            yield Target(place, f"the whole graph is found: to be verified{self.words()}")
        yield from super().targets(observation, grid, passable)

    def keeps_frontier(self, observation: Observation, grid: Grid) -> bool:
        """Until there is a place to be verified, then that."""
        assert self._aim is not None
        place = self._to_verify()
        return place is None or float(np.linalg.norm(self._aim.position[:2] - place)) <= _MOVED

    def arrived(self, target: Target) -> None:
        """Gives up a match whose place was reached, or cannot be."""
        super().arrived(target)
        place = self._to_verify()
        if place is not None and float(np.linalg.norm(target.position[:2] - place)) <= _MOVED:
            self._give_up()

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Closeness plus closeness to what draws the frontiers."""
        value = closeness(frontier.position, observation)
        if self._drawn_to is not None:
            away = float(np.linalg.norm(frontier.position - self._drawn_to))
            value += float(np.exp(-away / self._settings.goal_scale))
        return value

    def words(self) -> str:
        """Overlap, what draws, and who read the brief."""
        where = ""
        if self._drawn_to is not None:
            what = "goal expected at" if self._predicted() is not None else "drawn to a group at"
            where = f", {what} {self._drawn_to.round().tolist()}"
        return f"; overlap {self._match.overlap:.2f}{where}, {self._read_by or 'goal graph by words'}"

    # -- the graphs -------------------------------------------------------------------------------

    def _rematch(self) -> None:
        self._match = match(self._goal, self._scene, self._settings.near, self._blacklist)

    def _predicted(self) -> Vector | None:
        """Returns the goal's predicted place (2,) within the area in stages 2 and 3."""
        place = predicted_goal(self._goal, self._match)
        return None if place is None else nearest_inside(self._area, place)

    def _to_verify(self) -> Vector | None:
        """Returns the place (2,) that stage 3 flies to, None in the others."""
        return self._predicted() if self._match.overlap >= VERIFY else None

    def _is_refuted(self, observation: Observation) -> bool:
        """Returns whether the match has led to nobody.

        That is so once no ground near the predicted place is left to be searched; in stage 3, once it is looked at.
        """
        place = self._predicted()
        if place is None or self.object_target(observation) is not None:
            return False
        if self._to_verify() is not None:
            away = float(np.linalg.norm(observation.pose.position[:2] - place))
            return away <= self._settings.visit_radius
        searched = self._searched.grid()
        left = searched.cells == UNKNOWN
        elsewhere = left.copy()
        clear_disc(elsewhere, searched, place, self._settings.near)
        return np.array_equal(left, elsewhere)

    def _give_up(self) -> None:
        """Puts what has matched on the blacklist."""
        self._blacklist |= {clue.id for clue in self._match.found.values()}
        self._rematch()

    def _best_group(self) -> Vector | None:
        """Returns the middle (2,) of the group that goes best with the goal graph's first part, None if none does."""
        groups = self._groups()
        if not groups:
            return None
        kinds = [self._goal.nodes[number].kind for number in self._goal.first_group]
        scores = [self._scores.get(ids_of(group), correlation_of_words(kinds, group)) for group in groups]
        best = int(np.argmax(scores))
        if scores[best] <= 0.0:
            return None
        middle: Vector = np.mean([clue.position[:2] for clue in groups[best]], axis=0)
        return middle

    def _groups(self) -> list[list[SeenClue]]:
        """Returns the groups to be scored: those of the scene while the goal graph has a part to look for."""
        return groups_of(self._scene, self._settings.near) if self._goal.first_group else []

    # -- the model --------------------------------------------------------------------------------

    def _think(self, observation: Observation) -> None:
        """Ask what is due, and take the answer when it comes."""
        if not self._mind.busy:
            thought = self._due(observation)
            if thought is None:
                return
            self._mind.begin(thought)
        outcome = self._mind.poll(observation)
        self._thinking = outcome is None
        if outcome is None:
            return
        answer = outcome.value
        self._tokens, self._trouble = (outcome.tokens_in, outcome.tokens_out), outcome.trouble
        if not self._read_by:
            why = f"goal graph by words, fell back ({answer.trouble})"
            self._read_by = why if answer.value is None else "goal graph by model"
        if isinstance(answer.value, GoalGraph):
            sees = self._mind.sends_images is not None
            self._goal = answer.value if sees else answer.value.without_landmarks()
        elif isinstance(answer.value, Landmarks):
            assert answer.seen is not None
            self._place(answer.value, answer.seen)
        elif isinstance(answer.value, Correlations):
            scores = zip(answer.about, answer.value.scores, strict=False)
            self._scores.update({ids: min(max(score, 0.0), 1.0) for ids, score in scores})
        elif isinstance(answer.value, Correction):
            [ids] = answer.about
            self._blacklist |= {ids[n - 1] for n in answer.value.wrong if 1 <= n <= len(ids)}
        self._rematch()

    def _due(self, observation: Observation) -> Thought[Answer] | None:
        """Returns the next thought: graph, landmarks, then a correction or correlations, each set of objects once."""
        situation, pictures = self._situation(observation), self._mind.sends_images
        if not self._read_by:
            return ask_for_graph(situation, pictures is not None)
        missing = {node.kind for number, node in enumerate(self._goal.nodes) if number not in self._match.found}
        wanted = [kind for kind in LANDMARKS if kind in missing]
        if wanted and observation.views and observation.stamp - self._looked >= self._settings.look_every:
            self._looked = observation.stamp
            return ask_for_landmarks(situation, wanted, observation, pictures)
        if self._match.overlap >= VERIFY:
            matched = list(self._match.found.values())
            is_new = self._is_new((ids_of(matched),))
            return ask_for_correction(situation, matched, self._home) if is_new else None
        if self._match.overlap >= MATCHED and len(self._match.found) >= 2:
            return None
        groups = [group for group in self._groups() if ids_of(group) not in self._scores]
        if not groups or not self._is_new(tuple(map(ids_of, groups))):
            return None
        kinds = [self._goal.nodes[number].kind for number in self._goal.first_group]
        return ask_for_correlations(situation, kinds, groups, self._home)

    def _is_new(self, about: About) -> bool:
        """Returns whether the model was not asked about these objects, and notes that it is now."""
        new = about not in self._asked
        self._asked.add(about)
        return new

    def _situation(self, observation: Observation) -> str:
        """Returns what every question begins with: the brief, the flight, and what comes of the answer."""
        return (
            f"{mission_words(self._brief)}\n{flight_words(observation, self._home, self._track)}\n"
            f"The drone flies by itself, {self._height:g} m above ground, to edges of the searched ground near it and "
            "near the place that the objects point to, and to anyone whom its detector finds."
        )

    def _place(self, answer: Landmarks, seen: Observation) -> None:
        """Adds landmarks to the scene where depth shows what is in their boxes, one of a kind where they lie near."""
        for one in answer.landmarks:
            view = seen.views.get(one.camera)
            if view is None or not all(0.0 <= value <= BOX_GRID for value in one.box):
                continue
            points = surface_in_box(view, one.box)
            if not len(points):
                continue
            place = np.median(points, axis=0)
            same = [other for other in self._landmarks if other.kind == one.kind]
            if any(float(np.linalg.norm(other.position - place)) <= self._settings.near for other in same):
                continue
            away = float(np.linalg.norm(place - view.pose.position))
            name, number = one.kind.replace("_", " "), -len(self._landmarks) - 1
            spread = np.cov(points.T) if len(points) > 1 else np.eye(3)
            self._landmarks.append(
                SeenClue(number, one.kind, name, 1.0, place, spread, 1, away, seen.stamp, seen.stamp)
            )
        self._scene = [*self._finds, *self._landmarks]
