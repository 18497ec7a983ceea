"""`esar governor` on real DDS between a planner of Twists, with a LiDAR, and the fake autopilot."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission import names
from esar_ros.nodes.px4 import messages as px4_messages
from esar_ros.safety.limits import load_limits

pytestmark = [pytest.mark.timeout(600)] + ([] if px4_messages.is_built() else [pytest.mark.full])

WALL = 16.0  # m east of where it stands
BODY = load_limits().body_radius


def echoes(position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Returns what a LiDAR sees (N, 3) m, FLU: the ground at 0 m and a wall."""
    up, around = np.meshgrid(np.radians(np.arange(-87.5, 90.0, 5.0)), np.radians(np.arange(-179.0, 180.0, 4.0)))
    rays = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1).reshape(-1, 3)
    world = rays @ rotation.T
    with np.errstate(divide="ignore"):
        ground = np.where(world[:, 2] < 0.0, -position[2] / world[:, 2], np.inf)
        wall = np.where(world[:, 0] > 0.0, (WALL - position[0]) / world[:, 0], np.inf)
    distance = np.minimum(ground, wall)
    return np.asarray((distance[:, None] * rays)[(0.0 < distance) & (distance < 60.0)], np.float32)


def px4(*arguments: str) -> tuple[int, str]:
    """Returns the exit code of `esar px4`, and what it printed."""
    command = [sys.executable, "-m", "esar_ros.app.cli", "px4", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0, check=False)
    return done.returncode, done.stdout + done.stderr


class Field:
    """The governor's processes, the autopilot, and a planner with its LiDAR."""

    def __init__(self, logs: Path, planner: str) -> None:
        import rclpy
        from fake_autopilot import FakeAutopilot
        from fake_node import FakeNode
        from geometry_msgs.msg import Twist
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import PointCloud2

        from esar_ros.msg import SafetyStatus
        from esar_ros.nodes.core.interface import BY_NAME
        from esar_ros.nodes.core.qos import PROFILES

        px4_messages.ensure()
        rclpy.init()
        self.fake = FakeAutopilot()
        FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
        self.agent = FakeNode(self.fake)
        self.user = rclpy.create_node(planner)
        self.velocity: tuple[float, float, float] | None = None
        self.status: list[Any] = []
        self._commands = self.user.create_publisher(Twist, "/cmd_vel", 1)
        self._points = self.user.create_publisher(PointCloud2, "/points", qos_profile_sensor_data)
        quality = PROFILES[BY_NAME[names.SAFETY_STATUS].quality]
        self.user.create_subscription(SafetyStatus, f"/uav1/{names.SAFETY_STATUS}", self.status.append, quality)
        self.lowest, self.nearest = math.inf, math.inf
        self.user.create_timer(0.05, self._plan)
        self.user.create_timer(0.1, self._look)
        command = [
            sys.executable,
            "-u",
            "-m",
            "esar_ros.app.cli",
            "governor",
            "--log-level",
            "warn",
            "--logs",
            str(logs),
        ]
        self.log = logs.with_suffix(".txt")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ.copy())
        self._rclpy = rclpy
        self._executors = [SingleThreadedExecutor() for _ in range(2)]
        for executor, node in zip(self._executors, (self.agent, self.user), strict=True):
            executor.add_node(node)
            threading.Thread(target=self._spin, args=(executor,), daemon=True).start()

    def _spin(self, executor: Any) -> None:
        try:
            executor.spin()
        except Exception:
            if self._rclpy.ok():
                raise

    def _plan(self) -> None:
        from geometry_msgs.msg import Twist

        self.nearest = min(self.nearest, WALL - float(self.fake.body.position[0]))
        if self.velocity is None:
            return
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.linear.z = self.velocity
        self._commands.publish(twist)

    def _look(self) -> None:
        from sensor_msgs.msg import PointCloud2, PointField

        from esar_ros.geometry.frames import Pose

        body = self.fake.body
        points = echoes(body.position + [0.0, 0.0, 0.2], Pose(quaternion=body.quaternion).rotation)
        cloud = PointCloud2(height=1, width=len(points), point_step=12, row_step=12 * len(points))
        cloud.fields = [PointField(name=n, offset=4 * k, datatype=7, count=1) for k, n in enumerate("xyz")]
        cloud.data = points.tobytes()
        cloud.header.stamp = self.user.get_clock().now().to_msg()
        self._points.publish(cloud)

    def wait(self, until: Callable[[], bool], seconds: float = 60.0) -> bool:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            assert self.process.poll() is None, self.log.read_text()
            if until():
                return True
            time.sleep(0.02)
        return until()

    def arm(self) -> None:
        """Asks until it is done: at first the governor may still be starting."""
        limit = time.monotonic() + 120.0
        while not self.fake.armed:
            assert time.monotonic() < limit, self.log.read_text()
            code, said = px4("ask", "arm")
            assert code == 0 or not self.fake.armed, said

    def text(self) -> str:
        return str(self.status[-1].text) if self.status else ""

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60.0)

    def close(self) -> None:
        if self.process.poll() is None:
            self.end()
        self._rclpy.try_shutdown()


@pytest.fixture
def field(domain: int, tmp_path: Path) -> Iterator[Field]:
    made = Field(tmp_path / "logs", "planner")
    yield made
    made.close()


def test_a_planner_that_knows_nothing_flies_at_a_wall_and_falls_silent(field: Field) -> None:
    """Arms, climbs, flies east at the wall, and stops before it; without commands it holds. Ended in the air it is left
    in hold, from where `esar px4 land` lands it."""
    from esar_ros.msg import SafetyStatus

    body = field.fake.body
    field.arm()
    field.velocity = (0.0, 0.0, 1.0)
    assert field.wait(lambda: float(body.position[2]) > 5.0), field.text()
    field.velocity = (4.0, 0.0, 0.0)  # body axes: it looks east
    assert field.wait(lambda: float(body.velocity[0]) > 0.8), field.text()
    stands = lambda: float(np.linalg.norm(body.velocity)) < 0.1 and body.position[0] > 5.0  # noqa: E731
    assert field.wait(lambda: stands() and "obstacle" in field.text(), 120.0), field.text()
    assert field.nearest > BODY + 0.5, "m from the wall"

    field.velocity = (-1.5, 0.0, 0.0)
    assert field.wait(lambda: float(body.velocity[0]) < -0.5), field.text()
    field.velocity = None
    assert field.wait(lambda: field.status[-1].mode == SafetyStatus.MODE_HOLD, 3.0)
    assert "command" in field.text()
    assert field.wait(lambda: float(np.linalg.norm(body.velocity)) < 0.2)
    assert field.fake.nav_state == 14, "it stands in offboard, by the governor"

    field.velocity = (-1.5, 0.0, 0.0)
    assert field.wait(lambda: float(body.velocity[0]) < -0.5), "and goes on when the planner does"
    assert field.end() == 0, field.log.read_text()
    assert field.fake.nav_state == field.fake.intention == 4 and field.fake.armed, "left in hold"
    code, said = px4("land")
    assert code == 0 and "uav1 hovers at " in said, said
    code, said = px4("ask", "arm")
    assert code == 1 and "no bridge answers" in said, said
    assert (field.fake.armed, field.fake.landed) == (False, True)
