"""Records, tables and logs of a benchmark: the golden episodes as if they had been flown, and a smoke run that is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.app import prepare
from esar_ros.app.cli import main as cli
from esar_ros.benchmark.report.bench_results import read_bench
from esar_ros.benchmark.report.comparison import OVERALL, Report, make_report
from esar_ros.benchmark.report.table import Table
from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.benchmark.runner.records import make_record, read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.benchmark.runner.worker import timing
from esar_ros.geometry.frames import Pose, ned_to_enu
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepAction, StepKind
from esar_ros.scoring.object_goal import TOTAL, Rules
from esar_ros.suites.uav_on import episode
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.episodes import entry_from
from esar_ros.suites.uav_on.export import export_logs
from esar_ros.suites.uav_on.flight import FlownEpisode, FlownFrame
from esar_ros.suites.uav_on.paper import PAPER
from esar_ros.suites.uav_on.result import GoalResult, make_goal_result, track_of
from esar_ros.suites.uav_on.scenes import FlownTask, Scene, find_task, task_ids
from esar_ros.suites.uav_on.score import LogScore
from esar_ros.suites.uav_on.suite import UAV_ON
from esar_ros.suites.uav_on.tables import LAYOUT
from helpers.bench_maker import write_lines
from helpers.steps import Scripted
from helpers.uav_on_golden import CASES, HEIGHT, SCENE, Case, document

TOLD = UavOnConditions(
    version="1", settings="s1", tasks=f"{len(CASES)}, t1", scenes="1, c1", model="", agent="a1",
)  # fmt: skip
GAP = np.array([0.06, 0.0, 0.08])  # m, of measured poses


def flown(case: Case, error: str | None = None) -> FlownEpisode:
    """A case as the engine would leave it."""
    poses = [Pose(ned_to_enu([x, 0.0, HEIGHT])) for x in case.xs]
    frames = [
        FlownFrame(StepKind.FORWARD if k else None, 5.0, k in case.contacts, pose, Pose(pose.position + GAP))
        for k, pose in enumerate(poses)
    ]
    stopped = case.ending == "stop" and error is None
    return FlownEpisode(frames, stopped, case.contact_at_stop and stopped, error)


def line(index: int, planner: str, ended: FlownEpisode, conditions: UavOnConditions) -> dict[str, Any]:
    entry = entry_from(document(index, CASES[index]), "golden")
    task = FlownTask(f"{SCENE}-{index}", Scene(SCENE, "lop_nur", "dev", (), (entry,)), entry)
    result = make_goal_result(task, ended, conditions, True, "d1")
    return {
        "schema": "esar-episode/1", "id": f"{task.id}/{planner}/0", "index": index, "task": task.id,
        "planner": planner, "seed": 0, "task_digest": task.digest, "conditions": asdict(conditions),
        "status": "ok" if ended.error is None else "agent_error", "reason": ended.error,
        "result": result.model_dump(mode="json", by_alias=True), "track": track_of(ended.frames), "attempts": 1,
        "job": {"task": task.id}, "settings_hash": "h", "timing": timing(1.0, 1.0, 1.0).model_dump(),
    }  # fmt: skip


def write_bench(folder: Path, lines: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder, lines, "uav-on")
    return folder


def golden_bench(folder: Path, **chosen: Any) -> Path:
    conditions = replace(TOLD, **chosen)
    return write_bench(folder, [line(k, "golden", flown(case), conditions) for k, case in enumerate(CASES)])


def report_of(*folders: Path, **more: Any) -> Report:
    return make_report(read_bench(folders, UAV_ON.reader(None)), LAYOUT, draws=50, **more)


def tables(report: Report) -> dict[str, Table]:
    return {section.name: section for section in LAYOUT.sections(report) if isinstance(section, Table)}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_bench(tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def report(bench: Path) -> Report:
    return report_of(bench)


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
def test_means_are_those_worked_out_by_hand(report: Report, rules: Rules) -> None:
    mark = "" if rules is Rules.CODE else f"@{rules.value}"
    expected = [case.expected(rules.value) for case in CASES]
    for figure, values in (
        ("sr", [float(one.success) for one in expected]),
        ("osr", [float(one.oracle) for one in expected]),
        ("dts", [one.dts for one in expected]),
        ("spl", [one.spl for one in expected]),
    ):
        found = report.cell("golden", OVERALL, f"{figure}{mark}")
        assert found is not None and found.mean == pytest.approx(np.mean(values), abs=1e-9), figure


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
def test_the_exported_logs_score_as_the_report(bench: Path, report: Report, rules: Rules, tmp_path: Path) -> None:
    """Through the authors' layout and back: every figure of tables 2 and 3, to the last bit but the sum's order."""
    out = tmp_path / "score.json"
    assert cli(["score", str(bench), "--suite", "uav-on", "--rules", rules.value, "--json", str(out)]) == 0
    scores = json.loads(out.read_text())["methods"]["golden"]["scores"]
    mark = "" if rules is Rules.CODE else f"@{rules.value}"
    for name, row in scores.items():
        group = OVERALL if name == TOTAL else name
        for figure in ("sr", "osr", "spl", "dts"):
            whole = group == OVERALL
            if not whole and mark:
                continue  # by size the report shows the public code's rules
            found = report.cell("golden", group, f"{figure}{mark}")
            assert found is not None and found.mean == pytest.approx(row[figure], abs=1e-6), (name, figure)
    for figure in ("stop", "step_limit", "collision", "steps"):
        found = report.cell("golden", OVERALL, figure)
        assert found is not None and found.mean == pytest.approx(scores[TOTAL][figure], abs=1e-6)
    if rules is Rules.CODE:
        found = report.cell("golden", OVERALL, "path")
        assert found is not None and found.mean == pytest.approx(scores[TOTAL]["path"], abs=1e-6)


def test_the_logs_are_those_of_one_run_each_and_written_anew(bench: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(bench, folder)
    assert cli(["score", str(folder), "--suite", "uav-on"]) == 0
    first = {path.relative_to(folder): path.read_bytes() for path in (folder / "logs").rglob("*") if path.is_file()}
    assert len(first) == 2 * len(CASES)
    (folder / "logs" / "golden" / "logs" / "stray").mkdir()
    assert cli(["score", str(folder), "--suite", "uav-on"]) == 0
    assert not (folder / "logs" / "golden" / "logs" / "stray").exists()
    assert LogScore(folder / "logs" / "golden", Rules.CODE).scores[TOTAL].episodes == len(CASES)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"planner": ".."}, "planner '..' names no folder"),
        ({"planner": "../../x"}, "names no folder"),
        ({"planner": ""}, "names no folder"),
        ({"seed": "many"}, "key seed"),
        ({"result": None}, "key result"),
        ({"stopped": False}, "it ends without stop, contact or step limit"),
    ],
)
def test_a_changed_record_is_one_line_and_nothing_else_is_emptied(
    changes: dict[str, Any], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = line(0, "golden", flown(CASES[0]), TOLD)
    if "stopped" in changes:
        good["result"] |= changes
    else:
        good |= changes
    folder = write_bench(tmp_path / "in" / "bench", [good])
    (folder / "logs" / "mine").mkdir(parents=True)
    assert cli(["score", str(folder), "--suite", "uav-on"]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
    assert (folder / "logs" / "mine").is_dir() and (folder / EPISODES).is_file()


def test_each_method_s_logs_are_in_a_folder_of_their_own(tmp_path: Path) -> None:
    names = ("a/b", "a_b", "a/../b", "method:fbe", "aoa_f@scripted")
    folder = write_bench(tmp_path / "bench", [line(0, name, flown(CASES[0]), TOLD) for name in names])
    runs = export_logs(folder)
    assert tuple(runs) == names and len(set(runs.values())) == len(names)
    assert all(run.parent == folder / "logs" and len(list(run.rglob("trajectory.jsonl"))) == 1 for run in runs.values())
    assert runs["method:fbe"].name == "method:fbe" and runs["aoa_f@scripted"].name == "aoa_f@scripted"


def test_logs_of_other_terms_are_not_written(tmp_path: Path) -> None:
    apex = replace(TOLD, terms="apex")
    folder = write_bench(tmp_path / "bench", [line(0, "golden", flown(CASES[0]), apex)])
    with pytest.raises(UsageError, match="on the terms of apex"):
        export_logs(folder)


def test_tables_2_and_3_have_the_paper_s_columns_and_its_rows_stand_apart(report: Report) -> None:
    made = tables(report)
    table2, table3, paper = made["table2"], made["table3"], made["paper"]
    assert [text for text, _ in table2.groups] == ["", "Small", "Mid", "Big", "Overall", ""]
    assert table2.heads[1:5] == ("DTS (m) ↓", "SR ↑", "OSR ↑", "SPL ↑")
    assert [row[0].text for row in table2.rows] == ["golden"]
    assert table3.heads[1:6] == ("stop", "max step", "collision ↓", "steps", "safe dist. (m)")
    assert "commanded poses" in table2.notes[-1]
    assert [row[0].text for row in paper.rows] == list(PAPER.methods)
    assert [span for _, span in paper.groups] == [1, 4, 4, 4, 9]
    random = dict(zip(paper.heads, (cell.text for cell in paper.rows[0]), strict=False))
    assert random["collision"] == "37.90" and random["steps"] == "12.09"
    assert "Unreal" in paper.notes[0]
    assert len(made["rules"].heads) == 1 + 8 and "SR strict ↑" in made["rules"].heads


def test_the_difference_of_commanded_and_measured_ends_is_a_column(report: Report) -> None:
    found = report.cell("golden", OVERALL, "end_gap")
    assert found is not None and found.mean == pytest.approx(0.1)


def test_measured_poses_are_scored_and_logged_where_they_were_chosen(tmp_path: Path) -> None:
    folder = golden_bench(tmp_path / "m", poses="measured")
    assert cli(["score", str(folder), "--suite", "uav-on", "--json", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text())["methods"]["golden"]["poses"] == "measured"
    runs = (golden_bench(tmp_path / "c"), folder)
    commanded, measured = (report_of(run).cell("golden", OVERALL, "dts@paper") for run in runs)
    assert commanded is not None and measured is not None
    assert measured.mean != commanded.mean and measured.mean == pytest.approx(commanded.mean, abs=0.1)
    with pytest.raises(UsageError, match=r"poses of .* is measured, in .* commanded"):
        report_of(tmp_path / "c", folder)


def test_an_agent_that_failed_scores_nothing_under_any_rules_in_report_and_log(tmp_path: Path) -> None:
    near = next(k for k, case in enumerate(CASES) if case.name == "stop at 20.0")
    lines = [line(near, "broken", flown(CASES[near], "ValueError: up of nan"), TOLD)]
    folder = write_bench(tmp_path / "b", lines)
    report = report_of(folder)
    for figure in ("sr", "osr", "spl", "sr@paper", "osr@paper", "spl@paper", "sr@strict", "osr@strict"):
        found = report.cell("broken", OVERALL, figure)
        assert found is not None and found.mean == 0.0, figure
    assert any("1 agent error of 1 episodes" in note for note in report.notes)
    assert tables(report)["endings"].heads == ("method", "failed")
    for rules in Rules:
        assert cli(["score", str(folder), "--suite", "uav-on", "--rules", rules.value]) == 0
        scores = LogScore(folder / "logs" / "broken", rules).scores[TOTAL]
        assert (scores.sr, scores.osr, scores.spl, scores.stop) == (0.0, 0.0, 0.0, 1.0)


def test_what_was_changed_by_hand_is_one_line(tmp_path: Path) -> None:
    good = line(0, "golden", flown(CASES[0]), TOLD)
    for path, value, told in (
        (("result", "schema"), "uav-on-result/2", r"episode .*: key result\.schema"),
        (("result", "frames"), [], r"episode .*: key result\.frames"),
        (("result", "stopped"), False, "episode .*: it ends without stop, contact or step limit"),
        (("conditions",), {"moon": "full"}, "episode .*: conditions that this version does not know"),
    ):
        bad = json.loads(json.dumps(good))
        at = bad
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        with pytest.raises(UsageError, match=told):
            report_of(write_bench(tmp_path, [bad]))


def test_two_suites_are_never_in_one_table(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write_bench(tmp_path, [])
    write_lines(other, [])
    assert cli(["report", str(bench), str(other)]) == 2
    assert "of suite esarbench" in capsys.readouterr().err
    assert cli(["score", str(other), "--suite", "uav-on"]) == 2
    assert "benchmark of suite esarbench, not of uav-on: ./esar report shows it" in capsys.readouterr().err
    assert cli(["mission", "--rerun", f"{SCENE}-0/golden/0", "--from", str(bench)]) == 2
    assert (
        f"{bench} is a benchmark of suite uav-on, not of esarbench: the graph flies no other" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--tasks", "mars"], "no scene has a task 'mars'"),
        (["--tasks", "smoke", "--planners", "pigeon"], "unknown planner 'pigeon'"),
        (["--tasks", "smoke", "--step-time", "0"], "--step-time 0"),
        (["--tasks", "smoke", "--step-time", "nan"], "--step-time nan"),
        (["--tasks", "smoke", "--poses", "guessed"], "--poses"),
        (["--tasks", "smoke", "--detector", "esar_yolo"], "--detector"),
        (["--tasks", "smoke", "--planners", "aoa_f"], "asks a language model and none is configured"),
    ],
)
def test_bad_usage_is_one_line(
    flags: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PRESET", "URL", "NAME"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    assert cli(["bench", "--suite", "uav-on", *flags, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1


def test_a_file_of_episodes_is_flown_in_the_scene_that_it_names(tmp_path: Path) -> None:
    first = find_task(task_ids("smoke")[0])
    path = tmp_path / "mine.json"
    mine = {**first.entry.document, "episode_id": "mine"}
    path.write_text(json.dumps([mine, {**mine, "episode_id": "other"}]))
    names = choose_tasks(UAV_ON, str(path))
    assert choose_tasks(UAV_ON, str(path), 1) == names[:1] != names, "--limit counts episodes"
    plan = UAV_ON.plan(names, ("random",), 2, {})
    assert [job.id for job in plan.jobs] == [
        f"smoke_desert-{name}/random/{seed}" for seed in (0, 1) for name in ("mine", "other")
    ]
    assert find_task(plan.jobs[0].task).scene is first.scene
    path.with_name("lost.json").write_text(json.dumps([{**mine, "map_name": "Barnyard_test"}]))
    with pytest.raises(UsageError, match="unknown scene 'Barnyard_test'"):
        UAV_ON.plan(choose_tasks(UAV_ON, str(path.with_name("lost.json"))), ("random",), 1, {})


def test_conditions_hold_everything_by_content() -> None:
    plan = UAV_ON.plan(task_ids("smoke"), ("random", "oracle", "aoa_f@scripted"), 1, {"depth": "metres"})
    by_name = dict(zip(plan.settings.planners, plan.settings.conditions, strict=True))
    assert len({one.agent for one in by_name.values() if isinstance(one, UavOnConditions)}) == 3
    for one in by_name.values():
        assert isinstance(one, UavOnConditions) and one.depth == "metres"
        assert "" not in one.as_text.values() and UavOnConditions.parse(asdict(one)) == one
    assert by_name["random"].as_text["model"] == "none"
    assert "esar-scripted-3" in by_name["aoa_f@scripted"].as_text["model"]
    assert not by_name["random"].differing(replace(by_name["random"]))


def test_an_episode_that_was_never_flown_is_a_record_that_scores_nothing(tmp_path: Path) -> None:
    id = task_ids("smoke")[2]
    job = Job(0, id, id, find_task(id).digest, "pigeon", 0, TOLD)
    record = episode.failed(job, "infrastructure_error", "the worker ended by signal 9", 3.0)
    whole = make_record(job, record, 1, "h").model_dump(mode="json", by_alias=True)
    report = report_of(write_bench(tmp_path, [whole]))
    row = report.bench.episodes[0]
    assert (row.figures["sr@paper"], row.figures["steps"], row.end) == (0.0, 0.0, "error")
    assert row.figures["dts"] == pytest.approx(find_task(id).entry.episode.straight, abs=0.01)


@pytest.mark.parametrize("eligible", [True, False])
def test_the_truth_is_shown_to_agents_alone_that_say_they_use_it(
    eligible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    agent = Scripted([StepAction(StepKind.STOP)])
    agent.eligible = eligible
    agent.show = lambda world, episode, longest: shown.append(longest)  # type: ignore[attr-defined]
    monkeypatch.setattr(episode, "create", lambda name, settings: agent)
    plan = UAV_ON.plan(task_ids("smoke")[:1], ("random",), 1, {"step-time": "10"})
    record = episode.UavOnEpisode().run(plan.jobs[0], lambda inside: None)
    assert record.result.eligible is eligible and record.status == "ok"
    assert shown == ([] if eligible else [8.0])


def comparable(folder: Path) -> list[dict[str, Any]]:
    return [record.model_dump(exclude={"timing", "attempts"}) for record in read_episodes(folder, GoalResult)]


def test_a_smoke_run_is_flown_reported_resumed_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(prepare, "ensure", lambda *_, **__: None)  # kernels are compiled as they are called
    out = tmp_path / "out"
    command = ["bench", "--suite", "uav-on", "--tasks", "smoke", "--planners", "random,oracle", "--limit", "3"]
    command += ["--workers", "1", "--out", str(out)]
    assert cli(command) == 0, capsys.readouterr().err
    whole = comparable(out)
    assert [record["status"] for record in whole] == ["ok"] * 6
    report = report_of(out)
    for figure in ("sr", "osr", "sr@paper", "osr@paper", "sr@strict", "osr@strict"):
        found = report.cell("oracle", OVERALL, figure)
        assert found is not None and found.mean == 1.0, figure
    touched, gap = report.cell("oracle", OVERALL, "touched"), report.cell("oracle", OVERALL, "end_gap")
    assert touched is not None and touched.mean == 0.0 and gap is not None and gap.mean < 0.3
    assert not report.methods[-1].competes and report.methods[-1].name == "oracle"

    lines = (out / EPISODES).read_text().splitlines(keepends=True)
    (out / EPISODES).write_text("".join(lines[:2]) + lines[2][:40])  # killed in the middle of the third
    assert cli(command) == 0
    assert comparable(out) == whole

    assert cli(["report", str(out)]) == 0
    said = capsys.readouterr().out
    assert "oracle†" in said and "random" in said and os.fspath(out) in said
    assert (out / "report" / "table2.tex").is_file() and (out / "report" / "paper.md").is_file()
    assert cli(["score", str(out), "--suite", "uav-on"]) == 0
    assert (out / "logs" / "oracle" / "logs" / "smoke_desert" / "success_smoke_desert.json").is_dir()
