"""The thermal network on real pictures of a drone, and, unchanged, on the simulator's thermal camera at night.

    ./esar exec python benchmarks/thermal.py FOLDER [--page]

FOLDER is HIT-UAV's, with normal_json (CC-BY-4.0; not part of this project): its test split is measured, in whole and by
altitude, view angle, day and night and pixels. Then people, animals and things are put on ground of the four maps, by
night, and looked at from 15 to 90 m above it: recall by range, false people a picture. The last line is JSON. With
--page the share of people found by pixels also goes into models/esar-clues-pod.json, which planners read.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from page import Table, add_page, end_with, write_page

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mission.clues import PERSON
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import create
from esar_ros.perception.detectors.model_card import digest, load_card
from esar_ros.perception.pod_curves import THERMAL, measured_curve, write_curve
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World
from esar_ros.training.evaluate import Found, LabelledImage, judge, sizes_found
from esar_ros.training.labels import MIN_PIXELS, Thing, labels_of
from esar_ros.training.make_thermal import FLOOR, figures, look
from esar_ros.training.scenes import weathers_of
from esar_ros.training.train_thermal import Picture, read_split

NETWORK = "models/esar-thermal.onnx"
SIMULATED = 200  # pictures
SEED = 5
RANGES = ((0, 30), (30, 50), (50, 75), (75, 110), (110, 160))  # m
PEOPLE = (
    "person_lying", "person_lying/curled_olive", "person_sitting", "person_sitting/slumped_grey", "person_standing",
    "person_standing/waving_red",
)  # fmt: skip
OTHERS = ("distractor_goat", "tent", "backpack", "campfire/embers")
AREAS = ((0, 100), (100, 200), (200, 350), (350, 100_000))  # px of a box
FIGURES = ("recall", "recall_pointing", "precision", "false_per_picture", "ap50", "ap_pointing")
# What others state of people on the whole test split, by training of their own.
PUBLISHED = (
    ("YOLOv8n, 15 epochs from COCO (rahulpravash-design/traan, README)", 0.900),
    ("YOLOv8n (OmniSearch's real-data evaluation, mAP50 of people)", 0.923),
    ("YOLO26n, 50 epochs at 640 px (human-detection payload, MT-005)", 0.933),
    ("YOLOv4 (the data set's paper, as quoted there)", 0.899),
)
NOTE = (
    "Figures of others as their pages state them: `rahulpravash-design/traan` (README, perception/metrics.json), the "
    "OmniSearch project's evaluation on real data, a payload project's training log, and the data set's paper "
    "(doi:10.1038/s41597-023-02066-6) as that log quotes it. They come from networks of 3 million weights and more."
)


def rows_of(
    pictures: Sequence[Picture], images: Sequence[LabelledImage], threshold: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (what, figures) of the test split's parts."""
    yield "all", figures(images, threshold)

    def part(test: Callable[[Picture], bool]) -> dict[str, Any]:
        chosen = [image for picture, image in zip(pictures, images, strict=True) if test(picture)]
        return figures(chosen, threshold)

    yield "day", part(lambda p: not p.night)
    yield "night", part(lambda p: p.night)
    for low, high in ((60, 70), (80, 90), (100, 110), (120, 130)):
        yield f"{low} to {high} m up", part(lambda p, low=low, high=high: low <= p.altitude <= high)  # type: ignore[misc]
    for low, high in ((30, 40), (50, 60), (70, 80), (90, 90)):
        name = f"camera {low} to {high} deg down" if low < high else "camera straight down"
        yield name, part(lambda p, low=low, high=high: low <= p.angle <= high)  # type: ignore[misc]


def by_area(images: Sequence[LabelledImage], threshold: float) -> list[list[Any]]:
    """Rows of recall by the area of the box."""
    found = {
        (v.image, v.label.box) for v in judge(images) if v.label is not None and v.score >= threshold
    }  # a label is found once
    rows = []
    for low, high in AREAS:
        boxes = [(n, label.box) for n, image in enumerate(images) for label in image.labels]
        own = [key for key in boxes if low <= key[1][2] * key[1][3] < high]
        name = f"{low} to {high - 1}" if high < 100_000 else f"{low} and more"
        rows.append([name, len(own), round(sum(key in found for key in own) / max(1, len(own)), 3)])
    return rows


def night_pictures(map_id: str, count: int, pictures: Path | None) -> Iterator[LabelledImage]:
    """Yields labelled pictures of a map by night, seen by the vehicle's thermal camera, with what is found in them."""
    rng = np.random.default_rng([SEED, sorted(shipped_maps()).index(map_id)])
    camera, world = load_vehicle().thermal, World(load_map(map_id), SEED)
    drawn = Renderer(world, camera.width, camera.height, math.radians(camera.fov_deg))
    backend = create("onnx", {"model": str(resource(NETWORK)), "thresholds": {PERSON: FLOOR}})
    weathers, half = weathers_of(map_id), 0.35 * world.place.size
    try:
        for number in range(count):
            hour = float(rng.uniform(21.0, 28.0)) % 24.0
            when = datetime(2024, 1, 1) + timedelta(days=int(rng.integers(366)), hours=hour)
            weather = weathers[int(rng.integers(len(weathers)))]
            world.environment = Environment(local_time=when, weather=weather, wind=np.array([3.0, 0.0, 0.0]))
            middle = rng.uniform(-half, half, 2)
            while world.place.is_water(middle):
                middle = rng.uniform(-half, half, 2)
            things = _people(world, middle, rng)
            up, turned = (
                float(np.exp(rng.uniform(math.log(15.0), math.log(90.0)))),
                float(rng.uniform(-math.pi, math.pi)),
            )
            back = up / math.tan(math.radians(-camera.pitch_deg))
            xy = middle - back * np.array([math.cos(turned), math.sin(turned)])
            z = max(float(world.ground_height(middle)), float(world.ground_height(xy))) + up
            body = Pose(np.array([*xy, z]), quaternion_from_rpy(0.0, 0.0, turned))
            optical = body.compose(camera.pose)
            seen, grey = drawn.thermal([optical], 0.0)
            rgb = np.repeat(grey[0][..., None], 3, axis=2)
            labels = tuple(
                label for label in labels_of(seen.ids[0], rgb, things, optical.position) if label.kind == PERSON
            )
            frame = CameraFrame("thermal", camera.model, optical, seen.depth[0], rgb, 0.0)
            (found,) = backend.detect([frame])
            if pictures is not None:
                _save(pictures / f"{map_id}-{number:03d}.png", grey[0], labels, found)
            yield LabelledImage(
                map_id, weather.value, "night", labels, tuple(Found(f.kind, f.score, f.box) for f in found)
            )
            for name in list(world.objects):
                world.destroy(name)
    finally:
        drawn.close()


def _people(world: World, middle: np.ndarray, rng: np.random.Generator) -> dict[int, Thing]:
    """Puts three people and two other things within 12 m of a point; returns the people by id."""
    assets = [PEOPLE[int(n)] for n in rng.integers(len(PEOPLE), size=3)]
    assets += [OTHERS[int(n)] for n in rng.choice(len(OTHERS), 2, replace=False)]
    things = {}
    for n, asset in enumerate(assets):
        xy, yaw = tuple(middle + rng.uniform(-12.0, 12.0, 2)), float(rng.uniform(-math.pi, math.pi))
        upright = asset.startswith(("person_standing", "distractor_goat"))
        pose = (world.ground_pose if upright else world.resting_pose)(xy, yaw)
        thing = world.spawn(f"thing-{n}", asset, pose)
        if asset.startswith(PERSON):
            x, y, z = (float(v) for v in pose.position)
            things[thing.id] = Thing(PERSON, asset, False, (x, y, z))
    return things


def _save(file: Path, grey: np.ndarray, labels: Sequence[Any], found: Sequence[Any]) -> None:
    picture = cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR)
    for boxes, colour in (
        ([label.box for label in labels], (0, 200, 0)),
        ([f.box for f in found if f.score > 0.25], (0, 0, 255)),
    ):
        for x, y, width, height in boxes:
            cv2.rectangle(picture, (x - 3, y - 3), (x + width + 3, y + height + 3), colour, 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(file), picture)


def simulated(images: Sequence[LabelledImage], threshold: float) -> list[list[Any]]:
    """Rows by map: people, recall by range (pointing), false people a picture."""
    hits = {
        (v.image, v.label.box) for v in judge(images, pointing=True) if v.label is not None and v.score >= threshold
    }
    false = [
        v.image for v in judge(images, pointing=True) if v.label is None and not v.ignored and v.score >= threshold
    ]
    rows = []
    for name in (*shipped_maps(), "all"):
        mine = [n for n, image in enumerate(images) if name in (image.map, "all")]
        row: list[Any] = [name, len(mine)]
        for low, high in RANGES:
            own = [
                (n, label.box)
                for n in mine
                for label in images[n].labels
                if label.pixels >= MIN_PIXELS and low <= label.range < high
            ]
            row.append(f"{sum(key in hits for key in own) / len(own):.2f} ({len(own)})" if own else "-")
        row.append(round(sum(n in set(mine) for n in false) / max(1, len(mine)), 3))
        rows.append(row)
    return rows


def main() -> int:
    """Measures, prints the tables and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="HIT-UAV's, with normal_json")
    parser.add_argument(
        "--simulated", type=int, default=SIMULATED, metavar="N", help="night pictures (default %(default)s)"
    )
    parser.add_argument(
        "--pictures", type=Path, metavar="DIR", help="also save the simulated pictures with their boxes"
    )
    add_page(parser)
    arguments = parser.parse_args()
    network = resource(NETWORK)
    threshold = load_card(network.with_suffix(".json")).threshold(PERSON)
    pictures = read_split(arguments.folder, "test")
    began = time.process_time()
    images = look(network, pictures)
    spent = 1000.0 * (time.process_time() - began) / len(pictures)
    parts = dict(rows_of(pictures, images, threshold))
    real = [[name, one["pictures"], one["people"], *(one.get(f) for f in FIGURES)] for name, one in parts.items()]
    areas = by_area(images, threshold)
    each = max(1, arguments.simulated // len(shipped_maps()))
    nights: list[LabelledImage] = []
    for map_id in shipped_maps():
        nights += night_pictures(map_id, each, arguments.pictures)
        print(f"{map_id}: {each} pictures", flush=True)
    night = simulated(nights, threshold)
    tables = [
        Table(
            ("part of the test split", "pictures", "people", *(name.replace("_", " ") for name in FIGURES)),
            real,
            "Real pictures",
        ),
        Table(("px of the box", "people", "recall"), areas, "By size"),
        Table(
            ("network", "AP50 of people"), [["this one", parts["all"]["ap50"]], *map(list, PUBLISHED)], "Others", NOTE
        ),
        Table(
            ("map", "pictures", *(f"{low} to {high} m" for low, high in RANGES), "false people a picture"),
            night,
            "The simulator's thermal camera by night",
        ),
    ]
    for table in tables:
        print(table.title, *(" | ".join(map(str, row)) for row in (table.columns, *table.rows)), sep="\n")
    print(json.dumps({"benchmark": "thermal", "real": parts["all"], "cpu_ms": round(spent, 1), "nights": night}))
    if arguments.page:
        about = (
            "The shipped thermal network (`models/esar-thermal.onnx`) on the test split of HIT-UAV, which it was "
            "neither trained nor tuned on, and on pictures of the simulator's thermal camera, of which it has seen "
            "none. Right is what overlaps by IoU 0.5 (recall, precision, false, AP50) or points at a person "
            "(pointing); recall, precision and false are at the shipped threshold. The split is the data set's own: "
            "frames of one flight stand in training and test, so the figures hold for such scenes, not for others. "
            "In the simulator right is what points at a person of 6 visible pixels or more, and the share found "
            "stands before the number of them; beside three people stand two of a goat, embers, a tent and a rucksack."
        )
        write_page(
            __file__, "The thermal network", about,
            {"network": digest(network)[:12], "threshold": threshold, "CPU ms a picture": round(spent, 1),
             "simulated": len(nights), "seed": SEED}, tables,
        )  # fmt: skip
        flights = [f"{one.night} {one.altitude} {one.angle}" for one in pictures]
        write_curve(THERMAL, measured_curve(sizes_found(images, flights, threshold)))
    return 0


if __name__ == "__main__":
    end_with(main)
