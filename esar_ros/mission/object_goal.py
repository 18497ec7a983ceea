"""Words of object-goal navigation: an object that is described in words, and the episode of searching for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from esar_ros.geometry.frames import Pose, Vector


class SizeClass(str, Enum):
    """Classes of size by which UAV-ON groups its objects."""

    SMALL = "small"
    MID = "mid"
    BIG = "big"


@dataclass(frozen=True)
class ObjectGoal:
    """The description of an object as an agent is given it, as it is written in the episode's file.

    size: a class and an area, such as " mid(2.5*2.0=5.0 squares)".
    """

    name: str
    size: str
    description: str

    @property
    def size_class(self) -> SizeClass | None:
        """The first of small, mid and big that the size contains; None where it contains none.

        Never computed from the area: the areas of UAV-ON's classes overlap.
        """
        return next((size for size in SizeClass if size.value in self.size), None)


@dataclass(frozen=True)
class ObjectGoalEpisode:
    """One search for an object: start, description and ground truth. Map frame (m).

    An agent is given `goal` and `start`; `targets` and both distances are ground truth.
    """

    id: str
    scene: str
    start: Pose  # FLU body in the map
    goal: ObjectGoal
    targets: Vector  # (N, 3) positions that count as the object's, N >= 1
    shortest: float  # m, length of the shortest path from the start, as the episode's file has it
    straight: float  # m, distance from the start in a straight line, as the episode's file has it
