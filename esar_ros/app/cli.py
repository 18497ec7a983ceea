"""`esar VERB`: one command a need. Exit codes: 0 done, 1 failed, 2 bad usage or input, 130 interrupted."""

from __future__ import annotations

import sys
from importlib import import_module

from esar_ros import __version__
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.system_errors import system_error

# Verb: what it does, and the module whose main(argv) does it, imported only then.
VERBS: dict[str, tuple[str, str]] = {
    "mission": ("fly one task and show the scorecard", "esar_ros.app.mission"),
    "sim": ("run the simulator alone, for any AirSim client", "esar_ros.app.sim"),
    "score": ("score a bag, or the logs of a UAV-ON run, again", "esar_ros.app.score"),
    "replay": ("play a bag into the ROS graph, or copy a part of it", "esar_ros.app.bags.replay"),
    "compare": ("two flights side by side as an image", "esar_ros.app.bags.compare"),
    "export": (
        "a bag as files for maps of others (KML, GPX, CoT ...), or as a point cloud and mesh",
        "esar_ros.app.bags.export",
    ),
    "report": ("compare benchmark runs, or show a flown mission again", "esar_ros.app.report"),
    "leaderboard": (
        "compare the submissions of a folder, with who flew them and how",
        "esar_ros.app.suites.leaderboard",
    ),
    "tasks": ("list and show tasks", "esar_ros.app.tasks"),
    "brief": ("what is understood of a brief, and the prior that it makes", "esar_ros.app.brief"),
    "incident": ("a real search: begin, plan flights, take in what was done", "esar_ros.app.incident.verbs"),
    "bench": ("fly many tasks by many methods; goes on where it was ended", "esar_ros.app.bench"),
    "scenarios": ("check, label, describe, make and fly UAVBench's scenarios", "esar_ros.app.suites.scenarios"),
    "mcq": ("questions about UAV missions for language models: check, ask, compare", "esar_ros.app.suites.mcq"),
    "serve": ("the servers that UAV-ON's and RescueBench's own evaluations expect", "esar_ros.app.suites.serve"),
    "suite": ("launchers in the place of UAV-ON's and RescueBench's binaries", "esar_ros.app.suites.suite"),
    "maps": ("list, show and import the places to fly in", "esar_ros.app.maps"),
    "models": ("list, check and export the detectors' networks; embed words", "esar_ros.app.models"),
    "train-detector": ("draw, train and measure the embedded detector", "esar_ros.app.train_detector"),
    "calibrate": ("measure how a vehicle brakes, and the limits that follow", "esar_ros.app.vehicle.calibrate"),
    "px4": (
        "PX4: home, mirror for a drawing server; and ArduPilot: where it is, landing, check of parameters",
        "esar_ros.app.vehicle.px4",
    ),
    "governor": (
        "the safety governor alone, between a planner's /cmd_vel and an autopilot",
        "esar_ros.app.vehicle.governor",
    ),
    "prepare": ("compile and draw what every flight needs, once; the others do it when needed", "esar_ros.app.prepare"),
    "completion": ("print what completes verbs, flags and names in bash or zsh", "esar_ros.app.completion"),
    "doctor": ("what this machine has and lacks", "esar_ros.app.doctor"),
}
LAUNCHER_VERBS = {
    "test": "run the tests (--full for the long ones); ./esar only",
    "exec": "run any command in the environment; ./esar only",
}


def usage() -> str:
    """Returns the list of verbs."""
    lines = ["usage: esar VERB ...   (esar VERB --help for its flags; esar --version)", ""]
    lines += [f"  {name:<14} {about}" for name, (about, _) in VERBS.items()]
    lines += [f"  {name:<14} {about}" for name, about in LAUNCHER_VERBS.items()]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Dispatch a verb; bad input gets one line a fault and exit code 2."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(f"esar {__version__}")
        return 0
    verb, *rest = arguments
    if verb not in VERBS:
        print(f"esar: unknown verb '{verb}': {suggest(verb, (*VERBS, *LAUNCHER_VERBS))}", file=sys.stderr)
        return 2
    try:
        return int(import_module(VERBS[verb][1]).main(rest))
    except UsageError as error:
        for line in str(error).splitlines():
            print(f"esar: {line}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        told = system_error(error)
        if told is None:
            raise
        print(f"esar: {told}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
