"""A whole mission through the fake autopilot: `./esar exec python test/px4/fly.py --out out/px4`.

The graph is that of world px4 with nothing replaced: planner, pilot, governor, detector, mapper, referee. The fake
autopilot moves the vehicle, `esar px4 mirror` puts the embedded simulator's there, and its cameras and LiDAR see it.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from esar_ros.mission.system.environment import graph_environment
from esar_ros.mission.task import load_task
from esar_ros.nodes.core.node_names import SIMULATOR
from esar_ros.nodes.graph.mission import PX4, TRUTH_DETECTOR, MissionOptions, NodeSpec, mission_graph, vehicle_names
from esar_ros.nodes.graph.supervisor import Supervisor
from esar_ros.nodes.px4 import messages


def free_port() -> int:
    """Returns a port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def graph(options: MissionOptions) -> list[NodeSpec]:
    """The mission's processes and a simulator that only draws."""
    drawing = mission_graph(replace(options, world="embedded"))
    return [spec for spec in drawing if spec.executable == SIMULATOR] + mission_graph(options)


def fly(options: MissionOptions, patience: float) -> int:
    """Run it; 0 when a result was written within patience (s, wall)."""
    messages.ensure()
    token = secrets.token_hex(8)
    out = Path(options.out)
    supervisor = Supervisor(
        graph(options), out / "logs", on_line=lambda label, line: print(f"{label}: {line}"), token=token
    )
    environment = {**os.environ, **graph_environment()}
    count = len(options.vehicles)
    fake = [sys.executable, "-u", str(Path(__file__).with_name("fake_node.py")), "--task", options.task]
    mirror = [sys.executable, "-u", "-m", "esar_ros.app.cli", "px4", "mirror", "--port", str(options.port)]
    commands = {f"fake_autopilot{k}": [*fake, "--index", str(k), "--count", str(count)] for k in range(count)}
    commands["mirror"] = [*mirror, "--vehicles", ",".join(options.vehicles)]
    code: int | None = None
    beside = []
    try:
        supervisor.start()
        for name, command in commands.items():
            with (out / "logs" / f"{name}.log").open("wb") as log:
                beside.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
        limit = time.monotonic() + patience
        while code is None and time.monotonic() < limit:
            code = supervisor.poll()
            time.sleep(0.1)
    finally:
        for process in beside:
            process.send_signal(signal.SIGINT)
        for process in beside:
            process.wait(10.0)
        supervisor.stop()
    return 1 if code is None else code


def main() -> int:
    """Fly one task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="out/px4")
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--planner", default="fbe")
    parser.add_argument("--detector", default=TRUTH_DETECTOR)
    parser.add_argument("--end", default="return_land")
    parser.add_argument("--vehicles", default="1", help="each flies an instance of its own")
    parser.add_argument("--patience", type=float, default=900.0, help="s")
    arguments = parser.parse_args()
    task = load_task(arguments.task)
    options = MissionOptions(
        task=arguments.task, planner=arguments.planner, map=task.map, seed=task.seed, out=arguments.out, world=PX4,
        detector=arguments.detector,
        pace="realtime", preset="fast", end=arguments.end, port=free_port(), progress=True, log_level="warn",
        vehicles=vehicle_names(arguments.vehicles),
    )  # fmt: skip
    code = fly(options, arguments.patience)
    result = Path(arguments.out) / "result.json"
    if result.is_file():
        told = json.loads(result.read_text(encoding="utf-8"))
        print(json.dumps({key: told[key] for key in ("end", "end_text", "metrics") if key in told}, indent=1))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
