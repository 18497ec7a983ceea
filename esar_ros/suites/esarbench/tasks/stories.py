"""Stories: config/stories/<event>.yaml, one rescue case each, given as places, lines and five moments.

Places are given roughly and moved to the nearest fitting ground; lines are walked between places along the easiest
ground. People and things are put by phrases: "sitting at ledge", "tent/orange at camp 6" (within 6 m),
"rope/blue on descent 0.4 5" (at 40 % of a line, up to 5 m aside).
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from esar_ros.mission.clues import ClueKind, VictimPose
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, parse_yaml, validated
from esar_ros.mission.weather import Weather

STORY_DIRECTORY = "config/stories"
SNAPSHOTS = 5


class Spot(StrictModel):
    """Position at a place or on a line."""

    place: str = ""
    line: str = ""
    share: float = Field(0.0, ge=0.0, le=1.0, description="of the line's length")
    radius: float = Field(3.0, ge=0.0, le=60.0, description="m, from the place or aside of the line")


class Person(StrictModel):
    """Somebody who is missing."""

    name: str
    wears: str = Field(description="outfit, a variant of the person assets")


class Place(StrictModel):
    """A rough position and what ground it must be on."""

    near: tuple[float, float] = Field(description="m east, m north")
    on: tuple[str, ...] = Field((), description="LandCover names; empty: any dry ground")
    slope: float = Field(30.0, gt=0.0, le=45.0, description="degrees, steepest")


class PlacedPerson(StrictModel):
    """A victim of one snapshot."""

    pose: VictimPose
    spot: Spot


class PlacedThing(StrictModel):
    """A clue of one snapshot."""

    kind: ClueKind
    variant: str
    spot: Spot


class Moment(StrictModel):
    """A snapshot: where people and things are at one moment of the story."""

    moment: str = Field(description="what has happened, for readers of the event file")
    day: date = Field(description="on which the search takes place")
    victims: dict[str, PlacedPerson] = Field(min_length=1)
    clues: tuple[PlacedThing, ...] = Field(min_length=3)
    base: str = Field(description="place that the brief relates the take-off to")
    who: tuple[str, ...] = Field((), description="who is missing by now, where that differs from the story's")
    kit: tuple[str, ...] = Field((), description="where it differs from the story's")
    tell: tuple[tuple[str, ...], ...] = Field(min_length=2, description="facts in order, each in several phrasings")

    @field_validator("victims", mode="before")
    @classmethod
    def _read_victims(cls, value: dict[str, str]) -> dict[str, dict[str, object]]:
        return {id: _victim(text) for id, text in value.items()}

    @field_validator("clues", mode="before")
    @classmethod
    def _read_clues(cls, value: list[str]) -> list[dict[str, object]]:
        return [_clue(text) for text in value]


class Story(StrictModel):
    """One event."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    map: str
    split: Literal["dev", "test"]
    title: str
    source: str = Field(description="the case it follows, and what is invented")
    set_out: date
    weathers: tuple[Weather, ...] = Field(min_length=3, description="kinds of the place in that season")
    people: dict[str, Person] = Field(min_length=1)
    labels: dict[str, str] = Field(description="what briefs call a place")
    places: dict[str, Place]
    lines: dict[str, tuple[str, ...]] = Field(description="places walked to in order")
    who: tuple[str, ...] = Field(min_length=3, description="phrasings of who is missing")
    kit: tuple[str, ...] = Field(min_length=2, description="phrasings around <kit>, what they carry")
    snapshots: tuple[Moment, ...] = Field(min_length=SNAPSHOTS, max_length=SNAPSHOTS)


def story_ids() -> tuple[str, ...]:
    """Ids of all stories, sorted."""
    return tuple(sorted(path.stem for path in resource(STORY_DIRECTORY).glob("*.yaml")))


def load_story(id: str) -> Story:
    """A story by id. Raises UsageError naming file, key and reason."""
    path = resource(STORY_DIRECTORY) / f"{id}.yaml"
    try:
        return parse_story(path.read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read story {path}: {error}", suggest(id, story_ids())) from None


def parse_story(text: str, path: Path) -> Story:
    """Story from YAML; every name it uses must be one it has. Raises UsageError."""
    story = validated(Story, parse_yaml(text, str(path)), path, "the story")
    _check_names(story, path)
    return story


def _check_names(story: Story, path: Path) -> None:
    def known(key: str, names: list[str], among: object) -> None:
        for name in names:
            if name not in among:  # type: ignore[operator]
                raise UsageError(f"{path}, key {key}: '{name}' is not named in the story", "mend the file")

    known("labels", list(story.labels), story.places)
    for name, line in story.lines.items():
        known(f"lines.{name}", list(line), story.places)
    for number, moment in enumerate(story.snapshots):
        spots = [person.spot for person in moment.victims.values()] + [thing.spot for thing in moment.clues]
        known(f"snapshots.{number}", [spot.place for spot in spots if spot.place], story.places)
        known(f"snapshots.{number}", [spot.line for spot in spots if spot.line], story.lines)
        known(f"snapshots.{number}.victims", list(moment.victims), story.people)
        known(f"snapshots.{number}.base", [moment.base], story.labels)


def _victim(text: str) -> dict[str, object]:
    pose, _, rest = text.partition(" ")
    return {"pose": pose, "spot": _spot(rest, text)}


def _clue(text: str) -> dict[str, object]:
    asset, _, rest = text.partition(" ")
    kind, _, variant = asset.partition("/")
    return {"kind": kind, "variant": variant, "spot": _spot(rest, text)}


def _spot(text: str, whole: str) -> dict[str, object]:
    words = text.split()
    if words[:1] == ["at"] and len(words) in (2, 3):
        return {"place": words[1]} | ({"radius": float(words[2])} if len(words) == 3 else {})
    if words[:1] == ["on"] and len(words) in (3, 4):
        spot: dict[str, object] = {"line": words[1], "share": float(words[2])}
        return spot | ({"radius": float(words[3])} if len(words) == 4 else {})
    raise ValueError(f"'{whole}' is neither '... at PLACE [METRES]' nor '... on LINE SHARE [METRES]'")
