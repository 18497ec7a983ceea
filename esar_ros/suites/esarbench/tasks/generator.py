"""Makes the benchmark's tasks from stories, maps and one seed: the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import EVENT_SCHEMA, INDEX, INDEX_SCHEMA
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES, difficulty
from esar_ros.suites.esarbench.tasks.claims import Claim, Situation
from esar_ros.suites.esarbench.tasks.design import (
    CLASSES,
    NEAREST,
    TASKS,
    Draw,
    SnapshotDesign,
    draw_conditions,
    order_tasks,
)
from esar_ros.suites.esarbench.tasks.ground import Points, Site, resample, site
from esar_ros.suites.esarbench.tasks.prompts import write_brief
from esar_ros.suites.esarbench.tasks.staging import Stage, Staged, stage
from esar_ros.suites.esarbench.tasks.stories import Moment, load_story, story_ids

SEED = 2026
MINI = 24
T_MAX = 900.0  # s on maps of two kilometres; twice that on larger ones
_WIDE = 3000.0  # m side of a map from which on the longer time holds
FARTHEST = {"lop_nur": 1400.0}  # m from a start to the victims; elsewhere:
_FARTHEST = 820.0
_STEEPEST_FLIGHT = 220.0  # m of height between a start and a victim
_ENOUGH = 12  # take-off spots that a distance class needs
_NEAR_ENOUGH = 5.0  # m a start's distance may be off the drawn one
_CLEAR_OF_CLUES = 12.0  # m
_LINE_STEP = 20.0  # m between the stored points of a walked line
WIND: dict[Weather, tuple[float, float]] = {  # m/s, least and most
    Weather.CLEAR: (0.0, 5.0), Weather.PARTLY_CLOUDY: (0.5, 6.0), Weather.OVERCAST: (0.5, 6.0),
    Weather.LIGHT_RAIN: (1.0, 6.0), Weather.HEAVY_RAIN: (2.0, 8.0), Weather.THUNDERSTORM: (4.0, 9.0),
    Weather.LIGHT_SNOW: (0.5, 6.0), Weather.HEAVY_SNOW: (2.0, 7.0), Weather.BLIZZARD: (6.0, 10.0),
    Weather.FOG: (0.0, 3.0), Weather.DENSE_FOG: (0.0, 2.0), Weather.SANDSTORM: (6.0, 10.0), Weather.DUST: (3.0, 7.0),
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """The files of a benchmark by name, and what each task's brief claims."""

    files: dict[str, str]
    claims: dict[str, tuple[Claim, ...]]


@dataclass(frozen=True)
class _Scene:
    """A snapshot on its way to becoming tasks."""

    stage: Stage
    moment: Moment
    staged: Staged
    number: int  # 1 to 5
    site: Site
    starts: Points  # (N, 3) take-off spots that suit it
    away: Points  # (N,) m, mean distance from each to the victims

    @property
    def id(self) -> str:
        return f"{self.stage.story.id}-{self.number}"


def make(seed: int = SEED, events: Iterable[str] | None = None) -> Made:
    """Event files and index. events: of these stories alone, for looking at them. Raises UsageError."""
    stories = [load_story(id) for id in (events or story_ids())]
    stages = [stage(story, site(story.map), _seed(seed, story.id)) for story in stories]
    scenes = [_scene(stage_, number) for stage_ in stages for number in range(1, len(stage_.snapshots) + 1)]
    abstract = [_abstract(scene) for scene in scenes]
    farthest = {story.map: FARTHEST.get(story.map, _FARTHEST) for story in stories}
    draws = draw_conditions(abstract, farthest, seed)
    claims: dict[str, tuple[Claim, ...]] = {}
    events_data = {stage_.story.id: _event(stage_) for stage_ in stages}
    for index, scene in enumerate(scenes):
        snapshot = events_data[scene.stage.story.id]["snapshots"][scene.number - 1]
        snapshot["tasks"] = _tasks(scene, draws[index * TASKS : (index + 1) * TASKS], seed, claims)
    texts = {id: _layout(data) for id, data in events_data.items()}
    files = {f"{id}.json": text for id, text in texts.items()}
    files[INDEX] = _index(list(events_data.values()), texts, seed)
    return Made(files, claims)


def situation_of(event: Mapping[str, Any], task: Mapping[str, Any]) -> Situation:
    """Returns the facts that a task's brief may state, from its event file's data and the task with its things."""
    moment = datetime.fromisoformat(task["local_time"])
    return Situation(
        map=event["map"],
        day=moment.date(),
        local_time=moment,
        weather=Weather(task["weather"]),
        wind_speed=task["wind"]["speed"],
        wind_direction=task["wind"]["direction"],
        start=(task["start"]["position"][0], task["start"]["position"][1]),
        places={name: (xy[0], xy[1]) for name, xy in event["places"].items()},
        lines={name: np.array(points, dtype=np.float64) for name, points in event["lines"].items()},
        victims=tuple(task["victims"]),
        clues=tuple(task["clues"]),
    )


def _seed(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:4], "big") >> 1


def _scene(stage_: Stage, number: int) -> _Scene:
    staged, place = stage_.snapshots[number - 1], site(stage_.story.map)
    victims = np.array([place.stand(victim["position"]) for victim in staged.victims])
    clues = np.array([clue["position"] for clue in staged.clues])
    spots = place.take_off_spots
    apart = np.linalg.norm(spots[:, None, :] - victims[None], axis=2)
    clear = np.linalg.norm(spots[:, None, :2] - clues[None], axis=2).min(axis=1) >= _CLEAR_OF_CLUES
    level = np.abs(spots[:, None, 2] - victims[None, :, 2]).max(axis=1) <= _STEEPEST_FLIGHT
    fitting = clear & level & (apart.min(axis=1) >= 0.6 * NEAREST)
    moment = stage_.story.snapshots[number - 1]
    return _Scene(stage_, moment, staged, number, place, spots[fitting], apart.mean(axis=1)[fitting])


def _abstract(scene: _Scene) -> SnapshotDesign:
    story = scene.stage.story
    relief = {ClueKind.TENT.value: 1, ClueKind.CAMPFIRE.value: 2, ClueKind.SIGNAL_FLARE.value: 3}
    kinds = {clue["kind"] for clue in scene.staged.clues}
    limits = (NEAREST, *DISTANCE_QUARTILES, FARTHEST.get(story.map, _FARTHEST))
    classes = tuple(
        n for n in CLASSES if int(((scene.away > limits[n - 1]) & (scene.away <= limits[n])).sum()) >= _ENOUGH
    )
    if not classes:
        raise UsageError(f"snapshot {scene.id}: no flat ground to take off from within reach", "move the story")
    points = len(scene.staged.victims) - sum(relief.get(kind, 0) for kind in kinds)
    return SnapshotDesign(story.id, story.map, story.split == "dev", points, story.weathers, classes)


def _event(stage_: Stage) -> dict[str, Any]:
    story = stage_.story
    place = site(story.map).place
    return {
        "schema": EVENT_SCHEMA,
        "id": story.id,
        "map": story.map,
        "map_digest": place.digest,
        "split": story.split,
        "title": story.title,
        "source": story.source,
        "set_out": story.set_out.isoformat(),
        "places": {name: list(xy) for name, xy in stage_.places.items()},
        "lines": {
            name: [[round(float(x), 1), round(float(y), 1)] for x, y in resample(line, _LINE_STEP)]
            for name, line in stage_.lines.items()
        },
        "snapshots": [
            {
                "id": f"{story.id}-{number}",
                "moment": moment.moment,
                "victims": list(staged.victims),
                "clues": list(staged.clues),
                "distractors": list(staged.distractors),
            }
            for number, (moment, staged) in enumerate(zip(story.snapshots, stage_.snapshots, strict=True), 1)
        ],
    }


def _tasks(scene: _Scene, draws: list[Draw], seed: int, claims: dict[str, tuple[Claim, ...]]) -> list[dict[str, Any]]:
    """The snapshot's tasks; notes their claims by id."""
    story, tasks = scene.stage.story, []
    used: set[int] = set()
    prompts: set[str] = set()
    event = _event(scene.stage)
    for number, draw in enumerate(draws, 1):
        id = f"{scene.id}-{number:02d}"
        own = _seed(seed, id)
        rng = np.random.default_rng(own)
        start = scene.starts[_choose_start(scene, draw, used, rng)]
        minimum, maximum = WIND[draw.weather]
        local = datetime.combine(scene.moment.day, _hour(draw.light, rng))
        score, name = difficulty(
            [float(np.linalg.norm(scene.site.stand(v["position"]) - start)) for v in scene.staged.victims],
            draw.weather,
            local,
            [ClueKind(clue["kind"]) for clue in scene.staged.clues],
        )
        task: dict[str, Any] = {
            "id": id,
            "seed": own,
            "prompt": "",
            "local_time": local.isoformat(),
            "weather": draw.weather.value,
            "wind": {
                "speed": round(float(rng.uniform(minimum, maximum)), 1),
                "direction": round(float(rng.uniform(-math.pi, math.pi)), 2),
            },
            "start": {
                "position": [float(start[0]), float(start[1])],
                "yaw": round(float(rng.uniform(-math.pi, math.pi)), 2),
            },
            "t_max": T_MAX if scene.site.place.size < _WIDE else 2 * T_MAX,
            "difficulty": score,
            "tier": name,
        }
        facts = situation_of(event, task | {"victims": scene.staged.victims, "clues": scene.staged.clues})
        for attempt in range(50):
            brief = write_brief(story, scene.moment, facts, scene.site, number, own + attempt)
            if brief.text not in prompts:
                break
        prompts.add(brief.text)
        claims[id] = brief.claims
        tasks.append(task | {"prompt": brief.text})
    return tasks


def _choose_start(scene: _Scene, draw: Draw, used: set[int], rng: np.random.Generator) -> int:
    """A spot of the drawn distance, of the same class, not taken by another task of the snapshot."""
    limits = (NEAREST - _NEAR_ENOUGH, *DISTANCE_QUARTILES, math.inf)
    off = np.abs(scene.away - draw.distance)
    low, high = limits[draw.distance_class - 1], limits[draw.distance_class]
    off[(scene.away <= low + 0.2) | (scene.away > high - 0.2)] = np.inf
    off[list(used)] = np.inf
    near = np.flatnonzero(off <= max(_NEAR_ENOUGH, float(off.min())))
    chosen = int(near[int(rng.integers(len(near)))])
    used.add(chosen)
    return chosen


def _hour(light: int, rng: np.random.Generator) -> time:
    """A clock time in steps of five minutes with that many points of light."""
    spans = {0: [(85, 204)], 1: [(72, 83), (205, 216)], 2: [(217, 287), (0, 71)]}[light]  # fives since midnight
    steps = [step for low, high in spans for step in range(low, high + 1)]
    return (datetime.min + timedelta(minutes=5 * steps[int(rng.integers(len(steps)))])).time()


def _index(events: list[dict[str, Any]], texts: Mapping[str, str], seed: int) -> str:
    tasks = [
        (event, snapshot, task) for event in events for snapshot in event["snapshots"] for task in snapshot["tasks"]
    ]
    keys: list[dict[str, Hashable]] = [
        {
            "map": event["map"],
            "split": event["split"],
            "tier": task["tier"],
            "map tier": (event["map"], task["tier"]),
            "weather": task["weather"],
            "family": Weather(task["weather"]).family,
            "split tier": (event["split"], task["tier"]),
            "split family": (event["split"], Weather(task["weather"]).family),
            "event": event["id"],
            "snapshot": snapshot["id"],
        }
        for event, snapshot, task in tasks
    ]
    # A fixed shuffle, so that ties are not broken by the order of the files.
    shuffled = [int(i) for i in np.random.default_rng(seed).permutation(len(tasks))]
    maps = sorted({event["map"] for event in events})

    def slots(position: int) -> dict[str, Hashable]:
        # Maps in turn; every third task is of the dev events, which are a third.
        return {"map": maps[position % len(maps)], "split": "dev" if position % 3 == 0 else "test"}

    order = [shuffled[i] for i in order_tasks([keys[i] for i in shuffled], slots)]
    ids = [tasks[i][2]["id"] for i in order]
    mini = _mini([i for i in order if keys[i]["split"] == "dev"], keys)
    data = {
        "schema": INDEX_SCHEMA,
        "seed": seed,
        "events": {
            event["id"]: {
                "sha256": hashlib.sha256(texts[event["id"]].encode()).hexdigest(),
                "map": event["map"],
                "split": event["split"],
            }
            for event in events
        },
        "order": ids,
        "mini": [tasks[i][2]["id"] for i in mini],
    }
    return _layout(data)


def _mini(dev: list[int], keys: list[dict[str, Hashable]]) -> list[int]:
    """A few tasks that touch every map, tier, weather family and snapshot of dev, in balanced order."""
    chosen: list[int] = []
    counts: dict[tuple[str, Hashable], int] = {}
    names = ("map", "tier", "family", "map tier", "snapshot", "weather")
    while len(chosen) < min(MINI, len(dev)):
        left = [i for i in dev if i not in chosen]
        best = min(left, key=lambda i: (sum(counts.get((name, keys[i][name]), 0) for name in names), dev.index(i)))
        chosen.append(best)
        for name in names:
            counts[name, keys[best][name]] = counts.get((name, keys[best][name]), 0) + 1
    return chosen


def _layout(value: Any, depth: int = 0) -> str:
    """JSON with one line for each person, thing and task: small, and its differences can be read."""
    pad = " " * (depth + 1)
    if isinstance(value, dict) and depth <= 2:
        rows = [f"{pad}{json.dumps(key)}: {_layout(inner, depth + 1)}" for key, inner in value.items()]
        brackets = "{}"
    elif isinstance(value, list) and value and isinstance(value[0], (dict, str)) and depth <= 3:
        rows = [f"{pad}{_layout(inner, depth + 1)}" for inner in value]
        brackets = "[]"
    else:
        return json.dumps(value, ensure_ascii=False)
    text = f"{brackets[0]}\n" + ",\n".join(rows) + f"\n{pad[1:]}{brackets[1]}"
    return text if depth else text + "\n"
