"""`esar governor` in real time between a random planner, a forest's LiDAR and an autopilot: what it costs."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from page import Table

SETTLED = 5.0  # s before anything is measured
CLIMB = 8.0  # m above the ground, from where the planner walks
TAG = 1e-5  # rad/s between the yaw rates of two commands, by which a set-point shows whose it is
TRIES = 120.0  # s in which it must be armed


def fly_live(
    map_name: str, seed: int, seconds: float, logs: Path, firmware: tuple[Path, Path] | None = None
) -> tuple[Table, Table]:
    """Returns the cost of each process, and the times from a command to PX4's set-point with the flight's figures.

    firmware: a build of PX4's SITL and its agent, in place of the fake autopilot.
    """
    os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
    command = [sys.executable, "-u", "-m", "esar_ros.app.cli", "governor", "--log-level", "warn", "--logs", str(logs)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        return _measured(process, _Field(map_name, seed, firmware, logs), seconds)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


class _Field:
    """The autopilot, its vehicle in the forest, and the planner, in this process."""

    def __init__(self, map_name: str, seed: int, firmware: tuple[Path, Path] | None, logs: Path) -> None:
        import rclpy
        from geometry_msgs.msg import Twist
        from governor_alone import NAME, RandomWalk, slow_vehicle
        from rclpy.action import ActionClient
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import PointCloud2

        from esar_ros.action import Arm
        from esar_ros.benchmark.engine.simulator import LocalSimulator
        from esar_ros.bridges.airsim.camera import AirSimLidar
        from esar_ros.mission.task import load_task
        from esar_ros.safety.limits import load_limits
        from esar_ros.sim.terrain.maps import load_map

        task = load_task(f"{map_name}-first")
        place = load_map(map_name)
        self.origin = np.array([*task.start.position, float(place.ground_height(task.start.position))])
        self.simulator = LocalSimulator(place, seed, slow_vehicle(), (NAME,))
        self.drone = self.simulator.context.drone(NAME)
        self.lidar = AirSimLidar(self.simulator.connect(), NAME)
        rclpy.init()
        if firmware is None:
            from fake_node import FakeNode, at_home

            self.fake: Any = at_home(task)
            self.agent = FakeNode(self.fake)
        else:
            from px4_beside import FlownVehicle

            self.fake = self.agent = FlownVehicle(*firmware, logs, task)
        self.times: list[float] = []  # s from a command to its set-point
        self.contacts, self.nearest, self.walks = 0, math.inf, False
        self._sent: dict[int, float] = {}
        self._number = 0
        self._walk = RandomWalk(np.random.default_rng(seed), load_limits().speed_horizontal)
        hear = self.fake.hear_setpoint

        def heard(message: Any) -> None:
            sent = self._sent.pop(round(-float(message.yawspeed) / TAG), None)
            if sent is not None and self.walks:
                self.times.append(time.monotonic() - sent)
            hear(message)

        self.fake.hear_setpoint = heard
        self.user = rclpy.create_node("planner")
        self._commands = self.user.create_publisher(Twist, "/cmd_vel", 1)
        self._points = self.user.create_publisher(PointCloud2, "/points", qos_profile_sensor_data)
        self.arm = ActionClient(self.user, Arm, "/uav1/arm")
        self.user.create_timer(0.05, self._plan)
        self.user.create_timer(0.1, self._look)
        self.executor = SingleThreadedExecutor()
        for node in (self.agent, self.user):
            self.executor.add_node(node)

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def spin_until(self, future: Any) -> Any:
        self.executor.spin_until_future_complete(future, timeout_sec=30.0)
        return future.result()

    def _plan(self) -> None:
        from geometry_msgs.msg import Twist

        if not self.fake.armed:
            return
        twist = Twist()
        self._walk.step(time.monotonic())
        low = float(self.fake.body.position[2] - self.fake.ground(*self.fake.body.position[:2])) < CLIMB
        self.walks = self.walks or not low
        velocity = self._walk.velocity if self.walks else (0.0, 0.0, 1.0)
        twist.linear.x, twist.linear.y, twist.linear.z = map(float, velocity)
        self._number += 1
        twist.angular.z = self._number * TAG
        self._sent[self._number] = time.monotonic()
        self._commands.publish(twist)

    def _look(self) -> None:
        from sensor_msgs.msg import PointCloud2, PointField

        from esar_ros.geometry.frames import Pose

        body = self.fake.body
        position = body.position + self.origin
        self.drone.place(Pose(position, body.quaternion))
        if self.walks and self.simulator.context.world.contact(position, self.drone.radius) is not None:
            self.contacts += 1
        points = np.asarray(self.lidar.read(), np.float32)
        if self.walks:
            self.nearest = min(self.nearest, float(np.linalg.norm(points, axis=1).min(initial=math.inf)))
        cloud = PointCloud2(height=1, width=len(points), point_step=12, row_step=12 * len(points))
        cloud.fields = [PointField(name=name, offset=4 * k, datatype=7, count=1) for k, name in enumerate("xyz")]
        cloud.data = points.tobytes()
        cloud.header.stamp = self.user.get_clock().now().to_msg()
        self._points.publish(cloud)


def _measured(process: subprocess.Popen[bytes], field: _Field, seconds: float) -> tuple[Table, Table]:
    import rclpy

    from esar_ros.action import Arm

    limit = time.monotonic() + TRIES
    while not field.fake.armed:
        if time.monotonic() > limit or process.poll() is not None:
            raise SystemExit("it was not armed")
        field.spin(1.0)
        if field.arm.server_is_ready():
            handle = field.spin_until(field.arm.send_goal_async(Arm.Goal(arm=True)))
            field.spin_until(handle.get_result_async())
    field.spin(15.0 + SETTLED)
    nodes = _nodes(process)
    before, began = {name: _busy(node) for name, node in nodes.items()}, time.monotonic()
    field.times.clear()
    field.spin(seconds)
    passed = time.monotonic() - began
    rows: list[tuple[str, float, float, float]] = []
    for name, node in nodes.items():
        memory = node.memory_full_info()
        rows.append((name, 100.0 * (_busy(node) - before[name]) / passed, memory.rss / 2**20, memory.uss / 2**20))
    sums = [sum(costs) for costs in zip(*(row[1:] for row in rows), strict=True)]
    cost = Table(
        ("process", "of a core (%)", "resident (MiB)", "its own (MiB)"),
        [*rows, ("all", *sums)],
        "Processor and memory, live",
    )
    if hasattr(field.fake, "close"):
        field.fake.close()
    rclpy.try_shutdown()
    field.simulator.close()
    told = _shares(field.times)
    flight = (
        ("contacts", field.contacts),
        ("nearest (m)", field.nearest),
        ("commands that came through", len(field.times)),
    )
    live = Table(("figure", "live"), [*told, *flight], "From a command to PX4's set-point, live")
    return cost, live


def _nodes(process: subprocess.Popen[bytes]) -> dict[str, psutil.Process]:
    """Returns the processes of the governor by their modules' names."""
    found = {}
    for node in psutil.Process(process.pid).children(recursive=True):
        modules = [
            word for word in node.cmdline() if word.startswith("esar_ros.nodes.") and not word.endswith(".start")
        ]
        if modules:
            found[modules[0].rpartition(".")[2]] = node
    return found


def _busy(node: psutil.Process) -> float:
    times = node.cpu_times()
    return float(times.user + times.system)


def _shares(times: Sequence[float]) -> list[tuple[str, float]]:
    if not times:
        return []
    return [(f"p{share} (ms)", 1e3 * float(np.percentile(times, share))) for share in (50, 95, 99)]
