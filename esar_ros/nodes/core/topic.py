"""Description of a topic: type, quality of service, writers and readers, bags that keep it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Profile:
    """Quality of service. latched: who subscribes late gets the last `depth` messages (transient local)."""

    reliable: bool
    latched: bool
    depth: int

    def __str__(self) -> str:
        reliability = "reliable" if self.reliable else "best effort"
        return f"{reliability}, {'transient local' if self.latched else 'volatile'}, last {self.depth}"


class Quality(Enum):
    """Quality-of-service profiles in use."""

    STEP = Profile(reliable=True, latched=False, depth=200)  # control chain and what scoring needs: nothing is lost
    LATCHED = Profile(reliable=True, latched=True, depth=1)  # maps and briefs: late readers get the newest
    LATCHED_ALL = Profile(reliable=True, latched=True, depth=200)  # few, each of which counts: late readers get all
    SENSOR = Profile(reliable=True, latched=False, depth=5)  # images and raw sensors; best-effort readers match too
    CLOCK = Profile(reliable=False, latched=False, depth=1)
    TF_STATIC = Profile(reliable=True, latched=True, depth=100)

    @property
    def kept_for_late(self) -> int:
        """Number of its last messages that a late reader gets; 0: none."""
        return self.value.depth if self.value.latched else 0


class Record(Enum):
    """In which bags a topic is kept."""

    SCORE = 1  # needed to score again
    VIEW = 2  # needed to look at the flight
    FULL = 3  # everything else
    NEVER = 4


RECORD_LEVELS = ("none", "score", "private", "view", "full")
"""Content of a bag by level; `private` is `view` without images."""
_IMAGES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
_KEPT = {"none": 0, "score": Record.SCORE.value, "private": Record.VIEW.value, "view": Record.VIEW.value}


@dataclass(frozen=True)
class Topic:
    """One topic in a vehicle's namespace, or a global one when the name is absolute."""

    name: str
    type: str
    quality: Quality
    writer: str  # node name
    readers: tuple[str, ...] = ()  # nodes that must be matched before the first step
    record: Record = Record.SCORE
    about: str = ""
    on_demand: bool = False  # made only while someone subscribes: nobody waits for its readers

    @property
    def description(self) -> str:
        """The topic's content, and when it is published."""
        return f"{self.about}; made only while someone subscribes" if self.on_demand else self.about

    def recorded(self, level: str) -> bool:
        """Returns whether a bag of one of RECORD_LEVELS keeps it."""
        if self.record is Record.NEVER or (level == "private" and self.type in _IMAGES):
            return False
        return self.record.value <= _KEPT.get(level, Record.FULL.value)


def made_on_demand(name: str, type: str, quality: Quality, writer: str, record: Record, about: str) -> Topic:
    """Returns a topic that is made only while someone subscribes."""
    return Topic(name, type, quality, writer, record=record, about=about, on_demand=True)
