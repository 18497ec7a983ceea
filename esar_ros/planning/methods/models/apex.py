"""APEX: a model names what attracts, three voxel maps remember it, and each move is judged by what it would show.

Source: APEX, the aerial object-navigation agent of ESARBench's reference [68], re-implemented from its description
(section 4.1) and numbers: voxels of 5 m, 200 m x 200 m x 50 m around the start, holding attraction A, exploration E
and obstacles. The model scores kinds of objects 0.1 to 1; the detector grounds them. Each frame adds 0.5 (1 - d / 30)
to E in the prism ahead. A move is worth -inf if it is blocked, else the sum over the voxels it would show within 50 m
of w A (and 5 w more where A >= 0.9) + 0.4 (0.4 - E) w with w = (50 - d) / 50. Adapted for the air: the moves are all
seven of this package's action set, what hides a voxel in a move's view is not simulated, E is capped at 1, and what
has been looked at from near attracts no more, as there may be several victims. It has no rule to stop by: Tmax ends
it. Only the scores need a model; without one a person counts 1 and every other kind 0.5.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mapping.map.voxel_field import VoxelField
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.observation import Grid, Observation
from esar_ros.planning.depth_view import surface_points
from esar_ros.planning.discrete import ACTIONS, STOP
from esar_ros.planning.exchange import Form
from esar_ros.planning.method import scaled
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import images_of, object_words

MOVES = tuple(action for action in ACTIONS if action != STOP)
EDGE = 5.0  # m
SEEN_RANGE = 30.0  # m of the prism that a frame explores
VIEW_RANGE = 50.0  # m that a simulated view shows
STRONG = 0.9  # attraction from which the bonus is given
SYSTEM = (
    "You guide a search-and-rescue drone. From the mission brief, the pictures and what its detector found, give "
    "each kind of object a score from 0.1 to 1: how much flying towards it helps to find the missing people."
)


class ApexSettings(ModelStepSettings):
    """Section `apex` of config/planners.yaml."""

    extent: float = Field(default=200.0, gt=0, description="m, sides of the voxel maps around the start")
    depth: float = Field(default=50.0, gt=0, description="m, their height")
    below: float = Field(default=10.0, ge=0, description="m of it below the ground at the start")
    ask_every: int = Field(default=10, ge=1, description="moves between two questions to the model")
    looked_at: float = Field(default=25.0, gt=0, description="m, horizontally, at which an object attracts no more")


class Score(Form):
    """A kind of object and what it is worth."""

    kind: Literal[KINDS]  # type: ignore[valid-type]
    score: float = Field(ge=0.1, le=1.0)


class Attractions(Form):
    """Scores of kinds."""

    objects: list[Score] = Field(max_length=40)


@register("apex")
class Apex(ActionMethod):
    """The move with the maximum simulated reward."""

    name = "apex"
    settings_type = ApexSettings
    prompts = (SYSTEM,)
    _settings: ApexSettings

    def prepare(self) -> None:
        """Empty maps; they are laid around the first place seen."""
        self._attraction: VoxelField | None = None
        self._scores = {kind: 1.0 if kind == PERSON else 0.5 for kind in KINDS}
        self._moves = 0
        self._done: list[Vector] = []  # places of objects looked at

    def look(self, observation: Observation) -> None:
        """Explore the prism ahead, raise obstacles, ground the attraction."""
        if self._attraction is None:
            self._lay_maps(observation)
        assert self._attraction is not None
        front = observation.views.get("front")
        if front is not None:
            self._model, self._mount = front.model, observation.pose.inverse().compose(front.pose)
            index, distance = self._exploration.in_view(front.model, front.pose, SEEN_RANGE, front.depth)
            self._exploration.add(index, 0.5 * (1.0 - distance / SEEN_RANGE))
            np.minimum(self._exploration.values, 1.0, out=self._exploration.values)
        points = surface_points(observation.views.values())
        if len(points):
            self._obstacles.raise_to(points, 1.0)
        self._ground(observation)

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Ask for scores now and then; judge the moves every time."""
        trouble = ""
        if self._moves % self._settings.ask_every == 0:
            found = object_words(observation, observation.clues) or "nothing yet"
            text = f"{self.situation(observation)}\nFound so far: {found}.\nKinds: {', '.join(KINDS)}."
            images = images_of(observation, tuple(observation.views), self.sends_images)
            answer, reason = yield from ask("attractions", SYSTEM, text, Attractions, images)
            if answer is not None:
                self._scores.update({score.kind: score.score for score in answer.objects})
                self._ground(observation)
            else:
                trouble = f"fell back ({reason}): scores as before; "
        self._moves += 1
        rewards = self.rewards(observation)
        best = max(MOVES, key=lambda move: (rewards[move], -MOVES.index(move)))
        if math.isinf(rewards[best]):
            return Choice("turn_right", f"{trouble}every move is blocked", considered=len(MOVES))
        return Choice(best, f"{trouble}reward {rewards[best]:.2f}", considered=len(MOVES))

    def rewards(self, observation: Observation) -> dict[str, float]:
        """Simulated reward of each move."""
        points = surface_points(observation.views.values())
        return {move: self._reward(move, observation, points) for move in MOVES}

    def _reward(self, move: str, observation: Observation, points: NDArray[np.float64]) -> float:
        goal = self._mover.goal(move, observation)
        if move in ("up", "down") and float(goal.position[2]) == self._mover.height:
            return -math.inf
        end = self._end_of(goal, observation)
        if move == self._refused or not self.is_path_free(observation, end, points):
            return -math.inf
        if self._is_occupied(observation.pose.position, end):
            return -math.inf
        assert self._attraction is not None and goal.yaw is not None
        pose = Pose(end, quaternion_from_yaw(goal.yaw)).compose(self._mount)
        index, distance = self._attraction.in_view(self._model, pose, VIEW_RANGE)
        weight = (VIEW_RANGE - distance) / VIEW_RANGE
        attraction = self._attraction.values[tuple(index.T)].astype(np.float64)
        explored = self._exploration.values[tuple(index.T)].astype(np.float64)
        worth = weight * attraction + 5.0 * weight * (attraction >= STRONG - 1e-6) + 0.4 * (0.4 - explored) * weight
        return float(worth.sum())

    def belief_grid(self) -> Grid | None:
        """See planning.method.Mapped: the maximum attraction above each 5 m of ground."""
        if self._attraction is None:
            return None
        values = self._attraction.values.max(axis=2).T
        x, y = (float(v) for v in self._attraction.lower[:2])
        return Grid(scaled(values, np.ones(values.shape, np.bool_)), EDGE, (x, y))

    def _is_occupied(self, start: Vector, end: Vector) -> bool:
        """Returns whether the segment crosses an obstacle voxel other than the one the vehicle is in."""
        steps = np.linspace(0.0, 1.0, max(math.ceil(float(np.linalg.norm(end - start)) / (EDGE / 2.0)), 1) + 1)[1:]
        samples = start + steps[:, None] * (end - start)
        own, _ = self._obstacles.index_of(start[None])
        index, inside = self._obstacles.index_of(samples)
        other = inside & (index != own).any(axis=1)
        return bool((self._obstacles.values[tuple(index[other].T)] > 0.0).any())

    def _ground(self, observation: Observation) -> None:
        """Attraction where the detector found something, 0 where it has been looked at."""
        assert self._attraction is not None
        here = observation.pose.position[:2]
        for clue in observation.clues:
            if float(np.linalg.norm(clue.position[:2] - here)) <= self._settings.looked_at and clue.views >= 3:
                self._done.append(clue.position)
        self._attraction.values.fill(0.0)
        done = np.array(self._done[-500:]).reshape(-1, 3)
        for clue in observation.clues:
            if not (np.linalg.norm(done - clue.position, axis=1) <= EDGE).any():
                self._attraction.raise_to(clue.position[None], self._scores[clue.kind])

    def _lay_maps(self, observation: Observation) -> None:
        half = self._settings.extent / 2.0
        lower = observation.pose.position - [half, half, self._settings.below + (observation.height or 0.0)]
        upper = lower + [2.0 * half, 2.0 * half, self._settings.depth]
        self._attraction, self._exploration, self._obstacles = (VoxelField(lower, upper, EDGE) for _ in range(3))
        self._model, self._mount = CameraModel.from_horizontal_fov(64, 48, math.pi / 2.0), Pose()
