"""The cost of a run is told before it is flown: all of it at first, what is left of it later."""

from __future__ import annotations

from pathlib import Path

import methods

from esar_ros.benchmark.runner.seal import sealed_line
from esar_ros.benchmark.runner.store import EPISODE_SCHEMA, EPISODES
from esar_ros.mission.task import load_task
from esar_ros.suites.esarbench.tasks.sets import task_set


def test_what_is_left_is_told(tmp_path: Path) -> None:
    run = methods.RUNS["reading"]
    ((tasks, limit, planners),) = run.parts
    ids, names = task_set(tasks)[:limit], planners.split(",")
    assert len(ids) == 8 and names == ["belief", "greedy@brief", "greedy", "oracle"] and run.against == "belief"
    hours = len(names) * sum(load_task(task).t_max for task in ids) / 3600.0
    assert methods.cost(run, tmp_path).startswith(f"32 of 32 episodes left: at most {hours:.1f} h flown, ")
    (tmp_path / "part-1").mkdir()
    lines = [
        {
            "schema": EPISODE_SCHEMA,
            "id": name,
            "index": n,
            "planner": name,
            "job": {"task": ids[0]},
            "timing": {"simulated": 100.0, "cpu": 50.0},
        }
        for n, name in enumerate(names)
    ]
    (tmp_path / "part-1" / EPISODES).write_bytes(b"".join(map(sealed_line, lines)))
    left = hours - len(names) * load_task(ids[0]).t_max / 3600.0
    assert methods.cost(run, tmp_path) == (
        f"28 of 32 episodes left: at most {left:.1f} h flown, {0.5 * left:.1f} h CPU"
    ), "at the rate of those that were flown"


def test_every_run_has_its_cost(tmp_path: Path) -> None:
    for name, run in methods.RUNS.items():
        if run.prepare is None and name != "oracle":
            assert float(methods.cost(run, tmp_path).partition(" h CPU")[0].split()[-1]) > 0.0
