"""The live graph under each fault of config/faults, one after the other on real missions.

python benchmarks/faults.py [--only NAME ...] [--pace lockstep realtime] [--keep FOLDER]

Each example is flown with its times moved into a slot of its own: several faults a mission, with time between them to
recover. Detection is counted from the fault's onset to the first answer of the governor that holds (or worse), the
pilot's first hold, or the bridge's, whichever comes first. Process faults are flown in real time, where a silence has
a length; the onset is when the signal was sent, by the referee's last progress line and the time since (which makes
the detection look later, not earlier). A mission must end scored, without a contact, and its bag must score the same.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from page import add_page, goal_table, write_page
from rosbags.highlevel import AnyReader

from esar_ros.bags.writer import typestore
from esar_ros.faults.schedule import PROCESS_KINDS
from esar_ros.mission import names
from esar_ros.mission.modes import Mode, Reason
from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.mission import MissionOptions, mission_graph
from esar_ros.nodes.graph.process_faults import ProcessFaults, Strike
from esar_ros.nodes.graph.supervisor import Supervisor
from esar_ros.scoring.bag import read_bag, score_bag

NANO = 1e9
VEHICLE = "uav1"
FIRST = 16.0  # s, take-off is over
REST = 4.0  # s after a message fault; a process that starts again needs longer
REST_PROCESS = 14.0
REST_STUCK = 14.0  # a position that stood still is distrusted until it moves
STUCK = ("stuck_odometry",)
LONGEST = 200.0  # s of faults in one mission
TAIL = 3.0  # s after the last slot
LIMIT = 900.0  # s wall for one mission
PROMISE = 0.5  # s from the death or freezing of a producer to a hold
# Alone in their missions: what ends the search, and a position in another frame. How far it flew in that frame cannot
# be known, so that it may be held until a person clears it.
FINAL = ("battery_step", "ned_odometry")
PILOT_HOLD = 5

# What each fault must lead to: the governor's reason, "pilot" or "bridge" when these hold, "" where nothing must stop.
EXPECTED: dict[str, tuple[str, ...]] = {
    "drop_odometry": ("STALE_ODOMETRY",),
    "drop_command": ("STALE_COMMAND",),
    "drop_ranges": ("STALE_RANGES",),
    "drop_map": ("",),
    "drop_some_ranges": ("", "STALE_RANGES"),
    "drop_map_at_pilot": ("",),
    "drop_odometry_at_pilot": ("STALE_COMMAND", "pilot"),
    "drop_clues": ("",),
    "delay_ranges": ("STALE_RANGES",),
    "delay_odometry": ("STALE_ODOMETRY", "CLOCK_JUMP"),
    "delay_command": ("STALE_COMMAND",),
    "duplicate_command": ("",),
    "duplicate_odometry": ("",),
    "reorder_odometry": ("", "STALE_ODOMETRY"),
    "reorder_ranges": ("", "STALE_RANGES"),
    # In real time the governor's clock stands still with the odometry: what others send is then from the future.
    "freeze_odometry": ("STALE_ODOMETRY", "STALE_COMMAND", "STALE_RANGES"),
    "freeze_command": ("STALE_COMMAND",),
    "freeze_ranges": ("STALE_RANGES",),
    "skew_ranges_past": ("STALE_RANGES",),
    "skew_ranges_future": ("STALE_RANGES",),
    "skew_command_future": ("STALE_COMMAND",),
    "nan_odometry": ("STALE_ODOMETRY",),
    "nan_command": ("NON_FINITE",),
    "nan_ranges": ("",),
    "nan_depth": ("",),
    "nan_battery": ("",),
    "ned_odometry": ("ESTIMATOR",),
    "ned_command": ("",),
    "turned_odometry": ("ESTIMATOR",),
    "millimetres_ranges": ("",),
    "millimetres_depth": ("",),
    "tf_gap": ("STALE_ODOMETRY",),
    "tf_gap_at_pilot": ("STALE_COMMAND", "pilot"),
    "camera_lost": ("",),
    "stuck_ranges": ("STALE_RANGES",),
    "stuck_odometry": ("ESTIMATOR",),
    "clock_reset": ("CLOCK_JUMP",),
    "battery_step": ("BATTERY_RESERVE",),
    "kill_pilot": ("LINK", "STALE_COMMAND"),
    "stop_pilot": ("LINK", "STALE_COMMAND"),
    "kill_planner": ("pilot",),
    "stop_planner": ("pilot",),
    "kill_sensing": ("STALE_RANGES",),
    "stop_sensing": ("STALE_RANGES",),
    "kill_governor": ("bridge",),
    "stop_governor": ("bridge",),
    "kill_bridge": ("STALE_ODOMETRY", "STALE_RANGES", "bridge"),
    "stop_bridge": ("STALE_ODOMETRY", "STALE_RANGES", "bridge"),
    "rpc_hang": ("STALE_ODOMETRY", "STALE_RANGES", "CLOCK_JUMP"),
}
# s: the governor's clock in real time is the newest odometry's stamp. Where that freezes, it holds at a stamp of up to
# a period before the onset; less than a step of lockstep.
STANDING = 0.04
# Producers that died or froze: what the half second is promised for.
DEAD = ("drop_odometry", "drop_command", "drop_ranges", "freeze_", "kill_", "stop_", "rpc_hang")


@dataclass(frozen=True)
class Case:
    """One example and the time (s) at which it acts in its mission."""

    name: str
    at: float
    end: float  # of what it may do, recovery included
    fault: dict[str, Any]

    @property
    def of_process(self) -> bool:
        """The fault is a signal to a process."""
        return self.fault["kind"] in PROCESS_KINDS


@dataclass
class Outcome:
    """The outcome of one fault; times in s."""

    name: str
    pace: str
    detection: float | None = None
    by: str = ""
    mode: str = ""
    reason: str = ""
    least_clearance: float | None = None
    met: bool = False
    why_not: str = ""


@dataclass
class Flown:
    """A mission and its faults."""

    pace: str
    end: str
    collisions: int
    readable: bool
    same_score: bool
    restarted: list[str]
    outcomes: list[Outcome] = field(default_factory=list)


def examples() -> dict[str, dict[str, Any]]:
    """Returns the fault of each file of config/faults."""
    paths = sorted(resource("config/faults").glob("*.yaml"))
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["faults"][0] for path in paths}


def flies_in(fault: dict[str, Any], pace: str) -> bool:
    """Returns whether a fault can be seen at this pace."""
    return pace == "realtime" or fault["kind"] not in (*PROCESS_KINDS, "clock_reset")


def pack(wanted: Sequence[str], pace: str, lasting: float | None = None, rest: float = REST) -> Iterator[list[Case]]:
    """Yields missions that together hold all wanted faults, each in a slot of its own; lasting: s instead of theirs."""
    known = examples()
    mission: list[Case] = []
    clock = FIRST
    for name in sorted(wanted, key=lambda n: (n in FINAL, known[n]["kind"] in PROCESS_KINDS)):
        fault = known[name]
        if not flies_in(fault, pace):
            continue
        if lasting is not None and "for" in fault:
            fault = {**fault, "for": lasting}
        rests = REST_PROCESS if fault["kind"] in PROCESS_KINDS else REST_STUCK if name in STUCK else rest
        end = clock + float(fault.get("for", 0.0)) + rests
        if name in FINAL:
            if mission:
                yield mission
            yield [Case(name, FIRST, FIRST + 40.0, {**fault, "at": FIRST})]
            mission = []
            continue
        mission.append(Case(name, clock, end, {**fault, "at": clock}))
        clock = end
        if clock > LONGEST:
            yield mission
            mission, clock = [], FIRST
    if mission:
        yield mission


def fly(cases: Sequence[Case], pace: str, folder: Path) -> Flown:
    """Flies one mission with these faults."""
    folder.mkdir(parents=True, exist_ok=True)
    schedule = folder / "faults.yaml"
    schedule.write_text(yaml.safe_dump({"faults": [case.fault for case in cases]}), encoding="utf-8")
    task = json.loads((resource("config/tasks") / "aotai-first.json").read_text(encoding="utf-8"))
    task |= {"id": "faults", "t_max": max(case.end for case in cases) + TAIL}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = MissionOptions(
        task=str(folder / "task.json"), planner="zigzag", map=task["map"], seed=7, out=str(folder), preset="fast",
        pace=pace, port=port, progress=True, log_level="warn", fault=str(schedule), detector="segmentation_oracle",
    )  # fmt: skip
    specs = mission_graph(options)
    faults = ProcessFaults.of(options, specs)
    assert faults is not None
    supervisor = Supervisor(specs, folder / "logs", token="benchmark", faults=faults, log_level="warn")
    began, code = time.monotonic(), None
    try:
        supervisor.start()
        while code is None and time.monotonic() - began < LIMIT:
            code = supervisor.poll()
            time.sleep(0.02)
    finally:
        supervisor.stop()
    return judge(cases, pace, folder, code, faults.strikes, supervisor.restarted)


def judge(
    cases: Sequence[Case], pace: str, folder: Path, code: int | None, strikes: Sequence[Strike], restarted: list[str]
) -> Flown:
    """Returns the outcomes that a mission's bag shows."""
    if code != 0 or not (folder / "result.json").is_file():
        return Flown(pace, f"exit code {code}", 0, False, False, restarted, [
            Outcome(case.name, pace, why_not="the mission was not scored") for case in cases
        ])  # fmt: skip
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    record = read_bag(folder / "bag")
    again = json.loads(score_bag(folder / "bag").dump())
    same = all(result[key] == again[key] for key in result if key != "timing")
    start = next(r.stamp - round(r.elapsed * NANO) for r in record.rows(VEHICLE, names.MISSION_STATE) if r.phase == 2)
    flown = Flown(pace, result["end"], result["safety"]["collisions"], True, same, restarted)
    ended = result["metrics"]["elapsed"]
    signals = list(strikes)
    for case in cases:
        onset = case.at
        if case.of_process:
            struck = next((s for s in signals if s.label.endswith(case.fault.get("process", "simulator"))), None)
            if struck is None:
                flown.outcomes.append(Outcome(case.name, pace, why_not="no signal was sent"))
                continue
            signals.remove(struck)
            onset = struck.time
        if onset >= ended:
            flown.outcomes.append(Outcome(case.name, pace, why_not=f"the mission had ended: {result['end_text']}"))
            continue
        holds = _holds(case, record, folder, start, onset)
        flown.outcomes.append(_outcome(case, pace, record, start, onset, holds))
    return flown


def _holds(case: Case, record: Any, folder: Path, start: int, onset: float) -> list[tuple[float, str, str, str]]:
    """Returns (s after onset, node, mode, reason) of each node's first hold, of the governor's for each reason."""
    first: list[tuple[float, str, str, str]] = []
    back = float(case.fault["by"]) if case.fault["kind"] == "clock_reset" else 0.0  # its answers carry old stamps
    for row in record.rows(VEHICLE, names.SAFETY_STATUS):
        after = (row.stamp - start) / NANO - onset + back
        wanted = row.reason == Reason.CLOCK_JUMP if back else row.mode >= Mode.HOLD
        reason = Reason(row.reason).name
        if wanted and -STANDING <= after < case.end - onset and reason not in (known[3] for known in first):
            first.append((max(after, 0.0), "governor", Mode(row.mode).name, reason))
    for row in record.rows(VEHICLE, names.VEHICLE_STATE):
        after = (row.stamp - start) / NANO - onset
        if row.holding and 0.0 <= after < case.end - onset:
            first.append((after, "bridge", "HOLD", "no fresh safe command"))
            break
    for stamp, phase in pilot_phases(folder / "bag"):
        after = (stamp - start) / NANO - onset
        if phase == PILOT_HOLD and 0.0 <= after < case.end - onset:
            first.append((after, "pilot", "HOLD", "its own"))
            break
    return sorted(first)


def _outcome(
    case: Case, pace: str, record: Any, start: int, onset: float, holds: list[tuple[float, str, str, str]]
) -> Outcome:
    outcome = Outcome(case.name, pace)
    low, high = start + round(onset * NANO), start + round(case.end * NANO) - 1
    rows = record.rows(VEHICLE, names.SAFETY_STATUS, low, high)
    clear = min((row.clearance for row in rows), default=math.inf)
    outcome.least_clearance = round(clear, 2) if math.isfinite(clear) else None
    before = record.rows(VEHICLE, names.SAFETY_STATUS, low - round(0.5 * NANO), low - round(STANDING * NANO) - 1)
    expected = EXPECTED[case.name]
    fitting = [h for h in holds if h[1] in expected or h[3] in expected]
    chosen = (fitting or holds)[:1]
    if chosen:
        after, outcome.by, outcome.mode, outcome.reason = chosen[0]
        outcome.detection = round(after, 3)
    else:
        worst = max(rows, key=lambda row: row.mode, default=None)
        outcome.mode, outcome.by = (Mode(worst.mode).name, "") if worst else ("", "")
        outcome.reason = Reason(worst.reason).name if worst else ""
    promised = case.name.startswith(DEAD)
    if before and before[-1].mode >= Mode.HOLD and Reason(before[-1].reason).name in expected:
        outcome.why_not = "was holding before"
    elif not fitting and "" not in expected:
        outcome.why_not = f"expected {' or '.join(expected)}"
    elif promised and outcome.detection is not None and outcome.detection > PROMISE:
        outcome.why_not = f"later than {PROMISE} s"
    outcome.met = not outcome.why_not
    return outcome


def pilot_phases(bag: Path) -> list[tuple[int, int]]:
    """Returns (stamp, phase) of every answer of the pilot."""
    with AnyReader([bag], default_typestore=typestore()) as reader:
        connections = [c for c in reader.connections if c.topic == f"/{VEHICLE}/{names.PILOT_STATE}"]
        messages = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(connections)]
    stamped = [(m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec, int(m.phase)) for m in messages]
    return sorted(stamped)


def table(missions: Sequence[Flown]) -> str:
    """Returns all outcomes in Markdown."""
    lines = [
        "| fault | pace | held after | by | mode | reason | as promised |",
        "|---|---|---|---|---|---|---|",
    ]
    for outcome in sorted((o for m in missions for o in m.outcomes), key=lambda o: (o.name, o.pace)):
        held = f"{outcome.detection:.2f} s" if outcome.detection is not None else "-"
        promise = "yes" if outcome.met else f"no: {outcome.why_not}"
        cells = (outcome.name, outcome.pace, held, outcome.by, outcome.mode.lower(), outcome.reason.lower(), promise)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=sorted(examples()), choices=sorted(examples()), metavar="NAME")
    parser.add_argument("--pace", nargs="+", default=["lockstep", "realtime"], choices=("lockstep", "realtime"))
    parser.add_argument("--keep", default="", metavar="FOLDER", help="keep the missions' results there")
    add_page(parser)
    arguments = parser.parse_args()
    os.environ.update(graph_environment())
    os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    missions = []
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(arguments.keep or temporary)
        for pace in arguments.pace:
            for number, cases in enumerate(pack(arguments.only, pace)):
                flown = fly(cases, pace, root / f"{pace}-{number}")
                missions.append(flown)
                words = f"{pace} mission {number}: {len(cases)} faults, {flown.end}"
                print(f"{table([flown])}\n{words}", file=sys.stderr, flush=True)  # a run cut off has told so much
    outcomes = [outcome for mission in missions for outcome in mission.outcomes]
    late = [o.detection for o in outcomes if o.name.startswith(DEAD) and o.detection is not None]
    figures = {
        "faults": len(outcomes),
        "as_promised": sum(o.met for o in outcomes),
        "missions": len(missions),
        "scored": sum(m.readable for m in missions),
        "same_score_from_bag": sum(m.same_score for m in missions),
        "collisions": sum(m.collisions for m in missions),
        "hold_after_death_max_s": max(late, default=None),
        "outcomes": [asdict(o) for o in outcomes],
    }
    goals = {"collisions": 0, "hold_after_death_max_s": PROMISE, "as_promised": len(outcomes), "scored": len(missions)}
    met = {
        "collisions": figures["collisions"] == 0,
        "hold_after_death_max_s": max(late, default=0.0) <= PROMISE,
        "as_promised": figures["as_promised"] == len(outcomes),
        "scored": figures["scored"] == len(missions),
    }
    print(table(missions))
    for mission in missions:
        print(
            f"{mission.pace}: {mission.end}, {mission.collisions} contacts, restarted {mission.restarted or 'nobody'}"
        )
    print(json.dumps({"benchmark": "faults", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "Every example of `config/faults`, several a mission, with time between them to recover. *Held after* "
            "counts from the fault's onset to the first step in which the governor, the pilot or the bridge holds; "
            "-: nobody had to. One flight a row."
        )
        counts = {key: value for key, value in figures.items() if key != "outcomes"}
        wanted = goals | {key: (goals[key], ">=") for key in ("as_promised", "scored")}
        conditions = {"paces": ", ".join(arguments.pace), "planner": "zigzag", "pictures": "320x240", "seed": 7}
        write_page(
            __file__,
            "What the graph does under faults",
            about,
            conditions,
            [table(missions), goal_table(counts, wanted, met)],
        )
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
