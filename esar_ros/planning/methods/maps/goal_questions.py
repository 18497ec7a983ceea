"""Questions of UniGoal to a model: the goal graph of the brief, landmarks, correlations of groups, a correction.

Each question is one exchange, whose answer is a value of its form, or none and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS
from esar_ros.mission.observation import Observation, SeenClue
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.flight_words import place_words
from esar_ros.planning.methods.maps.goal_graph import LANDMARKS, NODE_KINDS, GoalGraph
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.sectors import ORDER, images_of

GRAPH_SYSTEM = (
    "From the brief of a search-and-rescue mission, list at most five objects a drone should find on the way to a "
    "missing person, the person first, where each probably lies relative to the first (metres east and north), "
    "which pairs lie near each other, and which belong together."
)
CORRELATION_SYSTEM = (
    "A search-and-rescue drone has found groups of objects. For each say how probably, from 0 to 1, what it looks for "
    "is near it, even if you know little."
)
CORRECTION_SYSTEM = (
    "A search-and-rescue drone believes that what it has found is what the brief tells of. Name the numbers of those "
    "objects of which that is not reasonable, for what they are or where they lie."
)
LANDMARK_SYSTEM = (
    "You see the cameras of a search-and-rescue drone. Find the landmarks that are asked for. For each that a picture "
    "shows say in which camera's picture it is, and its box there: x and y of the left top and the right bottom "
    "corner, 0 to 1000. Leave out what you do not see."
)
PROMPTS = (GRAPH_SYSTEM, CORRELATION_SYSTEM, CORRECTION_SYSTEM, LANDMARK_SYSTEM)

About = tuple[tuple[int, ...], ...]  # ids of the objects of each group that a question is about


class Correlations(Form):
    """How probably what is looked for is near each group, in their order."""

    scores: list[float] = Field(max_length=40)


class Correction(Form):
    """The objects that are not what they were taken for."""

    wrong: list[int] = Field(default_factory=list, max_length=40)


class Landmark(Form):
    """A landmark in a picture."""

    kind: Literal[LANDMARKS]  # type: ignore[valid-type]
    camera: Literal["front", "left", "right", "down"]
    box: tuple[float, float, float, float] = Field(description="[left, top, right, bottom], each 0 to 1000")


class Landmarks(Form):
    """The landmarks that the pictures show."""

    landmarks: list[Landmark] = Field(max_length=20)


@dataclass(frozen=True)
class Answer:
    """An answer of the model to one of the questions, or None and why; seen: the frame that it was asked about."""

    value: GoalGraph | Correlations | Correction | Landmarks | None
    trouble: str
    about: About = ()
    seen: Observation | None = None


def ids_of(clues: Sequence[SeenClue]) -> tuple[int, ...]:
    """Returns the ids of objects, by which their group is known."""
    return tuple(clue.id for clue in clues)


# Of every question: situation is what it begins with, the brief and the flight; home (3,) is in m, map frame.


def ask_for_graph(situation: str, sees: bool) -> Thought[Answer]:
    """Asks for the goal graph; sees: the model is sent pictures, in which it can find landmarks too."""
    text = f"{situation}\nKinds: {', '.join(NODE_KINDS if sees else KINDS)}."
    return Answer(*(yield from ask("goal_graph", GRAPH_SYSTEM, text, GoalGraph)))


def ask_for_landmarks(
    situation: str, wanted: Sequence[str], seen: Observation, pictures: tuple[int, int] | None
) -> Thought[Answer]:
    """Asks where in the pictures of a frame landmarks of some kinds are; pictures: see images_of."""
    text = f"{situation}\nLandmarks: {', '.join(wanted)}."
    images = images_of(seen, ORDER, pictures)
    answer, trouble = yield from ask("landmarks", LANDMARK_SYSTEM, text, Landmarks, images)
    return Answer(answer, trouble, seen=seen)


def ask_for_correlations(
    situation: str, wanted: Sequence[str], groups: Sequence[Sequence[SeenClue]], home: Vector
) -> Thought[Answer]:
    """Asks how probably things of the kinds wanted are near each group."""
    text = "\n".join([situation, f"It looks for: {', '.join(wanted)}.", "Groups:", *_listed(groups, home)])
    about = tuple(ids_of(group) for group in groups)
    return Answer(*(yield from ask("correlation", CORRELATION_SYSTEM, text, Correlations)), about)


def ask_for_correction(situation: str, matched: Sequence[SeenClue], home: Vector) -> Thought[Answer]:
    """Asks which of the objects that have matched are not what they were taken for."""
    text = "\n".join([situation, "Objects:", *_listed([[clue] for clue in matched], home)])
    return Answer(*(yield from ask("correction", CORRECTION_SYSTEM, text, Correction)), (ids_of(matched),))


def _listed(groups: Sequence[Sequence[SeenClue]], home: Vector) -> list[str]:
    """Returns a line for each group: its objects and where it lies."""
    lines = []
    for number, group in enumerate(groups, 1):
        words = ", ".join(clean(clue.text or clue.kind.replace("_", " "), 60) for clue in group)
        middle = np.mean([clue.position for clue in group], axis=0)
        lines.append(f"{number}: {words}, {place_words(middle, home)}")
    return lines
