"""CLIP-H by the rules of its authors' code: towards the view that fits the description best, stop when one fits well.

Source: Xiao et al., UAV-ON, 2025, section 6.1 ("CLIP-H"), and what its public code does beyond the text: only the
description is compared. Where the best view asks for a step back against the last sideways one, the next best is taken;
so it is where that asks for a descent while anything in the four depth images is near, and then it may be a step back.
A move out of the box around the start becomes a left turn. It may stop at once. Needs CLIP weights (open_clip).
`clip_h_text` and `clip_h_labels` are the same rule over offline stand-ins that are told the names of objects and
compare them by sentence embeddings or by their words. They are never eligible; their scores are not CLIP's, so they
stop at a threshold of their own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from pydantic import Field

from esar_ros.mission.object_goal import StepAction, StepKind, StepObservation, StepTask, StepViews
from esar_ros.mission.settings_file import StrictModel
from esar_ros.perception.text.prompt_table import Vector32
from esar_ros.perception.text.sentence_encoder import SentenceEncoder
from esar_ros.planning.discrete import TOWARDS
from esar_ros.planning.image_text import ClipScorer, Encoder, ScorerSettings, SentenceSettings
from esar_ros.planning.parameters import check
from esar_ros.planning.steps.search_box import kept_inside

_WORD = re.compile(r"[^\W\d_]{3,}")
_WORDS = 4096  # axes over which words are spread
_BACK = {StepKind.LEFT: StepKind.RIGHT, StepKind.RIGHT: StepKind.LEFT}


class RuleSettings(StrictModel):
    """Thresholds of the rule."""

    stop_at: float = Field(description="score of a view at which it stops")
    too_low: float = Field(default=5.0, ge=0, description="m: with anything at most so near it does not descend")


class ClipHSettings(RuleSettings):
    """Section `clip_h` of the suite's file."""

    stop_at: float = Field(default=0.24, description="score of a view at which it stops")
    scorer: ScorerSettings = Field(default_factory=lambda: ScorerSettings(model="ViT-B-16"))


class ClipHLabelsSettings(RuleSettings):
    """Section `clip_h_labels` of the suite's file."""

    stop_at: float = Field(default=0.5, description="score of a view at which it stops")
    half_sure: int = Field(default=50, gt=0, description="pixels at which an object counts half")


class ClipHTextSettings(ClipHLabelsSettings):
    """Section `clip_h_text` of the suite's file."""

    sentences: SentenceSettings = Field(default_factory=SentenceSettings)


class ViewScorer(Protocol):
    """Scores the views against words; greater fits better."""

    name: str

    def read(self, text: str) -> None:
        """The words that views are scored against from now on."""

    def scores(self, views: StepViews) -> Mapping[str, float]:
        """Score of each camera."""


class ClipViews:
    """CLIP's cosine between the colour image and the words."""

    def __init__(self, scorer: ClipScorer) -> None:
        self._scorer = scorer
        self.name = scorer.name

    def read(self, text: str) -> None:
        """Embed the words."""
        self._scorer.read(text)

    def scores(self, views: StepViews) -> dict[str, float]:
        """Cosines, -1..1."""
        return {camera: self._scorer.fit(image) for camera, image in views.colour.items()}


class LabelledViews:
    """Not CLIP: the object seen whose words fit the words asked for best, by an encoder of texts and by its size."""

    def __init__(self, encoder: Encoder, half_sure: int) -> None:
        self._encoder, self._half_sure = encoder, half_sure
        self._known: dict[str, float] = {}
        self.name = f"labels by {encoder.name}"

    def read(self, text: str) -> None:
        """Embed the words."""
        self._words = self._encoder.encode([text])[0]
        self._known = {}

    def scores(self, views: StepViews) -> dict[str, float]:
        """Cosines times n / (n + half_sure) of n pixels, at least 0; 0 of a view without objects."""
        labels = views.labels
        new = sorted({label for seen in labels.values() for label in seen} - set(self._known))
        if new:
            self._known |= dict(zip(new, (self._encoder.encode(new) @ self._words).tolist(), strict=True))

        def fit(label: str, pixels: int) -> float:
            return max(self._known[label], 0.0) * pixels / (pixels + self._half_sure)

        return {camera: max((fit(*one) for one in seen.items()), default=0.0) for camera, seen in labels.items()}


class WordEncoder:
    """Not a network: a text is the words in it, so that the cosine of two is what they share."""

    name = "words"

    def encode(self, texts: Sequence[str]) -> Vector32:
        """(N, D), a row of unit length each; words of less than three letters do not count."""
        rows = np.zeros((len(texts), _WORDS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold()):
                row[zlib.crc32(word.encode()) % _WORDS] += 1.0
        unit: Vector32 = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


class ClipH:
    """The rule over CLIP's scores."""

    name = "clip_h"
    eligible = True
    settings_type: ClassVar[type[RuleSettings]] = ClipHSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings: Any = check(self.settings_type, parameters, self.name)
        self._scorer = self.scorer()

    def scorer(self) -> ViewScorer:
        """Returns the scorer of views. Raises UsageError without weights."""
        cure = "name the file in config/suites/uav-on.yaml, or fly clip_h_labels, the offline stand-in"
        return ClipViews(ClipScorer(self._settings.scorer, self.name, cure))

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return {"scorer": self._scorer.name}

    def reset(self, task: StepTask, seed: int) -> None:
        """Begin an episode."""
        self._task = task
        self._scorer.read(task.goal.description)
        self._last: StepKind | None = None

    def act(self, observation: StepObservation) -> StepAction:
        """Stop, or step towards the best view that the rules allow."""
        scores = self._scorer.scores(observation.views)
        ranked = sorted(TOWARDS, key=lambda camera: -scores[camera])  # at a tie the first
        if scores[ranked[0]] >= self._settings.stop_at:
            return StepAction(StepKind.STOP)
        kinds = [StepKind(TOWARDS[camera]) for camera in ranked]
        if self._last is not None and kinds[0] is _BACK.get(self._last):
            kinds.pop(0)
        if kinds[0] is StepKind.DOWN and self._is_low(observation):
            kinds.pop(0)
        action = kept_inside(StepAction(kinds[0]), observation.pose, self._task)
        self._last = action.kind
        return action

    def _is_low(self, observation: StepObservation) -> bool:
        nearest = min(float(np.min(depth)) for depth in observation.views.depth.values())
        return bool(np.floor(nearest) <= self._settings.too_low)


class ClipHLabels(ClipH):
    """The rule over what the objects' names share with the description."""

    name = "clip_h_labels"
    eligible = False
    settings_type = ClipHLabelsSettings

    def scorer(self) -> ViewScorer:
        """Needs nothing."""
        return LabelledViews(WordEncoder(), self._settings.half_sure)


class ClipHText(ClipHLabels):
    """The rule over sentence embeddings of the objects' names."""

    name = "clip_h_text"
    settings_type = ClipHTextSettings

    def scorer(self) -> ViewScorer:
        """Raises UsageError without sentence-transformers or weights."""
        return LabelledViews(SentenceEncoder(self._settings.sentences.weights), self._settings.half_sure)
