"""The truth of PODs: of people with a POD of p after a flight, the share that the detector found, on simulated flights.

`python benchmarks/pod_reliability.py [--flights 200] [--maps lop_nur,dapeng,aotai] [--detector NAME]`. Each flight
passes straight by one person on the ground and takes up to LOOKS pictures by day in fair weather. Where and how each
was taken is told with the errors that a look states (esar_ros.incident.looks), and from that alone the POD of the
person's cell is computed. He was found where the detector's box holds his middle in any picture. The share of a miss
that looks from one side have in common is also fitted to the flights (the likeliest of SHARES). The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from page import Table, add_page, end_with, goal_table, write_page
from scipy.stats import binomtest  # type: ignore[import-untyped]

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look, LookErrors, attitude
from esar_ros.incident.pod import SHARED, Curves, pod_of_look, side_of
from esar_ros.incident.visibility import see
from esar_ros.mission.clues import PERSON
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.planning.belief.detection_probability import TABLE_RANGE
from esar_ros.sim.catalogue import catalogue
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.deployer import stands_upright

SIZE, FOV = (640, 480), math.radians(90.0)  # px; of the pictures that the detector was measured on
LOOKS, SPACING = 6, 8.0  # a flight at most; m
HEIGHTS, PITCHES, ASIDE = (20.0, 110.0), (-90.0, -35.0), 50.0  # m, degrees, m
SHARES = np.linspace(0.0, 1.0, 21)
BINS = np.linspace(0.0, 1.0, 11)
GOALS = {"bins_that_hold": 1.0}
ERRORS = LookErrors()


@dataclass(frozen=True)
class Flown:
    """The POD that was said of one person, look by look, and what came of it."""

    map_id: str
    told: tuple[float, ...]  # -ln(1 - POD) of each look that shows his cell
    sides: tuple[int, ...]
    found: bool

    def pod(self, shared: float) -> float:
        """Returns the cumulative POD, as pod.Coverage has it, for a share that looks from one side have in common."""
        best: dict[int, float] = {}
        for told, side in zip(self.told, self.sides, strict=True):
            best[side] = max(best.get(side, 0.0), told)
        return -math.expm1(-(1.0 - shared) * sum(self.told) - shared * sum(best.values()))


def ground_of(place: PlaceMap) -> Ground:
    """Returns a map's own heights as an elevation model, in metres about its middle."""
    origin, half = place.origin, place.size / 2.0 + place.cell / 2.0
    crs = f"+proj=aeqd +lat_0={origin.latitude} +lon_0={origin.longitude} +datum=WGS84 +units=m"
    heights = np.ascontiguousarray(place.heights[::-1].astype(np.float64) + origin.altitude)
    return Ground(heights, -half, half, place.cell, crs, 1.0).coarser(4.0)


def flights(map_id: str, count: int, detector: DetectorBackend, seed: int) -> Iterator[Flown]:
    """Yields what came of passing by people."""
    place = load_map(map_id)
    world, random, curves = World(place, seed), np.random.default_rng([seed, count]), Curves("esar_yolo", "clear")
    people = sorted({entry.asset for entry in catalogue() if entry.kind == PERSON})
    renderer = Renderer(world, *SIZE, FOV)
    ground = ground_of(place)
    try:
        done = 0
        while done < count:
            at = random.uniform(-0.4, 0.4, 2) * place.size
            if bool(place.is_water(at)) or float(place.slope(at)) > math.radians(40.0):
                continue
            done += 1
            asset = people[random.integers(len(people))]
            pose = (world.ground_pose if stands_upright(asset) else world.resting_pose)(at, random.uniform(0.0, 6.28))
            yield _pass(map_id, world, renderer, ground, curves, detector, asset, pose, random)
    finally:
        renderer.close()


def _pass(
    map_id: str, world: World, renderer: Renderer, ground: Ground, curves: Curves, detector: DetectorBackend,
    asset: str, pose: Pose, random: np.random.Generator,
) -> Flown:  # fmt: skip
    place, at = world.place, pose.position[:2]
    thing = world.spawn("person", asset, pose)
    course, pitch, height = random.uniform(0.0, 360.0), random.uniform(*PITCHES), random.uniform(*HEIGHTS)
    ahead = np.array([math.sin(math.radians(course)), math.cos(math.radians(course))])
    ahead_of_camera = ahead * height / math.tan(math.radians(-pitch))
    start = at + random.uniform(-ASIDE, ASIDE) * np.array([ahead[1], -ahead[0]]) - ahead_of_camera
    start = start - ahead * SPACING * random.uniform(-1.0, LOOKS - 1.0)
    told, sides, found = list[float](), list[int](), False
    column, row = ((at[0] - ground.west) / ground.cell, (ground.north - at[1]) / ground.cell)
    for k in range(int(random.integers(1, LOOKS + 1))):
        camera = np.array([*(start + k * SPACING * ahead), 0.0])
        if not bool(place.contains(camera[:2])):
            continue
        camera[2] = float(place.ground_height(camera[:2])) + height
        frame = renderer.render([Pose(camera, quaternion_from_rotation(attitude(course, pitch, 0.0)))], float(k))
        found |= _is_found(frame.rgb[0], frame.depth[0], frame.ids[0] == thing.id, renderer.camera, detector)
        look = _told(place, camera, course, pitch, renderer.camera, random)
        seen = see(look, ground, look.altitude or 0.0, TABLE_RANGE)
        mine = (seen.row == int(row)) & (seen.column == int(column))
        if mine.any():
            pod = pod_of_look(seen, curves.of(renderer.camera.fx, None, 0.0))[mine]
            told.append(float(-np.log1p(-pod[0])))
            sides.append(int(side_of(seen.toward[mine])[0]))
    world.destroy("person")
    return Flown(map_id, tuple(told), tuple(sides), found)


def _told(
    place: PlaceMap, camera: np.ndarray, yaw: float, pitch: float, model: CameraModel, random: np.random.Generator
) -> Look:
    """Returns what the vehicle says of a look: its numbers with their errors."""
    off = random.normal(size=6) * [*[ERRORS.horizontal] * 2, ERRORS.above_home, ERRORS.yaw, ERRORS.pitch, ERRORS.roll]
    latitude, longitude, altitude = place.origin.to_geodetic(camera + off[:3])
    return Look(
        "flight", latitude, longitude, altitude, yaw=yaw + off[3], pitch=pitch + off[4], roll=off[5], model=model
    )


def _is_found(
    rgb: np.ndarray, depth: np.ndarray, person: np.ndarray, model: CameraModel, detector: DetectorBackend
) -> bool:
    if not person.any():
        return False
    rows, columns = np.nonzero(person)
    v, u = rows.mean(), columns.mean()
    boxes = (
        each.box for each in detector.detect([CameraFrame("down", model, Pose(), depth, rgb)])[0] if each.kind == PERSON
    )
    return any(x <= u <= x + width and y <= v <= y + height for x, y, width, height in boxes)


def likelihood(flown: Sequence[Flown], shared: float) -> float:
    """Returns the log likelihood of what was found."""
    pods = np.clip([each.pod(shared) for each in flown], 1e-3, 1.0 - 1e-3)
    found = np.array([each.found for each in flown])
    return float(np.where(found, np.log(pods), np.log1p(-pods)).sum())


def reliability(flown: Sequence[Flown]) -> Table:
    """Returns a row a bin of PODs: people, their mean POD, the share found with its interval, whether they agree."""
    rows = []
    pods, found = np.array([each.pod(SHARED) for each in flown]), np.array([each.found for each in flown])
    for low, high in pairwise(BINS):
        inside = (pods >= low) & (pods < high)
        if not inside.any():
            continue
        count, hits = int(inside.sum()), int(found[inside].sum())
        interval = binomtest(hits, count).proportion_ci(0.95)
        holds = interval.low <= high and interval.high >= low
        rows.append((f"{low:.1f} to {high:.1f}", count, pods[inside].mean(), hits / count, interval.low, interval.high,
                     "yes" if holds else "**no**"))  # fmt: skip
    return Table(("POD said", "people", "mean", "found", "from", "to", "holds"), rows, "Reliability")


def main() -> int:
    """Flies, and prints the table."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flights", type=int, default=200)
    parser.add_argument("--maps", default="lop_nur,dapeng,aotai")
    parser.add_argument("--detector", default="esar_yolo")
    parser.add_argument("--seed", type=int, default=0)
    add_page(parser)
    arguments = parser.parse_args()
    maps, detector = arguments.maps.split(","), create_chosen(arguments.detector)
    flown: list[Flown] = []
    for map_id in maps:
        flown += flights(map_id, arguments.flights // len(maps), detector, arguments.seed)
        print(f"{map_id}: {sum(each.found for each in flown)} of {len(flown)} found so far", flush=True)
    table = reliability(flown)
    for row in table.rows:
        print(*(f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row))
    likely = [likelihood(flown, share) for share in SHARES]
    best = float(SHARES[int(np.argmax(likely))])
    plausible = SHARES[np.array(likely) >= max(likely) - 1.92]  # 95 % by the likelihood ratio
    figures = {
        "bins_that_hold": sum(row[-1] == "yes" for row in table.rows) / len(table.rows),
        "found": float(np.mean([each.found for each in flown])),
        "said": float(np.mean([each.pod(SHARED) for each in flown])),
        "shared_by_one_side_likeliest": best,
        "shared_from": float(plausible.min()),
        "shared_to": float(plausible.max()),
    }
    met = {name: figures[name] >= goal for name, goal in GOALS.items()}
    by_map = [
        (m, sum(e.map_id == m for e in flown), *(float(np.mean(x)) for x in (
            [e.pod(SHARED) for e in flown if e.map_id == m], [e.found for e in flown if e.map_id == m])))
        for m in maps
    ]  # fmt: skip
    print(by_map)
    if arguments.page:
        about = (
            "Each flight passes one person and takes up to six pictures by day in fair weather; where each was taken "
            "is told with the errors that a look states, and the POD of his cell is computed from that alone. The "
            f"share of a miss that looks from one side have in common is assumed to be {SHARED:g}, and fitted here."
        )
        conditions = {"flights": len(flown), "seed": arguments.seed, "detector": arguments.detector}
        tables = [
            goal_table(figures, GOALS, met, ">="),
            table,
            Table(("map", "people", "said", "found"), by_map, "By map"),
        ]
        write_page(__file__, "How far a POD can be trusted", about, conditions, tables)
    print(json.dumps({"benchmark": "pod_reliability", "figures": figures, "goals": GOALS, "met": met}))
    return 0


if __name__ == "__main__":
    end_with(main)
