"""The truth of PODs: of people with a POD of p after a flight, the share that the detector found, on simulated flights.

`python benchmarks/pod_reliability.py [--flights 200] [--maps lop_nur,dapeng,aotai] [--detector NAME] [--seed 0]`. Each
flight passes straight by one person on the ground and takes up to LOOKS pictures by day in fair weather. Where and how
each was taken is told with the errors that a look states (esar_ros.incident.looks), and from that and the canopy alone
the POD of the person's cell is computed. He was found where the detector's box holds his middle in any picture. The
canopy is the map's crowns by cells of CANOPY_CELL; since the simulator keeps crowns off people, the sky straight above
them is open, and only what slants through crowns is hidden. To the flights are fitted a curve over the distance, and
with it the variance of conspicuity that looks of one person share (the likeliest of VARIANCES); a second table judges
PODs by the curve that is fitted to the other half of the flights. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from page import Table, add_page, end_with, goal_table, write_page
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.stats import binomtest  # type: ignore[import-untyped]

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look, LookErrors, attitude
from esar_ros.incident.pod import CONSPICUITY, Curves, pod_of_look
from esar_ros.incident.visibility import see
from esar_ros.mission.clues import PERSON
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.planning.belief.detection_probability import TABLE_RANGE
from esar_ros.sim.catalogue import catalogue
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.scatter import SPECIES, TREES, scatter
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.deployer import stands_upright

SIZE, FOV = (640, 480), math.radians(90.0)  # px; of the pictures that the detector was measured on
LOOKS, SPACING = 6, 8.0  # a flight at most; m
HEIGHTS, PITCHES, ASIDE = (20.0, 110.0), (-90.0, -35.0), 50.0  # m, degrees, m
VARIANCES = np.array([0.01, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 8.0])
CANOPY_CELL = 10.0  # m, as finely as satellites tell it
BINS = np.linspace(0.0, 1.0, 11)
GOALS = {"bins_that_hold": 1.0}
ERRORS = LookErrors()
Curve = Callable[[float], float]  # POD by m


class Shown(NamedTuple):
    """A look that shows his cell."""

    pod: float
    slant: float  # m
    free: float  # share of the line of sight that no crown hides
    found: bool


@dataclass(frozen=True)
class Flown:
    """One person: the POD that was said, look by look, and what came of it."""

    map_id: str
    shown: tuple[Shown, ...]
    found: bool

    def pod(self, variance: float = CONSPICUITY, curve: Curve | None = None) -> float:
        """Returns the cumulative POD, as pod.together has it. curve: in place of the detector's own."""
        each = [look.pod if curve is None else float(curve(look.slant)) * look.free for look in self.shown]
        told = sum(((1.0 - min(pod, 0.999)) ** -variance - 1.0) / variance for pod in each)
        return float(1.0 - (1.0 + variance * told) ** (-1.0 / variance))


def ground_of(place: PlaceMap) -> Ground:
    """Returns a map's own heights as an elevation model, in metres about its middle."""
    origin, half = place.origin, place.size / 2.0 + place.cell / 2.0
    crs = f"+proj=aeqd +lat_0={origin.latitude} +lon_0={origin.longitude} +datum=WGS84 +units=m"
    heights = np.ascontiguousarray(place.heights[::-1].astype(np.float64) + origin.altitude)
    return Ground(heights, -half, half, place.cell, crs, 1.0).coarser(4.0)


def canopy_of(place: PlaceMap, ground: Ground) -> Floats:
    """Returns the share of the ground that no crown covers, by cells of the ground, as finely as CANOPY_CELL."""
    flora, fine = scatter(place), 1.0
    count = int(place.size / fine)
    covered = np.zeros((count, count), bool)
    grows = np.isin(np.array(SPECIES)[flora.species], [*TREES, "bush", "tamarisk"])
    for (x, y, _), radius in zip(flora.positions[grows], flora.crown_radius[grows], strict=True):
        low = np.maximum(np.floor((np.array([y, x]) - radius + place.size / 2.0) / fine), 0).astype(int)
        high = np.minimum(np.ceil((np.array([y, x]) + radius + place.size / 2.0) / fine), count).astype(int)
        j, i = np.ogrid[low[0] : high[0], low[1] : high[1]]
        off = np.hypot((i + 0.5) * fine - place.size / 2.0 - x, (j + 0.5) * fine - place.size / 2.0 - y)
        covered[low[0] : high[0], low[1] : high[1]] |= off <= radius
    block = int(CANOPY_CELL / fine)
    shares = covered[: count // block * block, : count // block * block].reshape(count // block, block, -1, block)
    free = 1.0 - shares.mean(axis=(1, 3))
    rows, columns = ground.heights.shape
    x = ground.west + ground.cell * (np.arange(columns) + 0.5)
    y = ground.north - ground.cell * (np.arange(rows) + 0.5)
    column, row = (np.clip((each + place.size / 2.0) // CANOPY_CELL, 0, len(free) - 1).astype(int) for each in (x, y))
    return np.maximum(free[row[:, None], column[None]], 0.01)


def flights(map_id: str, count: int, detector: DetectorBackend, seed: int) -> Iterator[Flown]:
    """Yields what came of passing by people."""
    place = load_map(map_id)
    world, random, curves = World(place, seed), np.random.default_rng([seed, count]), Curves("esar_yolo", "clear")
    people = sorted({entry.asset for entry in catalogue() if entry.kind == PERSON})
    renderer = Renderer(world, *SIZE, FOV)
    ground = ground_of(place)
    free = canopy_of(place, ground)
    try:
        done = 0
        while done < count:
            at = random.uniform(-0.4, 0.4, 2) * place.size
            if bool(place.is_water(at)) or float(place.slope(at)) > math.radians(40.0):
                continue
            done += 1
            asset = people[random.integers(len(people))]
            pose = (world.ground_pose if stands_upright(asset) else world.resting_pose)(at, random.uniform(0.0, 6.28))
            yield _pass(map_id, world, renderer, ground, free, curves, detector, asset, pose, random)
    finally:
        renderer.close()


def _pass(
    map_id: str, world: World, renderer: Renderer, ground: Ground, free: Floats, curves: Curves,
    detector: DetectorBackend,
asset: str, pose: Pose, random: np.random.Generator,
) -> Flown:  # fmt: skip
    place, at = world.place, pose.position[:2]
    thing = world.spawn("person", asset, pose)
    course, pitch, height = random.uniform(0.0, 360.0), random.uniform(*PITCHES), random.uniform(*HEIGHTS)
    ahead = np.array([math.sin(math.radians(course)), math.cos(math.radians(course))])
    ahead_of_camera = ahead * height / math.tan(math.radians(-pitch))
    start = at + random.uniform(-ASIDE, ASIDE) * np.array([ahead[1], -ahead[0]]) - ahead_of_camera
    start = start - ahead * SPACING * random.uniform(-1.0, LOOKS - 1.0)
    shown, found = list[Shown](), False
    column, row = ((at[0] - ground.west) / ground.cell, (ground.north - at[1]) / ground.cell)
    for k in range(int(random.integers(1, LOOKS + 1))):
        camera = np.array([*(start + k * SPACING * ahead), 0.0])
        if not bool(place.contains(camera[:2])):
            continue
        camera[2] = float(place.ground_height(camera[:2])) + height
        frame = renderer.render([Pose(camera, quaternion_from_rotation(attitude(course, pitch, 0.0)))], float(k))
        is_found = _is_found(frame.rgb[0], frame.depth[0], frame.ids[0] == thing.id, renderer.camera, detector)
        found |= is_found
        look = _told(place, camera, course, pitch, renderer.camera, random)
        seen = see(look, ground, look.altitude or 0.0, TABLE_RANGE)
        mine = (seen.row == int(row)) & (seen.column == int(column))
        if mine.any():
            detection, above = curves.of(renderer.camera.fx, None, 0.0), free[int(row), int(column)]
            pod = float(pod_of_look(seen, detection, free)[mine][0]) / above  # the sky above him is open
            lets = float(above ** (1.0 / max(float(seen.toward[mine][0, 2]), 1e-3) - 1.0))
            shown.append(Shown(pod, float(seen.slant[mine][0]), lets, is_found))
    world.destroy("person")
    return Flown(map_id, tuple(shown), found)


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


def fitted(flown: Sequence[Flown]) -> Curve:
    """Returns the likeliest curve over the distance of single looks: best / (1 + exp((range - half) / softness))."""
    looks = [look for each in flown for look in each.shown]
    slant, free, found = (
        np.array(column) for column in zip(*((each.slant, each.free, each.found) for each in looks), strict=True)
    )

    def unlikely(at: Floats) -> float:
        pods = np.clip(_logistic(at, slant) * free, 1e-4, 1.0 - 1e-4)
        return -float(np.where(found, np.log(pods), np.log1p(-pods)).sum())

    at = minimize(unlikely, (0.8, 70.0, 20.0), method="Nelder-Mead").x
    print(f"curve fitted to {len(looks)} looks: best {at[0]:.2f}, half at {at[1]:.0f} m, softness {at[2]:.0f} m")
    return lambda metres: min(0.99, float(_logistic(at, np.array(metres))))


def _logistic(at: Floats, metres: Floats) -> Floats:
    return np.asarray(at[0] / (1.0 + np.exp((metres - at[1]) / at[2])))


def likelihood(flown: Sequence[Flown], variance: float, curve: Curve) -> float:
    """Returns the log likelihood of what was found."""
    pods = np.clip([each.pod(variance, curve) for each in flown], 1e-3, 1.0 - 1e-3)
    found = np.array([each.found for each in flown])
    return float(np.where(found, np.log(pods), np.log1p(-pods)).sum())


def reliability(pods: Floats, flown: Sequence[Flown], title: str) -> Table:
    """Returns a row a bin of PODs: people, their mean POD, the share found with its interval, whether they agree."""
    rows, found = [], np.array([each.found for each in flown])
    for low, high in pairwise(BINS):
        inside = (pods >= low) & (pods < high)
        if not inside.any():
            continue
        count, hits = int(inside.sum()), int(found[inside].sum())
        interval = binomtest(hits, count).proportion_ci(0.95)
        holds = interval.low <= high and interval.high >= low
        rows.append((f"{low:.1f} to {high:.1f}", count, pods[inside].mean(), hits / count, interval.low, interval.high,
                     "yes" if holds else "**no**"))  # fmt: skip
    return Table(("POD said", "people", "mean", "found", "from", "to", "holds"), rows, title)


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
    pods = np.array([each.pod() for each in flown])
    halves = flown[::2], flown[1::2]
    others = [fitted(half) for half in halves[::-1]]
    by_other = np.array([each.pod(curve=others[number % 2]) for number, each in enumerate(flown)])
    tables = [
        reliability(pods, flown, "By the detector's own curve"),
        reliability(by_other, flown, "By a curve fitted to the other half of these flights"),
    ]
    for table in tables:
        print(table.title)
        for row in table.rows:
            print(*(f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row))
    whole = fitted(flown)
    likely = [likelihood(flown, float(variance), whole) for variance in VARIANCES]
    plausible = VARIANCES[np.array(likely) >= max(likely) - 1.92]  # 95 % by the likelihood ratio
    figures = {
        "bins_that_hold": sum(row[-1] == "yes" for row in tables[0].rows) / len(tables[0].rows),
        "bins_that_hold_by_the_fitted_curve": sum(row[-1] == "yes" for row in tables[1].rows) / len(tables[1].rows),
        "found": float(np.mean([each.found for each in flown])),
        "said": float(pods.mean()),
        "said_by_the_fitted_curve": float(by_other.mean()),
        "variance_likeliest": float(VARIANCES[int(np.argmax(likely))]),
        "variance_from": float(plausible.min()),
        "variance_to": float(plausible.max()),
    }
    met = {name: figures[name] >= goal for name, goal in GOALS.items()}
    by_map = [
        (m, sum(e.map_id == m for e in flown), *(float(np.mean(x)) for x in (
            [e.pod() for e in flown if e.map_id == m], [e.found for e in flown if e.map_id == m])))
        for m in maps
    ]  # fmt: skip
    print(by_map, f"{time.process_time():.0f} s of processor time")
    if arguments.page:
        about = (
            "Each flight passes one person and takes up to six pictures by day in fair weather; where each was taken "
            "is told with the errors that a look states, and the POD of his cell is computed from that and the canopy "
            "alone. The simulator keeps crowns off people: what hides is what a slanted line of sight meets. Looks of "
            f"one person share his conspicuity, of variance {CONSPICUITY:g}, as fitted to flights of seed 1; here it "
            "is fitted again. All looks of a flight are from one side or above: what looks from opposite sides share "
            "is not measured, and taken to be as much. The first table is what an incident says; the second shows what "
            "is left when single looks are right on average."
        )
        conditions = {
            "flights": len(flown),
            "seed": arguments.seed,
            "detector": arguments.detector,
            "processor time (s)": round(time.process_time()),
        }
        told = [
            goal_table(figures, GOALS, met, ">="),
            *tables,
            Table(("map", "people", "said", "found"), by_map, "By map"),
        ]
        write_page(__file__, "How far a POD can be trusted", about, conditions, told)
    print(json.dumps({"benchmark": "pod_reliability", "figures": figures, "goals": GOALS, "met": met}))
    return 0


if __name__ == "__main__":
    end_with(main)
