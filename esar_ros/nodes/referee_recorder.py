"""Referee and recorder in one process: a mission ends when its result is written and its bag closed."""

from __future__ import annotations

from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.recorder import RecorderNode
from esar_ros.nodes.referee import RefereeNode


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[RecorderNode | RefereeNode]:
        recorder = RecorderNode()
        return [recorder, RefereeNode(recorder.complete, lambda: recorder.trouble)]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
