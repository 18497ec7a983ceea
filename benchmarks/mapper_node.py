"""The cost of the mapper as a node with readers, and of Open3D's VoxelBlockGrid on the same frames."""

from __future__ import annotations

import os
import random
import time
from contextlib import suppress
from typing import Any

import numpy as np
from mapper_world import SPAN

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose

REACH = 120.0  # m
Frame = list[CameraFrame]


def cpu(call: Any) -> float:
    """Returns the CPU ms of a call over all threads of the process."""
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1e3


def whole_node(frames: list[Frame], poses: list[Pose], period: float) -> dict[str, float]:
    """Returns the share of a core that the node needs at this period with a reader of every product; empty without ROS.

    The node runs in real time mode with frames handed over in the process, as in a mission; its readers
    take the serialised messages in this process too, so their cost is in the figure.
    """
    try:
        import rclpy
        from geometry_msgs.msg import Point, TransformStamped
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from tf2_msgs.msg import TFMessage

        from esar_ros.geometry.camera_frame import FrameSet
        from esar_ros.mission import names
        from esar_ros.msg import Brief
        from esar_ros.nodes.core.interface import BY_NAME
        from esar_ros.nodes.core.qos import PROFILES
        from esar_ros.nodes.core.steps import to_stamp
        from esar_ros.nodes.core.types import message_class
        from esar_ros.nodes.messages import convert
        from esar_ros.nodes.messages.frame_source import InProcessFrames
        from esar_ros.nodes.voxel_mapper import VoxelMapperNode
        from esar_ros.perception.detectors.backend import CameraFrame
    except ImportError:
        return {}
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    domain = random.SystemRandom().randrange(20, 220)
    rclpy.init(args=["--ros-args", "-r", "__ns:=/uav1", "-p", "pace:=realtime"], domain_id=domain)
    source = InProcessFrames()
    mapper, reader = VoxelMapperNode(source), Node("reader")
    executor = SingleThreadedExecutor()
    executor.add_node(mapper)
    executor.add_node(reader)
    products = (names.MAP_GRID, names.MAP_FRONTIERS, names.MAP_LOCAL, names.MAP_STATUS, names.MAP_COVERAGE)
    for name in products:
        entry = BY_NAME[name]
        reader.create_subscription(message_class(entry.type), name, lambda _: None, PROFILES[entry.quality], raw=True)
    publishers = {
        name: reader.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
        for name in (names.TF_STATIC, names.BRIEF, names.ODOMETRY)
    }

    def spin_until(done: Any) -> None:
        limit = time.monotonic() + 20.0
        while not done() and time.monotonic() < limit:
            executor.spin_once(timeout_sec=0.02)

    spin_until(lambda: all(mapper.wanted(n) for n in products))
    spin_until(lambda: all(p.get_subscription_count() > 0 for p in publishers.values()))
    transform = TransformStamped(child_frame_id="uav1/odom")
    transform.header.frame_id = names.MAP
    transform.transform.rotation.w = 1.0
    publishers[names.TF_STATIC].publish(TFMessage(transforms=[transform]))
    half = SPAN / 2.0
    corners = [Point(x=x, y=y) for x, y in ((-half, -half), (half, -half), (half, half), (-half, half))]
    publishers[names.BRIEF].publish(Brief(area=corners, home=Point(z=float(poses[0].position[2]))))
    spin_until(lambda: not mapper.waiting_for())
    rgb = np.zeros((1, 1, 3), np.uint8)
    spent = []
    for n, (frame, pose) in enumerate(zip(frames, poses, strict=True)):
        ns = int((1.0 + n * period) * 1e9)
        odometry = Odometry()
        odometry.header.stamp = to_stamp(ns)
        odometry.pose.pose.position = convert.point(pose.position)
        odometry.pose.pose.orientation = convert.quaternion(pose.quaternion)
        publishers[names.ODOMETRY].publish(odometry)
        arrived = mapper.inbox(names.ODOMETRY)
        spin_until(lambda ns=ns, box=arrived: box.at(ns) is not None)
        views = tuple(CameraFrame("front", v.model, v.pose, v.depth, rgb, ns * 1e-9) for v in frame)
        handed = FrameSet(ns, views)

        def one(handed: Any = handed) -> None:
            source.publish(handed)
            for _ in range(8):
                executor.spin_once(timeout_sec=0.0)

        spent.append(cpu(one))
    mapper.destroy_node()
    reader.destroy_node()
    rclpy.shutdown()
    return {"whole node at 10 Hz, share of a core": float(np.mean(spent[5:])) / (1e3 * period)}


def open3d_grid(frames: list[Frame], reach: float) -> dict[str, float]:
    """Returns the CPU ms a frame of Open3D's VoxelBlockGrid: 1 m voxels, surfaces alone, no free space."""
    try:
        import open3d
    except (ImportError, OSError):
        return {}
    core, geometry = open3d.core, open3d.t.geometry
    grid = geometry.VoxelBlockGrid(
        ("tsdf", "weight"), (core.float32, core.float32), ((1), (1)), 1.0, 16, 60000, core.Device("CPU:0")
    )
    spent = []
    for frame in frames:
        inputs = []
        for view in frame:
            picture = np.where(np.isfinite(view.depth), view.depth, 0.0).astype(np.float32)
            inputs.append(
                (
                    geometry.Image(core.Tensor(picture)),
                    core.Tensor(view.model.matrix),
                    core.Tensor(view.pose.inverse().matrix),
                )
            )

        def one(inputs: list[Any] = inputs) -> None:
            for depth, intrinsic, extrinsic in inputs:
                with suppress(RuntimeError):  # it raises when a picture shows next to nothing
                    near = grid.compute_unique_block_coordinates(depth, intrinsic, extrinsic, 1.0, reach, 4.0)
                    grid.integrate(near, depth, intrinsic, extrinsic, 1.0, reach, 4.0)

        spent.append(cpu(one))
    return {f"Open3D VoxelBlockGrid, surface only, {reach:.0f} m median ms": float(np.median(spent))}
