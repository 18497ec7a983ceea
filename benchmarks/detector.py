"""How well the shipped detector finds things, and what it costs: AP50 on a seeded test set, CPU time of four pictures.

`python benchmarks/detector.py [--scenes 3] [--shots 8] [--maps ID,ID] [--model FILE] [--engine onnx] [--data DIR]`.
The test set is drawn anew, as `esar train-detector` draws its own (the test events' ground, 40 % of the looks kept from
training), of another size; --data keeps it. CPU time is of one thread of the engine. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.benchmark.detector.assess import GOAL_KINDS, GOALS, figures, goal_figures, look
from esar_ros.benchmark.detector.card import write_page
from esar_ros.benchmark.detector.render import render_split
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import KINDS
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.backend import CameraFrame, create
from esar_ros.perception.model_card import load_card
from esar_ros.sim.maps import shipped_maps

SIZES = ((640, 480), (320, 240))  # px
CPU_GOALS = {"four_640x480_cpu_ms": 170.0, "four_320x240_cpu_ms": 60.0}
MODEL_MB, IMPORT_S = 11.0, 3.0


def cpu_times(model: Path, engine: str, rounds: int = 15) -> dict[str, float]:
    """CPU time (ms, median) of four cameras' pictures by picture size."""
    backend = create(engine, {"model": str(model)})
    rng = np.random.default_rng(0)
    out = {}
    for width, height in SIZES:
        camera = load_vehicle().with_image_size(width, height).image.model
        depth = np.full((height, width), np.inf, dtype=np.float32)
        frames = [
            CameraFrame(name, camera, Pose(), rng.integers(0, 255, (height, width, 3), dtype=np.uint8), depth, 0.0)
            for name in CAMERAS
        ]
        times = []
        for _ in range(rounds):
            started = time.process_time()
            backend.detect(frames)
            times.append(1e3 * (time.process_time() - started))
        out[f"four_{width}x{height}_cpu_ms"] = round(float(np.median(times)), 1)
    return out


def import_time() -> float:
    """CPU seconds that importing the detector's node takes in a fresh process; NaN without ROS."""
    times = []
    for code in ("pass", "import esar_ros.nodes.clue_detector"):
        asked = f"{code}\nimport time; print(time.process_time())"
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
        times.append(float(done.stdout) if done.returncode == 0 else float("nan"))
    return round(times[1] - times[0], 2)


def main() -> int:
    """Measure, print tables and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=3, help="a map (default %(default)s)")
    parser.add_argument("--shots", type=int, default=8, help="pictures of a scene (default %(default)s)")
    parser.add_argument("--maps", default=",".join(shipped_maps()), help="default %(default)s")
    parser.add_argument("--model", type=Path, default=None, help="default the shipped one")
    parser.add_argument("--engine", choices=("onnx", "openvino"), default="onnx", help="default %(default)s")
    parser.add_argument("--data", type=Path, help="folder that keeps the pictures")
    parser.add_argument("--seed", type=int, default=31, help="of the test set (default %(default)s)")
    arguments = parser.parse_args()
    model = arguments.model or resource("models") / "esar-clues.onnx"
    card = load_card(model.with_suffix(".json"))
    limits = {kind: card.threshold(kind) for kind in KINDS}
    maps = arguments.maps.split(",")
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.data or Path(folder)
        for scene, count in render_split(root, "test", maps, arguments.scenes, arguments.shots, arguments.seed):
            print(f"drawn: {scene}, {count} pictures", flush=True)
        pictures = look(model, root, "test", maps, arguments.engine, lambda count: print(f"looked at {count}"))
    found = figures(pictures, limits)
    cost = cpu_times(model, arguments.engine)
    goals = goal_figures(pictures)
    out: dict[str, Any] = {f"ap50 {name}": value for name, value in goals.items()}
    out |= cost | {"model_mb": round(model.stat().st_size / 1e6, 2), "node_import_s": import_time()}
    out["false_per_picture"] = found["false_per_picture"]["all"]
    out["false_per_empty_picture"] = found["false_per_empty_picture"]["all"]
    wanted: dict[str, float] = {f"ap50 {k} {band}": least for band, (*_, least) in GOALS.items() for k in GOAL_KINDS}
    limits_below = CPU_GOALS | {"model_mb": MODEL_MB, "node_import_s": IMPORT_S}
    met = {name: bool(out[name] >= least) for name, least in wanted.items()}
    met |= {name: bool(out[name] <= most) for name, most in limits_below.items()}
    _print(model, found, goals, limits)
    print(json.dumps({"benchmark": "detector", "figures": out, "goals": wanted | limits_below, "met": met}))
    return 0


def _print(model: Path, found: dict[str, Any], goals: dict[str, float], limits: dict[str, float]) -> None:
    """The card's tables, with this run's numbers."""
    shown = {
        "name": model.stem, "precision_wanted": 0.0, "thresholds": limits, "test": found,
        "detection_probability": found["detection_probability"],
        "goals": {f"{k} {band}": {"ap50": goals[f"{k} {band}"], "goal": least, "met": goals[f"{k} {band}"] >= least}
                  for band, (*_, least) in GOALS.items() for k in GOAL_KINDS},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        write_page(page, shown, "")
        print(page.read_text())


if __name__ == "__main__":
    sys.exit(main())
