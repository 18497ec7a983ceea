"""The bridge's rules and the fake ArduCopter in one loop, without ROS or a link: seconds of flight in milliseconds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from fake_copter import FakeCopter
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from esar_ros.bridges.ardupilot.guided import Guided, GuidedStream
from esar_ros.bridges.ardupilot.settings import ArdupilotSettings
from esar_ros.bridges.ardupilot.state import ArdupilotState
from esar_ros.bridges.ardupilot.wire import Streams, setpoint_fields, to_ardupilot
from esar_ros.bridges.px4.commands import Command
from esar_ros.bridges.px4.stream import Output, Timing
from esar_ros.mission.modes import Mode
from helpers.asking import Asking

STEP = 0.02  # s


class CopterLoop(Asking):
    """Both sides, a shared clock, and a governor that can fall silent."""

    def __init__(self, fake: FakeCopter | None = None, timing: Timing | None = None) -> None:
        self.fake = fake or FakeCopter()
        self.state = ArdupilotState(self.fake.system_id)
        self.bridge = Guided(GuidedStream(self.state, timing or ArdupilotSettings().timing))
        self.stream = self.bridge.stream
        self.stream.mode = Mode.NORMAL
        self.streams = Streams()
        self.now = self.fake.now
        self.velocity: np.ndarray | None = np.zeros(3)  # ENU; None: the governor is dead
        self.yaw_rate = 0.0
        self.bridge_alive = True
        self.sent: list[tuple[float, Output]] = []

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass; whether until() came true."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            self.now += STEP
            self.fake.advance(self.now)
            for message in self.fake.speak():
                self.streams.hear(message.get_type(), self.now)
                answer = self.state.hear(message.get_type(), message, self.now)
                if answer is not None:
                    self.bridge.on_ack(answer)
            if self.velocity is not None:
                self.stream.obey(self.velocity, self.yaw_rate, self.now)
            if self.bridge_alive:
                self._send(self.bridge.step(self.now))
            if until():
                return True
        return until()

    def _send(self, output: Output) -> None:
        self.sent.append((self.now, output))
        if output.setpoint is not None:
            frame, mask, *numbers = setpoint_fields(output.setpoint)
            self.fake.hear(
                mavlink.MAVLink_set_position_target_local_ned_message(
                    0, self.fake.system_id, 1, int(frame), int(mask), *numbers
                )
            )
        for command in (*output.commands, *self.streams.requests(self.now)):
            self.fake.hear(long_of(to_ardupilot(command), self.fake.system_id))

    def fly(self, height: float = 10.0) -> CopterLoop:
        """Arm, take off and climb by safe commands."""
        self.climb(height, lambda: -float(self.fake.place[2]))
        return self

    def started_again(self) -> CopterLoop:
        """A new process of the bridge with the same vehicle; the governor speaks."""
        return CopterLoop(self.fake, self.bridge.timing)

    @property
    def speed(self) -> float:
        """m/s, true."""
        return float(np.linalg.norm(self.fake.velocity))


def long_of(command: Command, system_id: int) -> mavlink.MAVLink_command_long_message:
    """A COMMAND_LONG as the link sends it."""
    return mavlink.MAVLink_command_long_message(
        system_id, 1, command.command, 0, command.param1, command.param2, command.param3, command.param4,
        command.param5, command.param6, command.param7,
    )  # fmt: skip
