"""Stand-ins of the public maps, made from the tracks of people in a user's checkout, and their likeness to them.

The ground is a smooth surface through where people's feet were; it is free where they walked, and things stand about
it. A fifth of the tracks is held out: whether their tasks can be walked tells how much of a map the others show. The
commands of L1's tracks, given to the walker one after another without looking (open loop), tell how like it is to the
public game's. Only the lowest of floors above one another is made.

python -m esar_ros.suites.rescuebench.stand_ins CHECKOUT [--oracle]     # the figures of every map
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, minimum  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import Planner
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.sim.walking.walker import TICK, Walker
from esar_ros.sim.world.world import World
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld, insight
from esar_ros.suites.rescuebench.files.points import checkout_points
from esar_ros.suites.rescuebench.files.tracks import FOLDER, WalkedTrack, filed_as, read_tracks
from esar_ros.suites.rescuebench.machine import State
from esar_ros.suites.rescuebench.oracle import Oracle
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.walk import walk

HELD_OUT = 5  # every so manyth track
_CELL = 0.5  # m, of the ground
_MARGIN = 15.0  # m about the tracks
_SMOOTH = 1.5  # m, of the ground between them
_FREE = 0.7  # m about where somebody walked
_NEAR = 12.0  # m from a track beyond which nothing needs to stand
_GAP = 1.6  # m between things: a stretcher and whoever carries one pass
_AREA_OF_ONE = 60.0  # m^2 of ground by thing that is tried


@dataclass(frozen=True)
class Likeness:
    """Figures of what a stand-in shows to the tracks that it was not made of."""

    place: str
    tracks: int  # it was made of
    held_out: int
    reachable: int  # tasks of those whose victim and stretcher one can walk to
    off: float  # m, median difference of height of their feet from the ground


def stand_in(place: str, tracks: Sequence[WalkedTrack]) -> RescueSite:
    """Returns the stand-in that tracks in a place give, the same every time."""
    feet = np.concatenate([track.positions for track in tracks]) - [0.0, 0.0, HALF_HEIGHT]
    low, high = feet.min(axis=0), feet.max(axis=0)
    origin = np.array([*np.round((low + high)[:2] / 2), math.floor(low[2])])
    feet = feet - origin
    half = (high - low)[:2] / 2 + _MARGIN
    samples = 2 ** math.ceil(math.log2(2.0 * half.max() / _CELL)) + 1
    size = _CELL * (samples - 1)
    column, row = np.round((feet[:, :2] + size / 2) / _CELL).astype(int).T
    walked = np.zeros((samples, samples), dtype=np.int32)
    walked[row, column] = 1 + np.arange(len(feet))
    cells = np.unique(row * samples + column)
    known = np.full(samples * samples, np.nan)
    known[cells] = minimum(feet[:, 2], row * samples + column, cells)
    away, nearest = distance_transform_edt(walked == 0, return_indices=True)
    filled = known.reshape(samples, samples)[tuple(nearest)]
    between = np.clip(away * _CELL / _SMOOTH, 0.0, 1.0)
    heights = (1.0 - between) * filled + between * gaussian_filter(filled, _SMOOTH / _CELL)
    planner = Planner(len(tracks), size)
    _furnish(planner, away * _CELL, half)
    cover = np.full((samples, samples), LandCover.PAVED, dtype=np.uint8)
    words = f"a stand-in after {len(tracks)} tracks"
    ground = place_map(f"standin_{place}", words, 0, size, heights.astype(np.float32), cover, planner.plan())
    area = Area((-float(half[0]), -float(half[1])), (float(half[0]), float(half[1])))
    x, y, z = (float(value) for value in origin)
    return RescueSite(ground.id, 0, ground, area, (area,), origin=(x, y, z))


def _furnish(planner: Planner, away: NDArray[np.float64], half: NDArray[np.float64]) -> None:
    """Things where nobody walked; away: m from the nearest track, by cell."""
    for _ in range(round(4.0 * half[0] * half[1] / _AREA_OF_ONE)):
        x, y = planner.number(-half[0], half[0]), planner.number(-half[1], half[1])
        kind = planner.pick("wall crates crates")
        length, width, height = {
            "wall": (planner.number(2.0, 6.0), 0.3, 2.6),
            "crates": (planner.number(0.9, 2.5), planner.number(0.9, 1.8), planner.number(0.8, 2.0)),
        }[kind]
        index = tuple(round((value + planner.size / 2) / _CELL) for value in (y, x))
        if math.hypot(length, width) / 2 + _FREE < away[index] < _NEAR:
            style = "plaster" if kind == "wall" else ""
            planner.put(kind, x, y, length, width, height, planner.number(0.0, math.pi), style, clear=_GAP)


def likeness(place: str, tracks: Sequence[WalkedTrack], points: Sequence[RescuePoint]) -> Likeness:
    """Returns how a stand-in of four fifths of the tracks does on the others; points: the task of each track.

    Raises UsageError where there are too few to hold one out.
    """
    made, held = _without_some(place, tracks)
    ground = made.place
    grid = WalkableGrid.of(World(ground, 0), made.area)

    def on_ground(position: Vector) -> Vector:
        xy = (position - made.origin)[:2]
        return np.array([*xy, float(ground.ground_height(xy))])

    reachable, off = 0, []
    for number in held:
        point = points[number]
        reach = grid.reach(on_ground(point.start.position))
        goals = (on_ground(goal.position) for goal in (point.victim, point.stretcher))
        reachable += all(math.isfinite(reach.distance(goal)) for goal in goals)
        feet = tracks[number].positions - made.origin
        off.append(np.abs(feet[:, 2] - HALF_HEIGHT - ground.ground_height(feet[:, :2])))
    return Likeness(place, len(tracks) - len(held), len(held), reachable, float(np.median(np.concatenate(off))))


def _without_some(place: str, tracks: Sequence[WalkedTrack]) -> tuple[RescueSite, range]:
    """Returns the stand-in of four fifths of the tracks, and the numbers of the others. Raises UsageError."""
    held = range(HELD_OUT - 1, len(tracks), HELD_OUT)
    if not held:
        raise UsageError(f"{place}: {len(tracks)} tracks, of which none can be held out", "give a whole checkout")
    return stand_in(place, [track for number, track in enumerate(tracks) if number not in held]), held


def handed_over(place: str, tracks: Sequence[WalkedTrack], points: Sequence[RescuePoint]) -> int:
    """Returns at how many tasks of the tracks held out the oracle hands over, on the stand-in of the others.

    points: the task of each track. Raises UsageError where there are too few to hold one out.
    """
    made, held = _without_some(place, tracks)
    world = EmbeddedWorld(place, load_suite_settings(), made)
    done = 0
    for number in held:
        oracle = Oracle()
        with suppress(UsageError):  # nowhere to stand
            oracle.show(*insight(points[number], made))
            machine = walk(world, points[number], place, oracle, 0, RescueConditions()).machine
            done += machine.state is State.COMPLETED
    return done


def replayed(track: WalkedTrack, made: RescueSite, world: World) -> Vector:
    """Returns where the walker's middle ends (3,) m, in the public map, that is given a track's commands in time."""
    walker = Walker(world)
    x, y, _ = (float(value) for value in track.positions[0] - made.origin)
    walker.place((x, y, float(world.ground_height((x, y)))), float(track.yaws[0]))
    for action, seconds in zip(track.actions[1:], track.times[1:] - track.times[0], strict=True):
        if action is not None:
            walker.action = action
        walker.advance(max(0, round(seconds / TICK) - round(walker.seconds / TICK)) * TICK)
    return np.asarray(walker.pose.position + np.array(made.origin))


def main(arguments: Sequence[str]) -> int:
    """Print the figures of a checkout; --oracle: and walk the tasks held out."""
    folders = [argument for argument in arguments if argument != "--oracle"]
    if len(folders) != 1:
        print("no checkout of RescueBench: give its folder alone, or with --oracle", file=sys.stderr)
        return 2
    try:
        _print_figures(Path(folders[0]), "--oracle" in arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _print_figures(checkout: Path, walking: bool) -> None:
    points = {(filed_as(point.place), *key): point for key, point in checkout_points(checkout).items()}
    of_place: dict[str, list[WalkedTrack]] = {}
    for track in sorted(read_tracks(checkout / FOLDER), key=lambda track: (track.level, track.point)):
        of_place.setdefault(track.place, []).append(track)
    found, done = [], 0
    for place, tracks in sorted(of_place.items()):
        try:
            tasks = [points[place, track.level, track.point] for track in tracks]
        except KeyError as error:
            what = f"{checkout}: a track of {place}, level and point {error.args[0][1:]}, but no such point"
            raise UsageError(what, "give a whole checkout") from None
        found.append(one := likeness(place, tracks, tasks))
        print(
            f"{place}: made of {one.tracks} tracks; {one.reachable} of {one.held_out} held-out tasks can be walked, "
            f"feet {one.off:.2f} m off the ground",
            flush=True,
        )
        if walking:
            done += (times := handed_over(place, tracks, tasks))
            print(f"{place}: the oracle hands over at {times} of {one.held_out}", flush=True)
    count = sum(one.held_out for one in found)
    walked = f"; the oracle hands over at {done}" if walking else ""
    print(f"all: {sum(one.reachable for one in found)} of {count} held-out tasks{walked}")
    for place, tracks in sorted(of_place.items()):
        first = [track for track in tracks if track.level == 0]
        if first:
            made = stand_in(place, tracks)
            world = World(made.place, 0)
            gaps = [float(np.hypot(*(replayed(track, made, world) - track.positions[-1])[:2])) for track in first]
            print(
                f"{place}: the commands of {len(gaps)} tracks of L1 end {np.median(gaps):.2f} m (median) from where "
                f"people ended, at most {max(gaps):.2f} m"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
