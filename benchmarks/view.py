"""The cost of the live page: CPU time of its process, with nobody looking and with one browser's worth of reading.

python benchmarks/view.py [--seconds S] [--speed X]
python benchmarks/view.py --flight [--seconds S]

One process publishes what a mission of one vehicle does, with the graph's rates and qualities of service, X times as
fast as real time: odometry, pilot and governor at 20 Hz, clues, detections, decisions, goals, map and battery at 1 Hz,
the belief (200 x 200) and four JPEG pictures at 1 Hz, the path at 2 Hz. The page's process runs beside it as in a
mission. Counted is all of its CPU time (user and system, every thread) over S seconds, first without a reader, then
with one that reads the events as they come (5 Hz) and fetches every new picture and layer.

--flight does the same beside a real mission in place of what the one process publishes: aotai-first with the belief
planner, pictures of 320 x 240, the lockstep as fast as the machine lets it; it is ended when both periods are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import psutil
from page import add_page, goal_table, write_page

from esar_ros.mission import names
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.progress import SERVING

GOALS = {"cpu_percent_looked_at": 10.0, "cpu_percent_alone": 1.0}
WARM = 4.0  # s after a change before counting
CONTROL = 20.0  # Hz
CLUES = 12
VIEWER = [sys.executable, "-m", "esar_ros.app.view.viewer"]
FLIGHT = ["--task", "aotai-first", "--planner", "belief", "--preset", "fast", "--view", "0"]


def publish(speed: float) -> int:
    """Publishes the topics of a mission until the process is ended."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.core.types import message_class

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: ended.set())
    node = rclpy.create_node("mission")
    made: dict[str, tuple[Any, Any]] = {}

    def send(topic: str, ns: int, **values: Any) -> None:
        entry = BY_NAME[topic]
        kind = message_class(entry.type)
        if topic not in made:
            name = topic if topic.startswith("/") else f"uav1/{topic}"
            made[topic] = node.create_publisher(kind, name, PROFILES[entry.quality]), kind(**values)
        publisher, message = made[topic]
        if hasattr(message, "header"):
            message.header.stamp.sec, message.header.stamp.nanosec = ns // 10**9, ns % 10**9
        publisher.publish(message)

    fixed = _messages()
    began = time.monotonic()
    step = 0
    while not ended.is_set():
        ns = 10**9 + round(step / CONTROL * 1e9)
        for topic in (names.ODOMETRY, names.PILOT_STATE, names.SAFETY_STATUS):
            send(topic, ns, **fixed.get(topic, {}))
            if topic == names.ODOMETRY:
                made[topic][1].pose.pose.position.x = step / CONTROL * 5.0 % 900.0
        if step % 10 == 0:
            send(names.PATH, ns)
        if step % round(CONTROL) == 0:
            for topic, values in fixed.items():
                send(topic, ns, **values)
            mission = made[names.MISSION_STATE][1]
            mission.elapsed = step / CONTROL
            made[names.DECISION][1].why = f"frontier {step} is nearest"
        step += 1
        time.sleep(max(0.0, began + step / (CONTROL * speed) - time.monotonic()))
    node.destroy_node()
    rclpy.shutdown()
    return 0


def _messages() -> dict[str, dict[str, Any]]:
    """Returns the fields of the messages that are sent once a second of mission time."""
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import MapMetaData

    from esar_ros.msg import Clue, Detection

    rng = np.random.default_rng(0)
    noise = cv2.GaussianBlur(rng.integers(0, 256, (480, 640, 3), dtype=np.uint8), (9, 9), 0)
    jpeg = cv2.imencode(".jpg", noise, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()
    clues = [Clue(id=k + 1, kind="tent", text="an orange tent", probability=0.9, views=5) for k in range(CLUES)]
    boxes = [Detection(kind="tent", camera="front", x=10, y=10, width=30, height=30) for _ in range(CLUES)]
    frame = TransformStamped(child_frame_id="uav1/odom")
    grid = {"info": MapMetaData(resolution=10.0, width=200, height=200)}
    cells = rng.integers(0, 101, 200 * 200).astype(np.int8)
    return {
        names.MISSION_STATE: {"phase": 2, "t_max": 3600.0},
        names.TF_STATIC: {"transforms": [frame]},
        names.CLUES: {"clues": clues},
        names.DETECTIONS: {"detections": boxes},
        names.DECISION: {"status": 1, "method": "belief", "action": "fly"},
        names.GOAL: {"type": 2},
        names.MAP_STATUS: {},
        names.BATTERY: {},
        names.BELIEF: {**grid, "data": cells.tolist()},
        **{names.camera_compressed(camera): {"data": list(jpeg)} for camera in names.CAMERAS},
    }


class Reader:
    """The requests of a browser with the page open."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.events = self.pictures = 0
        self._stop = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError), urllib.request.urlopen(f"{self._address}events?vehicle=uav1", timeout=30) as answer:
            while not self._stop:
                line = answer.readline()
                if not line.startswith(b"data: "):
                    continue
                self.events += 1
                for section in json.loads(line[6:]):
                    if section.startswith(("camera/", "layer/")):
                        self._fetch(section)

    def _fetch(self, section: str) -> None:
        with suppress(OSError), urllib.request.urlopen(f"{self._address}picture/{section}", timeout=30) as answer:
            self.pictures += bool(answer.read())

    def stop(self) -> None:
        """Closes the page."""
        self._stop = True
        self._thread.join(timeout=10.0)


@dataclass(frozen=True)
class Page:
    """The page's process and its address."""

    process: psutil.Process
    address: str

    def elapsed(self) -> float:
        """Returns the mission time (s); asking for the state does not count as a reader."""
        with urllib.request.urlopen(f"{self.address}state", timeout=30) as answer:
            return float((json.loads(answer.read()).get("mission") or {}).get("elapsed") or 0.0)


@dataclass(frozen=True)
class Cost:
    """The cost of a period: CPU time of the page's process, wall time and mission time, s."""

    cpu: float
    wall: float
    mission: float

    @property
    def per_wall(self) -> float:
        """Share of a core, per cent."""
        return 100.0 * self.cpu / self.wall

    @property
    def per_mission(self) -> float:
        """CPU time (ms) per second of mission time."""
        return 1000.0 * self.cpu / self.mission if self.mission else 0.0


def cost(page: Page, seconds: float) -> Cost:
    """Returns the cost of the page's process over a period."""
    time.sleep(WARM)
    flown, at, before = page.elapsed(), time.monotonic(), page.process.cpu_times()
    time.sleep(seconds)
    after, end = page.process.cpu_times(), time.monotonic()
    return Cost(after.user + after.system - before.user - before.system, end - at, page.elapsed() - flown)


def _address(output: Any) -> str:
    for line in output:
        if SERVING in line:
            return str(line.split(SERVING)[1].split("#")[0].strip())
    raise SystemExit("the page was not served")


@contextmanager
def published(speed: float) -> Iterator[Page]:
    """Yields the page beside a process that publishes a mission's topics."""
    os.environ.update(graph_environment())
    mission = subprocess.Popen([sys.executable, __file__, "--publish", "--speed", str(speed)])
    viewer = subprocess.Popen(VIEWER, stdout=subprocess.PIPE, text=True)
    try:
        yield Page(psutil.Process(viewer.pid), _address(viewer.stdout))
    finally:
        for started in (viewer, mission):
            started.terminate()
            started.wait()


@contextmanager
def flown() -> Iterator[Page]:
    """Yields the page of a real mission, from its first second on."""
    with tempfile.TemporaryDirectory(prefix="esar-view-") as out:
        command = [sys.executable, "-m", "esar_ros.app.cli", "mission", *FLIGHT, "--out", out]
        mission = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = _address(mission.stdout)
            threading.Thread(target=lambda: list(mission.stdout or ()), daemon=True).start()
            children = psutil.Process(mission.pid).children(recursive=True)
            page = Page(next(child for child in children if VIEWER[-1] in child.cmdline()), address)
            while page.elapsed() == 0.0:
                time.sleep(1.0)
            yield page
        finally:
            mission.send_signal(signal.SIGINT)
            mission.wait()


def main() -> int:
    """Measures, prints the table and the figures."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="each period counted (default: %(default)s)")
    parser.add_argument("--speed", type=float, default=1.0, help="of the mission, times real time (default: 1)")
    parser.add_argument("--flight", action="store_true", help="beside a real mission, as fast as it goes")
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    add_page(parser)
    arguments = parser.parse_args()
    if arguments.publish:
        return publish(arguments.speed)
    os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
    with flown() if arguments.flight else published(arguments.speed) as page:
        alone = cost(page, arguments.seconds)
        reader = Reader(page.address)
        looked_at = cost(page, arguments.seconds)
        figures = {
            "cpu_percent_alone": round(alone.per_wall, 2),
            "cpu_percent_looked_at": round(looked_at.per_wall, 2),
            "events": reader.events,
            "pictures": reader.pictures,
            "memory_mb": round(page.process.memory_info().rss / 2**20),
        }
        reader.stop()
    if arguments.flight:
        figures |= {
            "speed_alone": round(alone.mission / alone.wall, 1),
            "speed_looked_at": round(looked_at.mission / looked_at.wall, 1),
            "cpu_ms_per_mission_second_alone": round(alone.per_mission, 1),
            "cpu_ms_per_mission_second_looked_at": round(looked_at.per_mission, 1),
        }
    else:
        figures["speed"] = arguments.speed
    print(f"{'':<12} {'CPU, % of a core':>18} {'goal':>8} {'CPU, ms a second of the mission':>33}")
    for name, about, taken in (
        ("cpu_percent_alone", "nobody looks", alone),
        ("cpu_percent_looked_at", "one reader", looked_at),
    ):
        print(f"{about:<12} {figures[name]:>18.2f} {GOALS[name]:>8g} {taken.per_mission:>33.1f}")
    print(f"events {figures['events']}, pictures {figures['pictures']} in {arguments.seconds + WARM:g} s")
    met = {name: figures[name] <= goal for name, goal in GOALS.items()}
    print(json.dumps({"benchmark": "view", "figures": figures, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "CPU time of the live page's process, with nobody looking and with one reader that takes the events as "
            "they come (5 Hz) and every new picture and layer, beside "
            + ("a mission of one vehicle." if arguments.flight else "what a mission of one vehicle publishes.")
        )
        conditions = {"seconds": arguments.seconds}
        if arguments.flight:
            conditions["mission"] = " ".join(FLIGHT)
        tables = [goal_table(figures, GOALS, met)]
        write_page(
            __file__, "What the live page costs", about, conditions, tables, "flight" if arguments.flight else ""
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
