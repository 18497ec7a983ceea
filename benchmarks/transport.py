"""The cost of pictures and ticks over DDS, with the profiles and the environment of the graph.

python benchmarks/transport.py [--seconds S]

Pictures: one process publishes a colour and a depth picture of four cameras at 640x480 ten times a second (as
nodes/camera_driver.py fills them), one process receives them and looks at them as arrays. Counted is the CPU time
of all threads of both processes over the same periods; making the pictures is not part of it. Ticks: one step of the
control chain over three processes, bridge -> pilot -> governor -> bridge, each waiting for its inputs of that stamp.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from page import add_page, goal_table, write_page
from rclpy.node import Node
from sensor_msgs.msg import Image

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.system.environment import graph_environment
from esar_ros.msg import Tick
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages.image import image_message

WIDTH, HEIGHT = 640, 480
RATE = 10.0  # Hz
WARM_FRAMES, WARM_TICKS = 20, 200
TICKS = 2000
SILENCE = 5.0  # s without a picture after which no more are expected
LIMIT = 120  # s a process may take
STEP = 50_000_000  # ns
TOPICS = [topic(camera) for camera in names.CAMERAS for topic in (names.camera_image, names.camera_depth)]
GOALS = {"images_dropped": 0, "cpu_percent_of_a_core": 12.0, "tick_median_ms": 2.0}


def tell(**figures: float) -> None:
    """Prints one line for the process that started this one."""
    print(json.dumps(figures), flush=True)


class Cameras(Node):
    """A node that publishes frames 0.. at RATE once every topic has its reader; the stamp's seconds number them."""

    def __init__(self, frames: int) -> None:
        super().__init__("cameras")
        self.exit_code: int | None = None
        self._frames = frames
        self._number = 0
        self._began = (0.0, 0.0)
        rng = np.random.default_rng(0)
        self._colour = [rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8) for _ in names.CAMERAS]
        self._depth = [rng.random((HEIGHT, WIDTH), dtype=np.float32) for _ in names.CAMERAS]
        self._outputs = [self.create_publisher(Image, topic, PROFILES[BY_NAME[topic].quality]) for topic in TOPICS]
        self.create_timer(1.0 / RATE, self._on_time)

    def _on_time(self) -> None:
        if self._number == 0 and any(output.get_subscription_count() < 1 for output in self._outputs):
            return
        if self._number == WARM_FRAMES:
            self._began = (time.process_time(), time.monotonic())
        if self._number == WARM_FRAMES + self._frames:
            tell(cpu=time.process_time() - self._began[0], wall=time.monotonic() - self._began[1])
        if self._number <= WARM_FRAMES + self._frames:
            stamp = to_stamp(self._number * 1_000_000_000)
            for k, output in enumerate(self._outputs):
                picture, encoding = (self._depth[k // 2], "32FC1") if k % 2 else (self._colour[k // 2], "rgb8")
                picture.flat[0] = self._number % 256
                output.publish(image_message(picture, encoding, stamp, "camera"))
        elif self._number > WARM_FRAMES + self._frames + SILENCE * RATE:
            self.exit_code = 0
        self._number += 1


class Consumer(Node):
    """A node that reads every picture as an array and checks that it is the one its stamp names."""

    def __init__(self, frames: int) -> None:
        super().__init__("consumer")
        self.exit_code: int | None = None
        self._frames = frames
        self._seen: set[tuple[str, int]] = set()
        self._began: tuple[float, float] | None = None
        self._used: tuple[float, float] | None = None
        self._last = time.monotonic()
        self._inputs = [
            self.create_subscription(
                Image, topic, lambda m, t=topic: self._take(t, m), PROFILES[BY_NAME[topic].quality]
            )
            for topic in TOPICS
        ]
        self.create_timer(0.5, self._on_time)

    def _take(self, topic: str, message: Image) -> None:
        self._last = time.monotonic()
        number = message.header.stamp.sec
        if self._began is None and number >= WARM_FRAMES:
            self._began = (time.process_time(), time.monotonic())
        if self._began is not None and self._used is None and number >= WARM_FRAMES + self._frames:
            self._used = (time.process_time() - self._began[0], time.monotonic() - self._began[1])
        colour = message.encoding == "rgb8"
        picture = np.frombuffer(message.data, np.uint8 if colour else np.float32)
        picture = picture.reshape(message.height, message.width, -1)
        if picture[0, 0, 0] == number % 256 and WARM_FRAMES <= number < WARM_FRAMES + self._frames:
            self._seen.add((topic, number))

    def _on_time(self) -> None:
        silent = time.monotonic() - self._last
        if self._used is not None and silent > 1.0:
            cpu, wall = self._used
            tell(cpu=cpu, wall=wall, received=len(self._seen))
            self.exit_code = 0
        elif self._began is not None and silent > SILENCE:
            self.exit_code = 1  # nothing arrives any more, and the period was not whole


class Follower(StepNode):
    """A stand-in for pilot or governor, which answers each step with a velocity once it has that step's inputs."""

    def __init__(self, name: str, inputs: tuple[str, ...], answer: str) -> None:
        super().__init__(name)
        for topic in inputs:
            self.await_input(topic)
        self.output(answer)
        self._answer = answer
        self.join()

    def on_step(self, step: Step) -> bool | None:
        message = TwistStamped()
        message.header.stamp = step.stamp
        self.send(self._answer, message)
        return None


class Bridge(Node):
    """A node that publishes state and tick, and measures the time until the safe command of that stamp is there."""

    def __init__(self) -> None:
        super().__init__("bridge")
        self.exit_code: int | None = None
        self._number = 0
        self._sent = 0.0
        self._rounds: list[float] = []

        def output(topic: str) -> Any:
            return self.create_publisher(message_class(BY_NAME[topic].type), topic, PROFILES[BY_NAME[topic].quality])

        self._odometry, self._tick = output(names.ODOMETRY), output(names.TICK)
        quality = PROFILES[BY_NAME[names.CMD_VEL_SAFE].quality]
        self._input = self.create_subscription(TwistStamped, names.CMD_VEL_SAFE, self._on_command, quality)
        self.create_timer(0.1, self._begin)

    def _begin(self) -> None:
        readers = min(self._odometry.get_subscription_count(), self._tick.get_subscription_count())
        if self._number == 0 and readers >= 2 and self.count_publishers(names.CMD_VEL) >= 1:
            time.sleep(1.0)  # discovery is mutual; what the others have not matched yet is not seen from here
            self._step()

    def _step(self) -> None:
        self._number += 1
        stamp = to_stamp(self._number * STEP)
        state, tick = Odometry(), Tick(seq=self._number, epoch=1, period=0.05)
        state.header.stamp = tick.header.stamp = stamp
        self._sent = time.perf_counter()
        self._odometry.publish(state)
        self._tick.publish(tick)

    def _on_command(self, command: TwistStamped) -> None:
        if nanoseconds(command.header.stamp) != self._number * STEP or self.exit_code is not None:
            return
        self._rounds.append(1e3 * (time.perf_counter() - self._sent))
        if self._number < WARM_TICKS + TICKS:
            self._step()
            return
        rounds = sorted(self._rounds[WARM_TICKS:])
        tell(median=statistics.median(rounds), p99=rounds[int(0.99 * len(rounds))])
        self.exit_code = 0


def pilot() -> Node:
    """Returns the node that turns the state into a command."""
    return Follower("pilot", (names.ODOMETRY,), names.CMD_VEL)


def governor() -> Node:
    """Returns the node that turns both into a safe command."""
    return Follower("safety_governor", (names.ODOMETRY, names.CMD_VEL), names.CMD_VEL_SAFE)


def start(role: str, domain: str, frames: int, images: bool = False) -> subprocess.Popen[str]:
    """Starts this file in a process of its own, in the graph's environment."""
    return subprocess.Popen(
        [sys.executable, __file__, "--role", role, "--frames", str(frames)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | graph_environment(images) | {"ROS_DOMAIN_ID": domain},
    )


def measure(roles: dict[str, bool], reporting: tuple[str, ...], frames: int = 0) -> dict[str, dict[str, float]]:
    """Runs processes (role -> publishes images); returns the lines of those in reporting."""
    domain = str(random.SystemRandom().randrange(1, 101))
    processes = {role: start(role, domain, frames, images) for role, images in roles.items()}
    try:
        outcomes = {}
        for role in reporting:
            stream = processes[role].stdout
            assert stream is not None
            line = next((line for line in stream if line.startswith("{")), "")
            if not line:
                raise SystemExit(f"{role} ended without a figure")
            outcomes[role] = json.loads(line)
        return outcomes
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait(10.0)


def figures_of(frames: int) -> dict[str, float]:
    """Returns everything that this benchmark measures."""
    pictures = measure({"consumer": False, "cameras": True}, ("cameras", "consumer"), frames)
    sender, reader = pictures["cameras"], pictures["consumer"]
    images = frames * len(TOPICS)
    ticks = measure({"pilot": False, "governor": False, "bridge": False}, ("bridge",))["bridge"]
    return {
        "images_sent": images,
        "images_dropped": images - reader["received"],
        "publisher_percent_of_a_core": 100.0 * sender["cpu"] / sender["wall"],
        "consumer_percent_of_a_core": 100.0 * reader["cpu"] / reader["wall"],
        "cpu_percent_of_a_core": 100.0 * (sender["cpu"] / sender["wall"] + reader["cpu"] / reader["wall"]),
        "cpu_ms_per_image": 1e3 * (sender["cpu"] + reader["cpu"]) / images,
        "cpu_ms_per_frame": 1e3 * (sender["cpu"] + reader["cpu"]) / frames,
        "rate_hz": frames / sender["wall"],
        "tick_median_ms": ticks["median"],
        "tick_p99_ms": ticks["p99"],
    }


def main() -> int:
    """Measures, prints a table and one line of JSON; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=12.0, help="of pictures (default %(default)s)")
    parser.add_argument("--role", choices=tuple(ROLES), help=argparse.SUPPRESS)
    parser.add_argument("--frames", type=int, default=0, help=argparse.SUPPRESS)
    add_page(parser)
    arguments = parser.parse_args()
    if arguments.role:
        signal.alarm(LIMIT)
        return run(lambda: [ROLES[arguments.role](arguments.frames)])
    figures = figures_of(round(arguments.seconds * RATE))
    met = {name: bool(figures[name] <= goal) for name, goal in GOALS.items()}
    for name, value in figures.items():
        goal = f"<= {GOALS[name]:g}" if name in GOALS else ""
        print(f"{name:30s} {value:10.2f}  {goal}")
    print(json.dumps({"benchmark": "transport", "figures": figures, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "Pictures: a colour and a depth picture of four cameras at 640x480, ten times a second, from one process "
            "to another that looks at them as arrays; CPU time of all threads of both. Ticks: one step of the control "
            "chain over three processes, bridge, pilot, governor and back."
        )
        conditions = {"seconds": arguments.seconds, "ticks": TICKS}
        write_page(__file__, "What transport costs", about, conditions, [goal_table(figures, GOALS, met)])
    return 0 if all(met.values()) else 1


ROLES = {
    "cameras": Cameras,
    "consumer": Consumer,
    "pilot": lambda frames: pilot(),
    "governor": lambda frames: governor(),
    "bridge": lambda frames: Bridge(),
}


if __name__ == "__main__":
    sys.exit(main())
