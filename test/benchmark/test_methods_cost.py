"""The cost of a run of methods is told before it is flown, and its parts stand in one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import methods
import pytest

from esar_ros.benchmark.report.bench_results import read_bench
from esar_ros.benchmark.report.comparison import make_report
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import load_task
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks.sets import task_set
from helpers.bench_maker import TOLD, make_bench, write_lines


def test_what_is_left_is_told(tmp_path: Path) -> None:
    run = methods.RUNS["table"]
    assert run.prepare is not None and run.against == "belief"
    run.prepare(tmp_path)
    (file, first, planners), (_, more, asking) = run.parts
    tasks, names = task_set("test")[12:52], planners.split(",")
    assert first == more == 40 and (tmp_path / file).read_text().split() == list(tasks)
    assert len({*names} | {*asking.split(",")}) == 14 and {"belief", "greedy@brief", "oracle"} <= {*names}
    hours = 14 * sum(load_task(task).t_max for task in tasks) / 3600.0
    told = methods.cost("table", tmp_path)
    assert told.startswith(f"560 of 560 episodes left: at most {hours:.1f} h flown, ") and "tokens read" not in told
    lines = make_bench(tmp_path / "table-1", dict.fromkeys(names, 0.5), events=1, snapshots=1, tasks=1)
    timing = lines[0]["timing"] | {"simulated": 100.0, "cpu": 50.0}
    write_lines(tmp_path / "table-1", [line | {"job": {"task": tasks[0]}, "timing": timing} for line in lines])
    left = hours - len(names) * load_task(tasks[0]).t_max / 3600.0
    assert methods.cost("table", tmp_path) == (
        f"551 of 560 episodes left: at most {left:.1f} h flown, {0.5 * left:.1f} h CPU"
    ), "at the rate of those that were flown"


def test_every_run_has_its_cost(tmp_path: Path) -> None:
    for name, run in methods.RUNS.items():
        if run.prepare is None and name != "oracle":
            assert float(methods.cost(name, tmp_path).partition(" h CPU")[0].split()[-1]) > 0.0


def test_parts_of_a_run_stand_in_one_table_and_nothing_else_does(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    flown = make_bench(folders[0], {"belief": 0.9, "fbe": 0.2}, events=1, conditions=replace(TOLD, tasks="4, aa"))
    done = {line["task"] for line in flown}
    for world, allowed in ((TOLD.world, True), ("elsewhere", False)):
        lines = make_bench(folders[1], {"belief": 0.9}, conditions=replace(TOLD, tasks="8, bb", world=world))
        write_lines(folders[1], [line for line in lines if line["task"] not in done])
        bench = read_bench(folders, ESARBENCH.reader())
        with pytest.raises(UsageError, match=r"tasks|world"):
            make_report(bench, ESARBENCH.layout(), "belief")
        if not allowed:
            with pytest.raises(UsageError, match="world"):
                make_report(methods.together(bench), ESARBENCH.layout(), "belief")
            continue
        report = make_report(methods.together(bench), ESARBENCH.layout(), "belief")
        assert {method.name: method.tasks for method in report.methods} == {"belief": 12, "fbe": 4}
