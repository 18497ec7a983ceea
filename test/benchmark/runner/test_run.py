"""The runner: every episode once, whatever dies, hangs, fails or fills the disk on the way."""

from __future__ import annotations

import errno
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.runner import run as runner
from esar_ros.benchmark.runner.records import Record, find_episode, read_episodes
from esar_ros.benchmark.runner.run import run
from esar_ros.benchmark.runner.seal import sealed_line
from esar_ros.benchmark.runner.store import (
    BENCH,
    EPISODE_SCHEMA,
    EPISODES,
    MANIFEST,
    Store,
    read_contents,
    without_collector,
)
from esar_ros.benchmark.runner.worker_pool import LocalPool
from esar_ros.mission.errors import UsageError
from helpers import light_episode
from helpers.light_episode import LightEpisode, failure, light_plan, light_run


def episodes(folder: Path) -> list[Record[dict[str, Any]]]:
    return read_episodes(folder, dict)


def comparable(folder: Path) -> list[dict[str, Any]]:
    """Records without what depends on the machine."""
    return [one.model_dump(exclude={"timing"}) for one in episodes(folder / "out")]


def begun(folder: Path) -> list[str]:
    return (folder / "begun.txt").read_text().split()


def test_every_episode_is_flown_once_and_recorded_with_its_job(tmp_path: Path) -> None:
    plan = light_plan(6)
    progress = light_run(plan, tmp_path)
    assert (progress.done, progress.errors, progress.flown) == (6, 0, 6)
    assert sorted(begun(tmp_path)) == sorted(job.id for job in plan.jobs)
    records = episodes(tmp_path / "out")
    assert [record.id for record in records] == [job.id for job in plan.jobs]
    assert all(record.settings_hash == plan.settings.hash for record in records)
    light_run(plan, tmp_path)
    assert len(begun(tmp_path)) == 6, "nothing is flown again"


def test_what_dies_hangs_or_fails_costs_its_own_episode_and_keeps_its_reason(tmp_path: Path) -> None:
    kinds = ("ok", "crash", "flaky", "raise", "agent-crash", "agent-raise", "hang", "agent-hang")
    progress = light_run(light_plan(1, kinds), tmp_path, workers=3, limit=1.5)
    by_kind = {record.planner: record for record in episodes(tmp_path / "out")}
    assert set(by_kind) == set(kinds)
    told = {kind: (record.status, record.attempts) for kind, record in by_kind.items()}
    assert told == {
        "ok": ("ok", 1),
        "crash": ("infrastructure_error", 2),
        "flaky": ("ok", 2),
        "raise": ("infrastructure_error", 2),
        "agent-crash": ("agent_error", 1),
        "agent-raise": ("agent_error", 1),
        "hang": ("infrastructure_error", 2),
        "agent-hang": ("agent_error", 1),
    }
    assert by_kind["crash"].reason == "the worker ended by signal 11"
    assert by_kind["raise"].reason == "ValueError: the renderer says no"
    assert "more than 1.5 s" in str(by_kind["hang"].reason)
    assert "inside the planner" in str(by_kind["agent-hang"].reason)
    assert progress.errors == 6
    traces = (tmp_path / "out" / runner.TRACES).read_text()
    assert "renderer" in traces and "task0/agent-raise/7\nline 7 of the method" in traces


def test_words_that_no_file_can_hold_end_no_benchmark(tmp_path: Path) -> None:
    progress = light_run(light_plan(1, ("half-emoji",)), tmp_path)
    assert (progress.done, progress.errors) == (1, 1)
    assert (tmp_path / "out" / runner.TRACES).read_text() == "task0/half-emoji/7\nValueError: fly \\ud83d\n"


def test_a_machine_that_cannot_fly_ends_the_benchmark_before_it_spoils_results(tmp_path: Path) -> None:
    plan = light_plan(3)
    store = Store(tmp_path / "out", plan.settings)
    with pytest.raises(UsageError, match="cannot draw"):
        run(plan, store, LocalPool(2, LightEpisode(tmp_path, unfit=True), 9.0), lambda progress: None, failure)
    store.close()
    assert episodes(tmp_path / "out") == []


def test_settings_changed_on_the_way_end_the_benchmark_and_nothing_is_recorded_under_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"task0/edited/7 .*thresholds: t1 here, t2 there.*another --out") as told:
        light_run(light_plan(1, ("edited",)), tmp_path)
    assert "\n" not in str(told.value)
    assert episodes(tmp_path / "out") == []


def test_a_task_changed_on_the_way_ends_the_benchmark(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"task0/moved/7 .*its task was changed meanwhile"):
        light_run(light_plan(1, ("moved",)), tmp_path)
    assert episodes(tmp_path / "out") == []


def test_settings_that_are_broken_meanwhile_end_the_benchmark_and_are_not_charged_to_the_method(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^task0/broken-file/7 cannot be flown: cannot read planners\.yaml.*goes on$"):
        light_run(light_plan(1, ("broken-file",)), tmp_path)
    assert episodes(tmp_path / "out") == [] and len(begun(tmp_path)) == 1


def test_an_episode_that_is_slow_as_a_whole_is_not_the_methods_fault_whenever_the_time_is_up(tmp_path: Path) -> None:
    light_run(light_plan(3, ("slow",)), tmp_path, workers=3, limit=1.5)
    found = episodes(tmp_path / "out")
    assert [(record.status, record.attempts) for record in found] == [("infrastructure_error", 2)] * 3
    assert {record.reason for record in found} == {"the episode took more than 1.5 s"}


def kill_until_done(folder: Path, count: int, kills: int, seed: int) -> int:
    """Run the benchmark in a process of its own, SIGKILL it `kills` times at random, then let it end; kills done."""
    rng = random.Random(seed)
    command = [sys.executable, light_episode.__file__, str(folder), str(count), "0.1"]
    done = 0
    while True:
        process = subprocess.Popen(command)
        if done < kills:
            # Kills fall anywhere: while workers start, between episodes, while a line is written.
            time.sleep(rng.uniform(0.3, 1.6))
            if process.poll() is None:
                process.kill()
                process.wait()
                done += 1
                torn = folder / "out" / EPISODES
                if torn.exists() and rng.random() < 0.5:
                    with torn.open("ab") as file:  # what a machine that loses power leaves behind
                        file.write(b'{"schema":"esar-episode/1","id":"half a li')
                continue
        assert process.wait(120.0) == 0
        return done


@pytest.mark.parametrize(("kills", "count"), [(3, 80), pytest.param(10, 240, marks=pytest.mark.full)])
def test_killed_again_and_again_it_ends_with_the_results_of_an_undisturbed_run(
    tmp_path: Path, kills: int, count: int
) -> None:
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    calm.mkdir()
    wild.mkdir()
    light_run(light_plan(count), calm)
    assert kill_until_done(wild, count, kills, seed=kills) == kills
    assert comparable(wild) == comparable(calm)
    lines = (wild / "out" / EPISODES).read_text().splitlines()
    assert len(lines) == count, "none lost, none repeated"
    # Workers of a killed runner do not live on.
    time.sleep(0.3)
    mine = subprocess.run(["pgrep", "-f", str(wild)], capture_output=True, text=True).stdout.split()
    assert [pid for pid in mine if int(pid) != os.getpid()] == []


def test_interrupted_it_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, light_episode.__file__, str(tmp_path), "12", "0.1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 60.0
    while time.monotonic() < limit and not (
        (tmp_path / "out" / EPISODES).exists() and (tmp_path / "out" / EPISODES).stat().st_size
    ):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(20.0) != 0
    first = len(episodes(tmp_path / "out"))
    assert 0 < first < 12
    light_run(light_plan(12), tmp_path)
    assert len(episodes(tmp_path / "out")) == 12


# -- the folder -------------------------------------------------------------------------------------


def a_record(number: int) -> dict[str, Any]:
    flown = light_episode.record("ok", None, number)
    return {
        "schema": EPISODE_SCHEMA, "id": f"t{number}/ok/7", "index": number, "settings_hash": "", "task": f"t{number}",
        "planner": "ok", "seed": 7, "job": {"task": f"t{number}"}, "task_digest": "", "conditions": {}, "attempts": 1,
        "status": flown.status, "reason": flown.reason, "result": flown.result, "track": flown.track,
        "timing": flown.timing.model_dump(),
    }  # fmt: skip


def open_store(folder: Path) -> Store:
    return Store(folder, light_plan(3).settings)


def test_other_settings_and_a_second_runner_are_refused_in_one_line(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(UsageError, match="another run") as busy:
        open_store(tmp_path)
    store.close()
    with pytest.raises(UsageError, match="ok, version: 2 here, 1 there") as other:
        Store(tmp_path, light_plan(3, version="2").settings)
    assert "\n" not in str(busy.value) + str(other.value)
    open_store(tmp_path).close()


def test_a_torn_last_line_is_cut_off_and_a_broken_one_inside_is_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(3):
        store.append(a_record(number) | {"settings_hash": store.settings_hash})
    store.close()
    path = tmp_path / EPISODES
    whole = path.read_bytes()
    for cut in (1, 20, len(whole.splitlines()[-1])):
        path.write_bytes(whole[:-cut])
        store = open_store(tmp_path)
        assert store.done == {"t0/ok/7", "t1/ok/7"}
        store.append(a_record(2) | {"settings_hash": store.settings_hash})
        store.close()
        assert len(episodes(tmp_path)) == 3
    path.write_bytes(whole + b"\0" * 64 + b"\n")  # blocks that reached the disk out of order
    assert len(episodes(tmp_path)) == 3
    path.write_bytes(whole.replace(b'"id":"t1', b'"di":"t1'))
    with pytest.raises(UsageError, match="line 2"):
        open_store(tmp_path)


def test_a_line_is_one_object_whatever_white_space_stands_around_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(3):
        store.append(a_record(number) | {"settings_hash": store.settings_hash})
    store.close()
    path = tmp_path / EPISODES
    first, second, third = path.read_bytes().splitlines()
    path.write_bytes(b"  " + first + b" \n" + json.dumps(json.loads(second)).encode() + b"\r\n" + third + b"\n")
    assert [record.index for record in episodes(tmp_path)] == [0, 1, 2]
    for line in (first + second, first + b"}", first + b"," + second, b"[" + first + b"]"):
        path.write_bytes(line + b"\n" + third + b"\n")
        with pytest.raises(UsageError, match="line 1: no esar-episode/1 record"):
            episodes(tmp_path)


def test_reading_leaves_the_garbage_collector_as_it_was(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append(a_record(0) | {"settings_hash": store.settings_hash})
    store.close()
    try:
        for is_on in (True, False):
            (gc.enable if is_on else gc.disable)()
            episodes(tmp_path)
            assert gc.isenabled() == is_on
            with without_collector():
                assert not gc.isenabled()
            assert gc.isenabled() == is_on
        gc.enable()
        (tmp_path / EPISODES).write_bytes(b"{}\n{}\n")
        with pytest.raises(UsageError):
            episodes(tmp_path)
        assert gc.isenabled()
    finally:
        gc.enable()


def test_records_are_added_together_with_one_flush_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    flushed: list[int] = []
    monkeypatch.setattr("esar_ros.benchmark.runner.store.os.fsync", flushed.append)
    records = [a_record(number) | {"settings_hash": store.settings_hash} for number in range(5)]
    store.append(records[0])
    store.append(*records[1:3])
    assert len(flushed) == 2 and len(episodes(tmp_path)) == 3
    monkeypatch.setattr("esar_ros.benchmark.runner.store.os.write", FullDisk(room=len(sealed_line(records[3])) + 9))
    whole = (tmp_path / EPISODES).read_bytes()
    with pytest.raises(OSError, match="No space"):
        store.append(*records[3:])
    assert (tmp_path / EPISODES).read_bytes() == whole and store.done == {"t0/ok/7", "t1/ok/7", "t2/ok/7"}
    store.close()


def test_a_hole_among_the_last_records_is_a_crash_of_the_machine_and_one_before_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    store.append(*(a_record(number) | {"settings_hash": store.settings_hash} for number in range(4)))
    store.close()
    path = tmp_path / EPISODES
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = bytes(100) + lines[2][100:]  # a block that did not reach the disk, while one behind it did
    path.write_bytes(b"".join(lines))
    assert len(episodes(tmp_path)) == 2
    monkeypatch.setattr("esar_ros.benchmark.runner.store.TOGETHER", 1)
    with pytest.raises(UsageError, match="line 3"):
        open_store(tmp_path)
    monkeypatch.undo()
    store = open_store(tmp_path)
    store.close()
    assert store.done == {"t0/ok/7", "t1/ok/7"} and path.read_bytes() == b"".join(lines[:2])


def test_a_line_as_it_was_written_is_not_written_anew_to_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    store.append(a_record(0) | {"settings_hash": store.settings_hash})
    store.close()
    monkeypatch.delattr("esar_ros.benchmark.runner.seal._digest")
    assert len(episodes(tmp_path)) == 1


@pytest.mark.parametrize("old, new", [(b'"status":"ok"', b'"status":"ko"'), (b'"index":1', b'"index":1,"extra":2')])
def test_a_record_that_was_changed_is_told(tmp_path: Path, old: bytes, new: bytes) -> None:
    store = open_store(tmp_path)
    for number in range(3):
        store.append(a_record(number) | {"settings_hash": store.settings_hash})
    store.close()
    path = tmp_path / EPISODES
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[1] and all(b'"sha256":"' in line for line in lines)
    assert all("sha256" not in record for record in read_contents(tmp_path, BENCH).records)
    path.write_bytes(lines[0] + lines[1].replace(old, new) + lines[2])
    with pytest.raises(UsageError, match="line 2: the record's content was changed after it was written"):
        episodes(tmp_path)
    path.write_bytes(lines[0] + json.dumps({**json.loads(lines[1]), "sha256": None}).encode() + b"\n" + lines[2])
    with pytest.raises(UsageError, match="line 2: the record holds no digest of its content"):
        episodes(tmp_path)
    shuffled = json.dumps(dict(reversed(json.loads(lines[1]).items())), indent=None).encode() + b"\n"
    path.write_bytes(lines[0] + shuffled + lines[2])
    assert len(episodes(tmp_path)) == 3, "another order of keys is the same content"


def test_broken_manifests_and_missing_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no episodes\.jsonl"):
        episodes(tmp_path / "nowhere")
    open_store(tmp_path).close()
    for text in ("", "[]", "{}", '{"schema": "esar-bench/1"}', "[" * 3000, '{"schema": ' + "9" * 6000 + "}"):
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(UsageError, match="manifest"):
            open_store(tmp_path)


def test_one_episode_is_found_by_its_id(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append(a_record(1) | {"settings_hash": store.settings_hash})
    store.close()
    assert find_episode(tmp_path, "t1/ok/7", dict).index == 1
    with pytest.raises(UsageError, match=r"no episode 't9': e\.g\. t1/ok/7"):
        find_episode(tmp_path, "t9", dict)


class FullDisk:
    """os.write that fails after `room` bytes, as long as `full` is set."""

    def __init__(self, room: int) -> None:
        self.room, self.full, self.refused = room, True, 0
        self._write = os.write

    def __call__(self, descriptor: int, data: Any) -> int:
        if not self.full or descriptor < 3:
            return self._write(descriptor, data)
        if self.room <= 0:
            self.refused += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = self._write(descriptor, bytes(data)[: self.room])
        self.room -= taken
        return taken


def test_a_full_disk_leaves_whole_lines_and_the_run_waits_for_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = light_plan(4)
    disk = FullDisk(room=2000)
    monkeypatch.setattr("esar_ros.benchmark.runner.store.os.write", disk)
    monkeypatch.setattr(runner, "FULL_DISK_LOOK", 0.05)
    monkeypatch.setattr(runner, "FULL_DISK_PATIENCE", 0.2)
    store = Store(tmp_path / "out", plan.settings)
    notes: list[str] = []
    with pytest.raises(UsageError, match="No space left on device: make room"):
        run(plan, store, LocalPool(1, LightEpisode(tmp_path), 9.0), lambda p: notes.append(p.note), failure)
    store.close()
    assert any("waiting for space" in note for note in notes)
    assert disk.refused >= 2
    text = (tmp_path / "out" / EPISODES).read_text()
    assert text.endswith("\n") and all(json.loads(line) for line in text.splitlines())
    kept = len(text.splitlines())
    assert 0 < kept < 4

    # Room again, while it waits: nothing is lost or repeated.
    disk.room, disk.full = 0, True
    store = Store(tmp_path / "out", plan.settings)
    monkeypatch.setattr(runner, "FULL_DISK_PATIENCE", 60.0)

    def make_room(progress: runner.Progress) -> None:
        if progress.note:
            disk.full = False

    run(plan, store, LocalPool(1, LightEpisode(tmp_path), 9.0), make_room, failure)
    store.close()
    assert len((tmp_path / "out" / EPISODES).read_text().splitlines()) == 4
    assert [record.id for record in episodes(tmp_path / "out")] == [job.id for job in plan.jobs]
