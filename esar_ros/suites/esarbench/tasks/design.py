"""The experiment's design: which distance, weather and light each of the 600 tasks gets, and in what order they run.

Appendix A's score is a sum of distance class, weather, light, victims and clue relief, the last two fixed by the
snapshot. The others are drawn and then exchanged until tiers, weathers, light and distance classes are even on every
map (simulated annealing over exchanges, from one seed).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES, tier

TASKS = 10  # of a snapshot
TIER_SHARES = {"simple": 0.25, "medium": 0.275, "hard": 0.264, "extreme": 0.212}  # of the paper's overall columns
LIGHTS = (0, 1, 2)  # points: daylight, twilight, night
LIGHT_SHARES = (0.5, 0.2, 0.3)
CLASSES = (1, 2, 3, 4)  # points of distance
NEAREST = 45.0  # m from the start to the victims, at least
_ROUNDS = 200  # exchanges tried, a task
_CLASS_MARGIN = 1.5  # m that a distance keeps from its class's limits


@dataclass(frozen=True)
class SnapshotDesign:
    """A snapshot's properties as the design uses them."""

    event: str
    map: str
    dev: bool
    points: int  # victims less clue relief
    weathers: tuple[Weather, ...]
    classes: tuple[int, ...]  # distance classes with take-off spots


@dataclass
class Draw:
    """Conditions of one task."""

    scene: int  # index of its snapshot
    distance_class: int
    weather: Weather
    light: int
    distance: float = 0.0  # m, wanted

    def score(self, scenes: Sequence[SnapshotDesign]) -> int:
        """Appendix A's S."""
        return scenes[self.scene].points + self.distance_class + self.weather.difficulty + self.light


def draw_conditions(scenes: Sequence[SnapshotDesign], farthest: dict[str, float], seed: int) -> list[Draw]:
    """Conditions of TASKS tasks a snapshot, snapshot by snapshot. farthest: m, of each map's starts."""
    rng = np.random.default_rng(seed)
    draws = []
    for index, scene in enumerate(scenes):
        for n in range(TASKS):
            distance_class = scene.classes[(n + index) % len(scene.classes)]
            weather = scene.weathers[int(rng.integers(len(scene.weathers)))]
            draws.append(Draw(index, distance_class, weather, int(rng.choice(LIGHTS, p=LIGHT_SHARES))))
    _exchange(draws, scenes, rng)
    _give_distances(draws, scenes, farthest, rng)
    return draws


class _Balance:
    """Weighted squared deviations of counts from what they should be."""

    def __init__(self) -> None:
        self.goals: dict[Hashable, tuple[float, float]] = {}
        self.counts: Counter[Hashable] = Counter()

    def change(self, removed: Sequence[Hashable], added: Sequence[Hashable]) -> float:
        """Replaces the removed keys by the added ones; returns the increase of the deviation."""
        # In a fixed order: sums of floats must not hang on the interpreter's hash seed.
        touched = dict.fromkeys((*removed, *added))
        before = sum(self._cost(key) for key in touched)
        self.counts.subtract(removed)
        self.counts.update(added)
        return sum(self._cost(key) for key in touched) - before

    def _cost(self, key: Hashable) -> float:
        goal, weight = self.goals.get(key, (0.0, 0.0))
        return weight * (self.counts[key] - goal) ** 2


def _keys(draw: Draw, scenes: Sequence[SnapshotDesign]) -> list[Hashable]:
    scene = scenes[draw.scene]
    name = tier(draw.score(scenes))
    return [
        ("tier", name), ("map tier", scene.map, name), ("dev tier", scene.dev, scene.map, name),
        ("class", draw.distance_class), ("map class", scene.map, draw.distance_class),
        ("map weather", scene.map, draw.weather), ("dev weather", scene.dev, scene.map, draw.weather),
        ("map light", scene.map, draw.light),
        ("scene weather", draw.scene, draw.weather), ("scene class", draw.scene, draw.distance_class),
        ("scene light", draw.scene, draw.light),
    ]  # fmt: skip


def _goals(scenes: Sequence[SnapshotDesign]) -> dict[Hashable, tuple[float, float]]:
    """(count, weight) that keys should have."""
    goals: dict[Hashable, tuple[float, float]] = {}
    total = TASKS * len(scenes)
    for name, share in TIER_SHARES.items():
        goals["tier", name] = (share * total, 60.0)
    for distance_class in CLASSES:
        goals["class", distance_class] = (total / 4, 400.0)
    for place in dict.fromkeys(scene.map for scene in scenes):
        of_map = [scene for scene in scenes if scene.map == place]
        tasks = TASKS * len(of_map)
        for name, share in TIER_SHARES.items():
            goals["map tier", place, name] = (share * tasks, 4.0)
            for dev in (True, False):
                goals["dev tier", dev, place, name] = (share * TASKS * sum(s.dev is dev for s in of_map), 4.0)
        for distance_class in CLASSES:
            goals["map class", place, distance_class] = (tasks / 4, 3.0)
        for light, share in zip(LIGHTS, LIGHT_SHARES, strict=True):
            goals["map light", place, light] = (share * tasks, 1.0)
        for kind in Weather:
            even = sum(TASKS / len(scene.weathers) for scene in of_map if kind in scene.weathers)
            goals["map weather", place, kind] = (even, 1.5)
            for dev in (True, False):
                even = sum(TASKS / len(s.weathers) for s in of_map if kind in s.weathers and s.dev is dev)
                goals["dev weather", dev, place, kind] = (even, 1.0)
    for index, scene in enumerate(scenes):
        for kind in scene.weathers:
            goals["scene weather", index, kind] = (TASKS / len(scene.weathers), 0.8)
        for distance_class in scene.classes:
            goals["scene class", index, distance_class] = (TASKS / len(scene.classes), 2.0)
        for light, share in zip(LIGHTS, LIGHT_SHARES, strict=True):
            goals["scene light", index, light] = (share * TASKS, 0.5)
    return goals


def _exchange(draws: list[Draw], scenes: Sequence[SnapshotDesign], rng: np.random.Generator) -> None:
    balance = _Balance()
    balance.goals = _goals(scenes)
    for draw in draws:
        balance.counts.update(_keys(draw, scenes))
    rounds = _ROUNDS * len(draws)
    for round_ in range(rounds):
        heat = 20.0 * (1.0 - round_ / rounds) ** 3
        draw = draws[int(rng.integers(len(draws)))]
        scene = scenes[draw.scene]
        kept = (draw.distance_class, draw.weather, draw.light)
        before = _keys(draw, scenes)
        what = int(rng.integers(3))
        if what == 0:
            draw.distance_class = scene.classes[int(rng.integers(len(scene.classes)))]
        elif what == 1:
            draw.weather = scene.weathers[int(rng.integers(len(scene.weathers)))]
        else:
            draw.light = int(rng.integers(len(LIGHTS)))
        after = _keys(draw, scenes)
        change = balance.change(before, after)
        if change > 0.0 and (heat <= 0.0 or rng.uniform() >= math.exp(-change / heat)):
            balance.change(after, before)
            draw.distance_class, draw.weather, draw.light = kept


def _give_distances(
    draws: list[Draw], scenes: Sequence[SnapshotDesign], farthest: dict[str, float], rng: np.random.Generator
) -> None:
    """Distances spread evenly within each class; the last class thins out towards what the map allows."""
    limits = (NEAREST, *DISTANCE_QUARTILES)
    for distance_class in CLASSES:
        own = [draw for draw in draws if draw.distance_class == distance_class]
        shares = (np.arange(len(own)) + 0.5) / max(1, len(own))
        rng.shuffle(shares)
        low = limits[distance_class - 1] + _CLASS_MARGIN
        for draw, share in zip(own, shares, strict=True):
            if distance_class < CLASSES[-1]:
                high = limits[distance_class] - _CLASS_MARGIN
                draw.distance = float(low + share * (high - low))
            else:
                reach = farthest[scenes[draw.scene].map] - low
                draw.distance = float(low - reach / 2.5 * math.log(1.0 - share * (1.0 - math.exp(-2.5))))


def order_tasks(keys: Sequence[Mapping[str, Hashable]], slots: Callable[[int], dict[str, Hashable]]) -> list[int]:
    """Returns indices in an order in which every prefix has about the whole's share of every key's values.

    keys: values that each task counts for, by name; slots(position): values that a position is reserved for. Greedy: of
    the tasks that fit a position, the one whose values lag most behind their share.
    """
    whole = Counter((name, value) for key in keys for name, value in key.items())
    counts: Counter[tuple[str, Hashable]] = Counter()
    left = list(range(len(keys)))
    order: list[int] = []
    while left:
        wanted = slots(len(order))
        fitting = [i for i in left if all(keys[i][name] == value for name, value in wanted.items())] or left

        def lead(i: int) -> float:
            return sum(counts[pair] - (len(order) + 1) * whole[pair] / len(keys) for pair in keys[i].items())

        best = min(fitting, key=lambda i: (round(lead(i), 9), i))
        counts.update(keys[best].items())
        order.append(best)
        left.remove(best)
    return order
