"""Statistics of a set of tasks: tiers, distances, clues, weathers, and occlusion by plants from above."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.task import TIERS, load_task
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.suites.esarbench.tasks.ground import site
from esar_ros.suites.esarbench.tasks.validation import distances, ground_of

PAPER_TIERS = (25.0, 27.5, 26.4, 21.2)  # percent, from the paper's overall columns
_COMMON_WORDS = """
    a about all also an and are as at away be been before but by can could did do down for from go goes got
    had has have he her him his i in into is it its just like may more must my no nobody nor not nothing now
    of off on one or other our out over said say says she so some somebody still take than that the their them
    then there they this to two three up us was we were what when where which while who will with would you
    your four five six seven eight nine ten after any because between both each even far farther had here how
    if last made make only own since something through too under until very well wants wanted went hundred
    metres
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True)
class Sight:
    """Visibility of victims and clues from viewpoints at 15 and 30 m height within 60 m."""

    things: int
    unseen: int  # seen from nowhere
    hidden: float  # mean share of viewpoints that see a thing not, by ground, plants or structures
    not_from_above: int  # not seen from straight above


@dataclass(frozen=True)
class Statistics:
    """Of one set of tasks."""

    tasks: int
    events: int
    snapshots: int
    tiers: dict[str, int]
    maps: dict[str, int]
    weathers: dict[str, int]
    victims: dict[int, int]  # tasks by number of victims
    clues: dict[str, int]  # clues by kind, counted once a snapshot
    distances: tuple[float, ...]  # m, mean from the start to the victims, by task
    words: dict[str, int]  # of prompts, without the commonest
    prompts: int  # different ones

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Of the distances, m."""
        low, middle, high = np.percentile(self.distances, [25, 50, 75])
        return float(low), float(middle), float(high)

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        return {
            "tasks": self.tasks,
            "events": self.events,
            "snapshots": self.snapshots,
            "tiers": self.tiers,
            "tier_shares": {name: round(count / self.tasks, 4) for name, count in self.tiers.items()},
            "distance_quartiles_m": [round(value, 1) for value in self.quartiles],
            "paper": {
                "tier_shares": dict(zip(TIERS, (share / 100.0 for share in PAPER_TIERS), strict=True)),
                "distance_quartiles_m": list(DISTANCE_QUARTILES),
            },
            "maps": self.maps,
            "weathers": self.weathers,
            "victims": {str(number): count for number, count in self.victims.items()},
            "clues": self.clues,
            "different_prompts": self.prompts,
        }


def statistics(ids: Sequence[str]) -> Statistics:
    """Count a set of tasks, given by id. Raises UsageError."""
    tasks = [load_task(id) for id in ids]
    snapshots = {task.snapshot: task for task in tasks}
    words = Counter(word for task in tasks for word in re.findall(r"[a-z][a-z-]{2,}", task.prompt.lower()))
    tiers = Counter(task.tier for task in tasks)
    weathers = Counter(task.weather for task in tasks)
    clues = Counter(clue.kind for task in snapshots.values() for clue in task.clues)
    return Statistics(
        tasks=len(tasks),
        events=len({task.event for task in tasks}),
        snapshots=len(snapshots),
        tiers={name: tiers.get(name, 0) for name in TIERS},
        maps=dict(sorted(Counter(task.map for task in tasks).items())),
        weathers={kind.value: weathers[kind] for kind in Weather if kind in weathers},
        victims=dict(sorted(Counter(len(task.victims) for task in tasks).items())),
        clues={kind.value: clues[kind] for kind in ClueKind if kind in clues},
        distances=tuple(float(np.mean(distances(task, ground_of(task.map)))) for task in tasks),
        words={word: count for word, count in words.most_common() if word not in _COMMON},
        prompts=len({task.prompt for task in tasks}),
    )


def sight(ids: Sequence[str]) -> Sight:
    """Ray-cast every victim and clue of a set's snapshots, with the map's plants where they stand."""
    snapshots = {task.snapshot: task for task in map(load_task, ids)}
    seen, above = [], []
    for task in snapshots.values():
        ground = site(task.map)
        for position in [v.position for v in task.victims] + [c.position for c in task.clues]:
            views = ground.seen_from(position)
            seen.append(float(views.mean()))
            above.append(bool(views[:2].all()))  # the first two stand straight above
    return Sight(
        things=len(seen),
        unseen=sum(share == 0.0 for share in seen),
        hidden=1.0 - float(np.mean(seen)) if seen else 0.0,
        not_from_above=sum(not straight for straight in above),
    )
