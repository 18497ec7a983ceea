"""Camera driver, clue detector and voxel mapper in one process: frames pass between them without a copy.

Of a team the process holds those of every vehicle, and their mappers share one map.
"""

from __future__ import annotations

from rclpy.node import Node

from esar_ros.nodes.camera_driver import CameraDriverNode
from esar_ros.nodes.clue_detector import ClueDetectorNode
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.messages.frame_source import InProcessFrames
from esar_ros.nodes.voxel_mapper import SharedMap, VoxelMapperNode


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Node]:
        team = _team()
        if not team:
            return _nodes(None, None)
        shared = SharedMap([space.rsplit("/", 1)[-1] for space in team])
        return [node for space in team for node in _nodes(space, shared)]

    return run(make)


def _team() -> list[str]:
    """Namespaces of the vehicles that the process serves; empty: the one it was started in."""
    asker = Node("sensing")  # parameters are a node's
    try:
        return [space for space in declare(asker, "team", [""], "namespaces of vehicles that share a map") if space]
    finally:
        asker.destroy_node()


def _nodes(namespace: str | None, shared: SharedMap | None) -> list[Node]:
    """One vehicle's sensing."""
    frames = InProcessFrames()
    detector = ClueDetectorNode(frames, namespace)
    mapper = VoxelMapperNode(frames, namespace, shared)
    return [CameraDriverNode(frames, detector.needs_truth, namespace), detector, mapper]


if __name__ == "__main__":
    raise SystemExit(main())
