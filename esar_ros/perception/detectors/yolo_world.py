"""YOLO-World (Cheng et al., CVPR 2024) with a user's own weights, through ultralytics.

Its classes are words, given by their text embeddings. Those are stored: in a table made once by `esar models embed`,
and in weights saved after their classes were set. Nothing is ever fetched, and no text encoder is needed in flight.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.resources import cache_directory
from esar_ros.perception.detectors.backend import register
from esar_ros.perception.detectors.engines import Tensor, engine_version
from esar_ros.perception.detectors.model_card import SCHEMA, ModelCard, digest, find_model, model_folders
from esar_ros.perception.detectors.yolo_detector import YoloDetector, YoloSettings
from esar_ros.perception.settings import parse
from esar_ros.perception.text.prompt_table import TABLE, Vector32, load_table
from esar_ros.perception.vision_operators import lend_operators

NAME = "yolo_world"
WEIGHTS = "yolov8s-worldv2.pt"
SOURCE = "https://docs.ultralytics.com/models/yolo-world"
_CURE = f"get {WEIGHTS} from {SOURCE} and put it there, or name a file: --detector yolo_world:FILE"
_INSTALL = install("train")


class YoloWorldSettings(YoloSettings):
    """Parameters of YOLO-World."""

    model: str = Field(default=WEIGHTS, description="the weights: a path, or a name in the models' folders")
    embeddings: str = Field(default="", description=f"table of text embeddings; empty: {TABLE} in the models' folders")
    threshold: float = Field(default=0.1, gt=0, lt=1, description="least raw score of a word without one of its own")
    nms_iou: float = Field(default=0.5, gt=0, lt=1, description="overlap from which two boxes of a word are one")


def confine_ultralytics() -> None:
    """Keep it, before it is first imported, from installing, fetching and writing into a home."""
    os.environ["YOLO_OFFLINE"] = "true"
    os.environ["YOLO_AUTOINSTALL"] = "false"
    if "YOLO_CONFIG_DIR" not in os.environ:
        folder = cache_directory() / "ultralytics"
        folder.mkdir(exist_ok=True)
        os.environ["YOLO_CONFIG_DIR"] = str(folder)


def import_ultralytics() -> Any:
    """The module, confined. Raises UsageError."""
    confine_ultralytics()
    try:
        lend_operators()
        import ultralytics
    except ImportError:
        raise UsageError(f"detector {NAME} needs ultralytics, torch and torchvision", _INSTALL) from None
    except RuntimeError as error:  # packages that do not match
        raise UsageError(f"ultralytics cannot be imported: {first_line(error)}", "install those that match") from None
    return ultralytics


def load_world(path: Path) -> Any:
    """Ultralytics' YOLO-World of a file of weights, ready to infer. Raises UsageError."""
    ultralytics = import_ultralytics()
    try:
        world = ultralytics.YOLOWorld(str(path))
    except Exception as error:  # unpickling raises whatever it meets
        raise UsageError(f"{path} cannot be loaded as weights: {first_line(error)}", "get it again") from None
    if type(world.model).__name__ != "WorldModel":
        raise UsageError(f"{path} holds a {type(world.model).__name__}, not YOLO-World", _CURE)
    world.model.eval()
    return world


def set_embeddings(world: Any, words: tuple[str, ...], table: Mapping[str, Vector32]) -> None:
    """Make a YOLO-World look for these words of a table."""
    import torch

    world.model.txt_feats = torch.from_numpy(np.stack([table[word] for word in words]))[None]
    world.model.model[-1].nc = len(words)
    world.model.names = dict(enumerate(words))


def own_words(world: Any) -> dict[str, Vector32]:
    """Words whose embeddings are saved in the weights, if their number fits the classes'."""
    names, features = world.model.names, world.model.txt_feats
    words = [str(names[index]) for index in range(len(names))]
    if features.shape[:2] != (1, len(words)):
        return {}
    return dict(zip(words, features[0].detach().float().numpy(), strict=True))


class YoloWorld(YoloDetector):
    """An open-vocabulary detector whose words can change in flight."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Loads the weights and looks at one grey image. Raises UsageError."""
        settings, path = _chosen(parameters)
        self._world = load_world(path)
        import torch

        torch.set_num_threads(settings.threads)
        self._world.model.fuse(verbose=False)
        self._world_settings = settings
        self._table = own_words(self._world)
        stored = _table_of(settings)
        if stored is not None:
            self._table |= load_table(stored)
        width = self._world.model.txt_feats.shape[-1]
        for word, vector in self._table.items():
            if len(vector) != width:
                raise UsageError(f"'{word}' is embedded in {len(vector)} numbers, {path} wants {width}", _EMBED)
        prompts = settings.prompts or {word: kind for word, kind in _KIND_WORDS.items() if word in self._table}
        if not prompts:
            raise UsageError(f"nothing that {path} knows the embedding of counts as a kind", _EMBED)
        super().__init__(NAME, self._card(prompts), settings.model_copy(update={"prompts": dict(prompts)}))
        self._infer(np.full((1, 3, 64, 64), 0.5, dtype=np.float32))

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Look for these words. Raises UsageError when one has no stored embedding, and then goes on as before."""
        self._check(prompts)
        unknown = [word for word in prompts if word not in self._table]
        if unknown:
            raise UsageError(f"detector {NAME} has no stored embedding of '{unknown[0]}'", _EMBED)
        self._take(prompts, self._card(prompts))
        set_embeddings(self._world, self.card.classes, self._table)

    def _card(self, prompts: Mapping[str, str]) -> ModelCard:
        settings, words = self._world_settings, tuple(prompts)
        thresholds = dict.fromkeys(words, settings.threshold)
        return ModelCard(schema=SCHEMA, name=NAME, classes=words, thresholds=thresholds, nms_iou=settings.nms_iou)

    def _infer(self, image: Tensor) -> Tensor:
        import torch

        with torch.inference_mode():
            output: Tensor = self._world.model(torch.from_numpy(image))[0].numpy()
        return output

    @property
    def _size(self) -> tuple[int, int] | None:
        return None


_EMBED = "esar models embed --weights CLIP_FILE WORD ..."
_KIND_WORDS = {kind.replace("_", " "): kind for kind in KINDS} | {"bottle": "water_bottle"}


def _chosen(parameters: Mapping[str, Any]) -> tuple[YoloWorldSettings, Path]:
    settings = parse(YoloWorldSettings, parameters, f"detector backend {NAME}")
    return settings, find_model(settings.model, _CURE)


def _table_of(settings: YoloWorldSettings) -> Path | None:
    """The table that is named, or the one in the models' folders if there is one."""
    if settings.embeddings:
        return find_model(settings.embeddings, _EMBED)
    return next((folder / TABLE for folder in model_folders() if (folder / TABLE).is_file()), None)


def _about(parameters: Mapping[str, Any]) -> dict[str, str]:
    settings, path = _chosen(parameters)
    stored = _table_of(settings)
    about = {"model": path.name, "digest": digest(path), "engine": engine_version("ultralytics")}
    return about | ({"embeddings": digest(stored)} if stored is not None else {})


register(NAME, about=_about)(YoloWorld)
