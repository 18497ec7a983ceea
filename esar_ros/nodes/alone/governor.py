"""The governor alone, as one process: governor, command relay and site of a vehicle that no mission flies."""

from __future__ import annotations

from rclpy.node import Node

from esar_ros.nodes.alone.command_relay import CommandRelayNode
from esar_ros.nodes.alone.site import SiteNode
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.realtime_scheduling import use_realtime_scheduling
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.safety_governor import SafetyGovernorNode


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Node]:
        governor = SafetyGovernorNode()
        nodes: list[Node] = [governor, CommandRelayNode()]
        about = "true: it tells fence and home by PX4's topics; false: another process does, as ArduPilot's bridge"
        if declare(governor, "site", True, about):
            nodes.append(SiteNode())
        governor.scheduling = use_realtime_scheduling()
        return nodes

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
