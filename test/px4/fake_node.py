"""The fake autopilot on DDS: PX4's topics, message versions and quality of service, in real time.

As a program it stands at a task's start, as PX4 in SITL does that was given the task's home.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from fake_autopilot import FakeAutopilot
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.versions import EXTERNAL_IN, EXTERNAL_OUT, IN, OPTIONAL_OUT, OUT, topic, version_of
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.task import Task, load_task
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.px4.messages import message_class
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.deployer import start_of

STEP = 0.01  # s


def quality(latched: bool) -> QoSProfile:
    """As PX4's agent makes its writers (latched) and readers."""
    return QoSProfile(
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        history=HistoryPolicy.KEEP_LAST,
        depth=1 if latched else 10,
    )


def fill(kind: Any, fields: Any) -> Any:
    """A message with those of the fields that it has."""
    known = kind.get_fields_and_field_types()
    return kind(**{name: value for name, value in vars(fields).items() if name in known})


class FakeNode(Node):
    """One autopilot behind its agent.

    versions: of messages whose version is not the class's, for mismatches. external: also with the topics of external
    modes; what the autopilot says to these stays unheard otherwise.
    """

    def __init__(
        self,
        fake: FakeAutopilot,
        namespace: str = "",
        versions: dict[str, int] | None = None,
        external: bool = False,
    ) -> None:
        super().__init__(f"fake_{namespace or 'px4'}_agent")
        self.fake, self._started = fake, time.monotonic() - fake.now
        self.fake.clock_offset = time.time() - fake.now  # UXRCE_DDS_SYNCT 1
        told = (*OUT, *OPTIONAL_OUT, "HomePosition", *(EXTERNAL_OUT if external else ()))
        heard = dict(zip(IN, (fake.hear_heartbeat, fake.hear_setpoint, fake.hear_command), strict=True))
        if external:
            heard |= zip(EXTERNAL_IN, (fake.hear_registration, fake.hear_answer, fake.hear_control), strict=True)
        self._classes = {name: message_class(name) for name in (*told, *heard)}
        given = versions or {}

        def path(name: str, outgoing: bool) -> str:
            return topic(name, given.get(name, version_of(self._classes[name])), namespace, outgoing)

        self._out = {
            name: self.create_publisher(self._classes[name], path(name, True), quality(latched=True)) for name in told
        }
        for name, hear in heard.items():
            self.create_subscription(self._classes[name], path(name, False), hear, quality(latched=False))
        self.create_timer(STEP, self._step, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _step(self) -> None:
        self.fake.advance(time.monotonic() - self._started)
        for name, fields in self.fake.speak():
            if name in self._out:
                self._out[name].publish(fill(self._classes[name], fields))


def at_home(task: Task, index: int = 0, count: int = 1) -> FakeAutopilot:
    """One that stands where `esar px4 home` puts PX4: at the task's start, its local frame counted from there."""
    place = load_map(task.map)
    x0, y0 = start_of(task, index, count)
    z0 = float(place.ground_height([x0, y0]))
    FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
    return FakeAutopilot(
        index + 1,
        Origin(*place.origin.to_geodetic(np.array([x0, y0, z0]))),
        yaw=task.start.yaw,
        ground=lambda x, y: float(place.ground_height([x + x0, y + y0])) - z0,
    )


def main() -> int:
    """Fly until told to stop: instance k, counted from 0, has the topics and the system id of PX4 SITL's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    arguments = parser.parse_args()

    def make() -> list[Node]:
        fake = at_home(load_task(arguments.task), arguments.index, arguments.count)
        return [FakeNode(fake, load_px4_settings().address("", arguments.index).namespace)]

    return run(make, [sys.argv[0]])


if __name__ == "__main__":
    raise SystemExit(main())
