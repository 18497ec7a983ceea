"""Weights of ultralytics into a file that flies without torch: ONNX, with its card beside it."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.perception.detectors.model_card import SCHEMA, digest, kinds_of
from esar_ros.perception.detectors.yolo_world import import_ultralytics, own_words, set_embeddings
from esar_ros.perception.text.prompt_table import Vector32

OPSET = 17
_LICENSE = "AGPL-3.0 (ultralytics), or as the weights say"


def export_weights(path: Path, out: Path, words: tuple[str, ...], table: dict[str, Vector32]) -> Path:
    """Export a detector, of YOLO-World with the words' embeddings in it. Returns the card. Raises UsageError.

    words: empty: the classes that the weights have.
    """
    if not path.is_file():
        raise UsageError(f"there are no weights {path}", "name a .pt file")
    ultralytics = import_ultralytics()
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise UsageError("the export needs onnx", install("train")) from None
    model = _load(ultralytics, path)
    if type(model.model).__name__ == "WorldModel":
        known = own_words(model) | table
        missing = [word for word in words if word not in known]
        if missing:
            raise UsageError(
                f"there is no embedding of '{missing[0]}'", "esar models embed --weights CLIP_FILE WORD ..."
            )
        if words:
            set_embeddings(model, words, known)
    elif words:
        raise UsageError(f"{path} is no YOLO-World: its classes are fixed", "leave out --words")
    names = model.model.names
    classes = [str(names[index]) for index in range(len(names))]
    with tempfile.TemporaryDirectory() as folder:
        # ultralytics writes beside the weights, under their name.
        copy = Path(folder) / f"{out.stem}.pt"
        model.ckpt_path, model.model.pt_path = str(copy), str(copy)
        try:
            made = model.export(format="onnx", dynamic=True, simplify=False, opset=OPSET, device="cpu", verbose=False)
        except Exception as error:  # the exporter raises whatever it meets
            raise UsageError(
                f"{path} cannot be exported: {first_line(error)}", "check it with esar models check"
            ) from None
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, out)
    card: dict[str, Any] = {
        "schema": SCHEMA,
        "name": out.stem,
        "file": out.name,
        "sha256": digest(out),
        "license": _LICENSE,
        "classes": classes,
        "prompts": kinds_of(tuple(classes)),
        "thresholds": dict.fromkeys(classes, 0.1) if words else {},
        "nms_iou": 0.5,
    }
    beside = out.with_suffix(".json")
    beside.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return beside


def _load(ultralytics: Any, path: Path) -> Any:
    """The weights as what they are: YOLO reads a YOLO-World file as one. Raises UsageError."""
    try:
        model = ultralytics.YOLO(str(path))
    except Exception as error:  # unpickling raises whatever it meets
        raise UsageError(f"{path} cannot be loaded as weights: {first_line(error)}", "get it again") from None
    return model
