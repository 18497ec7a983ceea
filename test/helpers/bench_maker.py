"""Benchmark runs that were never flown: episodes.jsonl as `esar bench` writes it, from the real scoring."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.benchmark.runner.job import SCHEMA
from esar_ros.benchmark.runner.seal import sealed_line
from esar_ros.benchmark.runner.store import EPISODE_SCHEMA, EPISODES, MANIFEST
from esar_ros.benchmark.runner.worker import timing
from esar_ros.mission import names
from esar_ros.mission.decision import ReportType
from esar_ros.mission.modes import Landed
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.stamps import NANO
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import CollisionRow, OdometryRow, ReportRow, StateRow
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Run, TrueClue, TrueVictim, Truth, VehicleTruth

TOLD = RunConditions(
    odometry="noisy", judge="offline/2", version="0.1.0", detector_settings="d1", judge_settings="j1", thresholds="t1",
    vehicle="v1", pilot="p1", safety="s1", tasks="12, a1", planner_settings="m1", model="",
)  # fmt: skip
MAPS = ("aotai", "lop_nur", "k2", "dapeng")
TIERS = ("simple", "medium", "hard", "extreme")
SPELLINGS = {"tent": "a shelter", "backpack": "rucksack", "rope": "purple cord"}


def make_task(event: int, snapshot: int, number: int) -> Task:
    name = f"e{event}-s{snapshot}-t{number}"
    return Task.model_validate(
        {
            "schema": "esar-task/1",
            "id": name,
            "map": MAPS[event % len(MAPS)],
            "event": f"e{event}",
            "snapshot": f"e{event}-s{snapshot}",
            "split": "dev",
            "seed": 1,
            "prompt": "A hiker went missing on the ridge two days ago; find him and what he left.",
            "local_time": "2021-10-01T09:00:00",
            "weather": "clear",
            "start": {"position": [0.0, 0.0], "yaw": 0.0},
            "t_max": 900.0,
            "victims": [{"id": "v1", "name": "Wu", "position": [100.0, 0.0], "pose": "lying"}],
            "clues": [{"id": "c1", "kind": "tent", "description": "orange tent", "position": [40.0, 0.0]}],
            "difficulty": 1,
            "tier": TIERS[(event + snapshot + number) % len(TIERS)],
        }
    )


def fly(task: Task, planner: str, skill: float, rng: np.random.Generator, **run: Any) -> tuple[Any, dict[str, Any]]:
    """(result, track) of a walk whose luck is `skill`, as the scoring sees it."""
    place = np.random.default_rng(int(hashlib.sha256(task.id.encode()).hexdigest()[:8], 16))
    victims = place.uniform(-350.0, 350.0, (2, 3)) * [1.0, 1.0, 0.0]
    clues = victims[place.integers(0, 2, 3)] + place.normal(0.0, 60.0, (3, 3)) * [1.0, 1.0, 0.0]
    kinds = ["tent", "backpack", "rope"]
    record = EpisodeRecord()
    crashed = planner not in ("stay", "flooder") and rng.random() < 0.25
    seconds = 10.0 if planner == "stay" else float(rng.uniform(200.0, 900.0))
    times = np.arange(0.0, seconds, 5.0)
    heading = np.cumsum(rng.normal(0.0, 0.25, len(times))) + rng.uniform(0.0, 6.3)
    steps = np.column_stack([np.cos(heading), np.sin(heading)]) * (0.0 if planner in ("stay", "flooder") else 15.0)
    track = np.clip(np.cumsum(steps, axis=0), -450.0, 450.0)
    for t, (x, y) in zip(times, track, strict=True):
        ns = NANO + round(t * NANO)
        record.take("uav1", names.ODOMETRY, OdometryRow(ns, float(x), float(y), 30.0, 1.0, 0.0, 0.0, 0.0))
    record.take("uav1", names.VEHICLE_STATE, StateRow(NANO, True, Landed.FLYING, False))
    end = NANO + round(seconds * NANO)
    if crashed:
        record.take("uav1", names.COLLISION, CollisionRow(end, 0.0, 0.0, 0.0, "tree"))

    def report(seq: int, kind: int, name: str, text: str, at: np.ndarray) -> None:
        x, y, z = at.tolist()
        row = ReportRow(NANO * (2 + seq), seq, kind, name, text, 0.5, x, y, z, names.MAP)
        record.take("uav1", names.REPORTS, row)

    seq = 0
    for victim in victims:
        if rng.random() < skill:
            report(seq := seq + 1, ReportType.VICTIM, "person", "person", victim + [3.0, 0.0, 0.0])
    for kind, clue in zip(kinds, clues, strict=True):
        if rng.random() < skill:
            report(seq := seq + 1, ReportType.CLUE, kind, SPELLINGS[kind], clue + [0.0, 4.0, 0.0])
    if skill > 0.0 and rng.random() < 0.5:
        report(seq := seq + 1, ReportType.VICTIM, "person", "person", rng.uniform(-300.0, 300.0, 3))
    truth = Truth(
        schema="esar-truth/1",
        run=Run(
            **{
                "mission_id": f"{task.id}-{planner}",
                "planner": planner,
                "judge": "offline/2",
                "pace": "lockstep",
                "seed": 1,
                "odometry": "noisy",
                "versions": {"esar_ros": "0.1.0"},
                **run,
            }
        ),
        task=task,
        thresholds=load_thresholds(),
        victims=tuple(
            TrueVictim(id=f"v{i}", name="Wu", pose="lying", position=tuple(p)) for i, p in enumerate(victims)
        ),
        clues=tuple(
            TrueClue(id=f"c{i}", kind=kind, description=kind, position=tuple(p))
            for i, (kind, p) in enumerate(zip(kinds, clues, strict=True))
        ),
        vehicles={"uav1": VehicleTruth(odom_in_map=(0.0, 0.0, 0.0))},
        start=NANO,
        end=end,
        end_reason=End.COLLISION if crashed else End.STOP,
    )
    columns = {"t": times.tolist(), "x": track[:, 0].tolist(), "y": track[:, 1].tolist()}
    return score(record, truth, OfflineJudge()), {"uav1": columns}


def make_bench(
    folder: Path,
    skills: Mapping[str, float],
    events: int = 3,
    snapshots: int = 2,
    tasks: int = 2,
    seeds: int = 1,
    conditions: RunConditions = TOLD,
    **run: Any,
) -> list[dict[str, Any]]:
    """Write a run and return its lines. skills: planner -> chance of each find; `run` goes into every result.

    conditions: as recorded with every line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for planner, skill in skills.items():
        for seed in range(seeds):
            rng = np.random.default_rng([seed, *planner.encode()])
            for event in range(events):
                for snapshot in range(snapshots):
                    for number in range(tasks):
                        task = make_task(event, snapshot, number)
                        result, track = fly(task, planner, skill, rng, **{"seed": seed, **run})
                        lines.append(
                            {
                                "schema": EPISODE_SCHEMA,
                                "index": len(lines),
                                "id": f"{task.id}/{planner}/{seed}",
                                "task": task.id,
                                "planner": planner,
                                "seed": seed,
                                "status": "ok",
                                "reason": None,
                                "attempts": 1,
                                "job": {"task": task.id},
                                "task_digest": "",
                                "settings_hash": "h",
                                "result": json.loads(result.dump()),
                                "track": track,
                                "timing": timing(1.0, 1.0, 100.0).model_dump(),
                                "conditions": asdict(conditions),
                            }
                        )
    write_lines(folder, lines)
    return lines


def write_lines(folder: Path, lines: Sequence[Mapping[str, Any]], suite: str = "esarbench") -> None:
    """Write a run's folder; the manifest's settings are what reports need of them."""
    settings = {"suite": suite, "planners": list(dict.fromkeys(line["planner"] for line in lines)), "seeds": 1}
    (folder / MANIFEST).write_text(json.dumps({"schema": SCHEMA, "settings": settings, "settings_hash": "h"}))
    (folder / EPISODES).write_bytes(b"".join(sealed_line(dict(line)) for line in lines))
