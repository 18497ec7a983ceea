"""The card beside a detector's file: what its outputs mean, from which score on they count, and how sure that is."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, nearest, suggest
from esar_ros.mission.resources import cache_directory, resource
from esar_ros.mission.settings_file import StrictModel, validated

SCHEMA: Final = "esar-detector/1"
THRESHOLD = 0.25  # raw score of a class that its card says nothing about
MISSPELT = 0.8  # likeness of a class to a kind's name from which it is that, misspelt: networks have other classes too
_MODELS = "models"


class ReliabilityCurve(StrictModel):
    """Share of right detections by raw score, measured on a validation set; straight lines between the points."""

    score: tuple[float, ...] = Field(min_length=1, description="raw, rising")
    probability: tuple[float, ...] = Field(min_length=1, description="0..1, not falling")

    @model_validator(mode="after")
    def _curve(self) -> ReliabilityCurve:
        if len(self.score) != len(self.probability):
            raise ValueError("score and probability differ in length")
        if any(np.diff(self.score) <= 0.0) or any(np.diff(self.probability) < 0.0):
            raise ValueError("score must rise and probability must not fall")
        if self.probability[0] < 0.0 or self.probability[-1] > 1.0:
            raise ValueError("probability lies outside 0..1")
        return self

    @property
    def points(self) -> list[tuple[float, float]]:
        """(score, probability), as perception.fusion.evidence reads it."""
        return list(zip(self.score, self.probability, strict=True))


class SecondStageCard(BaseModel):
    """Second stage that classifies a detector's boxes again, where depth is known (detectors.second_stage)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str = Field(min_length=1, description="name of its network beside the card")
    sha256: str = Field(default="", description="of that file; empty: not checked")
    proposal: float = Field(gt=0, lt=1, description="least raw score of a box that it looks at")
    overlap: float = Field(gt=0, lt=1, description="of two boxes of any class before it, from which they are one")
    merge: float = Field(gt=0, lt=1, description="of two boxes of a class after it, from which they are one object's")
    no_depth: float = Field(gt=0, le=1, description="a box without depth keeps this share of the first stage's score")
    thresholds: dict[str, float] = Field(default_factory=dict, description="word -> least probability")
    calibration: dict[str, ReliabilityCurve] = Field(default_factory=dict, description="by word")

    def threshold(self, word: str) -> float:
        """Least probability of a class."""
        return self.thresholds.get(word, THRESHOLD)


class PictureStageCard(BaseModel):
    """Network for people in pictures that have no depth by nature (detectors.picture_stage)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str = Field(min_length=1, description="name of its network beside the card")
    sha256: str = Field(default="", description="of that file; empty: not checked")
    license: str = ""
    word: str = Field(min_length=1, description="the class of the card that it finds")
    stride: int = Field(default=32, ge=1, le=256, description="px: the sides of the input are multiples of it")
    short: int = Field(default=720, ge=32, description="px, to which the short side of a smaller picture is enlarged")
    scale: float = Field(default=1.0, ge=1, le=4, description="greatest enlargement, input px per picture px")
    slice: int = Field(default=1280, ge=128, description="px, greatest side of the input")
    overlap: int = Field(default=64, ge=0, description="picture px between slices, more than a person is long")
    nms_iou: float = Field(default=0.5, gt=0, lt=1, description="overlap from which two boxes are one")
    growth: float = Field(
        default=1.0, ge=0.5, le=2, description="factor on a box's sides, by which people's own boxes are looser"
    )
    threshold: float = Field(gt=0, lt=1, description="least raw score")
    calibration: ReliabilityCurve | None = None

    @model_validator(mode="after")
    def _slices_advance(self) -> PictureStageCard:
        if round(self.slice / self.scale) <= self.overlap:
            raise ValueError("slices are smaller than their overlap")
        return self


class ModelCard(BaseModel):
    """Description of a detector's file. Keys that document how it was made are for people and are not read here."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    schema_: Literal["esar-detector/1"] = Field(default=SCHEMA, alias="schema")
    name: str = Field(min_length=1)
    file: str = Field(default="", description="name of the network's file beside the card")
    sha256: str = Field(default="", description="of that file; empty: not checked")
    license: str = ""
    classes: tuple[str, ...] = Field(min_length=1, description="words, in the order of the network's outputs")
    prompts: dict[str, str] = Field(
        default_factory=dict, description="word -> kind it counts as; empty: words that are kinds"
    )
    texts: dict[str, str] = Field(default_factory=dict, description="word -> what a person would call it")
    stride: int = Field(default=32, ge=1, le=256, description="px: the sides of the input are multiples of it")
    reach: float | None = Field(
        default=None,
        gt=0,
        description="m, planar depth beyond which it knows nothing: rows and columns of a picture that hold nothing "
        "nearer are not looked at; absent: the whole picture is",
    )
    nms_iou: float = Field(default=0.5, gt=0, lt=1, description="overlap from which two boxes of a class are one")
    agnostic: bool = Field(default=False, description="whether boxes of different classes suppress each other")
    thresholds: dict[str, float] = Field(default_factory=dict, description="word -> least raw score")
    calibration: dict[str, ReliabilityCurve] = Field(default_factory=dict, description="by word")
    second_stage: SecondStageCard | None = None
    pictures: PictureStageCard | None = None

    @model_validator(mode="after")
    def _known_words(self) -> ModelCard:
        if len(set(self.classes)) < len(self.classes):
            raise ValueError("a class stands twice")
        named = [(where, getattr(self, where)) for where in ("prompts", "texts", "thresholds", "calibration")]
        limits = [self.thresholds]
        if self.second_stage is not None:
            named += [
                (f"second_stage, {where}", getattr(self.second_stage, where)) for where in ("thresholds", "calibration")
            ]
            limits.append(self.second_stage.thresholds)
        for where, words in named:
            unknown = sorted(set(words) - set(self.classes))
            if unknown:
                raise ValueError(f"{where}: '{unknown[0]}' is none of the classes")
        if self.pictures is not None and self.pictures.word not in self.classes:
            raise ValueError(f"pictures: '{self.pictures.word}' is none of the classes")
        check_kinds(self.prompts)
        if any(not 0.0 < value < 1.0 for table in limits for value in table.values()):
            raise ValueError("thresholds lie between 0 and 1")
        return self

    @property
    def kinds(self) -> dict[str, str]:
        """Word -> kind for every class that counts as one."""
        return dict(self.prompts) or kinds_of(self.classes)

    def threshold(self, word: str) -> float:
        """Least raw score of a class."""
        return self.thresholds.get(word, THRESHOLD)


def kinds_of(words: tuple[str, ...]) -> dict[str, str]:
    """Words that are kinds' names, written with spaces or underscores -> that kind."""
    named = {word: "_".join(word.lower().split()) for word in words}
    return {word: kind for word, kind in named.items() if kind in KINDS}


def check_kinds(prompts: Mapping[str, str]) -> None:
    """Raises ValueError when words are to count as a kind that does not exist."""
    for word, kind in prompts.items():
        if kind not in KINDS:
            known = f"known kinds are {', '.join(KINDS)}"
            raise ValueError(f"'{word}' is to count as '{kind}': {suggest(kind, KINDS, known)}")


def misspelt_kinds(card: ModelCard) -> dict[str, str]:
    """Returns the classes that count as no kind but are written almost like one -> that kind."""
    meant = {word: nearest("_".join(word.split()), KINDS, MISSPELT) for word in card.classes if word not in card.kinds}
    return {word: kind for word, kind in meant.items() if kind is not None}


def load_card(path: Path) -> ModelCard:
    """A card from JSON, or one made from a plain list of classes (.txt, one a line). Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows write a mark before the first word
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the classes in {path}: {error}", "name a model card or a list of words"
        ) from None
    if path.suffix == ".txt":
        data: Any = {
            "schema": SCHEMA,
            "name": path.stem,
            "classes": [w for line in text.splitlines() if (w := line.strip())],
        }
    else:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{path} is no model card: {error}", "a card is JSON; a list of words ends in .txt"
            ) from None
    return validated(ModelCard, data, f"model card {path}", "all", "mend the card")


def card_of_names(name: str, names: str) -> ModelCard | None:
    """Card from the table of class names that ultralytics writes into its exports; None: there is no such table."""
    try:
        table = ast.literal_eval(names)
        classes = tuple(str(table[index]) for index in range(len(table)))
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return None
    return (
        ModelCard(schema=SCHEMA, name=name, classes=classes) if classes and len(set(classes)) == len(classes) else None
    )


def check_digest(path: Path, wanted: str) -> None:
    """Raises UsageError where a file is not the one whose SHA-256 a card states; an empty one is not checked."""
    if wanted and digest(path) != wanted:
        raise UsageError(f"{path} is not the file its model card describes", "take both from one place")


@lru_cache(maxsize=16)
def _digest(path: str, size: int, modified: int) -> str:
    del size, modified  # a changed file is read again
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file. Raises UsageError."""
    try:
        about = path.stat()
        return _digest(str(path.resolve()), about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a file") from None


def model_folders() -> tuple[Path, ...]:
    """Returns the folders searched for models: ESAR_MODELS (folders, separated like PATH), the cache, the package's
    own."""
    named = [Path(part) for part in os.environ.get("ESAR_MODELS", "").split(os.pathsep) if part]
    shipped = []
    with suppress(FileNotFoundError):
        shipped.append(resource(_MODELS))
    return (*named, cache_directory() / _MODELS, *shipped)


def user_folder() -> Path:
    """Returns the folder for a user's own models, created if absent: the first of ESAR_MODELS, else the cache's."""
    folder = model_folders()[0]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def find_model(name: str, cure: str) -> Path:
    """A model's file by path, or by name in the models' folders. Raises UsageError with the cure."""
    if not name:
        raise UsageError("no model is named", cure)
    candidates = [Path(name).expanduser(), *(folder / name for folder in model_folders())]
    for path in candidates:
        if path.is_file():
            return path
    looked = ", ".join(str(folder) for folder in model_folders())
    raise UsageError(f"there is no model {name}, neither as a path nor in {looked}", cure)
