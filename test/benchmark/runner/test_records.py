"""Records of episodes: one model, from what was flown to what is read again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.runner.job import Settings
from esar_ros.benchmark.runner.records import check_suite, make_record, read_episodes, suite_of
from esar_ros.benchmark.runner.store import MANIFEST, Store
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.scoring.result import Result
from esar_ros.suites.rescuebench.conditions import RescueConditions
from helpers.bench_maker import TOLD, make_bench, write_lines
from helpers.light_episode import light_plan, record


def test_what_is_recorded_is_read_again_as_it_was(tmp_path: Path) -> None:
    plan = light_plan(1)
    made = make_record(plan.jobs[0], record("ok", None, 7), 2, plan.settings.hash)
    store = Store(tmp_path, plan.settings)
    store.append(made.model_dump(mode="json", by_alias=True))
    store.close()
    (again,) = read_episodes(tmp_path, dict)
    assert again.model_dump() == made.model_dump()
    assert again.conditions_as(RunConditions, "here") == plan.jobs[0].conditions


def test_a_result_has_the_numbers_of_its_file(tmp_path: Path) -> None:
    (line,) = make_bench(tmp_path, {"fbe": 0.5}, events=1, snapshots=1, tasks=1)
    (read,) = read_episodes(tmp_path, Result)
    exact = read.result.model_copy(update={"metrics": read.result.metrics.model_copy(update={"rs": 1.0 / 3.0})})
    assert exact.model_dump(mode="json")["metrics"]["rs"] == json.loads(exact.dump())["metrics"]["rs"] == 0.333333
    assert read.result.model_dump(mode="json", by_alias=True) == line["result"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "lost"}, "key status: "),
        ({"seed": "many"}, "key seed: "),
        ({"result": {}}, "key result.schema: "),
        ({"moon": "full"}, "key moon: "),
        ({"timing": {"wall": 1.0}}, "key timing.cpu: "),
    ],
)
def test_what_no_record_holds_is_one_line(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5}, events=1, snapshots=1, tasks=1)
    write_lines(tmp_path, [lines[0] | changes])
    with pytest.raises(UsageError) as refused:
        read_episodes(tmp_path, Result)
    words = str(refused.value)
    assert f"episode {lines[0]['id']}: {told}" in words and "\n" not in words and words.endswith("esar-episode/1")


def test_conditions_of_another_version_are_one_line(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5}, events=1, snapshots=1, tasks=1)
    write_lines(tmp_path, [lines[0] | {"conditions": asdict(TOLD) | {"moon": "full"}}])
    (read,) = read_episodes(tmp_path, Result)
    with pytest.raises(UsageError, match=r"^here: conditions that this version does not know"):
        read.conditions_as(RunConditions, "here")


def test_a_manifest_s_conditions_that_this_version_does_not_know_differ() -> None:
    settings = Settings("rescuebench", ("t",), ("d",), ("random",), 1, (RescueConditions(),))
    manifest = json.loads(json.dumps(asdict(settings)))
    assert settings.difference(manifest) == ""
    manifest["conditions"][0]["rules"] = "code-2"
    assert settings.difference(manifest) == "its conditions are not such as this version knows"


def test_a_run_is_of_the_suite_that_its_manifest_names(tmp_path: Path) -> None:
    make_bench(tmp_path, {"fbe": 0.5}, events=1, snapshots=1, tasks=1)
    assert suite_of([tmp_path]) == "esarbench"
    with pytest.raises(UsageError, match="is a benchmark of suite esarbench, not of chess: look elsewhere"):
        check_suite(tmp_path, "chess", "look elsewhere")
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    del manifest["settings"]["suite"]
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="names no suite"):
        suite_of([tmp_path])
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(UsageError, match="no esar-bench/2 manifest"):
        suite_of([tmp_path])
