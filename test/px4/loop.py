"""The bridge's rules and the fake autopilot in one loop, without ROS: seconds of flight in milliseconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from fake_autopilot import FakeAutopilot

from esar_ros.bridges.px4.clock import SampleClock
from esar_ros.bridges.px4.commands import OWN_COMPONENT, OWN_SYSTEM, Command
from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.state import Px4State
from esar_ros.bridges.px4.stream import Output, Stream, Timing
from esar_ros.bridges.px4.versions import EXTERNAL_OUT
from esar_ros.mission.modes import Mode
from helpers.asking import Asking

STEP = 0.02  # s


def command_message(command: Any, target: int) -> SimpleNamespace:
    """As the node fills a VehicleCommand."""
    return SimpleNamespace(
        timestamp=0, **vars(command), target_system=target, target_component=1, source_system=OWN_SYSTEM,
        source_component=OWN_COMPONENT, from_external=True,
    )  # fmt: skip


class Loop(Asking):
    """Both sides, a shared clock, and a governor that can fall silent."""

    def __init__(self, external: bool = False, timing: Timing | None = None, **autopilot: Any) -> None:
        self.fake = FakeAutopilot(**autopilot)
        self.state = Px4State(1)
        self.bridge = Offboard(Stream(self.state, timing, ExternalMode(77) if external else None))
        self.bridge.stream.mode = Mode.NORMAL
        self.clock = SampleClock()
        self.now = 0.0
        self.velocity: np.ndarray | None = np.zeros(3)  # None: the governor is dead
        self.yaw_rate = 0.0
        self.sent: list[tuple[float, Output]] = []
        self.bridge_alive = True
        self.lag = 0.0  # s that what the autopilot says is under way
        self._under_way: list[tuple[float, str, Any]] = []  # when it comes (s)

    def _come(self) -> list[tuple[str, Any]]:
        self._under_way += [(self.now + self.lag, name, message) for name, message in self.fake.speak()]
        come = [(name, message) for at, name, message in self._under_way if at <= self.now + 1e-9]
        self._under_way = [each for each in self._under_way if each[0] > self.now + 1e-9]
        return come

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass; whether until() came true."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            self.now += STEP
            self.fake.advance(self.now)
            for name, message in self._come():
                if name == "VehicleCommandAck":
                    self.bridge.on_ack(message)
                elif name == "TimesyncStatus":
                    self.clock.on_timesync(message, self.now)
                elif name in EXTERNAL_OUT:
                    external = self.bridge.stream.external
                    if external is not None:
                        external.on_message(name, message)
                else:
                    self.state.receive(name, message, self.now)
            if self.velocity is not None:
                self.bridge.stream.obey(self.velocity, self.yaw_rate, self.now)
            if self.bridge_alive:
                self._send(self.bridge.step(self.now))
            if until():
                return True
        return until()

    def _send(self, output: Output) -> None:
        self.sent.append((self.now, output))
        if output.heartbeat:
            flags = SimpleNamespace(timestamp=0, position=False, velocity=True, acceleration=False)
            self.fake.hear_heartbeat(flags)
        if output.setpoint is not None:
            point = output.setpoint
            self.fake.hear_setpoint(
                SimpleNamespace(
                    timestamp=0, position=point.position, velocity=point.velocity, acceleration=point.acceleration,
                    yaw=point.yaw, yawspeed=point.yawspeed,
                )
            )  # fmt: skip
        if output.registration is not None:
            asked = output.registration
            self.fake.hear_registration(
                SimpleNamespace(
                    timestamp=0, request_id=asked.request_id, name=asked.name, px4_ros2_api_version=1,
                    register_arming_check=True, register_mode=True,
                )
            )  # fmt: skip
        if output.answer is not None:
            answer = output.answer
            self.fake.hear_answer(
                SimpleNamespace(
                    timestamp=0, request_id=answer.request_id, registration_id=answer.registration_id,
                    can_arm_and_run=answer.can_run,
                )
            )  # fmt: skip
        for command in output.commands:
            self.fake.hear_command(command_message(command, self.state.target_system))

    def fly(self, height: float = 10.0) -> Loop:
        """Arm and climb in offboard."""
        self.climb(height, lambda: float(self.fake.body.position[2]))
        assert self.fake.nav_state == self.bridge.stream.own_state and self.bridge.stream.engaged
        return self

    def station_commands(self, command: Command) -> None:
        """A ground station commands the autopilot."""
        message = command_message(command, self.state.target_system)
        message.source_system, message.source_component = 255, 190
        self.fake.hear_command(message)

    def started_again(self) -> Loop:
        """A new process of the bridge with the same autopilot; the governor speaks."""
        fresh = Loop(external=self.bridge.stream.external is not None, timing=self.bridge.timing)
        fresh.fake, fresh.now = self.fake, self.now
        return fresh

    def commands_since(self, then: float) -> list[int]:
        """Returns the numbers of the commands that reached the autopilot."""
        return [int(message.command) for at, message in self.fake.commands if at > then]

    @property
    def speed(self) -> float:
        """m/s, true."""
        return float(np.linalg.norm(self.fake.body.velocity))

    def heartbeats_since(self, then: float) -> list[float]:
        """Returns the times at which the bridge sent heartbeats."""
        return [at for at, output in self.sent if output.heartbeat and at > then]

    def setpoints_since(self, then: float) -> list[float]:
        """Returns the times at which the bridge sent set-points."""
        return [at for at, output in self.sent if output.setpoint is not None and at > then]


def is_close(a: float, b: float, by: float) -> bool:
    """|a - b| <= by, false for NaN."""
    return math.isfinite(a) and abs(a - b) <= by
