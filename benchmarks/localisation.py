"""The accuracy, count and consistency of located objects: short flights past known objects, in the episode engine.

`python benchmarks/localisation.py [--flights 20] [--seconds 75] [--preset paper] [--detector NAME] [--keep FILE]
[--from FILE]`. Each flight starts beside an object of a dev task and flies a spiral. Its pictures are fused several
times: boxes with masks and boxes alone (the segmentation oracle's, so that only placing is measured), under the true
odometry and under DRAWS draws of the noisy one; --detector adds a detector's own boxes. --keep writes what the flights
saw, --from judges such a file again without flying. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page import Table, add_page, goal_table, write_page
from scipy.stats import chi2  # type: ignore[import-untyped]

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import PRESETS, VEHICLE
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.clues import segmentation_kinds
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Start, Task, load_task
from esar_ros.mission.task_files import benchmark_event, benchmark_index, event_tasks
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import Vehicle, load_vehicle
from esar_ros.perception.detectors.backend import Detection2D, DetectorBackend, register
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.perception.detectors.segmentation_oracle import SegmentationOracle
from esar_ros.perception.fusion.evidence import Calibrated, Reliability
from esar_ros.perception.fusion.fusion import ClueFusion
from esar_ros.perception.fusion.localisation import localise
from esar_ros.perception.settings import load_detector_settings
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.suite import ESARBENCH

NEAR = 60.0  # m, nearest look of the objects whose error counts
MATCH = load_thresholds().error_threshold  # m, farthest from a true object of its kind that a track counts as it
DRAWS = 5  # noisy odometries each flight is fused under
JITTER = 0.1  # of a box's size: what boxes of a network miss the object's outline by
START_RANGE = (25.0, 50.0)  # m from the object that a flight starts beside
GOALS = {"median_error": 1.0, "tracks_per_object": 1.1}
STARTS = 6  # drawn at most: one in a tree ends in a collision at once
TOOK_OFF = 5.0  # s
TAP = "localisation_tap"
_SETTINGS = load_detector_settings()
_NO_PICTURE = np.zeros((1, 1, 3), dtype=np.uint8)


@dataclass(frozen=True)
class Seen:
    """A detection with the depth around it."""

    stamp: float
    camera: str
    pose: Pose  # true, optical frame in map
    detection: Detection2D
    object: int  # segmentation id, 0: the detector's own
    corner: tuple[int, int]  # x, y of the window in the picture
    depth: NDArray[np.float32]


@dataclass
class Flight:
    """The detections of one flight, and the true objects."""

    task: str
    seed: int
    size: tuple[int, int]
    truth: tuple[tuple[str, tuple[float, float, float]], ...]  # kind, place (m, map)
    masks: list[Seen] = field(default_factory=list)
    boxes: list[Seen] = field(default_factory=list)  # the detector's under test


class Tap(SegmentationOracle):
    """The segmentation oracle, whose detections are recorded."""

    flight: Flight

    def detect(self, frames: Any) -> list[list[Detection2D]]:
        """Returns the oracle's detections and records them."""
        found = super().detect(frames)
        for frame, detections in zip(frames, found, strict=True):
            for detection in detections:
                x, y, width, height = detection.box
                ids = frame.segmentation[y : y + height, x : x + width]
                self.flight.masks.append(_seen(frame, detection, int(ids[detection.mask][0])))
        return found


class TapBeside:
    """The same with a detector beside it. It is no oracle to the engine, which draws no colours for oracles."""

    name = TAP
    eligible = False  # it needs the object ids

    def __init__(self, tap: Tap, other: DetectorBackend) -> None:
        self._tap, self._other = tap, other

    @property
    def prompts(self) -> Mapping[str, str]:
        """The oracle's prompts."""
        return self._tap.prompts

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Sets the oracle's prompts."""
        self._tap.set_prompts(prompts)

    def detect(self, frames: Any) -> list[list[Detection2D]]:
        """Returns the oracle's detections and records those of both."""
        for frame, detections in zip(frames, self._other.detect(frames), strict=True):
            self._tap.flight.boxes += [_seen(frame, detection, 0) for detection in detections]
        return self._tap.detect(frames)


def _seen(frame: CameraFrame, detection: Detection2D, identity: int) -> Seen:
    x, y, width, height = detection.box
    margin = 2 + math.ceil(0.3 * max(width, height))
    left, top = max(0, x - margin), max(0, y - margin)
    window = frame.depth[top : max(0, y + height + margin), left : max(0, x + width + margin)].copy()
    return Seen(frame.stamp, frame.camera, frame.pose, detection, identity, (left, top), window)


_TAP = Tap({"objects": segmentation_kinds()})


def tasks(count: int) -> list[Task]:
    """Returns tasks of the dev events in turn, spread over each event's snapshots."""
    events = sorted(event for event, entry in benchmark_index()["events"].items() if entry["split"] == "dev")
    names = {event: list(event_tasks(benchmark_event(event))) for event in events}
    rounds = math.ceil(count / len(events))
    chosen = [
        names[event][(len(names[event]) * turn) // rounds + 3]
        for turn in range(rounds)
        for event in events
    ]  # fmt: skip
    return [load_task(name) for name in chosen[:count]]


def flown(task: Task, seconds: float, preset: str) -> Flight:
    """Flies past one of the task's objects under the true odometry; returns the record."""
    place, rng = load_map(task.map), np.random.default_rng(task.seed)
    truth = tuple((kind, _on_ground(place, xy)) for kind, xy in task.objects)
    beside = np.array(task.objects[rng.integers(len(task.objects))][1])
    conditions = RunConditions(preset=preset, odometry="true", detector=TAP)
    for _ in range(STARTS):
        angle = rng.uniform(-math.pi, math.pi)
        start = beside + rng.uniform(*START_RANGE) * np.array([math.cos(angle), math.sin(angle)])
        at = Start(position=(float(start[0]), float(start[1])), yaw=float(rng.uniform(-3.0, 3.0)))
        _TAP.flight = Flight(task.id, task.seed, PRESETS[preset], truth)
        moved = task.model_copy(update={"start": at, "t_max": seconds})
        if fly_episode(ESARBENCH, moved, "spiral", task.seed, conditions, place).simulated > TOOK_OFF:
            break
    return _TAP.flight


def _on_ground(place: PlaceMap, xy: tuple[float, float]) -> tuple[float, float, float]:
    return (*xy, float(place.ground_height(np.array(xy))))


# -- judging ---------------------------------------------------------------------------------------


@dataclass
class Sums:
    """Sums of one method of fusion, over flights and draws."""

    objects: int = 0  # that were placed
    tracks: int = 0
    reported: int = 0
    reported_objects: int = 0
    false_tracks: int = 0
    false_reports: int = 0
    errors: list[float] = field(default_factory=list)  # m, of tracks seen from within NEAR
    nees: list[float] = field(default_factory=list)  # every track
    first_nees: list[float] = field(default_factory=list)  # one track a flight: those err independently

    def figures(self) -> dict[str, float]:
        """Returns the figures by name."""
        n = max(1, len(self.first_nees))
        low, high = chi2.ppf([0.025, 0.975], 3 * n) / n
        nees = np.array(self.nees)
        return {
            "objects": self.objects,
            "median_error": float(np.median(self.errors)),
            "error_90": float(np.quantile(self.errors, 0.9)),
            "tracks_per_object": self.tracks / max(1, self.objects),
            "reports_per_object": self.reported / max(1, self.reported_objects),
            "false_tracks": self.false_tracks,
            "false_reports": self.false_reports,
            "nees": float(nees.mean()),
            "nees_independent": float(np.mean(self.first_nees)),
            "nees_low": float(low),
            "nees_high": float(high),
            "within_95": float(np.mean(nees < chi2.ppf(0.95, 3))),
        }


def judge(
    flight: Flight,
    truths: Mapping[int, Vector],
    way: str,
    error: OdometryError | None,
    rig: Vehicle,
    seed: int,
    reliability: Reliability,
    sums: Sums,
) -> None:
    """Fuses a flight's sightings by one method and adds to its sums; truths: place of each id in the pictures."""
    settings, rng = _SETTINGS, np.random.default_rng(seed)
    fusion = ClueFusion(settings.fusion, reliability=reliability)
    owners: dict[int, Counter[int]] = {}
    clues: tuple[SeenClue, ...] = ()
    policy, reported = ReportPolicy(ReportingSettings()), set[int]()
    policy.reset(100)
    sightings = flight.boxes if way == "detector" else flight.masks
    for _, pictures in groupby(sightings, key=lambda seen: seen.stamp):
        frame = list(pictures)
        boxes = [_as_boxed(seen.detection, rng) if way == "boxes" else seen.detection for seen in frame]
        clues = fusion.update(
            localise(box, _frame(seen, flight.size, error, rig), settings.localisation)
            for box, seen in zip(boxes, frame, strict=True)
        )
        for gone, stays in fusion.merged.items():
            owners.setdefault(stays, Counter()).update(owners.pop(gone, Counter()))
        for index, owner in fusion.owners.items():
            owners.setdefault(owner, Counter())[frame[index].object] += 1
        reported |= {clue.id for clue in clues if policy.due(clue)}
    matched: dict[int, tuple[int, Vector]] = {}  # clue -> object and its place
    for clue in clues:
        identity: int = owners[clue.id].most_common(1)[0][0]
        place: Vector | None = truths.get(identity) if identity else None
        if place is None:
            identity, place = _nearest(clue, flight)
        if place is not None:
            matched[clue.id] = (identity, place)
    placed = [clue for clue in clues if clue.last_seen > clue.first_seen]
    sums.false_tracks += sum(clue.id not in matched for clue in placed)
    sums.false_reports += len(reported - set(matched))
    sums.tracks += sum(clue.id in matched for clue in placed)
    sums.objects += len({matched[clue.id][0] for clue in placed if clue.id in matched})
    sums.reported += len(reported & set(matched))
    sums.reported_objects += len({matched[clue][0] for clue in reported & set(matched)})
    first = True
    for clue in placed:
        if clue.id not in matched:
            continue
        off = clue.position - matched[clue.id][1]
        nees = float(off @ np.linalg.solve(clue.covariance, off))
        sums.nees.append(nees)
        if first:
            sums.first_nees.append(nees)
            first = False
        if clue.nearest_view <= NEAR:
            sums.errors.append(float(np.linalg.norm(off)))


def _frame(seen: Seen, size: tuple[int, int], error: OdometryError | None, rig: Vehicle) -> CameraFrame:
    """Returns the picture with depth around the detection only, at the pose of the odometry."""
    width, height = size
    depth = np.full((height, width), np.nan, dtype=np.float32)
    (left, top), window = seen.corner, seen.depth
    depth[top : top + window.shape[0], left : left + window.shape[1]] = window
    pose, stated = seen.pose, np.zeros((6, 6))
    if error is not None:
        mount = rig.cameras[seen.camera].pose
        base = pose.compose(mount.inverse())
        pose = error.estimate(round(seen.stamp * 1e9), base, np.zeros(3)).pose.compose(mount)
        stated = error.pose_covariance
    model = rig.with_image_size(width, height).image.model
    return CameraFrame(seen.camera, model, pose, depth, _NO_PICTURE, seen.stamp, pose_covariance=stated)


def _as_boxed(detection: Detection2D, rng: np.random.Generator) -> Detection2D:
    """Returns the detection as of a network: no mask, and a box that misses the outline by a share of its size."""
    x, y, width, height = detection.box
    left, right = x + rng.normal(-0.02, JITTER / 2) * width, x + width * (1.0 + rng.normal(0.02, JITTER / 2))
    top, bottom = y + rng.normal(-0.02, JITTER / 2) * height, y + height * (1.0 + rng.normal(0.02, JITTER / 2))
    box = (round(left), round(top), max(1, round(right) - round(left)), max(1, round(bottom) - round(top)))
    return Detection2D(detection.kind, 0.9, box, detection.text)


def _true_places(flight: Flight) -> dict[int, Vector]:
    """Returns the place of each id in the pictures, by where it was seen: the id names no single object of a kind."""
    kinds, settings = segmentation_kinds(), _SETTINGS.localisation
    rig, found = load_vehicle(), dict[int, list[Vector]]()
    for seen in flight.masks:
        position = localise(seen.detection, _frame(seen, flight.size, None, rig), settings).position
        if position is not None:
            found.setdefault(seen.object, []).append(position)
    out = {}
    for identity, places in found.items():
        middle = np.median(places, axis=0)
        candidates = [np.array(at) for kind, at in flight.truth if kind == kinds[identity][0]]
        out[identity] = min(candidates, key=lambda at: float(np.linalg.norm(at - middle)))
    return out


def _nearest(clue: SeenClue, flight: Flight) -> tuple[int, Vector | None]:
    """Returns number and place of a true object of the clue's kind within MATCH; 0 and None: there is none."""
    near = [
        (float(np.linalg.norm(np.array(at) - clue.position)), -1 - n)
        for n, (kind, at) in enumerate(flight.truth)
        if kind == clue.kind
    ]
    distance, identity = min(near, default=(math.inf, 0))
    return (identity, np.array(flight.truth[-1 - identity][1])) if distance <= MATCH else (0, None)


def judged(flights: list[Flight], detector: DetectorBackend | None) -> Iterator[tuple[str, str, Sums]]:
    """Yields the sums of each method and odometry."""
    rig = load_vehicle()
    truths = [_true_places(flight) for flight in flights]
    for way in ("masks", "boxes", *(["detector"] if detector is not None else [])):
        known = detector.reliability if way == "detector" and isinstance(detector, Calibrated) else None
        for odometry in ("true", "noisy"):
            sums = Sums()
            for flight, true in zip(flights, truths, strict=True):
                for draw in range(1 if odometry == "true" else DRAWS):
                    seed = flight.seed + 1000 * draw
                    error = OdometryError(rig.odometry_error, seed, VEHICLE) if odometry == "noisy" else None
                    judge(flight, true, way, error, rig, seed, Reliability(known), sums)
            yield way, odometry, sums


def main() -> None:
    """Flies, judges and prints."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--flights", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=75.0, help="simulated, each flight")
    parser.add_argument("--preset", choices=tuple(PRESETS), default="paper")
    parser.add_argument("--detector", default="", help="backend whose own boxes are fused too")
    parser.add_argument("--keep", type=Path, help="file for what the flights saw")
    parser.add_argument("--from", dest="source", type=Path, help="such a file, judged without flying")
    add_page(parser)
    arguments = parser.parse_args()
    detector = create_chosen(arguments.detector) if arguments.detector else None
    if arguments.source:
        flights: list[Flight] = pickle.loads(arguments.source.read_bytes())
    else:
        flights = []
        tap = _TAP if detector is None else TapBeside(_TAP, detector)
        register(TAP, eligible=False)(lambda parameters: tap)
        for task in tasks(arguments.flights):
            began = time.process_time()
            flights.append(flown(task, arguments.seconds, arguments.preset))
            saw, cpu = (len(flights[-1].masks), len(flights[-1].boxes)), time.process_time() - began
            words = f"{saw[0]:5d} sightings, {saw[1]:5d} of the detector's" if detector else f"{saw[0]:5d} sightings"
            print(f"{task.id:<20} {task.weather.value:<14} {words} {cpu:6.1f} CPU s", flush=True)
            if arguments.keep:
                arguments.keep.write_bytes(pickle.dumps(flights))
    print(
        f"{'boxes':<10}{'odometry':<10}{'objects':>8}{'median m':>10}{'90 % m':>8}{'tracks':>8}{'reports':>9}"
        f"{'false':>7}{'NEES':>7}{'one a flight (95 % bounds)':>30}{'in 95 %':>9}"
    )
    figures: dict[str, float] = {}
    rows = []
    for way, odometry, sums in judged(flights, detector):
        if not sums.errors:
            words = f"none from within {NEAR:.0f} m: {sums.objects} objects, {sums.false_reports} false reports"
            print(f"{way:<10}{odometry:<10}  {words}")
            figures[f"{way}_{odometry}_false_reports"] = sums.false_reports
            rows.append((way, odometry, sums.objects, *("-" * 4), sums.false_reports, *("-" * 3)))
            continue
        f = sums.figures()
        bounds = f"{f['nees_independent']:.2f} ({f['nees_low']:.2f} to {f['nees_high']:.2f})"
        print(
            f"{way:<10}{odometry:<10}{sums.objects:>8}{f['median_error']:>10.2f}{f['error_90']:>8.2f}"
            f"{f['tracks_per_object']:>8.3f}{f['reports_per_object']:>9.3f}{sums.false_reports:>7}"
            f"{f['nees']:>7.2f}{bounds:>30}{f['within_95']:>9.3f}",
            flush=True,
        )
        figures |= {f"{way}_{odometry}_{key}": round(float(value), 4) for key, value in f.items()}
        kept = (f["median_error"], f["error_90"], f["tracks_per_object"], f["reports_per_object"])
        rows.append((way, odometry, sums.objects, *kept, sums.false_reports, bounds, f["nees"], f["within_95"]))
    goals, met = _goals(figures)
    print(json.dumps({"benchmark": "localisation", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "Short flights in the engine, each from beside an object of a dev task on a spiral at 30 m. Objects "
            "count that were seen from within 60 m; errors are three-dimensional, to the object's foot on the "
            "ground. Boxes are the segmentation oracle's, with masks or alone (their edges off by 5 % of the size), "
            "so that placing is measured and not finding. NEES is the squared error in units of its stated "
            "covariance, 3 on average where that is honest; objects of one flight share the odometry's error, so its "
            "95 % bounds are for one object a flight."
        )
        names = ("flights", "seconds", "preset", "detector")
        detector_name = arguments.detector.partition(":")[0]
        conditions = {name: getattr(arguments, name) for name in names} | {"draws of the noisy odometry": DRAWS}
        heads = (
            "boxes", "odometry", "objects", "median error, m", "90 %, m", "tracks an object", "reports an object",
            "false reports", "NEES, one a flight (bounds)", "NEES, all tracks", "within their 95 %",
        )  # fmt: skip
        goal_rows = goal_table({name: figures[name] for name in goals}, goals, met)
        write_page(__file__, "Where a clue is", about, conditions, [Table(heads, rows), goal_rows], detector_name)


def _goals(figures: Mapping[str, float]) -> tuple[dict[str, Any], dict[str, bool]]:
    goals: dict[str, Any] = {}
    met: dict[str, bool] = {}
    for key, value in figures.items():
        for name, most in GOALS.items():
            if key.endswith(name):
                goals[key], met[key] = most, value <= most
        if key.endswith("nees_independent"):
            base = key.removesuffix("_independent")
            goals[key] = [figures[f"{base}_low"], figures[f"{base}_high"]]
            met[key] = goals[key][0] <= value <= goals[key][1]
    return goals, met


if __name__ == "__main__":
    main()
