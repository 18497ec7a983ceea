"""The bench command's words, its refusals in one line, reruns, and the count of test runs."""

from __future__ import annotations

import argparse
import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.app import rerun
from esar_ros.app.bench import BenchLine, main, span, time_range, words
from esar_ros.app.mission import add_arguments
from esar_ros.benchmark.runner import log
from esar_ros.benchmark.runner.job import Plan
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.benchmark.runner.records import read_episodes
from esar_ros.benchmark.runner.run import Progress
from esar_ros.benchmark.runner.store import EPISODES, Store
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.scoring.result import Result
from esar_ros.suites import find_suite
from esar_ros.suites.esarbench.suite import ESARBENCH
from helpers.bench_maker import TOLD, make_bench


def make_plan(tasks: tuple[str, ...], planners: tuple[str, ...], seeds: int = 1, **options: str) -> Plan:
    return ESARBENCH.plan(tasks, planners, seeds, options)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--tasks", "nonsense"], "nonsense"),
        (["--tasks", ""], "names no task"),
        (["--tasks", "aotai-first,aotai-first"], "named twice"),
        (["--tasks", "aotai-first", "--planners", "pigeon"], "pigeon"),
        (["--tasks", "aotai-first", "--planners", "fbe,fbe"], "different methods"),
        (["--tasks", "aotai-first", "--seeds", "0"], "--seeds 0"),
        (["--tasks", "aotai-first", "--limit", "0"], "--limit 0"),
        (["--tasks", "aotai-first", "--workers", "-1"], "--workers -1"),
        (["--tasks", "aotai-first", "--timeout", "nan", "--limit", "0"], "--timeout nan"),
        (["--tasks", "aotai-first", "--timeout", "-5", "--limit", "0"], "--timeout -5"),
        (["--tasks", "aotai-first", "--detector", "eagle"], "eagle"),
        (["--tasks", "aotai-first", "--preset", "huge"], "--preset"),
        (["--tasks", "aotai-first", "--out", "/proc/nowhere"], "cannot write"),
    ],
)
def test_bad_usage_is_told_in_one_line(flags: list[str], told: str, tmp_path: Path) -> None:
    out = [] if "--out" in flags else ["--out", str(tmp_path / "out")]
    with pytest.raises(UsageError, match=told) as error:
        main([*flags, *out])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out" / EPISODES).exists()


def test_unknown_suites_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown suite 'chess': known: esarbench"):
        main(["--suite", "chess", "--tasks", "aotai-first", "--out", str(tmp_path)])


def test_a_folder_of_another_suite_or_schema_is_refused(tmp_path: Path) -> None:
    settings = make_plan(("aotai-first",), ("fbe",)).settings
    Store(tmp_path, settings).close()
    path = tmp_path / "bench.json"
    manifest = json.loads(path.read_text())
    with pytest.raises(UsageError, match="seeds differ"):
        Store(tmp_path, make_plan(("aotai-first",), ("fbe",), 2).settings)
    path.write_text(json.dumps(manifest | {"settings": manifest["settings"] | {"suite": "chess"}}))
    with pytest.raises(UsageError, match="suite differs: esarbench here, chess there"):
        Store(tmp_path, settings)
    path.write_text(json.dumps(manifest | {"schema": "esar-bench/1"}))
    with pytest.raises(UsageError, match="no esar-bench/2 manifest"):
        Store(tmp_path, settings)


@pytest.mark.parametrize("suite", ["esarbench", "rescuebench"])
def test_planners_are_listed_one_a_line_with_what_they_lack(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    asking, alone = {"esarbench": ("apex", "fbe"), "rescuebench": ("llm_yolo", "frontier")}[suite]
    for name in ("URL", "NAME", "PRESET", "REPLAY"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    assert main(["--suite", suite, "--list-planners"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert list(lines) == list(find_suite(suite).planners)
    assert lines[alone] == alone and "not here: " in lines[asking] and "ESAR_MODEL_URL" in lines[asking]
    monkeypatch.setenv("ESAR_MODEL_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("ESAR_MODEL_NAME", "mine")
    assert main(["--suite", suite, "--list-planners"]) == 0
    assert asking in capsys.readouterr().out.splitlines()


def test_tasks_come_from_lists_files_and_ids(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("# comment\naotai-first\n\n  aotai-second \n")
    assert choose_tasks(ESARBENCH, str(listed)) == ("aotai-first", "aotai-second")
    assert choose_tasks(ESARBENCH, "aotai-second, aotai-first") == ("aotai-second", "aotai-first")
    assert choose_tasks(ESARBENCH, "aotai-second,aotai-first", 1) == ("aotai-second",)
    sets = [ESARBENCH.task_set(name) for name in ("mini", "test")]
    both = choose_tasks(ESARBENCH, "mini,test")
    assert both[:4] == (sets[0][0], sets[1][0], sets[0][1], sets[1][1]) and sorted(both) == sorted([*sets[0], *sets[1]])
    many = tuple(f"aotai-wu-1-{number:02}" for number in range(60))
    assert choose_tasks(ESARBENCH, ",".join(many)) == many, "longer than a file's name may be"
    file = resource("config/tasks") / "aotai-first.json"
    assert choose_tasks(ESARBENCH, str(file)) == (str(file.resolve()),)


def test_every_method_flies_a_task_before_the_next_and_seeds_count_from_the_tasks_own() -> None:
    plan = make_plan(("aotai-first", "aotai-second"), ("fbe", "zigzag"), 2)
    own = {job.task: job.seed for job in plan.jobs[:4]}
    assert [(job.task, job.planner, job.seed - own[job.task]) for job in plan.jobs] == [
        (task, planner, repetition)
        for repetition in (0, 1)
        for task in ("aotai-first", "aotai-second")
        for planner in ("fbe", "zigzag")
    ]
    assert [job.index for job in plan.jobs] == list(range(8))


def test_the_hash_follows_everything_that_decides_results(tmp_path: Path) -> None:
    base = make_plan(("aotai-first",), ("fbe",)).settings.hash
    assert make_plan(("aotai-first",), ("fbe",)).settings.hash == base
    others = [
        make_plan(("aotai-second",), ("fbe",)),
        make_plan(("aotai-first",), ("zigzag",)),
        make_plan(("aotai-first",), ("fbe",), 2),
        make_plan(("aotai-first",), ("fbe",), preset="fast"),
        make_plan(("aotai-first",), ("fbe",), governor="off"),
        make_plan(("aotai-first",), ("fbe",), odometry="true"),
    ]
    task = json.loads((resource("config/tasks") / "aotai-first.json").read_text())
    file = tmp_path / "t.json"
    for t_max in (100.0, 101.0):
        file.write_text(json.dumps(task | {"t_max": t_max}))
        others.append(make_plan((str(file),), ("fbe",)))
    assert len({base, *(plan.settings.hash for plan in others)}) == 9


def changed_file(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, change: Callable[[dict[str, Any]], None], *readers: str
) -> None:
    """Let the modules read a changed copy of a settings file."""
    content = yaml.safe_load(resource(f"config/{name}").read_text())
    change(content)
    copy = folder / name
    copy.write_text(yaml.safe_dump(content))
    for module in readers:
        monkeypatch.setattr(f"{module}.resource", lambda path: copy if path == f"config/{name}" else resource(path))


def set_in(section: str, key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        (content.setdefault(section, {}) if section else content)[key] = value

    return change


OTHER_SETTINGS = {  # what differs, and how: file, section, key, value, the modules that read it
    "planner settings": ("planners.yaml", "belief", "cell", 17.0, "esar_ros.planning.parameters"),
    "thresholds": ("thresholds.yaml", "", "error_threshold", 20.0, "esar_ros.mission.thresholds"),
    "safety": ("safety.yaml", "", "odometry_age", 0.123, "esar_ros.safety.limits"),
    "pilot": ("pilot.yaml", "", "speed", 4.5, "esar_ros.flight.limits"),
    "detector settings": ("detector.yaml", "fusion", "gate", 12.0, "esar_ros.perception.settings"),
    "judge settings": ("synonyms.yaml", "", "similarity", 0.9, "esar_ros.benchmark.engine.conditions"),
}


@pytest.mark.parametrize("what", OTHER_SETTINGS)
def test_a_benchmark_does_not_go_on_with_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    file, section, key, value, reader = OTHER_SETTINGS[what]
    plan = make_plan(("aotai-first",), ("belief",))
    Store(tmp_path, plan.settings).close()
    Store(tmp_path, make_plan(("aotai-first",), ("belief",)).settings).close()
    changed_file(monkeypatch, tmp_path, file, set_in(section, key, value), reader)
    other = make_plan(("aotai-first",), ("belief",)).settings
    assert other.hash != plan.settings.hash
    with pytest.raises(UsageError, match=f"belief, {what}: .* here, .* there.*choose another --out") as refused:
        Store(tmp_path, other)
    assert "\n" not in str(refused.value)


def test_another_method_s_settings_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_plan(("aotai-first",), ("zigzag",)).settings.hash
    changed_file(monkeypatch, tmp_path, "planners.yaml", set_in("belief", "cell", 17.0), "esar_ros.planning.parameters")
    assert make_plan(("aotai-first",), ("zigzag",)).settings.hash == base


def test_another_language_model_or_way_of_asking_is_another_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MODEL_URL", "http://localhost:1/v1")
    monkeypatch.setenv("ESAR_MODEL_NAME", "one")
    settings = make_plan(("aotai-first",), ("apex",)).settings
    Store(tmp_path, settings).close()
    monkeypatch.setenv("ESAR_MODEL_URL", "http://elsewhere:1/v1")
    monkeypatch.setenv("ESAR_MODEL_LOG", str(tmp_path / "log"))
    assert make_plan(("aotai-first",), ("apex",)).settings.hash == settings.hash, "where it answers does not matter"
    monkeypatch.setenv("ESAR_MODEL_NAME", "two")
    with pytest.raises(UsageError, match=r"apex, model: model two, .* here, model one, .* there"):
        Store(tmp_path, make_plan(("aotai-first",), ("apex",)).settings)
    monkeypatch.setenv("ESAR_MODEL_NAME", "one")
    monkeypatch.setenv("ESAR_MODEL_CLOCK", "running")
    assert make_plan(("aotai-first",), ("apex",)).settings.hash != settings.hash


def test_another_network_is_another_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = {"backend": "esar_yolo", "digest": "a"}
    monkeypatch.setattr("esar_ros.benchmark.engine.conditions.about_chosen", lambda choice: network)
    Store(tmp_path, make_plan(("aotai-first",), ("fbe",)).settings).close()
    Store(tmp_path, make_plan(("aotai-first",), ("fbe",)).settings).close()
    network["digest"] = "b"
    with pytest.raises(UsageError, match="fbe, detector settings: "):
        Store(tmp_path, make_plan(("aotai-first",), ("fbe",)).settings)


def test_a_folder_that_tells_no_conditions_is_not_gone_on_with(tmp_path: Path) -> None:
    settings = make_plan(("aotai-first",), ("fbe",)).settings
    Store(tmp_path, settings).close()
    manifest = json.loads((tmp_path / "bench.json").read_text())
    del manifest["settings"]["conditions"]
    (tmp_path / "bench.json").write_text(json.dumps(manifest | {"settings_hash": "of another version"}))
    with pytest.raises(UsageError, match=r"does not tell all conditions .*choose another --out"):
        Store(tmp_path, settings)


def test_progress_in_words() -> None:
    progress = Progress(total=96, done=12, errors=1, flown=10, seconds=600.0, left=(4800.0, 5280.0))
    assert words(progress) == "  12 of 96 episodes, 60.0 an hour, 1 h 24 min left, 1 with errors"
    assert [time_range(*ends) for ends in ((540.0, 1380.0), (5000.0, 9000.0), (20.0, 50.0))] == [
        "9 to 23 min",
        "1.4 to 2.5 h",
        "35 s",
    ]
    assert words(Progress(3, 0)) == "  0 of 3 episodes"
    assert words(Progress(3, 1, note="the disk is full")).endswith("the disk is full")
    assert [span(s) for s in (5.2, 65.0, 3600.0)] == ["5 s", "1 min 5 s", "1 h 0 min"]
    stream = io.StringIO()
    line = BenchLine(stream)
    for done in (0, 0, 1, 2, 3):
        line.show(Progress(3, done))
    assert stream.getvalue().splitlines() == ["  0 of 3 episodes", "  3 of 3 episodes"], (
        "no flood where it is no terminal"
    )


def test_runs_on_the_test_split_are_logged_once_each(tmp_path: Path) -> None:
    settings = make_plan(("aotai-first",), ("fbe",)).settings
    other = make_plan(("aotai-first",), ("zigzag",)).settings
    assert log.log_test_run(Plan(settings, (), 0, {}), tmp_path / "a", settings.hash) is None
    assert not log.state_directory().exists()
    plan = Plan(settings, (), 5, {})
    (tmp_path / "a").mkdir()
    assert log.log_test_run(plan, tmp_path / "a", settings.hash) == 1
    assert log.log_test_run(plan, tmp_path / "a", settings.hash) == 1, "going on is no new run"
    assert log.log_test_run(plan, tmp_path / "b", settings.hash) == 2
    assert log.log_test_run(Plan(other, (), 5, {}), tmp_path / "c", other.hash) == 3
    entries = [json.loads(line) for line in (log.state_directory() / log.LOG).read_text().splitlines()]
    assert [entry["count"] for entry in entries] == [1, 2, 3]
    assert entries[2]["planners"] == ["zigzag"] and entries[0]["test_tasks"] == 5


# -- reruns -----------------------------------------------------------------------------------------


def parsed(*flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(flags)


@pytest.fixture
def flown(tmp_path: Path) -> Path:
    """A benchmark's folder with one episode."""
    told = replace(TOLD, preset="fast", governor=False)
    make_bench(tmp_path / "bench", {"zigzag": 0.5}, events=1, snapshots=1, tasks=1, conditions=told)
    return tmp_path / "bench"


def test_a_rerun_takes_every_choice_from_the_record(flown: Path) -> None:
    episode = json.loads((flown / EPISODES).read_text())["id"]
    arguments = parsed("--rerun", episode, "--from", str(flown), "--planner", "fbe")
    record = rerun.adopt(arguments)
    assert record is not None
    assert (arguments.task, arguments.planner, arguments.preset) == ("e0-s0-t0", "zigzag", "fast")
    assert (arguments.governor, arguments.odometry, arguments.seed) == ("off", "noisy", record.seed)
    assert rerun.adopt(parsed()) is None


def test_bad_reruns_are_told(flown: Path) -> None:
    for flags, told in (
        (("--rerun", "x/y/1"), "--from DIR"),
        (("--from", str(flown)), "--rerun"),
        (("--rerun", "x/y/1", "--from", str(flown)), "no episode"),
        (("--rerun", "x/y/1", "--from", str(flown / "nowhere")), "manifest"),
    ):
        with pytest.raises(UsageError, match=told):
            rerun.adopt(parsed(*flags))


def test_a_choice_beside_a_rerun_is_refused(flown: Path) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    default = {name: parser.get_default(name) for name in rerun.DECIDED}
    episode = json.loads((flown / EPISODES).read_text())["id"]
    for flag, value in (("planner", "fbe"), ("seed", "77"), ("vehicles", "2"), ("governor", "off")):
        arguments = parser.parse_args(["--rerun", episode, "--from", str(flown), f"--{flag}", value])
        with pytest.raises(UsageError, match=f"--{flag} and --rerun"):
            rerun.adopt(arguments, default)
    assert rerun.adopt(parser.parse_args(["--rerun", episode, "--from", str(flown)]), default) is not None


def test_the_verdict_of_a_rerun(flown: Path, tmp_path: Path) -> None:
    (record,) = read_episodes(flown, Result)
    file, result = tmp_path / "result.json", record.result
    timing = result.timing.model_copy(update={"wall_time": 2.0})
    file.write_text(result.model_copy(update={"timing": timing}).dump())
    assert rerun.verdict(record, file) == "The same result as in the benchmark"
    metrics = result.metrics.model_copy(update={"cds": 0.25})
    file.write_text(result.model_copy(update={"metrics": metrics}).dump())
    assert rerun.verdict(record, file) == f"Not the benchmark's result: cds 0.25 (benchmark: {result.metrics.cds})"
    failed = record.model_copy(update={"status": "agent_error", "reason": "x"})
    assert "agent_error" in rerun.verdict(failed, file)
    assert os.environ["XDG_STATE_HOME"].startswith(str(tmp_path))
