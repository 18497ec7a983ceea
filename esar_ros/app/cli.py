"""`esar VERB`: one command a need. Exit codes: 0 done, 1 failed, 2 bad usage or input, 130 interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable

from esar_ros.mission.errors import UsageError

Command = Callable[[list[str]], int]


def _mission(argv: list[str]) -> int:
    from esar_ros.app.mission import main

    return main(argv)


def _sim(argv: list[str]) -> int:
    from esar_ros.app.sim import main

    return main(argv)


def _score(argv: list[str]) -> int:
    from esar_ros.app.score import main

    return main(argv)


def _report(argv: list[str]) -> int:
    from esar_ros.app.report import main

    return main(argv)


def _tasks(argv: list[str]) -> int:
    from esar_ros.app.tasks import main

    return main(argv)


def _bench(argv: list[str]) -> int:
    from esar_ros.app.bench import main

    return main(argv)


def _maps(argv: list[str]) -> int:
    from esar_ros.app.maps import main

    return main(argv)


def _doctor(argv: list[str]) -> int:
    from esar_ros.app.doctor import main

    return main(argv)


VERBS: dict[str, tuple[str, Command]] = {
    "mission": ("fly one task and show the scorecard", _mission),
    "sim": ("run the simulator alone, for any AirSim client", _sim),
    "score": ("score a bag again", _score),
    "report": ("compare benchmark runs, or show a flown mission again", _report),
    "tasks": ("list and show tasks", _tasks),
    "bench": ("fly many tasks by many methods; goes on where it was ended", _bench),
    "maps": ("list, show and import the places to fly in", _maps),
    "doctor": ("what this machine has and lacks", _doctor),
}


def usage() -> str:
    """What can be typed."""
    lines = ["usage: esar VERB ...   (esar VERB --help for its flags)", ""]
    lines += [f"  {name:<10} {about}" for name, (about, _) in VERBS.items()]
    lines += [f"  {name:<10} {about}" for name, about in LAUNCHER_VERBS.items()]
    return "\n".join(lines)


LAUNCHER_VERBS = {
    "test": "run the tests (--full for the long ones); ./esar only",
    "exec": "run any command in the environment; ./esar only",
}


def main(argv: list[str] | None = None) -> int:
    """Dispatch a verb; bad input gets one line and exit code 2."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if arguments else 2
    verb, *rest = arguments
    if verb not in VERBS:
        print(f"esar: unknown verb '{verb}': known: {', '.join((*VERBS, *LAUNCHER_VERBS))}", file=sys.stderr)
        return 2
    try:
        return VERBS[verb][1](rest)
    except UsageError as error:
        print(f"esar: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
