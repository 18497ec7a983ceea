"""A small flown mission, recorded into a bag by the package's own writer, and a benchmark run of four methods."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.benchmark.report.mission_record import MissionRecord, open_record
from esar_ros.mission import names
from esar_ros.mission.task import load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.truth import End, Run, TrueClue, TrueVictim, Truth, VehicleTruth
from esar_ros.sim.terrain.maps import load_map
from helpers.bench_maker import make_bench
from helpers.built_messages import SECOND, START, build, header, point

TYPES = {
    names.ODOMETRY: "nav_msgs/msg/Odometry",
    names.SAFETY_STATUS: "esar_ros/msg/SafetyStatus",
    names.VEHICLE_STATE: "esar_ros/msg/VehicleState",
    names.REPORTS: "esar_ros/msg/Report",
    names.DECISION: "esar_ros/msg/Decision",
    names.MAP_STATUS: "esar_ros/msg/MapStatus",
    names.MAP_COVERAGE: "nav_msgs/msg/OccupancyGrid",
    names.BATTERY: "sensor_msgs/msg/BatteryState",
    names.COLLISION: "esar_ros/msg/Collision",
    names.TRUTH: "esar_ros/msg/Truth",
    **{names.camera_compressed(camera): "sensor_msgs/msg/CompressedImage" for camera in names.EYES},
}


def jpeg(colour: tuple[int, int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), colour).save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


class Mission:
    """Flies east from the start of aotai-first at 3 m/s, past the tent, and reports what it is told to."""

    def __init__(self, folder: Path, end: float = 40.0, end_reason: End = End.STOP) -> None:
        self.task = load_task("aotai-first")
        self.place = load_map(self.task.map)
        self.end, self.end_reason = end, end_reason
        self.bag = BagWriter(folder / "bag")
        for topic, message_type in TYPES.items():
            self.bag.add_topic(f"/uav1/{topic}", message_type, latched=int(topic == names.TRUTH))

    def put(self, topic: str, t: float, message: Any) -> None:
        raw = bytes(typestore().serialize_cdr(message, TYPES[topic]))
        self.bag.write(f"/uav1/{topic}", START + round(t * SECOND), raw)

    def stand(self, xy: tuple[float, float]) -> tuple[float, float, float]:
        return float(xy[0]), float(xy[1]), float(self.place.ground_height(np.array(xy)))

    def fly(self, pictures: bool = True) -> None:
        for i in range(int(self.end * 5) + 1):
            t = i / 5
            x, y = self.task.start.position[0] + 3.0 * t, self.task.start.position[1] + 0.8 * t
            z = self.stand((x, y))[2] + min(20.0, 4.0 * t)
            pose = build(
                "geometry_msgs/msg/Pose",
                position=point(x, y, z),
                orientation=build("geometry_msgs/msg/Quaternion", w=math.cos(0.4), z=math.sin(0.4)),
            )
            covariant = build("geometry_msgs/msg/PoseWithCovariance", pose=pose)
            self.put(names.ODOMETRY, t, build(TYPES[names.ODOMETRY], header=header(t, "uav1/odom"), pose=covariant))
            held = 10.0 <= t < 12.0
            self.put(
                names.SAFETY_STATUS,
                t,
                build(
                    TYPES[names.SAFETY_STATUS],
                    header=header(t),
                    mode=3 if held else 1,
                    reason=8 if held else 0,
                    changed=held,
                    has_clearance=True,
                    clearance=7.5,
                    has_height=True,
                    height=20.0,
                    text="<tree> ahead" if held else "",
                ),
            )
            self.put(names.VEHICLE_STATE, t, build(TYPES[names.VEHICLE_STATE], header=header(t), landed=2))
            if i % 5 == 0:
                self._once_a_second(t, pictures)

    def _once_a_second(self, t: float, pictures: bool) -> None:
        self.put(names.BATTERY, t, build(TYPES[names.BATTERY], header=header(t), percentage=0.9 - 0.001 * t))
        self.put(names.MAP_STATUS, t, build(TYPES[names.MAP_STATUS], header=header(t), coverage=0.001 * t))
        decision = build(
            TYPES[names.DECISION],
            header=header(t, ""),
            seq=int(t) + 1,
            status=1,
            method="zigzag",
            action="take off" if t < 5 else "lane 1",
            why="<b>next</b> leg",
            effective=header(t).stamp,
            latency=0.05,
        )
        self.put(names.DECISION, t, decision)
        if pictures:
            for camera in names.EYES:
                topic = names.camera_compressed(camera)
                data = np.frombuffer(jpeg((90, 120, 80)), dtype=np.uint8)
                self.put(topic, t, build(TYPES[topic], header=header(t), format="jpeg", data=data))

    def report(self, t: float, seq: int, kind: str, position: tuple[float, float, float], text: str) -> None:
        message = build(
            TYPES[names.REPORTS],
            header=header(t),
            seq=seq,
            type=2 if kind == "person" else 1,
            kind=kind,
            text=text,
            confidence=0.8,
            position=point(*position),
        )
        self.put(names.REPORTS, t, message)

    def cover(self, rows: int = 40) -> None:
        cells = np.full((40, 40), -1, dtype=np.int8)
        cells[:rows] = 60
        info = build(
            "nav_msgs/msg/MapMetaData",
            resolution=50.0,
            width=40,
            height=40,
            origin=build("geometry_msgs/msg/Pose", position=point(-1000, -1000, 0)),
        )
        self.put(
            names.MAP_COVERAGE,
            30.0,
            build(TYPES[names.MAP_COVERAGE], header=header(30.0), info=info, data=cells.ravel()),
        )

    def finish(self, **more: Any) -> None:
        truth = Truth(
            schema="esar-truth/1",
            run=Run(
                mission_id="m", planner="zigzag", judge="offline/1", pace="lockstep", seed=1, odometry="true", **more
            ),
            task=self.task,
            thresholds=load_thresholds(),
            victims=tuple(
                TrueVictim(id=v.id, name=v.name, pose=v.pose.value, position=self.stand(v.position))
                for v in self.task.victims
            ),
            clues=tuple(
                TrueClue(id=c.id, kind=c.kind.value, description=c.description, position=self.stand(c.position))
                for c in self.task.clues
            ),
            vehicles={"uav1": VehicleTruth(odom_in_map=(0.0, 0.0, 0.0))},
            start=START,
            end=START + round(self.end * SECOND),
            end_reason=self.end_reason,
            end_text="the planner said stop",
            wall_time=20.0,
        )
        self.put(names.TRUTH, self.end, build(TYPES[names.TRUTH], header=header(self.end), truth=truth.dump()))
        self.bag.close()


@pytest.fixture(scope="session")
def mission_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """out/ of a mission that found the victim and the tent, and reported one thing that is not there."""
    folder = tmp_path_factory.mktemp("mission")
    mission = Mission(folder)
    mission.fly()
    tent = mission.stand(mission.task.clues[0].position)
    wu = mission.stand(mission.task.victims[0].position)
    mission.report(20.0, 1, "tent", (tent[0] + 2.0, tent[1], tent[2]), "orange <tent>")
    mission.report(30.0, 2, "person", (wu[0], wu[1] + 3.0, wu[2]), "person lying")
    mission.report(33.0, 3, "rope", (-100.0, 60.0, 0.0), "coil of rope")
    mission.cover(rows=20)
    mission.finish()
    (folder / "result.json").write_text(score_bag(folder / "bag").dump())
    return folder


@pytest.fixture(scope="session")
def flown(mission_folder: Path) -> MissionRecord:
    return open_record(mission_folder)


@pytest.fixture(scope="session")
def skills() -> dict[str, float]:
    """Methods with the chance of each find."""
    return {"belief": 0.8, "fbe": 0.2, "stay": 0.0, "flooder": 0.05}


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory, skills: dict[str, float]) -> tuple[Path, list[dict[str, Any]]]:
    """A benchmark's folder and its lines; nobody changes them."""
    folder = tmp_path_factory.mktemp("bench")
    return folder, make_bench(folder, skills, seeds=2)
