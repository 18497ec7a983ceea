"""The suite through the command line: walked, reported, exported and scored again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app import cli
from esar_ros.benchmark.report.bench_results import Bench
from esar_ros.benchmark.report.comparison import make_report
from esar_ros.benchmark.runner.records import make_record, read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, WalkAction
from esar_ros.scoring.rescue import Rules, stage_scores
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.suites.rescuebench import generator, replay
from esar_ros.suites.rescuebench.agents import create, names
from esar_ros.suites.rescuebench.conditions import RescueConditions, with_content
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld, insight
from esar_ros.suites.rescuebench.episode import RescueEpisode, failed
from esar_ros.suites.rescuebench.files.results import read_results, write_results
from esar_ros.suites.rescuebench.machine import Interaction, State
from esar_ros.suites.rescuebench.oracle import Oracle
from esar_ros.suites.rescuebench.own_points import flaws, site_of
from esar_ros.suites.rescuebench.records import read_record, record_of
from esar_ros.suites.rescuebench.result import RescueResult, make_rescue_result
from esar_ros.suites.rescuebench.sets import MINI, SETS, find_task, set_file, task_ids, tasks_of_file
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.suite import RESCUEBENCH
from esar_ros.suites.rescuebench.tables import LAYOUT
from esar_ros.suites.rescuebench.walk import walk
from helpers.full import mostly_full

TASK = "L1-19"
LEVEL_SETS = tuple(name for name in SETS if name != MINI)


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return EmbeddedWorld(find_task(TASK).point.place, load_suite_settings())


def an_oracle() -> Oracle:
    point, oracle = find_task(TASK).point, Oracle()
    oracle.show(*insight(point, site_of(point.place)))
    return oracle


@pytest.mark.parametrize(
    ("rules", "interaction"), [(Rules.CODE, Interaction.ACTIVE), (Rules.PAPER, Interaction.PASSTHROUGH)]
)
def test_the_oracle_hands_over(world: EmbeddedWorld, rules: Rules, interaction: Interaction) -> None:
    conditions = RescueConditions(rules, interaction)
    walked = walk(world, find_task(TASK).point, TASK, an_oracle(), 0, conditions)
    assert walked.machine.state is State.COMPLETED
    again = walk(world, find_task(TASK).point, TASK, an_oracle(), 0, conditions)
    assert [frame.body.position.tolist() for frame in again.frames] == [
        frame.body.position.tolist() for frame in walked.frames
    ]


def test_hands_reach_what_is_near_and_carry_it_along(world: EmbeddedWorld) -> None:
    world.set_up(find_task(TASK).point)
    carry, drop = WalkAction(animation=Animation.CARRY), WalkAction(animation=Animation.DROP)

    def carries_after(action: WalkAction) -> bool:
        world.step(action, 0.2)
        return world.walker.carrying

    assert not carries_after(carry), "too far away"
    victim = world.victim
    world.stage.walker.place((victim[0] - 1.0, victim[1], victim[2] - HALF_HEIGHT), 0.0)
    assert carries_after(carry)
    world.step(WalkAction(1.0, animation=Animation.JUMP), 0.4)
    assert world.stage.walker.foot[2] == pytest.approx(victim[2] - HALF_HEIGHT, abs=0.3)  # who carries does not jump
    world.step(WalkAction(1.0), 0.6)
    assert world.victim == pytest.approx(world.body.position)
    assert (carries_after(drop), world.ended) == (False, False)
    stretcher = world.stretcher
    world.step(carry, 0.2)
    world.stage.walker.place((stretcher[0] - 1.2, stretcher[1], stretcher[2]), 0.0)
    world.step(drop, 0.2)
    assert world.ended


@pytest.mark.full
def test_what_an_agent_sees_is_drawn_where_it_stands(world: EmbeddedWorld) -> None:
    world.set_up(find_task(TASK).point)
    view = world.view(lambda draw: draw())
    assert view.colour.shape == (320, 320, 3) and view.depth.shape == (320, 320) and view.model.width == 320
    assert view.pose.position == pytest.approx(world.walker.position)
    late = world.view(lambda draw: draw())
    world.step(WalkAction(1.0), 0.2)
    with pytest.raises(RuntimeError, match="past"):
        late.colour  # noqa: B018
    world.close()


def test_a_benchmark_is_walked_reported_and_scored_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = tmp_path / "points.jsonl"
    line = json.loads(set_file("L1").read_text().splitlines()[19]) | {"timeout": 60}
    points.write_text(json.dumps(line) + "\n")
    out = tmp_path / "out"
    arguments = ["bench", "--suite", "rescuebench", "--tasks", str(points), "--planners", "random,oracle"]
    assert cli.main([*arguments, "--workers", "1", "--out", str(out)]) == 0
    assert "test split" not in capsys.readouterr().out  # a file's tasks are nobody's test
    records = read_episodes(out, RescueResult)
    episodes = {record.planner: read_record(record, str(out), "here").episode for record in records}
    assert episodes["oracle"].figures["tcr"] == episodes["oracle"].figures["ts"] == 1.0
    alike = [episodes[planner].figures["hs"] for planner in ("random", "oracle")]
    assert 0.0 <= alike[0] < alike[1] <= 1.0 and alike[1] > 0.95  # it walks the shortest way, with stops
    assert not episodes["oracle"].eligible and episodes["random"].eligible
    assert episodes["random"].figures["tcr"] == 0.0 and episodes["random"].end == "TIMEOUT_PHASE1"
    capsys.readouterr()
    monkeypatch.setattr(replay, "_drawn", lambda world: b"picture")
    assert replay.main([str(out), "points-0/oracle/0"]) == 0
    assert "0.000 m from the recorded end" in capsys.readouterr().out
    assert cli.main(["report", str(out), "--out", str(tmp_path / "report")]) == 0
    assert "oracle†" in capsys.readouterr().out
    walked_again = out / "replays" / "points-0_oracle_0.html"
    link = f'<a href="{walked_again.as_uri()}">points-0_oracle_0</a>'
    assert walked_again.is_file() and link in (tmp_path / "report" / "report.html").read_text()
    table = (tmp_path / "report" / "table3.md").read_text()
    assert "L1 (level_0)" in table and "HS" in table
    document = tmp_path / "score.json"
    assert cli.main(["score", str(out), "--suite", "rescuebench", "--json", str(document)]) == 0
    methods = json.loads(document.read_text())["methods"]
    assert {name: method["scores"]["all"]["tcr"] for name, method in methods.items()} == {"oracle": 1.0, "random": 0.0}
    (written,) = (out / "results").glob("benchmark_oracle_*.jsonl")
    (record,) = read_results(written).records.values()
    assert record.completed and 100.0 * episodes["oracle"].figures["ts"] == pytest.approx(100.0)


def test_conditions_name_the_model_and_are_the_same_tomorrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    agent = create("llm_yolo@scripted")
    today = with_content(RescueConditions(), [], agent)
    assert today.model.startswith("esar-scripted-3, prompts ") and today.as_text["model"] == today.model
    dated = {**agent.details, "date": "2001-01-01"}  # type: ignore[attr-defined]
    monkeypatch.setattr(type(agent), "details", dated)
    assert with_content(RescueConditions(), [], agent) == today
    assert with_content(RescueConditions(), [], create("random")).as_text["model"] == "none"


@pytest.mark.parametrize("by", [(), ("clock",)])
def test_two_clocks_are_never_in_one_table(by: tuple[str, ...]) -> None:
    episodes = []
    for clock in ("paused", "running"):
        (job,) = RESCUEBENCH.plan([TASK], ["random"], 1, {"clock": clock}).jobs
        record = make_record(job, failed(job, "agent_error", "", 1.0), 1, "h")
        episodes.append(read_record(record, clock, clock).episode)
    bench = Bench(tuple(episodes), {}, {}, {}, 0)
    with pytest.raises(UsageError) as caught:
        make_report(bench, LAYOUT, by=by, draws=10)
    assert str(caught.value) == "clock of running is running, in paused paused: report them apart"
    make_report(replace(bench, episodes=bench.episodes[:1]), LAYOUT, by=by, draws=10)


@pytest.mark.full
def test_the_oracle_hands_over_where_others_pass_by() -> None:
    busy = EmbeddedWorld(find_task(TASK).point.place, load_suite_settings(), busy=True)
    ends = [walk(busy, find_task(TASK).point, TASK, an_oracle(), 0, RescueConditions()) for _ in range(2)]
    assert ends[0].machine.state is State.COMPLETED and ends[0].machine.steps == ends[1].machine.steps
    assert sum(name.startswith("passing_") for name in busy.stage.world.objects) >= 6


@pytest.mark.full
def test_the_oracle_hands_over_while_the_clock_runs(world: EmbeddedWorld) -> None:
    walked = walk(world, find_task(TASK).point, TASK, an_oracle(), 0, RescueConditions(clock="running"))
    assert walked.machine.state is State.COMPLETED


def test_mini_is_of_the_dev_split_and_of_places_that_no_other_set_has() -> None:
    tasks = [find_task(id) for id in task_ids(MINI)]
    others = [find_task(id) for name in LEVEL_SETS for id in task_ids(name)]
    assert {task.split for task in tasks} == {"dev"} and {task.split for task in others} == {"test"}
    assert [task.point.level for task in tasks[:6]] == [0, 0, 1, 2, 3, 4]
    assert not {task.point.place for task in tasks} & {task.point.place for task in others}
    assert RESCUEBENCH.plan(task_ids(MINI), ["random"], 1, {}).test_tasks == 0


@pytest.mark.parametrize("name", LEVEL_SETS)
def test_a_set_is_of_its_level_and_any_first_part_of_it_is_balanced(name: str) -> None:
    tasks = [find_task(id) for id in task_ids(name)]
    assert len(tasks) == 25 and len({task.digest for task in tasks}) == 25
    assert len({task.point.place for task in tasks[:5]}) == 5
    assert {task.point.level for task in tasks} == {int(name[1:]) - 1}


@pytest.mark.parametrize("name", mostly_full(SETS))
def test_the_shipped_points_keep_their_levels_rules(name: str) -> None:
    """The first of each set; with --full all of them."""
    tasks = [find_task(id) for id in task_ids(name)]
    for task in tasks if name != SETS[0] else tasks[:1]:
        assert flaws(task.point) == [], task.id


@pytest.mark.full
@pytest.mark.parametrize("name", SETS)
def test_the_oracle_hands_over_at_every_point(name: str) -> None:
    plan = RESCUEBENCH.plan(task_ids(name), ["oracle"], 1, {})
    episode = RescueEpisode()
    ends = {job.task: episode.run(job, lambda inside: None).result.end for job in plan.jobs}
    assert {task: end for task, end in ends.items() if end != State.COMPLETED.value} == {}


@pytest.mark.full
def test_the_shipped_points_are_those_that_are_made() -> None:
    assert generator.main(["--check"]) == 0


def test_an_agent_in_a_file_is_walked_and_its_content_is_a_condition(tmp_path: Path) -> None:
    solution = tmp_path / "solution.py"
    solution.write_text("class AlgSolution:\n    def predicts(self, observation, picked):\n        return {}\n")
    first = RESCUEBENCH.plan([TASK], [f"file:{solution}", "random"], 1, {}).jobs
    assert isinstance(first[0].conditions, RescueConditions) and isinstance(first[1].conditions, RescueConditions)
    assert first[0].conditions.agent and not first[1].conditions.agent
    solution.write_text(solution.read_text() + "# changed\n")
    again = RESCUEBENCH.plan([TASK], [f"file:{solution}"], 1, {}).jobs[0].conditions
    assert again.differing(first[0].conditions) == ("agent",)
    assert cli.main(["bench", "--suite", "rescuebench", "--tasks", TASK, "--planners", "file:none.py"]) == 2


def test_an_agent_that_fails_counts_nothing_in_either_layout(world: EmbeddedWorld, tmp_path: Path) -> None:
    class Failing(Oracle):
        def act(self, observation: Any) -> Any:
            if observation.carrying:
                raise ValueError("lost")
            return super().act(observation)

    task, agent = find_task(TASK), Failing()
    agent.show(*insight(task.point, site_of(task.point.place)))
    walked = walk(world, task.point, TASK, agent, 0, RescueConditions())
    assert walked.error is not None
    result = make_rescue_result(task, walked, 0, False, "d")
    assert result.line.phase1_success and result.line.s1_score > 0.0, "it had picked up"
    path = write_results(tmp_path, "m", "20260101_000000", [result.public_line])
    [record] = read_results(path).records.values()
    assert record.failed and stage_scores(record, Rules.CODE).total == 0.0
    assert not record_of(result, "here").completed


@pytest.mark.full
def test_killed_outright_it_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    def start(out: Path) -> subprocess.Popen[bytes]:
        options = ["--suite", "rescuebench", "--tasks", "L1", "--limit", "2", "--planners", "frontier,oracle"]
        command = [sys.executable, "-m", "esar_ros.app.cli", "bench", *options, "--workers", "1", "--out", str(out)]
        return subprocess.Popen(command, start_new_session=True)

    def walked(out: Path) -> list[dict[str, Any]]:
        return [record.model_dump(exclude={"timing", "attempts"}) for record in read_episodes(out, RescueResult)]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(whole).wait(900.0) == 0
    process = start(killed)
    while not (killed / EPISODES).is_file() or not read_episodes(killed, dict):
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = len(walked(killed))
    assert 0 < before < 4
    assert start(killed).wait(900.0) == 0
    assert walked(killed) == walked(whole) and len(walked(killed)) == 4


def test_truth_makes_a_row_ineligible() -> None:
    plan = RESCUEBENCH.plan([TASK], ["random"], 1, {"truth": "target_pose"})
    failed = RESCUEBENCH.failed(plan.jobs[0], "agent_error", "why", 1.0)
    assert not failed.result.eligible
    (job,) = RESCUEBENCH.plan([TASK], ["random"], 1, {}).jobs
    assert RESCUEBENCH.failed(job, "agent_error", "why", 1.0).result.eligible


def test_what_there_is_not_is_refused(tmp_path: Path) -> None:
    for task, words in (("L9-0", "unknown task"), ("L1-25", "0 to 24"), ("L1-x", "0 to 24")):
        with pytest.raises(UsageError, match=words):
            find_task(task)
    with pytest.raises(UsageError, match="unknown planner 'nobody'"):
        create("nobody")
    assert set(names()) >= {"oracle", "random", "frontier"}
    with pytest.raises(UsageError, match="no file of that name"):
        tasks_of_file(str(tmp_path / "none.jsonl"))
