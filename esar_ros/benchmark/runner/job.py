"""The plan of a benchmark as data that travels between its processes: settings, episodes, plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from esar_ros.mission.run_conditions import Conditions

OK: Final = "ok"  # status of an episode
AGENT_ERROR: Final = "agent_error"
INFRASTRUCTURE_ERROR: Final = "infrastructure_error"
SCHEMA = "esar-bench/2"


@dataclass(frozen=True)
class Settings:
    """Everything that decides a benchmark's results, and nothing else."""

    suite: str
    tasks: tuple[str, ...]  # ids, or absolute paths of task files, in the order they are flown
    digests: tuple[str, ...]  # of each task's content
    planners: tuple[str, ...]
    seeds: int  # repetitions; repetition r flies with the task's seed + r
    conditions: tuple[Conditions, ...]  # of each planner

    @property
    def hash(self) -> str:
        """Hexadecimal SHA-256 of the settings."""
        content = asdict(self) | {"conditions": [conditions.as_text for conditions in self.conditions]}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def difference(self, other: dict[str, Any]) -> str:
        """Returns the first setting that differs in a manifest's settings, in words; empty where none does."""
        own = json.loads(json.dumps(asdict(self)))
        for key in ("suite", "planners", "seeds", "tasks", "digests"):
            if own[key] != other.get(key):
                short = f"{own[key]} here, {other.get(key)} there"
                verb = "differs" if key == "suite" else "differ"
                return f"{key} {verb}" if len(short) > 120 else f"{key} {verb}: {short}"
        try:
            there = [type(self.conditions[0]).parse(one) for one in other["conditions"]]
        except (KeyError, TypeError):
            return "it does not tell all conditions that it was flown under"
        except ValueError:
            return "its conditions are not such as this version knows"
        differences = (
            (name, a.difference(b)) for name, a, b in zip(self.planners, self.conditions, there, strict=False)
        )
        return next((f"{name}, {difference}" for name, difference in differences if difference), "")


@dataclass(frozen=True)
class Job:
    """One episode to be flown, and all it needs."""

    index: int  # place in the plan
    task: str  # as load_task takes it
    task_id: str
    task_digest: str
    planner: str
    seed: int
    conditions: Conditions

    @property
    def id(self) -> str:
        """Names the episode within its benchmark."""
        return f"{self.task_id}/{self.planner}/{self.seed}"


@dataclass(frozen=True)
class Plan:
    """A benchmark's settings and its episodes."""

    settings: Settings
    jobs: tuple[Job, ...]
    test_tasks: int  # how many of the tasks are of the test split
    time_limits: Mapping[str, float]  # s of mission time, by Job.task
    at_once: int | None = None  # most episodes at a time; None: any number

    @property
    def max_time_limit(self) -> float:
        """The longest time limit of a task, s."""
        return max(self.time_limits.values())
