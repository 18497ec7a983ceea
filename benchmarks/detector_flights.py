"""A clue detector on missions: false finds per kilometre, calibration of its probabilities, objects it misses.

`python benchmarks/detector_flights.py [--tasks dev --limit 12] [--planner belief] [--seconds 240] [--preset fast]
[--detector esar_yolo] [--keep FILE] [--from FILE] [--priors 0.5,0.2] [--missed 0.5,0.35]`. Tasks are flown in the
episode engine as they are, with noisy odometry; the simulator's object ids say, beside the detector, what every picture
shows. What was seen is fused once for each pair of priors and misses. --keep writes what the flights saw, --from judges
such a file again without flying. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from page import Table, add_page, write_page

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import PRESETS, VEHICLE
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON, segmentation_kinds
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import Detection2D, DetectorBackend, register
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.perception.detectors.segmentation_oracle import SegmentationOracle
from esar_ros.perception.fusion.evidence import Calibrated, Curve, Reliability
from esar_ros.perception.fusion.fusion import ClueFusion
from esar_ros.perception.fusion.localisation import Sighting, localise
from esar_ros.perception.settings import load_detector_settings
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.scoring.losses import LOOK_RANGE
from esar_ros.suites.esarbench.suite import ESARBENCH

MATCH = load_thresholds().error_threshold  # m: a track this near to an object of its kind is of it
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the bins of stated probability
COARSE = 40  # px, width of the depth pictures that are kept
TAP = "flights_tap"
_NO_PICTURE = np.zeros((0, 0, 3), dtype=np.uint8)
_SETTINGS = load_detector_settings()


@dataclass
class Flight:
    """The detections of one flight, and the true objects."""

    task: str
    truth: tuple[tuple[str, tuple[float, float]], ...]  # kind, place (m, map)
    seen: list[tuple[Sighting, ...]] = field(default_factory=list)  # by frame: the detector's
    shown: list[tuple[Sighting, ...]] = field(default_factory=list)  # by frame: what was visible, by object ids
    frames: list[tuple[CameraFrame, ...]] = field(default_factory=list)  # coarse, without colours
    kilometres: float = 0.0


class Tap:
    """A detector and beside it the segmentation oracle; the detections of both are recorded."""

    name = TAP
    eligible = False  # it needs the object ids

    def __init__(self) -> None:
        self.flight: Flight | None = None
        self._other: DetectorBackend | None = None
        self._oracle = SegmentationOracle({"objects": segmentation_kinds()})

    def watch(self, other: DetectorBackend) -> None:
        """Sets the detector that is flown."""
        self._other = other

    @property
    def prompts(self) -> Mapping[str, str]:
        """The detector's prompts."""
        assert self._other is not None
        return self._other.prompts

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Sets the detector's prompts."""
        assert self._other is not None
        self._other.set_prompts(prompts)

    @property
    def reliability(self) -> Mapping[str, Curve]:
        """The detector's calibration curves."""
        return self._other.reliability if isinstance(self._other, Calibrated) else {}

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """Returns the detector's detections and records both."""
        assert self._other is not None and self.flight is not None
        found = self._other.detect(frames)
        self.flight.seen.append(_placed(frames, found))
        self.flight.shown.append(_placed(frames, self._oracle.detect(frames)))
        self.flight.frames.append(tuple(_coarse(frame) for frame in frames))
        return found


def _placed(frames: Sequence[CameraFrame], found: Sequence[Sequence[Detection2D]]) -> tuple[Sighting, ...]:
    pairs = [(frame, detection) for frame, own in zip(frames, found, strict=True) for detection in own]
    return tuple(localise(detection, frame, _SETTINGS.localisation) for frame, detection in pairs)


def _coarse(frame: CameraFrame) -> CameraFrame:
    """Returns the frame with a coarser depth, which is enough to tell whether something hides a place."""
    step = frame.model.width // COARSE
    model = load_vehicle().with_image_size(COARSE, frame.model.height // step).image.model
    depth = np.ascontiguousarray(frame.depth[step // 2 :: step, step // 2 :: step])
    return replace(frame, model=model, rgb=_NO_PICTURE, depth=depth, segmentation=None)


_TAP = Tap()
register(TAP, eligible=False)(lambda parameters: _TAP)


def flown(name: str, planner: str, seconds: float, preset: str) -> Flight:
    """Flies a task for a while and returns the record."""
    task = load_task(name)
    flight = _TAP.flight = Flight(task.id, task.objects)
    short = task.model_copy(update={"t_max": min(seconds, task.t_max)})
    track = fly_episode(ESARBENCH, short, planner, task.seed, RunConditions(preset=preset, detector=TAP)).track[VEHICLE]
    places = np.array([p for p in zip(track["x"], track["y"], strict=True) if None not in p], dtype=np.float64)
    flight.kilometres = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) / 1e3
    return flight


# -- judging ---------------------------------------------------------------------------------------


def fused(flight: Flight, reliability: Reliability, how: Mapping[str, float]) -> tuple[SeenClue, ...]:
    """Returns the objects fused from the flight's sightings; how: fields of EvidenceSettings."""
    evidence = _SETTINGS.fusion.evidence.model_copy(update=dict(how))
    fusion = ClueFusion(_SETTINGS.fusion.model_copy(update={"evidence": evidence}), reliability=reliability)
    clues: tuple[SeenClue, ...] = ()
    for sightings, frames in zip(flight.seen, flight.frames, strict=True):
        clues = fusion.update(sightings, frames)
    return clues


def is_right(clue: SeenClue, flight: Flight) -> bool:
    """Returns whether an object of its kind lies where it is placed."""
    return _number(clue.kind, clue.position, flight) is not None


def _number(kind: str, position: Vector, flight: Flight) -> int | None:
    """Returns the nearest true object of a kind within MATCH, on the ground."""
    off = [math.dist(at, position[:2]) if own == kind else math.inf for own, at in flight.truth]
    best = int(np.argmin(off)) if off else 0
    return best if off and off[best] <= MATCH else None


def passed(flight: Flight) -> dict[int, int]:
    """Returns the number of pictures that showed each object from within LOOK_RANGE."""
    looks: dict[int, int] = {}
    for frame in flight.shown:
        for sighting in frame:
            if sighting.position is None or sighting.view_range is None or sighting.view_range > LOOK_RANGE:
                continue
            number = _number(sighting.detection.kind, sighting.position, flight)
            if number is not None:
                looks[number] = looks.get(number, 0) + 1
    return looks


def figures(flights: Sequence[Flight], reliability: Reliability, how: Mapping[str, float]) -> dict[str, float]:
    """Returns sums over flights; how: fields of EvidenceSettings."""
    policy = ReportPolicy(ReportingSettings())
    stated: list[tuple[float, bool, bool]] = []  # stated probability, right, a person
    due: list[tuple[bool, bool]] = []  # right, a person: what would be reported
    near = found = people = people_found = 0
    for flight in flights:
        clues = fused(flight, reliability, how)
        stated += [(clue.probability, is_right(clue, flight), clue.kind == PERSON) for clue in clues]
        reported = [clue for clue in clues if policy.due(clue)]
        due += [(is_right(clue, flight), clue.kind == PERSON) for clue in reported]
        got = {_number(clue.kind, clue.position, flight) for clue in reported}
        for number in passed(flight):
            person = flight.truth[number][0] == PERSON
            near, found = near + 1, found + (number in got)
            people, people_found = people + person, people_found + (person and number in got)
    kilometres = sum(flight.kilometres for flight in flights)
    out = {
        "km": kilometres,
        "tracks": len(stated),
        "tracks_right": sum(right for _, right, _ in stated),
        "false_reports_per_km": sum(not right for right, _ in due) / kilometres,
        "false_victims_per_km": sum(person and not right for right, person in due) / kilometres,
        "precision": sum(right for right, _ in due) / max(1, len(due)),
        "passed": near,
        "passed_and_reported": found / max(1, near),
        "people_passed": people,
        "people_passed_and_reported": people_found / max(1, people),
        "expected_right": sum(p for p, _, _ in stated),
    }
    for low, high in pairwise(EDGES):
        bin_ = [right for p, right, _ in stated if low <= p < high or p == high == 1.0]
        out[f"right_of_{low:.1f}_{high:.1f}"] = sum(bin_) / len(bin_) if bin_ else math.nan
        out[f"tracks_of_{low:.1f}_{high:.1f}"] = len(bin_)
    return out


def _flights(arguments: argparse.Namespace) -> Iterator[Flight]:
    for name in choose_tasks(ESARBENCH, arguments.tasks, arguments.limit):
        began = time.process_time()
        flight = flown(name, arguments.planner, arguments.seconds, arguments.preset)
        cpu = time.process_time() - began
        sightings = sum(map(len, flight.seen))
        print(f"{flight.task:<22}{flight.kilometres:6.2f} km {sightings:5d} sightings {cpu:6.1f} CPU s", flush=True)
        yield flight


def main() -> None:
    """Flies, judges and prints."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--tasks", default="dev", help="set, file or ids (default %(default)s)")
    parser.add_argument("--limit", type=int, default=12, help="default %(default)s")
    parser.add_argument("--planner", default="belief", help="default %(default)s")
    parser.add_argument("--seconds", type=float, default=240.0, help="of each flight (default %(default)s)")
    parser.add_argument("--preset", choices=tuple(PRESETS), default="fast", help="default %(default)s")
    parser.add_argument("--detector", default="esar_yolo", help="default %(default)s")
    evidence = _SETTINGS.fusion.evidence
    parser.add_argument("--priors", default=str(evidence.prior), help="default %(default)s")
    parser.add_argument("--missed", default=str(evidence.missed), help="default %(default)s")
    parser.add_argument("--keep", type=Path, help="file for what the flights saw")
    parser.add_argument("--from", dest="source", type=Path, help="such a file, judged without flying")
    add_page(parser)
    arguments = parser.parse_args()
    detector = create_chosen(arguments.detector)
    _TAP.watch(detector)
    if arguments.source:
        flights: list[Flight] = pickle.loads(arguments.source.read_bytes())
    else:
        flights = []
        for flight in _flights(arguments):
            flights.append(flight)
            if arguments.keep:
                arguments.keep.write_bytes(pickle.dumps(flights))
    reliability = Reliability(_TAP.reliability)
    every = {}
    for prior, missed in product(arguments.priors.split(","), arguments.missed.split(",")):
        name = f"prior {prior}, missed {missed}"
        every[name] = figures(flights, reliability, {"prior": float(prior), "missed": float(missed)})
        print(f"\n{name}")
        for key, value in every[name].items():
            print(f"  {key:<28}{value:10.3f}")
    rounded = {
        f"{name}: {key}": None if math.isnan(value) else round(value, 4)
        for name, own in every.items()
        for key, value in own.items()
    }
    print(json.dumps({"benchmark": "detector_flights", "figures": rounded, "goals": {}, "met": {}}))
    if arguments.page:
        about = (
            "Missions in the engine with noisy odometry; the simulator's object ids say, beside the detector, what "
            "every picture shows. What was seen is fused once for each pair of priors and misses."
        )
        names = ("tasks", "limit", "planner", "seconds", "preset", "detector")
        conditions = {name: getattr(arguments, name) for name in names}
        tables = [
            Table(("figure", "measured"), [(key.replace("_", " "), value) for key, value in own.items()], name)
            for name, own in every.items()
        ]
        write_page(__file__, "What the detector tells on missions", about, conditions, tables)


if __name__ == "__main__":
    main()
