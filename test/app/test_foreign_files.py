"""Files that somebody else wrote: whatever is in them, one line says so, and at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.checks.files import examine_path
from esar_ros.bags.files import open_bag
from esar_ros.benchmark.report.bench_results import Reader, read_bench
from esar_ros.benchmark.runner.records import read_episodes, suite_of
from esar_ros.benchmark.runner.store import read_manifest
from esar_ros.faults.schedule import load_schedule
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import read_yaml
from esar_ros.mission.task import load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.graph.parameter_file import read_parameter_file
from esar_ros.perception.detectors.model_card import load_card
from esar_ros.planning.model.log import Replay
from esar_ros.safety.conditions import load_keep_out
from esar_ros.scoring.result import parse_result
from esar_ros.scoring.truth import parse_truth
from esar_ros.sim.airsim_api.settings_reader import load_settings
from esar_ros.sim.terrain.map_spec import parse_spec

DIGITS = "9" * 6000
BRACKETS = "[" * 5000 + "]" * 5000
BRACES = '{"a":' * 5000 + "1" + "}" * 5000
JSON = {
    "digits": f'{{"schema": {DIGITS}}}',
    "brackets": BRACKETS,
    "braces": BRACES,
    "cut": "[" * 5000,
    "bytes": "\x80\xff",
}
ALIASES = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
YAML = JSON | {
    "aliases": f"a0: &a0 [1]\n{ALIASES}",
    "circle": "a: &a [*a]",
    "date": "schema: 2024-13-45",
    "no number": "schema: !!int ''",
    "no truth value": "schema: !!bool maybe",
    "no date": "schema: !!timestamp soon",
    "key": "? [1, 2]\n: 3",
    "code": "schema: !!python/object/apply:os.system [ls]",
}


def text_of(parse: Callable[[str, str], Any]) -> Callable[[Path], Any]:
    return lambda path: parse(path.read_text(encoding="latin-1"), str(path))


def bench(path: Path) -> Any:
    path.rename(path.with_name("episodes.jsonl"))
    return read_bench([path.parent], Reader(dict, lambda *_: pytest.fail("it was taken for an episode")))


def manifest(path: Path) -> Any:
    path.rename(path.with_name("bench.json"))
    return suite_of([path.parent])


def episodes(path: Path) -> Any:
    with path.open("a") as file:
        file.write("\n{}\n")
    path.rename(path.with_name("episodes.jsonl"))
    return read_episodes(path.parent, dict)


def metadata(path: Path) -> Any:
    path.rename(path.with_name("metadata.yaml"))
    with open_bag(path.parent):
        pass


JSON_READERS: dict[str, Callable[[Path], Any]] = {
    "task": lambda path: load_task(str(path)),
    "card": load_card,
    "simulator's settings": lambda path: load_settings(path, load_vehicle()),
    "log of a model": Replay,
    "result": text_of(parse_result),
    "truth": text_of(parse_truth),
    "manifest": read_manifest,
    "suite": manifest,
    "benchmark": bench,
    "episodes": episodes,
}
YAML_READERS: dict[str, Callable[[Path], Any]] = {
    "any": lambda path: read_yaml(path, "file"),
    "parameters": read_parameter_file,
    "faults": load_schedule,
    "zones": load_keep_out,
    "thresholds": load_thresholds,
    "map": lambda path: parse_spec(path.read_bytes(), str(path)),
    "bag": metadata,
}


def refused(read: Callable[[Path], Any], path: Path, content: str) -> str:
    path.write_text(content, encoding="latin-1")
    began = time.process_time()
    with pytest.raises(UsageError) as refusal:
        read(path)
    assert time.process_time() - began < 5.0
    return str(refusal.value)


@pytest.mark.parametrize("content", JSON)
@pytest.mark.parametrize("reader", JSON_READERS)
def test_json_that_makes_no_sense_is_one_line(tmp_path: Path, reader: str, content: str) -> None:
    line = refused(JSON_READERS[reader], tmp_path / "file.json", JSON[content])
    assert str(tmp_path) in line and "\n" not in line and len(line) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("content", YAML)
@pytest.mark.parametrize("reader", YAML_READERS)
def test_yaml_that_makes_no_sense_is_one_line(tmp_path: Path, reader: str, content: str) -> None:
    line = refused(YAML_READERS[reader], tmp_path / "file.yaml", YAML[content])
    assert str(tmp_path) in line and "\n" not in line and len(line) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    "line",
    [lambda n: f"{{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}", lambda n: f"{{<<: *a{n - 1}, <<: *a{n - 1}}}"],
    ids=["list", "twice"],
)
def test_merged_mappings_do_not_multiply(tmp_path: Path, line: Callable[[int], str]) -> None:
    content = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {line(n)}\n" for n in range(1, 7))
    assert "line 2" in refused(YAML_READERS["any"], tmp_path / "file.yaml", content)


def test_a_chain_of_merges_ends(tmp_path: Path) -> None:
    content = "a0: &a0 {x0: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, x{n}: 1}}\n" for n in range(1, 1500))
    assert "merge to more than" in refused(YAML_READERS["any"], tmp_path / "file.yaml", content)


@pytest.mark.parametrize("content", JSON)
def test_the_doctor_tells_of_results_that_are_no_json(tmp_path: Path, content: str) -> None:
    (tmp_path / "bench.json").write_text(JSON[content], encoding="latin-1")
    (tmp_path / "episodes.jsonl").write_text(JSON[content].encode("ascii", "replace").decode() + "\n", encoding="utf-8")
    checks = {check.name: check for check in examine_path(tmp_path)}
    assert not checks["finite numbers"].ok and "document 1 is no JSON" in checks["finite numbers"].detail
    assert not checks["episodes"].ok
