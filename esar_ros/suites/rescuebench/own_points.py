"""Points of our own, drawn from a seed after the rules of the paper's table 7, each proved before it is given out.

The rules are a generator's: what the authors have published does not keep them. Distances are level, between victim
and ambulance; the walker starts within 7.5 m of the ambulance. A climb is the span of the floor's heights on the
shortest way; a door is needed where there is a way with every door open and none with all shut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.rescue import RescuePoint, level_name
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.rescue_places.makers import MAKERS, rescue_site
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.stage import APPEARANCES, RescueStage
from esar_ros.sim.walking.walkable import CELL, WalkableGrid
from esar_ros.sim.world.world import World

START_WITHIN = 7.5  # m of the ambulance
_PREFIX = "Own"
_TRIES = 4000  # of one point
_AMBULANCE, _STRETCHER = (3.4, 1.5), (1.3, 0.7)  # m, half extents of the ground that each needs
_BEHIND = 4.6  # m, the stretcher behind the ambulance's middle
_LYING = 0.8  # m about a victim's middle that must be floor
_EVEN = 0.25  # m, of the ground under them
_APART = 2.5  # m at least between start, victim and stretcher: the world ends a task whose victim is 2 m from it


@dataclass(frozen=True)
class LevelRule:
    """A row of table 7, and the time limit of section D.2."""

    nearest: float  # m, of the victim from the ambulance
    farthest: float
    time_limit: float  # s
    least_climb: float = 0.0  # m
    most_climb: float = math.inf
    door: bool = False  # needed; else no door is on the way


RULES = (
    LevelRule(5.0, 15.0, 180.0, most_climb=0.5),
    LevelRule(5.0, 30.0, 180.0, most_climb=1.5),
    LevelRule(10.0, 40.0, 240.0),
    LevelRule(10.0, 60.0, 300.0, door=True),
    LevelRule(10.0, 80.0, 300.0, least_climb=2.9, door=True),
)
"""By level. The table asks of L5 for a climb of some 3 to 4 m, and forbids a significant one at L1 and L2."""


@dataclass(frozen=True, eq=False)
class _Grounds:
    """The walkable ground of a site, with its doors open and shut."""

    site: RescueSite

    @cached_property
    def open(self) -> WalkableGrid:
        """With every door open."""
        return WalkableGrid.of(World(self.site.place, 0), self.site.area)

    @cached_property
    def shut(self) -> WalkableGrid:
        """With every door shut."""
        return WalkableGrid.of(RescueStage(self.site).world, self.site.area) if self.site.doors else self.open

    @cached_property
    def spots(self) -> NDArray[np.float64]:
        """(N, 3) m, every place to stand when all doors are open."""
        return self.open.points()

    @cached_property
    def behind_doors(self) -> NDArray[np.bool_]:
        """(N,) True for spots to which there is no way from an ambulance while all doors are shut."""
        metres = np.full(self.shut.floors.shape, np.inf)
        for home in self.site.home:
            xy = (np.array(home.low) + home.high) / 2
            reach = self.shut.reach((*xy, float(self.site.place.ground_height(xy))))
            metres = np.minimum(metres, reach.metres.reshape(metres.shape))
        same = np.abs(self.shut.floors[:, :, None, :] - self.open.floors[:, :, :, None]) < 1e-6
        reached = (same & np.isfinite(metres)[:, :, None, :]).any(axis=3)
        return np.asarray(~reached[np.isfinite(self.open.floors)])


@lru_cache(4)
def _grounds(site: RescueSite) -> _Grounds:
    return _Grounds(site)


def own_place(site: RescueSite) -> str:
    """Returns a site's name in points."""
    return f"{_PREFIX}_{site.name}_{site.seed}"


def site_of(place: str) -> RescueSite:
    """Returns the site of a point's place. Raises UsageError for one that is not of our own."""
    return rescue_site(*kind_and_seed(place))


def kind_and_seed(place: str) -> tuple[str, int]:
    """Returns what a place of our own is made of. Raises UsageError for another."""
    prefix, _, rest = place.partition("_")
    name, _, seed = rest.rpartition("_")
    if prefix != _PREFIX or name not in MAKERS or not seed.isdecimal():
        known = [f"{_PREFIX}_{kind}_SEED" for kind in MAKERS]
        cure = f"{suggest(place, known)}; public maps in a checkout's own files"
        raise UsageError(f"'{place}' is no place of our own", cure)
    return name, int(seed)


def own_points(level: int, count: int, seed: int, site: RescueSite) -> tuple[RescuePoint, ...]:
    """Draws points of a level (0 to 4) in a site. Raises UsageError where the site has none."""
    grounds, rng = _grounds(site), np.random.default_rng([seed, level])
    found = []
    for number in range(count):
        point = next((p for p in (_drawn(grounds, level, rng) for _ in range(_TRIES)) if p is not None), None)
        if point is None:
            raise UsageError(f"{own_place(site)} has no point of {level_name(level)}", "choose another place")
        found.append(replace(point, number=number))
    return tuple(found)


def flaws(point: RescuePoint) -> list[str]:
    """Returns in what a point of our own breaks its level's rules: nothing for one that `own_points` gives."""
    grounds, rule = _grounds(site_of(point.place)), RULES[point.level]
    floor = [0.0, 0.0, HALF_HEIGHT]
    start, victim = point.start.position - floor, point.victim.position - floor
    out = []
    away = _level_distance(victim, point.ambulance.position)
    if not rule.nearest <= away <= rule.farthest:
        out.append(f"victim {away:.1f} m from the ambulance, not {rule.nearest:g} to {rule.farthest:g}")
    if _level_distance(start, point.ambulance.position) > START_WITHIN:
        out.append("start too far from the ambulance")
    places = {"start": start, "victim": victim, "stretcher": point.stretcher.position}
    for one, other in combinations(places, 2):
        if _level_distance(places[one], places[other]) < _APART:
            out.append(f"{one} less than {_APART:g} m from the {other}")
    reach = _around(grounds.open, point).reach(start)
    way, back = reach.path(victim), reach.path(point.stretcher.position)
    if way is None or back is None:
        return [*out, "no way to the victim" if way is None else "no way to the stretcher"]
    climb = float(np.ptp(way[:, 2]))
    if not rule.least_climb <= climb <= rule.most_climb:
        out.append(f"a climb of {climb:.1f} m, not {rule.least_climb:g} to {rule.most_climb:g}")
    if math.isfinite(_around(grounds.shut, point).reach(start).distance(victim)) == rule.door:
        out.append("no door is needed" if rule.door else "a door is in the way")
    return out


def shortest_ways(point: RescuePoint, site: RescueSite) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the shortest ways from start to victim and from there to the stretcher, doors open, around the ambulance.

    Each is corners (N, 3) on the floors: see walkable.Reach.path. Raises ValueError where there is none.
    """
    origin = np.array(site.origin)
    own, stage, floor = point.moved(-origin), _stage(site), np.array([0.0, 0.0, HALF_HEIGHT])
    start, victim, stretcher = (
        stage.resting(position, 0.0).position
        for position in (own.start.position - floor, own.victim.position - floor, own.stretcher.position)
    )
    grid = _around(_grounds(site).open, own)
    there, back = grid.path(start, victim), grid.path(victim, stretcher)
    if there is None or back is None:
        raise ValueError(f"{point.title} of {point.place} has no way")
    return there + origin, back + origin


def shortest_track(point: RescuePoint, site: RescueSite, spacing: float) -> Vector:
    """Returns the track (N, 3) m of a body that walks the shortest ways, a place every so many metres of them."""
    there, back = shortest_ways(point, site)
    corners = np.concatenate([there, back]) + [0.0, 0.0, HALF_HEIGHT]
    metres = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    places = np.append(np.arange(0.0, metres[-1], spacing), metres[-1])
    return np.stack([np.interp(places, metres, corners[:, axis]) for axis in range(3)], axis=1)


def _drawn(grounds: _Grounds, level: int, rng: np.random.Generator) -> RescuePoint | None:
    """A point, or None where what was drawn does not do."""
    site, rule, grid = grounds.site, RULES[level], grounds.open
    home = site.home[int(rng.integers(len(site.home)))]
    xy = rng.uniform(home.low, home.high)
    yaw = float(rng.uniform(-math.pi, math.pi))
    ground = float(site.place.ground_height(xy))
    ambulance = np.array([*xy, ground])
    behind = -np.array([math.cos(yaw), math.sin(yaw)])
    stretcher = np.array([*(xy + _BEHIND * behind + rng.uniform(-0.6, 0.6, 2)), 0.0])
    stretcher[2] = float(site.place.ground_height(stretcher[:2]))
    turned = yaw + float(rng.uniform(-0.5, 0.5))
    if not (_is_even(grid, ambulance, yaw, _AMBULANCE) and _is_even(grid, stretcher, turned, _STRETCHER)):
        return None
    spots, away = grounds.spots, np.hypot(*(grounds.spots[:, :2] - ambulance[:2]).T)
    near = spots[(away <= START_WITHIN) & ~grounds.behind_doors]
    far = spots[
        (away >= rule.nearest)
        & (away <= rule.farthest)
        & (grounds.behind_doors == rule.door)
        & (np.abs(spots[:, 2] - ground) >= rule.least_climb)
    ]
    if not len(near) or not len(far):
        return None
    start, victim = near[int(rng.integers(len(near)))], far[int(rng.integers(len(far)))]
    pairs = ((start, victim), (start, stretcher), (victim, stretcher))
    if min(_level_distance(one, other) for one, other in pairs) < _APART:
        return None
    if not _is_even(grid, victim, 0.0, (_LYING, _LYING)):
        return None
    appearance = int(rng.integers(len(APPEARANCES)))
    stage = _stage(site)
    point = RescuePoint(
        place=own_place(site),
        level=level,
        number=0,
        start=stage.standing(start, float(rng.uniform(-math.pi, math.pi))),
        victim=stage.standing(victim, float(rng.uniform(-math.pi, math.pi))),
        stretcher=replace(stage.standing(stretcher, turned), position=stretcher),
        ambulance=replace(stage.standing(ambulance, yaw), position=ambulance),
        description=_description(site, level, victim, ambulance, appearance),
        time_limit=rule.time_limit,
        appearance=appearance,
    )
    return None if flaws(point) else point


@lru_cache(4)
def _stage(site: RescueSite) -> RescueStage:
    return RescueStage(site)


def _around(grid: WalkableGrid, point: RescuePoint) -> WalkableGrid:
    """The grid without the ground on which a point's ambulance stands."""
    floors = grid.floors.copy()
    floors[_inside(grid, point.ambulance.position, point.ambulance.yaw, _AMBULANCE)] = np.nan
    return WalkableGrid(grid.low, floors)


def _inside(grid: WalkableGrid, middle: Vector, yaw: float, half: tuple[float, float]) -> NDArray[np.bool_]:
    """Cells (nx, ny) of a turned rectangle."""
    nx, ny, _ = grid.floors.shape
    x = grid.low[0] + (np.arange(nx)[:, None] + 0.5) * CELL - middle[0]
    y = grid.low[1] + (np.arange(ny)[None, :] + 0.5) * CELL - middle[1]
    c, s = math.cos(yaw), math.sin(yaw)
    return np.asarray((np.abs(c * x + s * y) <= half[0]) & (np.abs(c * y - s * x) <= half[1]))


def _is_even(grid: WalkableGrid, middle: Vector, yaw: float, half: tuple[float, float]) -> bool:
    """Returns whether all of a turned rectangle is floor at the height of its middle."""
    reach = max(half)
    if (middle[:2] - reach < grid.low).any() or (
        middle[:2] + reach > grid.low + CELL * np.array(grid.floors.shape[:2])
    ).any():
        return False
    under = grid.floors[_inside(grid, middle, yaw, half)]
    return bool((np.nan_to_num(np.abs(under - middle[2]), nan=np.inf).min(axis=1) <= _EVEN).all())


def _level_distance(one: Vector, other: Vector) -> float:
    return float(np.hypot(*(one[:2] - other[:2])))


_COMPASS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")


def _description(site: RescueSite, level: int, victim: Vector, ambulance: Vector, appearance: int) -> str:
    """The words of a witness: much about what is near, little about what is far, as the levels of the paper go on."""
    who = assets()[APPEARANCES[appearance]].variant.description
    gap = victim[:2] - ambulance[:2]
    towards = _COMPASS[round(math.atan2(gap[1], gap[0]) / (math.pi / 4)) % 8]
    upstairs = victim[2] - float(site.place.ground_height(victim[:2])) > 1.5
    beside = _landmark(site, victim)
    if level <= 1:
        return f"Look for a {who}{beside}. Carry them to the stretcher behind the ambulance."
    if level == 2:
        return f"A {who}, was seen {towards} of the ambulance{beside}. Bring them to the stretcher."
    if level == 3:
        return f"Go {towards} from the ambulance and through a door: there should be a {who}. Come back the same way."
    return f"A {who}, {'on an upper floor' if upstairs else 'in a house'}. Bring them to the stretcher."


def _landmark(site: RescueSite, victim: Vector) -> str:
    """Names the nearest thing within 4 m of the victim, as ", near a red sofa"; an empty string without one."""
    things = site.place.structures
    if not things:
        return ""
    gaps = [math.hypot(thing.xy[0] - victim[0], thing.xy[1] - victim[1]) for thing in things]
    nearest = int(np.argmin(gaps))
    if gaps[nearest] >= 4.0:
        return ""
    words = assets()[things[nearest].asset].variant.description
    return f", near {'an' if words[0] in 'aeiou' else 'a'} {words}"
