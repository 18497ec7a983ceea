"""Proof of made tasks: every brief's claims against the task as it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from esar_ros.mission.task_files import INDEX, event_tasks
from esar_ros.suites.esarbench.tasks.checker import faults
from esar_ros.suites.esarbench.tasks.generator import Made, situation_of
from esar_ros.suites.esarbench.tasks.stories import load_story
from esar_ros.suites.esarbench.tasks.validation import ground_of


def unproved(made: Made) -> list[str]:
    """Faults of all briefs, one line each with the task's id; empty when every statement holds."""
    return [
        f"{id}: {fault}"
        for event, id, task in _tasks(made)
        for fault in faults(
            task["prompt"],
            made.claims[id],
            situation_of(event, task),
            ground_of(event["map"]),
            list(load_story(event["id"]).labels.values()),
        )
    ]


def _tasks(made: Made) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    for name, text in made.files.items():
        if name != INDEX:
            event = json.loads(text)
            for id, task in event_tasks(event).items():
                yield event, id, task
