"""Flying PX4: its dangers and how far it takes to stop, on the fake autopilot, and what the mirror costs pictures.

`python benchmarks/px4.py [--seconds S] [--rounds N]`. Pictures are taken one frame of four cameras after another from a
server that draws, by turns without the mirror and with its vehicle moved along at 20 Hz, LiDAR scans beside them as in
a flight. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import threading
import time

import numpy as np
from page import ROOT, Table, add_page, write_page

from esar_ros.bridges.airsim.camera import AirSimCameras, AirSimLidar
from esar_ros.bridges.airsim.connect import connect
from esar_ros.bridges.airsim.frames import VehicleFrame
from esar_ros.bridges.airsim.mirror import PoseMirror
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.terrain.maps import load_map

_MAP = "aotai"
_TOLD = 50.0  # Hz, at which the bridge publishes odometry


def _on_the_fake() -> list[Table]:
    """Returns the dangers and the ways to standstill."""
    sys.path[:0] = [str(ROOT / "test" / "px4"), str(ROOT / "test")]
    from dangers import ALL, SPEEDS, stopping

    rows = [row for danger in ALL for row in danger()]
    told = [(row.danger, row.what, row.seconds, "" if row.well else "**not well**") for row in rows]
    ways = [(speed, *stopping(speed)) for speed in SPEEDS]
    return [
        Table(("danger", "what happened", "after (s)", ""), told, "Dangers, on the fake autopilot"),
        Table(("asked (m/s)", "true (m/s)", "way (m)", "model (m)"), ways, "Stopping, on the fake autopilot"),
    ]


def _round(port: int, seconds: float, with_mirror: bool) -> tuple[int, float, float, int]:
    """Returns the frames taken, the longest wait for one (s), that for a scan (s), and the poses shown."""
    cameras = AirSimCameras(connect("127.0.0.1", port), "uav1", load_vehicle())
    lidar = AirSimLidar(connect("127.0.0.1", port), "uav1")
    mirror = PoseMirror(lambda: connect("127.0.0.1", port), "uav1", print) if with_mirror else None
    over = threading.Event()
    above = float(load_map(_MAP).ground_height([0.0, 0.0])) + 30.0
    with connect("127.0.0.1", port) as client:  # it hovers where the circle begins
        client.call("enableApiControl", True, "uav1")
        client.call("armDisarm", True, "uav1")
        frame = VehicleFrame.of_settings(client.call("getSettingsString"), "uav1")
        client.call("simSetVehiclePose", frame.pose_to_airsim(Pose(np.array([30.0, 0.0, above]))), True, "uav1")
    scans: list[float] = []

    def move() -> None:
        angle = 0.0
        while mirror is not None and not over.wait(1.0 / _TOLD):
            angle += 4.0 / 30.0 / _TOLD  # 4 m/s around a circle of 30 m
            at = np.array([30.0 * math.cos(angle), 30.0 * math.sin(angle), above])
            mirror.show(Pose(at, quaternion_from_yaw(angle)))

    def scan() -> None:
        while not over.wait(0.1):
            asked = time.monotonic()
            lidar.read()
            scans.append(time.monotonic() - asked)

    threads = [threading.Thread(target=move), threading.Thread(target=scan)]
    for thread in threads:
        thread.start()
    frames, longest, end = 0, 0.0, time.monotonic() + seconds
    while (asked := time.monotonic()) < end:
        cameras.read()
        frames, longest = frames + 1, max(longest, time.monotonic() - asked)
    over.set()
    for thread in threads:
        thread.join()
    shown = 0
    if mirror is not None:
        mirror.close()
        shown = mirror.shown
    cameras.close()
    lidar.close()
    return frames, longest, max(scans, default=math.nan), shown


def _pictures(seconds: float, rounds: int) -> Table:
    """Returns frames, waits and poses without the mirror and with it."""
    command = [sys.executable, "-u", "-m", "esar_ros.sim.server", "--port", "0", "--map", _MAP, "--image", "320x240"]
    server = subprocess.Popen([*command, "--vehicles", "uav1"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        ready = next(line for line in server.stdout if line.startswith("ready on "))
        port = int(re.findall(r":(\d+)", ready)[-1])
        _round(port, 2.0, True)  # the first frames are slow
        rows = []
        both = {False: [], True: []}  # type: ignore[var-annotated]
        for _ in range(rounds):
            for with_mirror in (False, True):
                both[with_mirror].append(_round(port, seconds, with_mirror))
        for with_mirror, taken in both.items():
            frames, longest, scan, shown = zip(*taken, strict=True)
            rate = [sum(count) / (seconds * rounds) for count in (frames, shown)]
            rows.append(("with" if with_mirror else "without", rate[0], max(longest), max(scan), rate[1]))
    finally:
        server.terminate()
        server.wait()
    columns = ("mirror", "frames of four pictures /s", "longest wait for one (s)", "for a scan (s)", "poses shown /s")
    return Table(columns, rows, "Pictures without and with the mirror")


def main() -> None:
    """Prints the tables and a JSON line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="a round")
    parser.add_argument("--rounds", type=int, default=3, help="without and with the mirror")
    add_page(parser)
    arguments = parser.parse_args()
    tables = [*_on_the_fake(), _pictures(arguments.seconds, arguments.rounds)]
    for table in tables:
        print(table.title, *table.rows, sep="\n")
    print(json.dumps({"benchmark": "px4", "pictures": tables[-1].rows}))
    if arguments.page:
        about = (
            "Flown on the fake autopilot (`test/px4/`), not on PX4; what real PX4 was measured to do is in "
            "[PX4](../reference/px4.md). The model is the governor's with the `tau` of world px4. Pictures: 320x240, "
            "colour and depth, from 30 m above the ground."
        )
        conditions = {"seconds a round": arguments.seconds, "rounds": arguments.rounds}
        write_page(__file__, "PX4: dangers, stopping, and the mirror", about, conditions, tables)


if __name__ == "__main__":
    main()
