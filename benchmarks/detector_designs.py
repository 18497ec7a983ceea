"""The effect of the detector's design: networks of other designs, trained alike and briefly, by their AP50.

`python benchmarks/detector_designs.py --data DIR --start best.pt --out DIR [--epochs 3] [--maps ID,ID]
[--designs A B]`. Needs the extra `train` and pictures drawn by `esar train-detector --until data`; a training that was
ended goes on. Every network is the first stage alone, looked at on the validation set's frames, which none has learned
from. Beside the trained ones stands the shipped network on the same frames drawn larger and smaller: what tiles of the
picture, enlarged, would find, and what a picture of half the size loses. Each design is trained once, from one seed:
small differences mean nothing. CPU time is of one thread, for four 640x480 pictures; the trained ones run in single
precision, the shipped one in its 8 bits. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from detector import cpu_times
from page import Table, add_page, markdown, write_page

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.resources import resource
from esar_ros.perception.detectors.backend import create
from esar_ros.training import card as cards
from esar_ros.training.assess import FAR, FLOOR, GOAL_KINDS, frame_of, goal_figures, look
from esar_ros.training.evaluate import Found, LabelledImage, average_precision, in_range, judge, table
from esar_ros.training.render import read_meta
from esar_ros.training.train import ARCHITECTURE, AUGMENTATION, SHIPPED, Design, Recipe, export, train, write_data_file

SPLIT = "val"
SCALED = 0.5  # ultralytics' own: crops are drawn up to half as large again, or half as small
FINER_HEAD = [
    *ARCHITECTURE["head"][:3],
    [-1, 1, "nn.Upsample", ["None", 2, "nearest"]],
    [[-1, 2], 1, "Concat", [1]],
    [-1, 1, "C3k2", [32, False]],  # 13, stride 4
    [[13, 10, 7], 1, "Detect", ["nc"]],
]


@dataclass(frozen=True)
class Variant:
    """A network to be trained; started: its first layers are a trained network's, the first of them kept."""

    design: Design = SHIPPED
    started: bool = True


VARIANTS = {
    "as_shipped": Variant(),
    "stride_4": Variant(Design({**ARCHITECTURE, "head": FINER_HEAD}, AUGMENTATION)),
    "scaled_crops": Variant(Design(ARCHITECTURE, {**AUGMENTATION, "scale": SCALED})),
    "untrained_layers": Variant(started=False),
}
SIZES = {"enlarged": 2.0, "reduced": 0.5}  # of the frames that the shipped network is shown


def resized(frame: CameraFrame, factor: float) -> CameraFrame:
    """Returns a frame drawn larger or smaller."""
    height, width = frame.depth.shape
    size = round(width * factor), round(height * factor)
    how = cv2.INTER_LINEAR if factor > 1.0 else cv2.INTER_AREA
    rgb = cv2.resize(frame.rgb, size, interpolation=how).astype(np.uint8)
    depth = cv2.resize(frame.depth, size, interpolation=cv2.INTER_NEAREST).astype(np.float32)
    return replace(frame, rgb=rgb, depth=depth)


def look_resized(
    model: Path, root: Path, pictures: Sequence[LabelledImage], names: Sequence[str], factor: float
) -> list[LabelledImage]:
    """Returns a network's detections in pictures drawn at another size, with boxes in the pictures' own pixels."""
    floors = dict.fromkeys(KINDS, FLOOR)
    backend = create("onnx", {"model": str(model), "thresholds": floors, "second_stage": False})
    out = []
    for picture, name in zip(pictures, names, strict=True):
        (seen,) = backend.detect([resized(frame_of(root, SPLIT, name), factor)])
        boxes = [(one, tuple(v / factor for v in one.box)) for one in seen]
        found = tuple(Found(one.kind, one.score, (x, y, w, h)) for one, (x, y, w, h) in boxes)
        out.append(replace(picture, found=found))
    return out


def row_of(pictures: Sequence[LabelledImage]) -> dict[str, float]:
    """Returns AP50: the goals' four by day in fair weather, then in all conditions within FAR."""
    verdicts = judge(pictures)
    far = {kind: average_precision(pictures, verdicts, kind, *in_range(0.0, FAR))[0] for kind in GOAL_KINDS}
    means = table(pictures)
    row = {
        **goal_figures(pictures),
        **{f"{kind}, all conditions": round(ap, 3) for kind, ap in far.items()},
        "mean of classes": means["all"]["mean"],
        "mean within 30 m": means["0-30 m"]["mean"],
        "mean 30-60 m": means["30-60 m"]["mean"],
    }
    return {name: value for name, value in row.items() if value is not None and np.isfinite(value)}


def milliseconds(network: Path, frames: Sequence[CameraFrame]) -> float:
    """Returns the CPU time (ms) of four pictures, without the second stage."""
    return cpu_times(network, "onnx", frames, second_stage=False)["four_640x480_cpu_ms"]


def main() -> int:
    """Trains, detects, prints the table and the JSON line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the data set")
    parser.add_argument("--start", type=Path, required=True, help="YOLOv8s checkpoint (.pt) of the first layers")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--epochs", type=int, default=3, help="default %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="of torch (default %(default)s)")
    parser.add_argument("--maps", default=",".join(shipped_maps()), help="default %(default)s")
    known = [*VARIANTS, *SIZES]
    parser.add_argument("--designs", nargs="+", choices=known, default=known, help="default all")
    add_page(parser)
    arguments = parser.parse_args()
    maps = arguments.maps.split(",")
    tell = partial(print, "looked at", flush=True)
    shipped = resource("models") / "esar-clues.onnx"
    plain = look(shipped, arguments.data, SPLIT, maps, tell=tell)
    names = [entry["name"] for entry in read_meta(arguments.data, SPLIT) if entry["map"] in maps]
    frames = [frame_of(arguments.data, SPLIT, name) for name in names[:24]]
    rows: dict[str, dict[str, float]] = {}
    rows["shipped"] = row_of(plain) | {"CPU ms": milliseconds(shipped, frames)}
    for name in arguments.designs:
        if name in SIZES:
            rows[name] = row_of(look_resized(shipped, arguments.data, plain, names, SIZES[name]))
            continue
        folder = arguments.out / f"{name}-{arguments.epochs}-{'-'.join(sorted(maps))}"
        variant = VARIANTS[name]
        recipe = Recipe(epochs=arguments.epochs, threads=arguments.threads)
        start = arguments.start if variant.started else None
        weights = train(write_data_file(arguments.data, maps), folder, recipe, start, variant.design)
        network = folder / f"{name}.onnx"
        if not network.exists():
            export(weights, network)
            cards.write_json(network.with_suffix(".json"), cards.first_card(name))
        rows[name] = row_of(look(network, arguments.data, SPLIT, maps, tell=tell))
        rows[name]["CPU ms"] = milliseconds(network, frames)
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    table = Table(
        (f"AP50 on {len(names)} frames of {SPLIT}", *columns),
        [(name, *(row.get(column, "") for column in columns)) for name, row in rows.items()],
    )
    print(markdown(table))
    print(json.dumps({"benchmark": "detector_designs", "epochs": arguments.epochs, "maps": maps, "figures": rows}))
    if arguments.page:
        about = (
            "First stages of several designs, trained alike from one seed, on frames that none has learned from; "
            "beside them the shipped network on the same frames drawn larger and smaller. Each design is trained "
            "once: small differences mean nothing. CPU time is of one thread, for four 640x480 pictures."
        )
        conditions = {"epochs": arguments.epochs, "maps": ", ".join(maps)}
        write_page(__file__, "What the detector's design is worth", about, conditions, [table])
    return 0


if __name__ == "__main__":
    sys.exit(main())
