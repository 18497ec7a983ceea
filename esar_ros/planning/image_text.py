"""How well a picture fits words: CLIP's cosine, or an offline stand-in over detected labels under a name of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from pydantic import Field

from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import CameraView, Observation
from esar_ros.perception.text_encoder import load_clip
from esar_ros.planning.parameters import Settings
from esar_ros.planning.sectors import seen_in


class ScorerSettings(Settings):
    """Which CLIP-like network scores pictures, with whose weights."""

    model: str = Field(default="ViT-B-32", description="open_clip's name of the architecture")
    weights: str = Field(default="", description="file of its weights")


class ImageTextScorer(Protocol):
    """Scores a camera's picture against words; greater fits better."""

    name: str

    def score(self, view: CameraView, observation: Observation, text: str) -> float:
        """The picture's fit."""


class ClipScorer:
    """Cosine between the picture's and the words' embeddings (Radford et al., 2021), through open_clip."""

    def __init__(self, settings: ScorerSettings, method: str) -> None:
        """Raises UsageError without open_clip or weights that fit; nothing is ever fetched."""
        if not settings.weights or not Path(settings.weights).is_file():
            raise UsageError(
                f"planner {method} needs CLIP weights and scorer.weights '{settings.weights}' is no file",
                f"name the file in config/planners.yaml, or fly {method}_labels, the offline stand-in",
            )
        self._clip = load_clip(settings.model, settings.weights)
        self._words: dict[str, Any] = {}
        self.name = f"open_clip/{settings.model}/{Path(settings.weights).name}"

    def score(self, view: CameraView, observation: Observation, text: str) -> float:
        """Cosine, -1..1."""
        from PIL import Image

        network = self._clip.network
        with self._clip.torch.no_grad():
            if text not in self._words:
                self._words[text] = self._unit(network.encode_text(self._clip.tokenise([text])))
            image = self._clip.prepare(Image.fromarray(np.ascontiguousarray(view.image))).unsqueeze(0)
            return float((self._unit(network.encode_image(image)) * self._words[text]).sum())

    @staticmethod
    def _unit(vector: Any) -> Any:
        return vector / vector.norm(dim=-1, keepdim=True)


class Scoring(ABC):
    """Mixin of a method that scores pictures."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)  # type: ignore[call-arg]  # the method's own, next in line
        self._scorer = self.scorer()

    @abstractmethod
    def scorer(self) -> ImageTextScorer:
        """What scores them. Raises UsageError when it cannot."""

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.Detailed."""
        return {"scorer": self._scorer.name}


class LabelScorer:
    """Not a network: the surest detected object in the picture, weighted by what the words ask for.

    A person counts 1, a kind that the words name 0.8, any other 0.5. It stands in where there are no CLIP weights and
    is never called VLFM or CLIP-H.
    """

    name = "labels"

    def score(self, view: CameraView, observation: Observation, text: str) -> float:
        """0..1; 0 with nothing detected there."""
        words = text.casefold()
        return max((clue.score * relevance(clue.kind, words) for clue in seen_in(view, observation.clues)), default=0.0)


def relevance(kind: str, words: str) -> float:
    """How much a kind of object matters for the words of a brief (casefolded)."""
    if kind == PERSON:
        return 1.0
    return 0.8 if kind.replace("_", " ") in words else 0.5
