"""`esar models`: the clue detectors' networks: list them, check a file, export weights, make text embeddings."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from esar_ros.app.arguments import Parser
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.detectors.chosen import READERS, parted
from esar_ros.perception.detectors.engines import ONNXRUNTIME, OPENVINO, engine_version
from esar_ros.perception.detectors.model_card import find_model, misspelt_kinds, user_folder
from esar_ros.perception.text.prompt_table import TABLE, Vector32, load_table, save_table

SIZES = ((640, 480), (320, 240))  # px, of the two presets' images
REPEATS = 3
_DIGESTS = ("digest", "card", "second_stage", "pictures", "embeddings")  # SHA-256 among what is told of a detector
_SHOWN = 12  # of their digits


def main(argv: list[str]) -> int:
    """Run the command."""
    arguments = _parser().parse_args(argv)
    verbs = {"list": _list, "check": _check, "export": _export, "embed": _embed}
    return verbs[arguments.verb](arguments)


def _parser() -> Parser:
    parser = Parser(prog="esar models", description="The networks of the clue detectors.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="every detector: whether it can fly, and else what is missing and where to get it")
    check = verbs.add_parser("check", help="load a network and look at an image with it")
    check.add_argument("file", help="a .onnx, .xml or .pt file, or the name of a detector")
    check.add_argument(
        "--card", default="", metavar="FILE", help="model card (.json) or classes (.txt); default beside"
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="also write what was found to a file")
    export = verbs.add_parser("export", help="weights (.pt) to a file that flies without torch (extra train)")
    export.add_argument("file", type=Path)
    export.add_argument("--words", default="", metavar="A,B", help="of YOLO-World: what to look for, from --table")
    export.add_argument("--table", default="", metavar="FILE", help=f"of text embeddings (default: {TABLE})")
    export.add_argument("--out", type=Path, help="the .onnx file; default in the models' folder")
    embed = verbs.add_parser("embed", help="text embeddings of words, made once with a CLIP of your own (extra clip)")
    embed.add_argument("words", nargs="*", metavar="WORD", help="default: every kind's own word")
    embed.add_argument(
        "--weights", required=True, metavar="FILE", help="CLIP's, of the size the detector was trained with"
    )
    embed.add_argument("--model", default="ViT-B-32-quickgelu", help="open_clip's name of it (default %(default)s)")
    embed.add_argument("--out", type=Path, help=f"table to write or add to; default {TABLE} in the models' folder")
    return parser


@dataclass(frozen=True)
class _State:
    """State of a detector: its description, and what is missing for its use."""

    about: str
    missing: str = ""


def _state(name: str) -> _State:
    try:
        about = backend.about(*parted(name))
        entries = [f"{key} {value[:_SHOWN] if key in _DIGESTS else value}" for key, value in about.items()]
        return _State(", ".join(entries[1:]) or "needs no file")  # the first is its name
    except UsageError as error:
        return _State("", str(error))


_ABOUT = {
    "esar_yolo": "small YOLO trained on this package's own renders",
    "onnx": "an exported YOLO of your own, in ONNX Runtime",
    "openvino": "the same in OpenVINO",
    "segmentation_oracle": "reads the simulator's object ids: uses ground truth, never eligible",
    "yolo_world": "YOLO-World with your weights, open vocabulary",
}


def _list(_: argparse.Namespace) -> int:
    console = Console(highlight=False, soft_wrap=True)
    table = Table("detector", "can fly", "what it is", box=None)
    states = {name: _state(name) for name in backend.names()}
    for name, state in states.items():
        table.add_row(name, "no" if state.missing else "yes", _ABOUT.get(name, ""))
    console.print(table)
    console.print()
    for name, state in states.items():
        console.print(f"{name}: {state.missing or state.about}", markup=False)
    for package in (ONNXRUNTIME, OPENVINO, "ultralytics", "open_clip_torch"):
        try:
            console.print(f"{engine_version(package)} is installed", markup=False)
        except UsageError:
            console.print(f"{package} is not installed", markup=False)
    console.print(
        f"Your own models: {user_folder()} (the first folder of ESAR_MODELS, else in the cache)", markup=False
    )
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """Load, look, and say what there is. Raises UsageError with what is wrong."""
    name, parameters = _backend_of(arguments.file)
    if arguments.card:
        if name in ("segmentation_oracle", "yolo_world"):
            raise UsageError(f"detector {name} reads no card", "leave out --card")
        parameters["card"] = arguments.card
    began = time.perf_counter()
    detector = backend.create(name, parameters)
    loading = time.perf_counter() - began
    found: dict[str, Any] = {
        **backend.about(name, parameters),
        "eligible": detector.eligible,
        "prompts": dict(detector.prompts),
        "loading_s": round(loading, 2),
        "cpu_ms": {f"{width}x{height}": _cost(detector, width, height) for width, height in SIZES},
    }
    if arguments.json:
        try:
            arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {arguments.json}: {error.strerror}", "choose another --json") from None
    for key, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{word}: {what}" for word, what in value.items())
        print(f"{key:<12} {value}")
    lacking = [kind for kind in KINDS if kind not in detector.prompts.values()]
    if lacking:
        print(f"It never names: {', '.join(lacking)}")
    card = getattr(detector, "card", None)
    for word, kind in misspelt_kinds(card).items() if card is not None else ():
        print(f"! class '{word}' counts as no kind: did you mean {kind}? Mend it in the card or the list of classes")
    return 0


def _backend_of(file: str) -> tuple[str, dict[str, Any]]:
    """Detector and parameters for a file, or for a detector's own name. Raises UsageError."""
    if file in backend.names():
        name, parameters = parted(file)
        return name, dict(parameters)
    path = find_model(file, "name a file, or one of " + ", ".join(backend.names()))
    name = READERS.get(path.suffix, "")
    if not name:
        raise UsageError(f"{path} is no network that is known here", "a network's file ends in .onnx, .xml or .pt")
    return name, {**parted(name)[1], "model": str(path)}


def _cost(detector: DetectorBackend, width: int, height: int) -> float:
    """Least CPU time of four images, ms."""
    rng = np.random.default_rng(0)
    model = CameraModel.from_horizontal_fov(width, height, np.pi / 2)
    pose = Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    rgb = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    depth, ids = np.full((height, width), 20.0, np.float32), np.zeros((height, width), np.uint8)
    frames = [CameraFrame(camera, model, pose, depth, rgb, 0.0, ids) for camera in CAMERAS]
    minimum = np.inf
    for _ in range(REPEATS):
        began = time.process_time()
        detector.detect(frames)
        minimum = min(minimum, time.process_time() - began)
    return round(1e3 * minimum, 1)


def _export(arguments: argparse.Namespace) -> int:
    from esar_ros.perception.detectors.model_export import export_weights

    words = tuple(word.strip() for word in arguments.words.split(",") if word.strip())
    out = arguments.out or user_folder() / f"{arguments.file.stem}.onnx"
    if out.suffix != ".onnx":
        raise UsageError(f"--out {out}", "a file that ends in .onnx")
    table: dict[str, Vector32] = {}
    if words:
        named = arguments.table or str(user_folder() / TABLE)
        if arguments.table or Path(named).is_file():
            table = load_table(find_model(named, "esar models embed --weights CLIP_FILE WORD ..."))
    card = export_weights(arguments.file, out, words, table)
    print(f"Network: {out}\nCard:    {card} (add measured thresholds and calibration)")
    print(f"Fly it:  esar mission --detector onnx:{out}")
    return 0


def _embed(arguments: argparse.Namespace) -> int:
    from esar_ros.perception.text.clip_encoder import ClipText

    words = tuple(arguments.words) or tuple(kind.replace("_", " ") for kind in KINDS)
    encoder = ClipText(arguments.model, arguments.weights)
    out = arguments.out or user_folder() / TABLE
    table = load_table(out) if out.is_file() else {}
    table |= encoder.encode(words)
    save_table(out, table, encoder.name)
    print(f"{out}: {len(words)} words made, {len(table)} in it")
    return 0
