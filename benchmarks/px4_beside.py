"""PX4 itself in the place of the fake autopilot beside `esar governor`: what a witness hears of it on its topics."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from px4_firmware import ARMED, Firmware, end, home_of, start_agent
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.versions import topic, version_of
from esar_ros.geometry.frames import attitude_ned_frd_to_enu_flu, ned_to_enu
from esar_ros.mission.task import Task
from esar_ros.nodes.px4.messages import message_class
from esar_ros.sim.terrain.maps import load_map


class FlownVehicle(Node):
    """PX4's simulated vehicle, with the attributes of the fake autopilot that a benchmark reads.

    Its place is where it is in truth (PX4's simulation says so to its own log alone), as near as its estimator says.
    """

    def __init__(self, build: Path, agent: Path, folder: Path, task: Task) -> None:
        super().__init__("witness")
        place = load_map(task.map)
        x0, y0 = task.start.position
        z0 = float(place.ground_height([x0, y0]))
        self.ground: Callable[[float, float], float] = lambda x, y: float(place.ground_height([x + x0, y + y0])) - z0
        self.body = SimpleNamespace(position=np.zeros(3), quaternion=np.array([1.0, 0.0, 0.0, 0.0]))
        self.armed = False
        self.hear_setpoint: Callable[[Any], None] = lambda message: None
        self._agent = start_agent(agent, folder / "agent.log")
        self._firmware = Firmware(build, folder / "px4", 0, home_of(task.id), {})
        self._firmware.wait_ready()
        namespace = load_px4_settings().address("uav1", 0).namespace
        heard: tuple[tuple[str, Callable[[Any], None], bool], ...] = (
            ("VehicleOdometry", self._moved, True),
            ("VehicleStatus", self._told, True),
            ("TrajectorySetpoint", lambda message: self.hear_setpoint(message), False),
        )
        for name, hear, outgoing in heard:
            kind = message_class(name)
            path = topic(name, version_of(kind), namespace, outgoing)
            self.create_subscription(kind, path, hear, qos_profile_sensor_data)

    def _moved(self, message: Any) -> None:
        self.body.position = ned_to_enu(np.asarray(message.position, float))
        self.body.quaternion = attitude_ned_frd_to_enu_flu(np.asarray(message.q, float))

    def _told(self, message: Any) -> None:
        self.armed = message.arming_state == ARMED

    def close(self) -> Path | None:
        """Lands it, ends firmware and agent, and returns the log."""
        self._firmware.run("commander", "mode", "auto:land")
        limit = time.monotonic() + 60.0
        while self._firmware.status()[1] and time.monotonic() < limit:
            time.sleep(0.5)
        log = self._firmware.stop()
        end(self._agent)
        return log
