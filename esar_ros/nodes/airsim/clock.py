"""Stops and slows the simulator's time in lockstep: parameters `paused` and `speed`, and the service `sim/step`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from std_srvs.srv import Trigger

from esar_ros.mission import names

CATCH_UP = 0.2  # s wall that a late step is made up for


class Pacer:
    """Pace of lockstep: pause, single steps and speed. Times are s of a steady clock that the caller reads."""

    def __init__(self) -> None:
        self.paused = False
        self.speed = 0.0  # times real time; 0: as fast as it goes
        self._until = 0  # steps before this one are taken though paused
        self._due = -math.inf  # s

    def release(self, seq: int, frame_every: int) -> None:
        """Though paused, go on from step seq to the next step with a frame."""
        self._until = (seq // frame_every + 1) * frame_every

    def may_step(self, seq: int, now: float) -> bool:
        """Returns whether step seq may be taken now."""
        if self.paused and seq >= self._until:
            return False
        return self.speed == 0.0 or now >= self._due

    def stepped(self, period: float, now: float) -> None:
        """A step of a period (s, mission time) was taken."""
        if self.speed > 0.0:
            self._due = max(self._due, now - CATCH_UP) + period / self.speed


class BridgeClock(Pacer):
    """The pacer as a node's parameters and service."""

    def __init__(
        self,
        node: Node,
        lockstep: bool,
        step: Callable[[], None],
        on_operator_act: Callable[[str], None] = lambda what: None,
    ) -> None:
        """step: called when a step to the next frame is asked for. In real time everything is refused.

        on_operator_act: called when a person stops time, lets it go on, or takes a step.
        """
        super().__init__()
        self._on_operator_act = on_operator_act
        self._lockstep = lockstep
        self._step = step
        about = "whether the simulator's time stands still (lockstep)"
        node.declare_parameter("paused", False, ParameterDescriptor(description=about))
        about = "fastest that the simulator's time goes, times real time; 0: as fast as it can (lockstep)"
        range_ = [FloatingPointRange(from_value=0.0, to_value=100.0)]
        node.declare_parameter("speed", 0.0, ParameterDescriptor(description=about, floating_point_range=range_))
        self.paused = bool(node.get_parameter("paused").value)
        self.speed = float(node.get_parameter("speed").value)
        node.add_on_set_parameters_callback(self._on_set)
        node.create_service(Trigger, names.SIM_STEP, self._on_step)

    def _on_set(self, parameters: list[Any]) -> SetParametersResult:
        wanted = {parameter.name: parameter.value for parameter in parameters}
        if not self._lockstep and wanted.keys() & {"paused", "speed"}:
            return SetParametersResult(successful=False, reason="real time cannot be stopped: use pace lockstep")
        if wanted.get("paused", self.paused) != self.paused:
            self._on_operator_act("go on" if self.paused else "pause")
        self.paused = bool(wanted.get("paused", self.paused))
        self.speed = float(wanted.get("speed", self.speed))
        return SetParametersResult(successful=True)

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._lockstep and self.paused
        response.message = "to the next frame" if response.success else "only a paused lockstep goes step by step"
        if response.success:
            self._on_operator_act("step")
            self._step()
        return response
