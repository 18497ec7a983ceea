"""The quality and the cost of the shipped detector: AP50 on a seeded test set, CPU time of four pictures.

`python benchmarks/detector.py [--scenes 3] [--shots 8] [--maps ID,ID] [--model FILE] [--engine onnx] [--data DIR]`.
The test set is drawn anew, as `esar train-detector` draws its own (the test events' ground, 40 % of the looks kept from
training), of another size; --data keeps it. Beside the shipped chain stands its network without the second stage. CPU
time is of one thread of the engine; beside it one picture by the network alone, in 8 bits and in single precision. With
--page the share of people found by pixels, by day in fair weather, also goes into models/esar-clues-pod.json. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from page import Table, add_page, goal_table, shown, write_page

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import create
from esar_ros.perception.detectors.model_card import load_card
from esar_ros.perception.pod_curves import SIMULATOR, measured_curve, write_curve
from esar_ros.training.assess import GOAL_KINDS, GOALS, assess, frame_of, is_fair_day, look
from esar_ros.training.card import page_of, results
from esar_ros.training.evaluate import sizes_found
from esar_ros.training.render import read_meta, render_split

SIZES = ((640, 480), (320, 240))  # px
CPU_GOALS = {"four_640x480_cpu_ms": 170.0, "four_320x240_cpu_ms": 60.0}
MODEL_MB, IMPORT_S = 11.0, 3.0


def cpu_times(
    model: Path, engine: str, pictures: Sequence[CameraFrame], rounds: int = 15, second_stage: bool = True
) -> dict[str, float]:
    """Returns the CPU time (ms, median) of four cameras' pictures by picture size, over a test set's 640x480 frames."""
    backend = create(engine, {"model": str(model), "second_stage": second_stage})
    out = {}
    for width, height in SIZES:
        camera = load_vehicle().with_image_size(width, height).image.model
        step = pictures[0].model.width // width
        seen = [
            replace(
                picture,
                model=camera,
                rgb=np.ascontiguousarray(picture.rgb[::step, ::step]),
                depth=np.ascontiguousarray(picture.depth[::step, ::step]),
            )
            for picture in pictures
        ]
        times = []
        for count in range(rounds):
            frames = [seen[(count * len(CAMERAS) + n) % len(seen)] for n in range(len(CAMERAS))]
            started = time.process_time()
            backend.detect(frames)
            times.append(1e3 * (time.process_time() - started))
        out[f"four_{width}x{height}_cpu_ms"] = round(float(np.median(times)), 1)
    return out


def precision_times(model: Path, rounds: int = 15) -> dict[str, float]:
    """Returns the CPU time (ms, median) of one picture by ONNX Runtime, as the network is and in single precision.

    For the latter the engine leaves out the steps into and out of 8 bits. Both take turns, on one thread.
    """
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    sessions = []
    for entries in ({}, {"session.disable_quant_qdq": "1", "session.enable_quant_qdq_cleanup": "1"}):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        for key, value in entries.items():
            options.add_session_config_entry(key, value)
        sessions.append(onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"]))
    out = {}
    for width, height in SIZES:
        image = np.random.default_rng(0).random((1, 3, -(-height // 32) * 32, width), dtype=np.float32)
        times = []
        for _ in range(rounds):
            for session in sessions:
                started = time.process_time()
                session.run(None, {session.get_inputs()[0].name: image})
                times.append(1e3 * (time.process_time() - started))
        shipped, single = np.median(np.reshape(times, (rounds, 2)), axis=0)
        out[f"one_{width}x{height}_cpu_ms"] = round(float(shipped), 1)
        out[f"one_{width}x{height}_single_precision_cpu_ms"] = round(float(single), 1)
    return out


def import_time() -> float:
    """Returns the CPU seconds that importing the detector's node takes in a fresh process; NaN without ROS."""
    times = []
    for code in ("pass", "import esar_ros.nodes.clue_detector"):
        asked = f"{code}\nimport time; print(time.process_time())"
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
        times.append(float(done.stdout) if done.returncode == 0 else float("nan"))
    return round(times[1] - times[0], 2)


def main() -> int:
    """Measures, prints tables and the JSON line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=3, help="a map (default %(default)s)")
    parser.add_argument("--shots", type=int, default=8, help="pictures of a scene (default %(default)s)")
    parser.add_argument("--maps", default=",".join(shipped_maps()), help="default %(default)s")
    parser.add_argument("--model", type=Path, default=None, help="default the shipped one")
    parser.add_argument("--engine", choices=("onnx", "openvino"), default="onnx", help="default %(default)s")
    parser.add_argument("--data", type=Path, help="folder that keeps the pictures")
    parser.add_argument("--seed", type=int, default=31, help="of the test set (default %(default)s)")
    add_page(parser)
    arguments = parser.parse_args()
    model = arguments.model or resource("models") / "esar-clues.onnx"
    card = load_card(model.with_suffix(".json"))
    if card.second_stage is None:
        raise UsageError(f"{model} has no second stage in its card", "make one: esar train-detector")
    second = model.with_name(card.second_stage.file)
    maps = arguments.maps.split(",")
    tell = partial(print, "looked at", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.data or Path(folder)
        for split in ("test", "empty-test"):
            for scene, count in render_split(root, split, maps, arguments.scenes, arguments.shots, arguments.seed):
                print(f"drawn: {split}, {scene}, {count} pictures", flush=True)
        alone, both = (
            assess(
                look(model, root, "test", maps, arguments.engine, tell, stage),
                look(model, root, "empty-test", maps, arguments.engine, tell, stage),
                {kind: part.threshold(kind) for kind in KINDS},
            )
            for part, stage in ((card, None), (card.second_stage, second))
        )
        names = [entry["name"] for entry in read_meta(root, "test") if entry["map"] in maps]
        cost = cpu_times(model, arguments.engine, [frame_of(root, "test", name) for name in names[:24]])
        told = zip(names, look(model, root, "test", maps, arguments.engine, tell, second), strict=True)  # as looked at
        fair = [(name.rpartition("-")[0], image) for name, image in told if is_fair_day(image)]
    scenes, images = zip(*fair, strict=True) if fair else ((), ())
    by_size = measured_curve(sizes_found(images, scenes, card.second_stage.threshold(PERSON)))
    out: dict[str, Any] = {f"ap50 {name}": value for name, value in both.goals.items()}
    out |= {f"network alone: ap50 {name}": value for name, value in alone.goals.items()}
    out |= cost
    out |= precision_times(model)
    out |= {
        "model_mb": round(sum(file.stat().st_size for file in (model, second)) / 1e6, 2),
        "node_import_s": import_time(),
    }
    out["false_per_picture"] = both.test["false_per_picture"]["all"]
    out["false_on_empty_ground"] = both.false_on_empty_ground["all"]
    out["network alone: false_on_empty_ground"] = alone.false_on_empty_ground["all"]
    wanted: dict[str, float] = {f"ap50 {k} {band}": least for band, (*_, least) in GOALS.items() for k in GOAL_KINDS}
    limits_below = CPU_GOALS | {"model_mb": MODEL_MB, "node_import_s": IMPORT_S}
    met = {name: bool(out[name] >= least) for name, least in wanted.items()}
    met |= {name: bool(out[name] <= most) for name, most in limits_below.items()}
    measured = page_of(json.loads(model.with_suffix(".json").read_text()) | results(both, alone), "")
    print(measured)
    print(json.dumps({"benchmark": "detector", "figures": out, "goals": wanted | limits_below, "met": met}))
    if arguments.page:
        about = (
            "The shipped networks on a test set drawn anew, as `esar train-detector` draws its own (the test events' "
            "ground, 40 % of the looks kept from training), of another seed. CPU time is of one thread, for four "
            "pictures."
        )
        goals = {name: (goal, ">=") for name, goal in wanted.items()} | limits_below
        asked = ("scenes", "shots", "maps", "engine", "seed")
        conditions = {name: getattr(arguments, name) for name in asked} | {"network": model.name}
        sizes = [
            (f"{low:g} to {high:g}", shown(share), f"{interval[0]:.2f} to {interval[1]:.2f}", count)
            for low, high, share, interval, count in by_size.rows
        ]
        title = "People found at the threshold, by day in fair weather, by size"
        people = Table(("root of the box, px", "recall", "95 %, of resampled scenes", "people"), sizes, title)
        tables = (goal_table(out, goals, met), people, measured.partition("\n\n")[2])
        write_page(__file__, "What the detector reaches", about, conditions, tables)
        write_curve(SIMULATOR, by_size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
