"""Base class of every YOLO detector: prompts, thresholds, suppression and reliability around the network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.detectors.engines import Tensor
from esar_ros.perception.detectors.model_card import ModelCard, ReliabilityCurve, check_kinds
from esar_ros.perception.detectors.region import region_within
from esar_ros.perception.detectors.yolo_boxes import RawBoxes, decode, letterbox, pixel_box, suppress


class YoloSettings(StrictModel):
    """Parameters of a YOLO."""

    model: str = Field(default="", description="the network's file: a path, or a name in the models' folders")
    prompts: dict[str, str] = Field(default_factory=dict, description="class -> kind; empty: as the card says")
    thresholds: dict[str, float] = Field(
        default_factory=dict, description="class -> least score of each stage, before the card's"
    )
    threads: int = Field(default=1, ge=1, le=64, description="of the engine; results do not depend on it in one engine")
    scale: float = Field(
        default=1.0,
        gt=0,
        le=4,
        description="input px per picture px, where the network takes any size; of the network for pictures without "
        "depth the share of its card's enlargement",
    )


class YoloDetector(ABC):
    """Base class of every YOLO detector: prompts, thresholds, suppression and reliability around the network."""

    eligible = True

    def __init__(self, name: str, card: ModelCard, settings: YoloSettings) -> None:
        """Raises UsageError when the settings name a class or a kind that does not exist."""
        self.name = name
        self.card = card
        self._settings = settings
        self._prompts: dict[str, str] = {}
        self.set_prompts(settings.prompts or card.kinds)

    @property
    def prompts(self) -> Mapping[str, str]:
        """Words it looks for -> the kind each counts as."""
        return dict(self._prompts)

    @property
    def reliability(self) -> Mapping[str, Sequence[tuple[float, float]]]:
        """Reliability curves by kind: raw score -> probability (fusion.evidence.Calibrated).

        Where several words count as one kind, the first word's curve is taken.
        """
        curves: dict[str, Sequence[tuple[float, float]]] = {}
        for word in self.card.classes:
            kind, curve = self._prompts.get(word), self._calibration.get(word)
            if kind is not None and curve is not None:
                curves.setdefault(kind, curve.points)
        return curves

    @property
    def _calibration(self) -> Mapping[str, ReliabilityCurve]:
        """Curve of the scores that detections carry, by word."""
        return self.card.calibration

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Look for these of the network's classes. Raises UsageError."""
        self._check(prompts)
        unknown = sorted(set(prompts) - set(self.card.classes))
        if unknown:
            known = ", ".join(self.card.classes[:20])
            raise UsageError(f"detector {self.name} has no class '{unknown[0]}'", f"this network's are {known}")
        self._take(prompts, self.card)

    def _check(self, prompts: Mapping[str, str]) -> None:
        """Raises UsageError unless these are words that count as kinds."""
        if not prompts:
            raise UsageError(f"detector {self.name} has nothing to look for", "give words that count as kinds")
        try:
            check_kinds(prompts)
        except ValueError as error:
            raise UsageError(f"detector {self.name}: {error}") from None

    def _take(self, prompts: Mapping[str, str], card: ModelCard) -> None:
        """Make these, checked, the prompts of a card that has a class for each."""
        self._prompts, self.card = dict(prompts), card
        own = self._settings.thresholds
        min_scores = [own.get(word, card.threshold(word)) if word in prompts else np.inf for word in card.classes]
        self._min_scores = np.array(min_scores)

    @abstractmethod
    def _infer(self, image: Tensor) -> Tensor:
        """The network's output for an image (1, 3, H, W)."""

    @property
    @abstractmethod
    def _size(self) -> tuple[int, int] | None:
        """(height, width) that the network takes; None: any."""

    def told_from(self, kind: str) -> float:
        """Returns the least score with which something of a kind is told in a picture without depth."""
        return min(
            (float(s) for word, s in zip(self.card.classes, self._min_scores, strict=True)
             if self._prompts.get(word) == kind),
            default=np.inf,
        )  # fmt: skip

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """Detections of each frame, surest first; none in an empty image."""
        return [self._detect(frame) if frame.rgb.size else [] for frame in frames]

    def _detect(self, frame: CameraFrame) -> list[Detection2D]:
        found = suppress(self._candidates(frame, self._min_scores), self.card.nms_iou, self.card.agnostic)
        return self._detections(found, frame)

    def _candidates(self, frame: CameraFrame, min_scores: NDArray[np.float64]) -> RawBoxes:
        """The network's boxes in an image, not merged yet, from a raw score (classes,) on."""
        rows, columns = self._region(frame)
        rgb = frame.rgb[rows, columns]
        if not rgb.size:
            return RawBoxes.none(len(min_scores))
        image = letterbox(rgb, self._size, self._settings.scale, self.card.stride)
        return decode(self._infer(image.tensor), image, min_scores).moved(columns.start, rows.start)

    def _region(self, frame: CameraFrame) -> tuple[slice, slice]:
        """Rows and columns of an image that are looked at: all of them where the card states no reach."""
        if self.card.reach is None or self._size is not None:
            return slice(0, frame.rgb.shape[0]), slice(0, frame.rgb.shape[1])
        return region_within(frame.depth, self.card.reach, self.card.stride)

    def _detections(self, boxes: RawBoxes, frame: CameraFrame) -> list[Detection2D]:
        """As detections of their best class."""
        found = []
        for corners, score, index in zip(boxes.corners, boxes.scores, boxes.classes, strict=True):
            word = self.card.classes[index]
            box = pixel_box(corners, frame.rgb.shape[:2])
            if box is not None:
                text = self.card.texts.get(word, word.replace("_", " "))
                found.append(Detection2D(self._prompts[word], float(score), box, text))
        return found
