"""A second generator of tasks: incidents lived through by simulated people, independent of the benchmark's stories.

`python -m esar_ros.suites.esarbench.incidents.generator --out DIR [--count N] [--seed S] [--maps a,b]` writes tasks and
a list of them for `esar bench --tasks DIR/tasks.txt`. People set out along a track, lose it by some mechanism, walk,
tire, stop; what they drop lies where they were, and the brief says what others know of it. No figure of such tasks
stands beside those of the benchmark: they ask whether a search holds where its tasks were made otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from esar_ros.mission.errors import UsageError, seed_number
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.task import Ground, PlacedClue, Start, Task, Victim
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.scoring.difficulty import difficulty, light_points
from esar_ros.sim.catalogue import variants
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.incidents.brief import Known, name_people, tell
from esar_ros.suites.esarbench.incidents.course import Country, country_of, live_through
from esar_ros.suites.esarbench.incidents.scene import (
    distances,
    draw_distractors,
    draw_look,
    draw_start,
    draw_times,
    draw_wind,
    draw_yaw,
    resting_places,
)
from esar_ros.suites.esarbench.incidents.things import Left, leave_things, pack
from esar_ros.suites.esarbench.incidents.walk import Points
from esar_ros.suites.esarbench.tasks.files import exit_status, write_tasks

_CLUES = (3, 12)
_ATTEMPTS = 200
_WIDE = 2500.0  # m: maps beyond take longer to search
_TIME, _TIME_WIDE = 600.0, 900.0  # s
_SKIES = {
    Country.HILLS: "clear partly_cloudy overcast light_rain heavy_rain thunderstorm light_snow fog dense_fog",
    Country.DESERT: "clear clear partly_cloudy overcast dust sandstorm",
    Country.SUMMIT: "clear partly_cloudy overcast light_snow heavy_snow blizzard fog",
    Country.COAST: "clear partly_cloudy overcast light_rain heavy_rain thunderstorm fog",
}


def make_tasks(count: int, seed: int, maps: Sequence[str]) -> Iterator[Task]:
    """Tasks over the maps in turn; the same for the same arguments. Raises UsageError."""
    worlds: dict[str, World] = {}
    for number in range(count):
        id = maps[number % len(maps)]
        if id not in worlds:
            worlds[id] = World(load_map(id), seed=0)
        yield make_task(worlds[id], seed, number)


def make_task(world: World, seed: int, number: int) -> Task:
    """One incident as a task. Raises UsageError where the map gives none."""
    id = f"incident-{seed}-{number:03d}-{world.place.id}".replace("_", "-")
    for attempt in range(_ATTEMPTS):
        task = _attempt(world, id, np.random.default_rng([seed, number, attempt]))
        if task is not None:
            return task
    raise UsageError(f"map {world.place.id} gives no incident with a place to start from", "choose another map")


def _attempt(world: World, id: str, random: np.random.Generator) -> Task | None:
    """The task of an incident that leaves people, clues and a start where such lie; None of one that does not."""
    place = world.place
    skies = _SKIES[country_of(place)].split()
    weather_then = Weather(str(random.choice(skies)))
    weather = weather_then if random.random() < 0.5 else Weather(str(random.choice(skies)))
    incident = live_through(place, weather_then, random)
    people = None if incident is None else resting_places(incident, random)
    start = None if incident is None or people is None else draw_start(world, incident, people, random)
    if incident is None or people is None or start is None:
        return None

    snows = WeatherFamily.SNOW in (weather_then.family, weather.family)
    times, kit = draw_times(incident, snows, random), pack(incident, random)
    left = leave_things(incident, kit, people, light_points(times.search) == 2, times.waited, random)
    if not _CLUES[0] <= len(left) <= _CLUES[1]:
        return None
    states = [state for state, size in zip(incident.states, incident.sizes, strict=True) for _ in range(size)]
    looks = [draw_look(place, at, state, random) for at, state in zip(people, states, strict=True)]
    persons = name_people(incident, [look.colour for look in looks], random)
    known = Known(incident, kit, persons, start, times.set_out, times.search, weather_then, weather)
    score, tier = difficulty(distances(place, start, people), weather, times.search, [thing.kind for thing in left])
    taken = [start, *people, *(thing.at for thing in left)]
    return Task(
        schema="esar-task/1",
        id=id,
        map=place.id,
        event=f"{incident.kind}-{incident.mechanism}",
        snapshot="searched",
        split="test",
        seed=int(random.integers(2**31)),
        prompt=tell(known, random),
        local_time=times.search,
        weather=weather,
        wind=draw_wind(weather, random),
        start=Start(position=_ground(start), yaw=draw_yaw(random)),
        t_max=_TIME_WIDE if place.size > _WIDE else _TIME,
        victims=tuple(
            Victim(
                id=f"victim_{number}",
                name=person.name,
                position=_ground(at),
                yaw=draw_yaw(random),
                pose=look.pose,
                variant=look.variant,
            )
            for number, (person, at, look) in enumerate(zip(persons, people, looks, strict=True), 1)
        ),
        clues=tuple(_clue(number, thing) for number, thing in enumerate(left, 1)),
        distractors=draw_distractors(incident, start, taken, random),
        difficulty=score,
        tier=tier,
    )


def _clue(number: int, thing: Left) -> PlacedClue:
    described = next(entry.description for entry in variants(thing.kind.value) if entry.variant == thing.variant)
    return PlacedClue(
        id=f"clue_{number}",
        kind=thing.kind,
        description=described,
        position=_ground(thing.at),
        yaw=round(thing.yaw, 3),
        variant=thing.variant,
    )


def _ground(at: Points) -> Ground:
    return round(float(at[0]), 2), round(float(at[1]), 2)


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--maps", default=",".join(shipped_maps()), help="ids with commas, taken in turn")
    arguments = parser.parse_args()

    def write() -> list[Path]:
        if arguments.count < 1:
            raise UsageError(f"--count {arguments.count}", "give 1 or more")
        return write_tasks(make_tasks(arguments.count, arguments.seed, arguments.maps.split(",")), arguments.out)

    return exit_status(write, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
