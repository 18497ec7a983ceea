"""Detectors from an exported YOLO file: the package's own small network and a person's, in either engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, first_line
from esar_ros.perception.detectors.backend import Detection2D, register
from esar_ros.perception.detectors.engines import ONNXRUNTIME, OPENVINO, Engine, Tensor, engine_version, load_engine
from esar_ros.perception.detectors.model_card import (
    ModelCard,
    ReliabilityCurve,
    card_of_names,
    check_digest,
    digest,
    find_model,
    load_card,
    misspelt_kinds,
)
from esar_ros.perception.detectors.picture_stage import PictureStage, has_depth, on_scale
from esar_ros.perception.detectors.second_stage import SecondStage, box_depths
from esar_ros.perception.detectors.yolo_boxes import RawBoxes, check_output, suppress
from esar_ros.perception.detectors.yolo_detector import YoloDetector, YoloSettings
from esar_ros.perception.settings import parse

SHIPPED = "esar-clues.onnx"
_CURE = {
    "esar_yolo": "it comes with the package: install that again",
    "onnx": "name an exported detector: --detector onnx:FILE, or backends.onnx.model in detector.yaml",
    "openvino": "name an exported detector: --detector openvino:FILE, or backends.openvino.model in detector.yaml",
}
_PARTS = {"second_stage": "second stage", "pictures": "network for pictures"}
_SHOWN = 12  # classes of a network in a message
_ENGINES = {"esar_yolo": ONNXRUNTIME, "onnx": ONNXRUNTIME, "openvino": OPENVINO}


class YoloFileSettings(YoloSettings):
    """Parameters of the backends that run an exported network."""

    card: str = Field(default="", description="its model card (.json) or list of classes (.txt); empty: beside it")
    second_stage: bool = Field(
        default=True, description="look again at each of its boxes, where the card names a network for it"
    )
    pictures: bool = Field(
        default=True, description="find people by the card's network for pictures where a picture has no depth at all"
    )


class YoloFile(YoloDetector):
    """An exported network in an engine."""

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Loads the network and looks at one grey image with it. Raises UsageError."""
        settings, path = _chosen(name, parameters)
        self._engine: Engine = load_engine(_ENGINES[name], path, settings.threads)
        card = _card(settings, path, self._engine.class_names)
        check_digest(path, card.sha256)
        unknown = sorted(set(settings.thresholds) - set(card.classes))
        if unknown:
            raise UsageError(f"detector {name}, thresholds: no class '{unknown[0]}'", "name classes of the card")
        side = self._engine.size or (2 * card.stride, 2 * card.stride)
        check_output(_tried(self._engine, side, path).shape, len(card.classes), path)
        if not (settings.prompts or card.kinds):
            meant = [f"'{word}' is perhaps {kind}" for word, kind in misspelt_kinds(card).items()]
            kinds = "; ".join([*meant, f"the kinds are {', '.join(KINDS)}"])
            raise UsageError(
                f"none of the classes of {path} ({_listed(card.classes)}) is a kind that a search looks for",
                f"say in a model card's prompts which counts as what: {kinds}",
            )
        self._second: SecondStage | None = None
        if settings.second_stage and card.second_stage is not None:
            second = _file_beside(path, card.second_stage.file, _PARTS["second_stage"])
            self._second = SecondStage(second, card.second_stage, len(card.classes), settings.threads)
        self._pictures: PictureStage | None = None
        if settings.pictures and card.pictures is not None:
            file = _file_beside(path, card.pictures.file, _PARTS["pictures"])
            self._pictures = PictureStage(file, card.pictures, settings.threads)
        super().__init__(name, card, settings)

    @property
    def _calibration(self) -> Mapping[str, ReliabilityCurve]:
        return (self.card if self._second is None else self._second.card).calibration

    def told_from(self, kind: str) -> float:
        """Returns the least score with which something of a kind is told in a picture without depth."""
        stage = self._pictures
        if stage is None or self._prompts.get(stage.card.word) != kind:
            return super().told_from(kind)
        least = self._settings.thresholds.get(stage.card.word, stage.card.threshold)
        own, told = stage.card.calibration, self._calibration.get(stage.card.word)
        return float(on_scale(np.array([least]), own, told)[0])

    def propose(self, frame: CameraFrame, min_score: float, overlap: float) -> RawBoxes:
        """Boxes that may hold something, one a place: of any class that is looked for, from a raw score on."""
        floor = np.where(np.isfinite(self._min_scores), min_score, np.inf)
        return suppress(self._candidates(frame, floor), overlap, agnostic=True)

    def _detect(self, frame: CameraFrame) -> list[Detection2D]:
        if self._pictures is not None and not has_depth(frame):
            return self._of_picture(self._pictures, frame)
        if self._second is None:
            return super()._detect(frame)
        about = self._second.card
        boxes = self.propose(frame, about.proposal, about.overlap)
        depths = box_depths(boxes, frame)
        placed = np.isfinite(depths)
        judged = self._judged(self._second, boxes[placed], depths[placed], frame)
        trusted = replace(boxes, scores=about.no_depth * boxes.scores)
        blind = trusted[~placed & (trusted.scores >= self._min_scores[boxes.classes])]
        found = self._detections(judged, frame) + self._detections(blind, frame)
        return sorted(found, key=lambda detection: -detection.score)

    def _judged(
        self, second: SecondStage, boxes: RawBoxes, depths: NDArray[np.float64], frame: CameraFrame
    ) -> RawBoxes:
        """Boxes as the second stage places them, with its class and probability: those that reach their threshold, one
        a place and class."""
        shares, corners = second.judge(boxes, depths, frame)
        shares = np.where(np.isfinite(self._min_scores), shares[:, :-1], 0.0)  # of the classes that are looked for
        classes = shares.argmax(axis=1)
        scores = shares[np.arange(len(shares)), classes]
        own = self._settings.thresholds
        limits = np.array([own.get(word, second.card.threshold(word)) for word in self.card.classes])
        judged = replace(boxes, corners=corners, scores=scores, classes=classes)[scores >= limits[classes]]
        return suppress(judged, second.card.merge, agnostic=False)

    def _of_picture(self, stage: PictureStage, frame: CameraFrame) -> list[Detection2D]:
        """Detections in a picture that has no depth by nature: people by its network, the rest by the first alone.

        Scores are told on the scale of the chain's own curves.
        """
        place = self.card.classes.index(stage.card.word)
        others = self._min_scores.copy()
        others[place] = np.inf
        found = suppress(self._candidates(frame, others), self.card.nms_iou, self.card.agnostic)
        parts = [self._told(found, self.card.calibration)]
        if np.isfinite(self._min_scores[place]):
            own = self._settings.thresholds.get(stage.card.word, stage.card.threshold)
            people = stage.find(frame.rgb, own, self._settings.scale)
            curve = {} if stage.card.calibration is None else {stage.card.word: stage.card.calibration}
            table = np.zeros((len(people.scores), len(self.card.classes)))
            table[:, place] = people.scores
            parts.append(self._told(replace(people, classes=people.classes + place, table=table), curve))
        told = RawBoxes.joined(parts)
        return self._detections(told[np.argsort(-told.scores, kind="stable")], frame)

    def _told(self, boxes: RawBoxes, curves: Mapping[str, ReliabilityCurve]) -> RawBoxes:
        """Boxes with the scores that the chain's curves give the probability of theirs."""
        scores = boxes.scores.copy()
        for n, word in enumerate(self.card.classes):
            mine = boxes.classes == n
            scores[mine] = on_scale(scores[mine], curves.get(word), self._calibration.get(word))
        return replace(boxes, scores=scores)

    @property
    def _size(self) -> tuple[int, int] | None:
        return self._engine.size

    def _infer(self, image: Tensor) -> Tensor:
        return self._engine.run(image)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")


def _tried(engine: Engine, side: tuple[int, int], path: Path) -> Tensor:
    """Output for a grey image. Raises UsageError."""
    try:
        output = engine.run(np.full((1, 3, *side), 0.5, dtype=np.float32))
    except UsageError:
        raise
    except Exception as error:  # engines raise types of their own
        raise UsageError(f"{path} fails on a picture: {first_line(error)}", "export it again") from None
    if not np.isfinite(output).all():
        raise UsageError(f"{path} gives numbers that are not finite", "its weights are damaged: export it again")
    return output


def _chosen(name: str, parameters: Mapping[str, Any]) -> tuple[YoloFileSettings, Path]:
    settings = parse(YoloFileSettings, parameters, f"detector backend {name}")
    return settings, find_model(settings.model or (SHIPPED if name == "esar_yolo" else ""), _CURE[name])


def _card(settings: YoloFileSettings, path: Path, class_names: str) -> ModelCard:
    """The card that is named, lies beside the network, or can be made of the names in it. Raises UsageError."""
    file = _card_file(settings, path)
    if file is not None:
        return load_card(file)
    card = card_of_names(path.stem, class_names)
    if card is None:
        raise UsageError(
            f"nothing says which classes {path} has: it names none itself",
            f"put a model card {path.stem}.json or a list {path.stem}.txt beside it, a class a line; "
            f"a search looks for {', '.join(KINDS)}",
        )
    return card


def _card_file(settings: YoloFileSettings, path: Path) -> Path | None:
    """The card or list that is named, or lies beside the network; None: there is none. Raises UsageError."""
    if settings.card:
        return find_model(settings.card, "name the model card or the list of classes")
    return next((file for end in (".json", ".txt") if (file := path.with_suffix(end)).is_file()), None)


def _file_beside(path: Path, name: str, what: str) -> Path:
    """A file that the card names, beside the network. Raises UsageError."""
    file = path.with_name(name)
    if not file.is_file():
        raise UsageError(f"there is no {what} {file}, which the model card names", "put it beside the network")
    return file


def _about(backend: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The file and the engine, with the digests of it, its card and the card's other networks.

    A digest that the card does not state itself is also told as unchecked: the card's own digest does not imply it.
    """
    settings, path = _chosen(backend, parameters)
    about = {"model": path.name, "digest": digest(path), "engine": engine_version(_ENGINES[backend])}
    card = _card_file(settings, path)
    if card is None:
        return about
    about["card"], known = digest(card), load_card(card)
    parts = (
        ("second_stage", settings.second_stage, known.second_stage),
        ("pictures", settings.pictures, known.pictures),
    )
    for name, used, part in parts:
        if used and part is not None:
            about[name] = digest(_file_beside(path, part.file, _PARTS[name]))
            if not part.sha256:
                about[f"{name}_unchecked"] = about[name]
    return about


def _register(name: str) -> None:
    def create(parameters: Mapping[str, Any]) -> YoloFile:
        return YoloFile(name, parameters)

    about: Callable[[Mapping[str, Any]], dict[str, str]] = partial(_about, name)
    register(name, about=about)(create)


for _name in _ENGINES:
    _register(_name)
