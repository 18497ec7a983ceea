"""Image-text relevance: CLIP's cosine, or offline substitutes over detected labels under names of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS, PERSON, kinds_named
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.perception.text.clip_encoder import load_clip
from esar_ros.perception.text.prompt_table import Vector32
from esar_ros.perception.text.sentence_encoder import SentenceEncoder
from esar_ros.planning.belief.brief.tokens import SENTENCE
from esar_ros.planning.sectors import seen_in


class ScorerSettings(StrictModel):
    """The CLIP-like network that scores images, and its weights."""

    model: str = Field(default="ViT-B-32", description="open_clip's name of the architecture")
    weights: str = Field(default="", description="file of its weights")


class SentenceSettings(StrictModel):
    """The network that embeds sentences."""

    weights: str = Field(
        default="", description="folder of a sentence-transformers model; empty: all-MiniLM-L6-v2 of the extra text"
    )


class ImageTextScorer(Protocol):
    """Scores a camera's image against words; greater fits better."""

    name: str

    def read(self, text: str) -> None:
        """The words that images are scored against from now on; before the mission, since it may take a second."""

    def score(self, view: CameraFrame, observation: Observation) -> float:
        """The image's fit."""


class ClipScorer:
    """Cosine between the image's and the words' embeddings (Radford et al., 2021), through open_clip.

    CLIP reads 77 tokens and drops the rest. Longer words are scored sentence by sentence, and an image is worth its
    best sentence: what is looked for stands in one of them, and a mean would hide it behind the others.
    """

    def __init__(self, settings: ScorerSettings, method: str, cure: str = "") -> None:
        """cure: what to do without weights, where it is not what a method of missions needs.

        Raises UsageError without open_clip or weights that fit; nothing is ever fetched.
        """
        if not settings.weights or not Path(settings.weights).is_file():
            raise UsageError(
                f"planner {method} needs CLIP weights and scorer.weights '{settings.weights}' is no file",
                cure or f"name the file in config/planners.yaml, or fly {method}_labels, the offline stand-in",
            )
        self._clip = load_clip(settings.model, settings.weights)
        self.name = f"open_clip/{settings.model}/{Path(settings.weights).name}"

    def read(self, text: str) -> None:
        """Embed it, or its sentences."""
        pieces = self._pieces(text)
        with self._clip.torch.no_grad():
            self._words = self._unit(self._clip.network.encode_text(self._clip.tokenise(pieces)))

    def score(self, view: CameraFrame, observation: Observation) -> float:
        """Cosine, -1..1."""
        return self.fit(view.rgb)

    def fit(self, image: NDArray[np.uint8]) -> float:
        """Cosine, -1..1, of an image (H, W, 3) RGB."""
        from PIL import Image

        with self._clip.torch.no_grad():
            prepared = self._clip.prepare(Image.fromarray(np.ascontiguousarray(image))).unsqueeze(0)
            return float((self._unit(self._clip.network.encode_image(prepared)) * self._words).sum(-1).max())

    def _pieces(self, text: str) -> list[str]:
        """Returns the text if the network reads all of it, else its sentences, those too long in halves."""
        if self._fits(text):
            return [text]
        return [piece for sentence in SENTENCE.split(text.strip()) for piece in self._halves(sentence)]

    def _halves(self, sentence: str) -> list[str]:
        words = sentence.split()
        if len(words) < 2 or self._fits(sentence):
            return [sentence]
        middle = len(words) // 2
        return [*self._halves(" ".join(words[:middle])), *self._halves(" ".join(words[middle:]))]

    def _fits(self, text: str) -> bool:
        """Returns whether the text's tokens leave room at the end, so that none was cut off."""
        return int(self._clip.tokenise([text])[0][-1]) == 0

    @staticmethod
    def _unit(vector: Any) -> Any:
        return vector / vector.norm(dim=-1, keepdim=True)


class Scoring(ABC):
    """Mixin of a method that scores images."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)  # type: ignore[call-arg]  # the method's own, next in line
        self._scorer = self.scorer()

    @abstractmethod
    def scorer(self) -> ImageTextScorer:
        """Returns the scorer of images. Raises UsageError when it cannot be loaded."""

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        super().reset(brief, seed)  # type: ignore[misc]  # as above
        self._scorer.read(brief.prompt)

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return {"scorer": self._scorer.name}


class LabelScorer:
    """Not a network: the surest detected object in the image, weighted by what the words ask for.

    A person counts 1, a kind that the words name 0.8, any other 0.5. It stands in where there are no CLIP weights and
    is never called VLFM or CLIP-H.
    """

    name = "labels"
    _words = ""

    def read(self, text: str) -> None:
        """Words are compared as they are."""
        self._words = text.casefold()

    def score(self, view: CameraFrame, observation: Observation) -> float:
        """0..1; 0 with nothing detected there."""
        seen = seen_in(view, observation.clues)
        return max((clue.probability * relevance(clue.kind, self._words) for clue in seen), default=0.0)


def relevance(kind: str, words: str) -> float:
    """Returns the relevance (0..1) of a kind of object for the words of a brief (casefolded)."""
    if kind == PERSON:
        return 1.0
    return 0.8 if kind in kinds_named(words) else 0.5


class Encoder(Protocol):
    """Encoder of texts into unit vectors: perception.text.sentence_encoder.SentenceEncoder."""

    name: str

    def encode(self, texts: Sequence[str]) -> Vector32:
        """(N, D), a row of unit length each."""


class SentenceScorer:
    """Not CLIP: the detected object in the image whose word fits the words asked for best, by sentence embeddings.

    A person counts 1: people are what is looked for. Another kind's fit is the maximum cosine of its word with a
    sentence of the words, at least 0; an object's is that times its probability. Images are read by the detector
    alone. It is never called VLFM or CLIP-H.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._kinds = dict(zip(KINDS, encoder.encode([phrase(kind) for kind in KINDS]), strict=True))
        self.name = f"labels by {encoder.name}"

    def read(self, text: str) -> None:
        """Embed its sentences."""
        self._sentences = self._encoder.encode(SENTENCE.split(text.strip()))

    def score(self, view: CameraFrame, observation: Observation) -> float:
        """0..1; 0 with nothing detected there."""
        return max((clue.probability * self.fit(clue.kind) for clue in seen_in(view, observation.clues)), default=0.0)

    def fit(self, kind: str) -> float:
        """0..1: how well a kind of object fits the words."""
        return 1.0 if kind == PERSON else max(0.0, float((self._sentences @ self._kinds[kind]).max()))


def phrase(kind: str) -> str:
    """A kind of object in words."""
    return f"a {kind.replace('_', ' ')}"


class LabelScoring(Scoring):
    """Mixin of a method's stand-in over detected labels."""

    def scorer(self) -> ImageTextScorer:
        """Needs nothing."""
        return LabelScorer()


class SentenceScoring(Scoring):
    """Mixin of a method's stand-in by sentence embeddings, whose settings have `sentences`."""

    name: str
    without: str  # the method that needs no network
    _settings: Any

    def scorer(self) -> ImageTextScorer:
        """Raises UsageError without sentence-transformers or weights."""
        try:
            return SentenceScorer(SentenceEncoder(self._settings.sentences.weights))
        except UsageError as error:
            message = f"planner {self.name}: {error}, or fly {self.without}, which needs none"
            raise UsageError(message) from None
