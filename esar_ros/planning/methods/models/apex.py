"""APEX: a model names what draws the search, voxel maps remember it, and each move is judged by what it would show.

Source: Zhang et al., APEX: a decoupled memory-based explorer for asynchronous aerial object goal navigation, CVPR
2026, and its public code; as a baseline in ESARBench, section 4.1 ("VLM-guided 3D voxel maps and reward-based
discrete action selection"). Its steps, by the paper's modules:

- "Dynamic Spatio-Semantic Mapping Memory" (apex_maps.py): the model lists the objects in the pictures, whatever they
  are, each with a score of 0.1 to 1 of how much going there helps; they are grounded in the voxels that show them;
- "Action Decision Module": of the paper's six actions (forward 10 m, turns by 90 degrees and back, up and down 5 m) the
  one whose pose has the maximum simulated reward, blocked ones left out; ESARBench's choice in place of the paper's
  trained policy;
- "Target Grounding Module": a person whom the detector has found draws with a score of 1.

Adapted: the model's own boxes ground its objects (Grounding DINO and SAM in the paper), it sees all four cameras, it is
asked every `ask_every` moves, the maps move with the vehicle, and an attraction counts as far as they reach,
horizontally. A move that undoes the last one is left out: the best of six poses alone, without the trained policy, goes
to and fro before what it cannot fly to. `apex@start` keeps the paper's box around the start, its 50 m and all moves.
There may be several victims, so a person is looked at and then left; Tmax ends the search. `apex@kinds` is a stand-in
for models that see no pictures: they score the detector's kinds, and its finds ground them. Only what draws needs a
model; without an answer the maps stay as they are; `apex@kinds` has 1 for a person and 0.5 for every other kind until
it gets one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.decision import Goal
from esar_ros.mission.observation import Grid, Observation
from esar_ros.planning.depth_view import BOX_GRID, surface_in_box, surface_points
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.method import scaled
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.methods.models.apex_maps import EDGE, ApexMaps
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import ORDER, images_of, object_words, seen_in

# Each move as an action of the package, with its amount where it is not the fixed step.
MOVES: dict[str, tuple[str, float | None]] = {
    "forward": ("forward", None),
    "turn_left": ("turn_left", None),
    "turn_right": ("turn_right", None),
    "turn_back": ("turn_left", 180.0),
    "up": ("up", None),
    "down": ("down", None),
}
# The move that would undo a move.
UNDONE = {"up": "down", "down": "up", "turn_left": "turn_right", "turn_right": "turn_left", "turn_back": "turn_back"}
HALF_BOX = 1.5  # m, half a side of the box in which a find is told to the model
PAPER_REACH = 50.0  # m
START, BOXES, DETECTOR_KINDS = "start", "boxes", "kinds"
SYSTEM = (
    "You guide a search-and-rescue drone. First list the objects that its pictures show, whatever they are: things, "
    "paths, huts, water, single trees, rocks, edges of woods; leave out what has no clear outline. Then give each a "
    "score from 0.1 to 1 for how much flying closer helps to find the missing people: 0.8 to 1 where a missing person "
    "or a trace of one is or is most probable, 0.4 to 0.7 where one is likely near, 0.1 to 0.3 for mere surroundings. "
    "Say in which camera's picture each is, and its box there: x and y of the left top and the right bottom corner, "
    "0 to 1000."
)
KINDS_SYSTEM = (
    "You guide a search-and-rescue drone. From the mission brief and what its detector found, give each kind of "
    "object a score from 0.1 to 1: how much flying towards it helps to find the missing people."
)


class ApexSettings(ModelStepSettings):
    """Section `apex` of config/planners.yaml."""

    window: Literal["vehicle", "start"] = Field(
        default="vehicle", description="around what the maps lie; start: the paper's, apex@start"
    )
    grounding: Literal["boxes", "kinds"] = Field(
        default="boxes", description="the model's boxes, or the detector's finds: the stand-in apex@kinds"
    )
    reach: float = Field(default=100.0, gt=0, description="m up to which an attraction counts; apex@start: 50")
    extent: float = Field(default=200.0, gt=0, description="m, sides of the voxel maps")
    depth: float = Field(default=50.0, gt=0, description="m, their height")
    below: float = Field(default=10.0, ge=0, description="m of it below the ground")
    ask_every: int = Field(default=10, ge=1, description="moves between two questions to the model")
    looked_at: float = Field(default=25.0, gt=0, description="m, horizontally, at which an object attracts no more")


class SceneObject(Form):
    """An object in a picture and what it is worth."""

    name: str = Field(min_length=1, description="a few words")
    score: float = Field(ge=0.1, le=1.0)
    camera: Literal["front", "left", "right", "down"]
    box: tuple[float, float, float, float] = Field(description="[left, top, right, bottom], each 0 to 1000")


class SceneObjects(Form):
    """What the pictures show."""

    objects: list[SceneObject] = Field(max_length=40)


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
    prompts = (SYSTEM, KINDS_SYSTEM)
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        START: {"window": START, "reach": PAPER_REACH},
        DETECTOR_KINDS: {"grounding": DETECTOR_KINDS},
    }
    _settings: ApexSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if self._settings.window == START:
            self.name = f"{self.name}@{START}"
        if not self._boxes:
            self.name = f"{self.name}@{DETECTOR_KINDS}"

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        settings = self._settings
        rules = " in view" if settings.window == START else " ahead at any height, no move undoes the last"
        window = f"{settings.extent:g} m box around the {settings.window}, attraction to {settings.reach:g} m{rules}"
        grounding = "the model's boxes" if self._boxes else "the detector's kinds, a stand-in"
        return {**super().details, "window": window, "grounding": grounding}

    @property
    def _boxes(self) -> bool:
        """True when the model's boxes ground its objects; a model that sees no pictures has none."""
        return self._settings.grounding == BOXES and self.sends_images is not None

    def prepare(self) -> None:
        """No maps; they are laid around the first place seen."""
        self._maps: ApexMaps | None = None
        self._scores = {kind: 1.0 if kind == PERSON else 0.5 for kind in KINDS}
        self._moves = 0
        self._before, self._last = "", ""  # the last two moves

    def look(self, observation: Observation) -> None:
        """Explore the prism ahead, raise obstacles, ground what was found."""
        settings = self._settings
        if self._maps is None:
            moves = settings.window != START
            self._maps = ApexMaps(observation, (settings.extent, settings.depth), settings.below, moves)
        self._maps.see(observation, settings.looked_at)
        self._ground_finds(observation)

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Ask what draws now and then; judge the moves every time."""
        trouble = ""
        if self._moves % self._settings.ask_every == 0:
            trouble = yield from (self._ask_objects(observation) if self._boxes else self._ask_scores(observation))
        self._moves += 1
        rewards = self.rewards(observation)
        best = max(MOVES, key=lambda move: rewards[move])  # the first at a tie
        self._before, self._last = self._last, best
        action, amount = MOVES[best]
        words = f"{trouble}{best.replace('_', ' ')}, reward {rewards[best]:.2f}"
        return Choice(action, words, amount, considered=len(MOVES))

    def rewards(self, observation: Observation) -> dict[str, float]:
        """Returns the simulated reward of each move, -inf where it is blocked or may not undo the last one."""
        points = surface_points(observation.views.values())
        return {move: self._reward(move, observation, points) for move in MOVES}

    def action_words(self) -> str:
        """Returns what the drone does with the scores, and by which moves."""
        settings = self._settings
        return (
            "The drone moves by itself so that what scores high lies ahead and near: forward "
            f"{settings.step:g} m along the heading; turns of {settings.turn_deg:g} and 180 degrees on the spot; "
            f"{settings.climb:g} m up or down."
        )

    def belief_grid(self) -> Grid | None:
        """See planning.method.HasBeliefGrid: the maximum attraction above each 5 m of ground."""
        if self._maps is None:
            return None
        values = self._maps.attraction.values.max(axis=2).T
        x, y = (float(v) for v in self._maps.attraction.lower[:2])
        return Grid(scaled(values, np.ones(values.shape, np.bool_)), EDGE, (x, y))

    # -- the moves --------------------------------------------------------------------------------

    def _reward(self, move: str, observation: Observation, points: NDArray[np.float64]) -> float:
        goal = self._goal(move, observation)
        if move in ("up", "down") and float(goal.position[2]) == self._mover.height:
            return -math.inf
        end = self._end_of(goal, observation)
        undoes = self._settings.window != START and move == UNDONE.get(self._last)
        if undoes or move == self._refused or not self.is_path_free(observation, end, points):
            return -math.inf
        assert self._maps is not None and goal.yaw is not None
        if self._maps.is_occupied(observation.pose.position, end):
            return -math.inf
        return self._maps.reward(end, goal.yaw, self._settings.reach)

    def _goal(self, move: str, observation: Observation) -> Goal:
        action, amount = MOVES[move]
        return self._mover.goal(action, observation, amount)

    # -- what draws -------------------------------------------------------------------------------

    def _ask_objects(self, observation: Observation) -> Thought[str]:
        """Grounds the objects that the model names in the pictures; returns what went wrong, '' when nothing did."""
        shown = [f"{name} camera: {_found_words(observation.views[name], observation)}." for name in ORDER
                 if name in observation.views]  # fmt: skip
        lines = [self.situation(observation), self.action_words(), "Found by the detector, with boxes:", *shown]
        text = "\n".join(lines)
        images = images_of(observation, ORDER, self.sends_images)
        answer, reason = yield from ask("objects", SYSTEM, text, SceneObjects, images)
        if answer is None:
            return f"fell back ({reason}): maps as before; "
        assert self._maps is not None
        for one in sorted(answer.objects, key=lambda one: one.score):  # of two in a voxel the better stays
            view = observation.views.get(one.camera)
            if view is not None and all(0.0 <= value <= BOX_GRID for value in one.box):
                self._maps.ground(surface_in_box(view, one.box), one.score)
        self._ground_finds(observation)
        return ""

    def _ask_scores(self, observation: Observation) -> Thought[str]:
        """Takes the model's scores of kinds; returns what went wrong, '' when nothing did."""
        found = object_words(observation, observation.clues) or "nothing yet"
        finds = f"Found so far: {found}.\nKinds: {', '.join(KINDS)}."
        text = "\n".join([self.situation(observation), self.action_words(), finds])
        answer, reason = yield from ask("attractions", KINDS_SYSTEM, text, Attractions)
        if answer is None:
            return f"fell back ({reason}): scores as before; "
        self._scores.update({score.kind: score.score for score in answer.objects})
        self._ground_finds(observation)
        return ""

    def _ground_finds(self, observation: Observation) -> None:
        """Grounds the persons whom the detector has found; in the stand-in every kind."""
        assert self._maps is not None
        finds = [clue for clue in observation.clues if clue.kind == PERSON or not self._boxes]
        for clue in sorted(finds, key=lambda clue: self._scores[clue.kind]):
            self._maps.ground(clue.position[None], 1.0 if self._boxes else self._scores[clue.kind])


def _found_words(view: CameraFrame, observation: Observation) -> str:
    """Returns what the detector has found in a camera's picture, with boxes in the model's coordinates."""
    finds = sorted(seen_in(view, observation.clues), key=lambda clue: (-clue.probability, clue.id))[:12]
    named = [(clean(clue.text or clue.kind.replace("_", " "), 60), clue) for clue in finds]
    words = (f"{name} (score {clue.probability:.2f}) {_box(view, clue.position)}" for name, clue in named)
    return "; ".join(words) or "nothing"


def _box(view: CameraFrame, place: Vector) -> str:
    """Returns the box of a find: [left, top, right, bottom], each 0 to 1000."""
    local = (np.asarray(place) - view.pose.position) @ view.pose.rotation
    pixel, _ = view.model.project(local)
    half = HALF_BOX * view.model.fx / max(float(local[2]), 1.0)
    corners = np.stack([pixel - half, pixel + half]) / [view.model.width, view.model.height]
    return str([round(float(value)) for value in np.clip(corners * BOX_GRID, 0.0, BOX_GRID).ravel()])
