"""Hand-made UAV-ON logs with their scores worked out by hand, one for every row of the rules' table and its notes.

All stand on a line: the vehicle is x m from the first target, at the same height. The log is written here, in the
layout of the authors' code, and not by the writer under test.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEIGHT = -3.0  # NED
SCENE = "standin_line"
PREFIX = {"success": "success_", "oracle": "oracle_", "failure": ""}


@dataclass(frozen=True)
class Expected:
    """Score of one episode under one set of rules."""

    success: bool
    oracle: bool
    dts: float
    spl: float
    path: float


@dataclass(frozen=True)
class Case:
    """One episode: places x of frames 0 to T, how it ended, and what it scores."""

    name: str
    xs: Sequence[float]
    outcome: str  # folder in which the authors' code puts it
    code: Expected
    paper: Expected
    strict: Expected
    ending: str = "stop"
    contacts: Sequence[int] = ()  # frames
    contact_at_stop: bool = False
    shortest: float = 12.0
    straight: float | None = None  # None: the distance of frame 0
    targets: Sequence[float] = (0.0,)
    size: str = "small(1.0*1.0=1.0 squares)"

    def expected(self, rules: str) -> Expected:
        """Its score under rules of this name."""
        return {"code": self.code, "paper": self.paper, "strict": self.strict}[rules]


T, F = True, False
STILL = [30.0] * 149  # frames 0 to 148

CASES = (
    Case(
        "stop at 20.0",
        [30.0, 25.0, 20.0],
        "success",
        code=Expected(T, T, 20.0, 1.0, 10.0),
        paper=Expected(T, T, 20.0, 1.0, 10.0),
        strict=Expected(T, T, 20.0, 1.0, 10.0),
    ),
    Case(
        "stop at 20.004, which the log rounds to 20.0",
        [30.0, 25.0, 20.004],
        "failure",
        code=Expected(F, F, 20.0, 0.0, 10.0),
        paper=Expected(F, F, 20.004, 0.0, 9.996),
        strict=Expected(F, F, 20.004, 0.0, 9.996),
        size=" mid(2.5*2.0=5.0 squares)",
    ),
    Case(
        "contact in the stop step",
        [30.0, 20.0, 10.0],
        "failure",
        code=Expected(F, F, 10.0, 0.0, 20.0),
        paper=Expected(T, T, 10.0, 1.0, 20.0),
        strict=Expected(F, T, 10.0, 0.0, 20.0),
        contact_at_stop=True,
        shortest=25.0,
        size="big(5*3=15 squares)",
    ),
    Case(
        "contact in the stop step, which is the 150th action",
        [*STILL, 10.0],
        "oracle",
        code=Expected(F, T, 10.0, 0.0, 20.0),
        paper=Expected(T, T, 10.0, 0.6, 20.0),
        strict=Expected(F, T, 10.0, 0.0, 20.0),
        contact_at_stop=True,
    ),
    Case(
        "stop as the 150th action",
        [*STILL, 10.0],
        "success",
        code=Expected(T, T, 10.0, 0.6, 20.0),
        paper=Expected(T, T, 10.0, 0.6, 20.0),
        strict=Expected(T, T, 10.0, 0.6, 20.0),
        size="mid (2*2=4 squares)",
    ),
    Case(
        "150th action at 20.0 without contact",
        [*STILL, 30.0, 20.0],
        "oracle",
        code=Expected(F, T, 20.0, 0.0, 10.0),
        paper=Expected(T, T, 20.0, 1.0, 10.0),
        strict=Expected(F, T, 20.0, 0.0, 10.0),
        ending="step_limit",
    ),
    Case(
        "150th action within 20 with contact",
        [*STILL, 30.0, 10.0],
        "oracle",
        code=Expected(F, T, 10.0, 0.0, 20.0),
        paper=Expected(T, T, 10.0, 0.6, 20.0),
        strict=Expected(F, F, 10.0, 0.0, 20.0),
        ending="collision",
        contacts=[150],
        size="big(5*3=15 squares)",
    ),
    Case(
        "149th action within 20 with contact",
        [*STILL, 10.0],
        "failure",
        code=Expected(F, F, 10.0, 0.0, 20.0),
        paper=Expected(T, T, 10.0, 0.6, 20.0),
        strict=Expected(F, F, 10.0, 0.0, 20.0),
        ending="collision",
        contacts=[149],
    ),
    Case(
        "step limit far away",
        [*STILL, 30.0, 30.0],
        "failure",
        code=Expected(F, F, 30.0, 0.0, 0.0),
        paper=Expected(F, F, 30.0, 0.0, 0.0),
        strict=Expected(F, F, 30.0, 0.0, 0.0),
        ending="step_limit",
    ),
    Case(
        "start within 20, then away",
        [15.0, 25.0, 30.0],
        "failure",
        code=Expected(F, F, 30.0, 0.0, 15.0),
        paper=Expected(F, T, 30.0, 0.0, 15.0),
        strict=Expected(F, T, 30.0, 0.0, 15.0),
    ),
    Case(
        "passed within 20, stop far away",
        [30.0, 10.0, 40.0],
        "oracle",
        code=Expected(F, T, 40.0, 0.0, 50.0),
        paper=Expected(F, T, 40.0, 0.0, 50.0),
        strict=Expected(F, T, 40.0, 0.0, 50.0),
        size=" mid(2.5*2.0=5.0 squares)",
    ),
    Case(
        "passed at exactly 20, stop far away",
        [30.0, 20.0, 40.0],
        "failure",
        code=Expected(F, F, 40.0, 0.0, 30.0),
        paper=Expected(F, T, 40.0, 0.0, 30.0),
        strict=Expected(F, T, 40.0, 0.0, 30.0),
    ),
    Case(
        "passed within 20, stop far away with a contact",
        [30.0, 10.0, 40.0],
        "failure",
        code=Expected(F, F, 40.0, 0.0, 50.0),
        paper=Expected(F, T, 40.0, 0.0, 50.0),
        strict=Expected(F, T, 40.0, 0.0, 50.0),
        contact_at_stop=True,
    ),
    Case(
        "passed within 20, then a contact within 20",
        [30.0, 10.0, 12.0],
        "failure",
        code=Expected(F, F, 12.0, 0.0, 22.0),
        paper=Expected(T, T, 12.0, 0.5, 22.0),
        strict=Expected(F, T, 12.0, 0.0, 22.0),
        ending="collision",
        contacts=[2],
        shortest=11.0,
        size="big(5*3=15 squares)",
    ),
    Case(
        "stop at once, the file's straight distance is another",
        [15.0],
        "success",
        code=Expected(T, T, 15.5, 0.0, 0.0),
        paper=Expected(T, T, 15.0, 1.0, 0.0),
        strict=Expected(T, T, 15.0, 1.0, 0.0),
        straight=15.5,
    ),
    Case(
        "turned on the spot, then stop",
        [15.0, 15.0, 15.0],
        "success",
        code=Expected(T, T, 15.0, 0.0, 0.0),
        paper=Expected(T, T, 15.0, 1.0, 0.0),
        strict=Expected(T, T, 15.0, 1.0, 0.0),
        straight=15.5,
    ),
    Case(
        "two places: success by the nearest, logged distance to the last",
        [30.0, 20.0, 10.0],
        "success",
        code=Expected(T, T, 90.0, 1.0, 20.0),
        paper=Expected(T, T, 10.0, 1.0, 20.0),
        strict=Expected(T, T, 10.0, 1.0, 20.0),
        shortest=40.0,
        targets=(0.0, 100.0),
        size="mid(3*2=6 squares)",
    ),
    Case(
        "path that the log rounds",
        [48.336, 15.0],
        "success",
        code=Expected(T, T, 15.0, 10.0 / 33.34, 33.34),
        paper=Expected(T, T, 15.0, 10.0 / 33.336, 33.336),
        strict=Expected(T, T, 15.0, 10.0 / 33.336, 33.336),
        shortest=10.0,
        size="small1.5*1=1.5 squares)",
    ),
    Case(
        "no size class",
        [30.0, 29.0],
        "failure",
        code=Expected(F, F, 29.0, 0.0, 1.0),
        paper=Expected(F, F, 29.0, 0.0, 1.0),
        strict=Expected(F, F, 29.0, 0.0, 1.0),
        size="1.5*1=1.5 squares)",
    ),
)


def document(id: int, case: Case) -> dict[str, Any]:
    """The episode of a case as a file of episodes holds it."""
    return {
        "episode_id": str(id),
        "start_pose": {"start_position": [case.xs[0], 0, HEIGHT], "start_quaternionr": [0, 0, 0, 1]},
        "info": {
            "geodesic_distance": case.shortest,
            "euclidean_distance": abs(case.xs[0]) if case.straight is None else case.straight,
        },
        "map_name": SCENE,
        "true_name": " Bench",
        "object_name": "bench_07",
        "pose": [[x, 0, HEIGHT] for x in case.targets],
        "size": case.size,
        "description": " A bench.",
        "category": "",
        "used-in-train": 1,
    }


def lines(case: Case) -> list[dict[str, Any]]:
    """The trajectory of a case as it is logged."""
    logged = []
    path = 0.0
    for frame, x in enumerate(case.xs):
        path += abs(x - case.xs[max(frame - 1, 0)])
        first = abs(case.xs[0]) if case.straight is None else case.straight
        logged.append(
            {
                "frame": frame,
                "is_collision": frame in case.contacts,
                "action": "forward" if frame else None,
                "steps_size": 5 if frame else 0,
                "move_distance": round(path, 2),
                "distance_to_end": round(abs(x - case.targets[-1]) if frame else first, 2),
                "sensors": {"state": {"position": [x, 0.0, HEIGHT], "quaternionr": [0.0, 0.0, 0.0, 1.0]}},
            }
        )
    return logged


def write_case(out: Path, id: int, case: Case, outcome: str | None = None) -> Path:
    """Write one log under out/logs, in the folder of its outcome or of another; returns its folder."""
    folder = out / "logs" / SCENE / f"{PREFIX[outcome or case.outcome]}{SCENE}.json" / f"task_{id}"
    (folder / "log").mkdir(parents=True)
    text = "".join(json.dumps(line) + "\n" for line in lines(case))
    (folder / "log" / "trajectory.jsonl").write_text(text, encoding="utf-8")
    description = json.dumps(document(id, case), indent=2, ensure_ascii=False)
    (folder / "object_description.json").write_text(description, encoding="utf-8")
    return folder


def write_cases(out: Path) -> None:
    """Write all cases as one run."""
    for id, case in enumerate(CASES):
        write_case(out, id, case)
