"""The governor's node at 50 Hz on a machine without an idle core: the share of missed deadlines.

python benchmarks/governor_node.py [--task ID] [--planner NAME] [--preset NAME] [--hogs N] [--keep FOLDER]

A mission in real time; beside its graph run N processes that only count, by default one a core, so that no core is ever
idle. The node itself measures each period from the timer's release to the answer that is published (a release it slept
through counts as missed) and says so in its diagnostics, which the bag keeps. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
from page import add_page, goal_table, write_page
from rosbags.highlevel import AnyReader

from esar_ros.bags.writer import typestore
from esar_ros.mission import names
from esar_ros.mission.system.environment import graph_environment

GOALS = {"missed_percent": 0.1}
NODE = "safety_governor: deadlines"


def count() -> None:
    """Uses one core."""
    number = 0
    while True:
        number += 1


def fly(arguments: argparse.Namespace, out: Path) -> float:
    """Flies with the hogs beside; returns the share (percent) of all cores in use meanwhile."""
    command = [sys.executable, "-m", "esar_ros.app.cli", "mission", "--pace", "realtime", "--record", "view"]
    command += ["--task", arguments.task, "--planner", arguments.planner, "--preset", arguments.preset]
    hogs = [multiprocessing.Process(target=count, daemon=True) for _ in range(arguments.hogs)]
    for hog in hogs:
        hog.start()
    try:
        psutil.cpu_percent()
        subprocess.run([*command, "--out", str(out)], check=True, stdout=sys.stderr)
        return float(psutil.cpu_percent())
    finally:
        for hog in hogs:
            hog.kill()


def last_deadlines(bag: Path) -> dict[str, str]:
    """Returns the governor's last diagnostics of its deadlines."""
    last: dict[str, str] = {}
    with AnyReader([bag], default_typestore=typestore()) as reader:
        connections = [c for c in reader.connections if c.topic == names.DIAGNOSTICS]
        for connection, _, raw in reader.messages(connections):
            for status in reader.deserialize(raw, connection.msgtype).status:
                if status.name.endswith(NODE):
                    last = {pair.key: pair.value for pair in status.values}
    if not last:
        raise SystemExit(f"no diagnostics '{NODE}' in {bag}")
    return last


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--planner", default="fbe")
    parser.add_argument("--preset", default="fast", choices=("fast", "paper"))
    parser.add_argument("--hogs", type=int, default=os.cpu_count() or 1, help="processes beside the graph (cores)")
    parser.add_argument("--keep", default="", metavar="FOLDER", help="keep the mission's results there")
    add_page(parser)
    arguments = parser.parse_args()
    os.environ.update(graph_environment())
    os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(arguments.keep or temporary)
        busy = fly(arguments, out)
        said = last_deadlines(out / "bag")
        contacts = json.loads((out / "result.json").read_text(encoding="utf-8"))["safety"]["collisions"]
    missed = 100.0 * float(said["missed"]) / float(said["periods"])
    print(f"{said['periods']} periods of 20 ms, {said['missed']} missed ({missed:.3f} %); {said['scheduling']}")
    print(f"release to answer, p99 of the last minute: {said['p99 (ms)']} ms; cores busy {busy:.0f} %")
    figures = {
        "periods": int(said["periods"]),
        "missed_percent": round(missed, 4),
        "p99_ms": float(said["p99 (ms)"]),
        "scheduling": said["scheduling"],
        "cores_busy_percent": busy,
        "hogs": arguments.hogs,
        "collisions": contacts,
    }
    met = {key: figures[key] < goal for key, goal in GOALS.items()}
    print(json.dumps({"benchmark": "governor_node", "figures": figures, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "A mission in real time beside processes that only count. The node measures each period of 20 ms from the "
            "timer's release to the answer that is published; one it slept through counts as missed."
        )
        conditions = {key: getattr(arguments, key) for key in ("task", "planner", "preset")}
        table = goal_table(figures, GOALS, met, "<")
        write_page(__file__, "Whether the governor's node keeps its rhythm", about, conditions, [table])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
