"""Named sets of tasks in the fixed order in which they are run."""

from __future__ import annotations

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.task_files import benchmark_index, demo_tasks

SETS: tuple[str, ...] = ("all", "dev", "test", "mini", "demo")


def task_set(name: str) -> tuple[str, ...]:
    """Ids of a set, in stratified order: every prefix is balanced over maps, tiers and weathers.

    all: 600 tasks; dev: one event a map (200), for tuning; test: the other eight events (400); mini: 24 of dev that
    touch every map, weather family and tier; demo: short tasks to look at. Raises UsageError.
    """
    if name == "demo":
        return tuple(demo_tasks())
    if name not in SETS:
        raise UsageError(f"unknown task set '{name}'", suggest(name, SETS))
    index = benchmark_index()
    if name == "mini":
        return tuple(index["mini"])
    split = {event: entry["split"] for event, entry in index["events"].items()}
    return tuple(id for id in index["order"] if name in ("all", split[id.rsplit("-", 2)[0]]))
