"""The benchmark command with real episodes: killed again and again, on Ray, and one flown again by the graph."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.runner.records import read_episodes
from esar_ros.mission.resources import resource
from esar_ros.scoring.result import Result

pytestmark = [pytest.mark.full, pytest.mark.timeout(3600)]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A list of four short tasks."""
    demo = json.loads((resource("config/tasks") / "aotai-first.json").read_text(encoding="utf-8"))
    names = []
    for number in range(4):
        path = tmp_path / f"short{number}.json"
        path.write_text(json.dumps(demo | {"id": f"short{number}", "t_max": 12.0, "seed": 5 + number}))
        names.append(str(path))
    (tmp_path / "list.txt").write_text("# short ones\n" + "\n".join(names) + "\n")
    return tmp_path / "list.txt"


def command(tasks: Path, out: Path, *more: str) -> list[str]:
    flown = ["--planners", "zigzag,random", "--preset", "fast", "--detector", "segmentation_oracle"]
    flags = ["--tasks", str(tasks), *flown, "--out", str(out), *more]
    return [sys.executable, "-m", "esar_ros.app.cli", "bench", *flags]


def environment(home: Path) -> dict[str, str]:
    return os.environ | {"XDG_STATE_HOME": str(home)}


def comparable(folder: Path) -> list[dict[str, Any]]:
    records = read_episodes(folder, Result)
    return [one.model_dump(exclude={"timing": True, "attempts": True, "result": {"timing"}}) for one in records]


def test_killed_ten_times_it_ends_with_the_results_of_an_undisturbed_run(tasks: Path, tmp_path: Path) -> None:
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    subprocess.run(command(tasks, calm, "--workers", "2"), check=True, env=environment(tmp_path))
    rng, kills = random.Random(4), 0
    while kills < 10:
        process = subprocess.Popen(command(tasks, wild, "--workers", "2"), env=environment(tmp_path))
        time.sleep(rng.uniform(0.5, 12.0))
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        kills += 1
    assert kills >= 5, "it was done before it could be disturbed"
    subprocess.run(command(tasks, wild, "--workers", "1"), check=True, env=environment(tmp_path))
    assert comparable(wild) == comparable(calm)
    assert len((wild / "episodes.jsonl").read_text().splitlines()) == 8


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")
def test_ray_gives_the_same_results(tasks: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    first = ("--limit", "2")
    subprocess.run(command(tasks, here, *first), check=True, env=environment(tmp_path))
    on_ray = command(tasks, there, *first, "--ray", "local", "--workers", "2")
    subprocess.run(on_ray, check=True, env=environment(tmp_path), timeout=1200.0)
    assert comparable(there) == comparable(here)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")
def test_a_node_killed_costs_its_episode_and_nothing_is_lost_or_doubled(tasks: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    start = [str(Path(sys.executable).with_name("ray")), "start", "--node-ip-address", "127.0.0.1", "--num-cpus", "1"]
    start += ["--block", "--disable-usage-stats"]
    first = [*start, "--head", "--port", address.rpartition(":")[2], "--include-dashboard", "false"]
    here, there = tmp_path / "here", tmp_path / "there"
    nodes = []
    own = environment(tmp_path) | {"RAY_AUTH_MODE": "disabled"}  # else a node may lack the head's token
    try:
        for each in (first, [*start, "--address", address]):
            nodes.append(subprocess.Popen(each, start_new_session=True, stdout=subprocess.PIPE, text=True, env=own))
            assert any("Ray runtime started" in line for line in nodes[-1].stdout)  # type: ignore[union-attr]
        run = subprocess.Popen(command(tasks, there, "--ray", address), env=own)
        while run.poll() is None and nodes[-1].poll() is None:
            time.sleep(0.2)
            if (there / "episodes.jsonl").exists() and len((there / "episodes.jsonl").read_text().splitlines()) >= 3:
                time.sleep(1.0)  # into an episode
                os.killpg(nodes[-1].pid, signal.SIGKILL)
                nodes[-1].wait()
        assert run.wait(timeout=1200.0) == 0
    finally:
        for node in nodes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
    subprocess.run(command(tasks, here, "--workers", "2"), check=True, env=environment(tmp_path))
    assert comparable(there) == comparable(here)
    attempts = [record.attempts for record in read_episodes(there, Result)]
    assert len(attempts) == 8 and sum(attempts) in (8, 9)  # 8 where the node was killed between two of its episodes


def test_one_episode_flown_again_by_the_graph_has_the_same_result(tasks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    subprocess.run(command(tasks, out, "--limit", "1"), check=True, env=environment(tmp_path))
    episode = read_episodes(out, dict)[0].id
    again = ["--rerun", episode, "--from", str(out), "--out", str(tmp_path / "again")]
    done = subprocess.run(
        [sys.executable, "-m", "esar_ros.app.cli", "mission", *again], capture_output=True, text=True, timeout=900.0
    )
    assert done.returncode == 0, done.stderr
    assert "The same result as in the benchmark" in done.stdout
