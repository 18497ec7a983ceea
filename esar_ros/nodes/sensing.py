"""Camera driver, clue detector and voxel mapper in one process: frames pass between them without a copy."""

from __future__ import annotations

from rclpy.node import Node

from esar_ros.nodes.camera_driver import CameraDriverNode
from esar_ros.nodes.clue_detector import ClueDetectorNode
from esar_ros.nodes.frames import InProcessFrames
from esar_ros.nodes.runtime import run
from esar_ros.nodes.voxel_mapper import VoxelMapperNode


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Node]:
        frames = InProcessFrames()
        detector = ClueDetectorNode(frames)
        mapper = VoxelMapperNode(frames)
        return [CameraDriverNode(frames, detector.needs_truth), detector, mapper]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
