"""`esar governor`: the safety governor between any planner's /cmd_vel and an autopilot, without `ros2 launch`."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.nodes.graph.governor import ARGUMENTS, governor_graph, options_from
from esar_ros.nodes.graph.mission import PX4
from esar_ros.nodes.graph.parameter_file import read_parameter_file
from esar_ros.nodes.graph.supervisor import Supervisor
from esar_ros.nodes.px4 import messages
from esar_ros.safety.conditions import load_keep_out

POLL = 0.1  # s
LOGS = "out/governor"


def main(argv: list[str]) -> int:
    """Runs the governor until it is stopped; 1 where one of its processes has failed."""
    parser = Parser(
        prog="esar governor",
        description="Put the safety governor between any planner's /cmd_vel and an autopilot, until Ctrl-C.",
    )
    for name, argument in ARGUMENTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            default=argument.default,
            choices=argument.choices or None,
            metavar=None if argument.choices else "X",
            help=f"{argument.about} (default: {argument.default or 'none'})",
        )
    parser.add_argument("--logs", default=LOGS, metavar="FOLDER", help="of the processes' logs (default: %(default)s)")
    arguments = vars(parser.parse_args(argv))
    logs = Path(arguments.pop("logs"))
    options = options_from(arguments)
    if options.keep_out:  # what is wrong with a file is told before anything is built for it
        load_keep_out(Path(options.keep_out))
    if options.params_file:
        read_parameter_file(Path(options.params_file))
    if options.autopilot == PX4:
        if not messages.is_built():
            print("building px4_msgs, once: some minutes", flush=True)
        messages.ensure()
    supervisor = Supervisor(
        governor_graph(options), logs, options.params_file, options.log_level,
        lambda label, line: print(f"{label}: {line}", flush=True),
    )  # fmt: skip
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: stopped.append(signum))
    code = None
    try:
        supervisor.start()
        while code is None and not stopped:
            time.sleep(POLL)
            code = supervisor.poll()
    finally:
        supervisor.stop()
    if supervisor.failure:
        print(f"esar: {supervisor.failure}", flush=True)
    return code or 0
