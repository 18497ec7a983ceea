"""Other people's bags: the track by fixes or by odometry, looks turned to true north, and what a bag lacks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_yaw
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Position
from esar_ros.incident.sources import ros_bag
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError
from helpers.built_messages import SECOND, START, build, header
from helpers.rgbd_bag import TYPES, odometry, transform

HOME = Origin(34.0, 107.0, 1500.0)
MODEL = CameraModel(640, 480, 500.0, 500.0, 320.0, 240.0)
MOUNT = Pose(np.zeros(3), quaternion_from_rotation(optical_rotation(0.0, -math.pi / 2)))  # looks down, top ahead
YAW = math.radians(35.0)  # of the nose, counter-clockwise from east
LATE = 1_777_622_400.0 - START / SECOND  # s


def flight(
    folder: Path, *, turn: float = 0.0, fix: tuple[str, ...] = ("/fix",), odom: bool = True, info: bool = True,
    length: float = 60.0, late: float = LATE, mounted: bool = True,
) -> Path:  # fmt: skip
    """A straight flight of 20 s to the north-east; odometry's x axis points `turn` (rad) left of east."""
    bag = BagWriter(folder / "bag")

    def put(topic: str, kind: str, t: float, message: Any) -> None:
        bag.add_topic(topic, kind, latched=int(topic == "/tf_static"))
        bag.write(topic, START + round(t * SECOND), bytes(typestore().serialize_cdr(message, kind)))

    edges = [transform(late, "d/base_link", "d/camera" if mounted else "other", MOUNT)]
    put("/tf_static", TYPES["tf"], 0.0, build(TYPES["tf"], transforms=edges))
    odom_in_world = Pose(np.array([3.0, -2.0, 0.0]), quaternion_from_yaw(turn))
    for t in range(21):
        at = np.array([length, length, 0.0]) / math.sqrt(2.0) * t / 20.0 + [0.0, 0.0, 50.0]
        latitude, longitude, altitude = HOME.to_geodetic(at)
        for topic in fix:
            status = build("sensor_msgs/msg/NavSatStatus", status=0)
            put(topic, ros_bag.FIX, t, build(ros_bag.FIX, header=header(late + t, "gps"), status=status,
                latitude=latitude, longitude=longitude, altitude=altitude))  # fmt: skip
        if odom:
            pose = odom_in_world.inverse().compose(Pose(at, quaternion_from_yaw(YAW)))
            put("/odom", TYPES["odometry"], t, odometry(late + t, "d", pose))
        if info:
            k = {"height": MODEL.height, "width": MODEL.width, "k": MODEL.matrix.reshape(9)}
            put(
                "/cam/camera_info",
                TYPES["camera_info"],
                t,
                build(TYPES["camera_info"], header=header(late + t, "d/camera"), **k),
            )
    bag.close()
    return folder / "bag"


def test_fixes_give_the_track_and_heights_above_the_sea(tmp_path: Path) -> None:
    intake = Intake(Position(34.0, 107.0), undulation=-30.0)
    search, _ = ros_bag.read(flight(tmp_path, odom=False, info=False), intake)
    (track,) = search.tracks
    np.testing.assert_allclose(track.altitude, 1580.0, atol=1e-3)
    np.testing.assert_allclose(track.time, LATE + START / SECOND + np.arange(21))
    assert HOME.to_enu(track.latitude[-1], track.longitude[-1], 1550.0)[:2] == pytest.approx([42.426, 42.426], abs=1e-2)


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5])
def test_a_look_points_to_true_north_however_odometry_is_turned(tmp_path: Path, turn: float) -> None:
    intake = Intake(undulation=0.0)
    _, looks = ros_bag.read(flight(tmp_path, turn=turn), intake)
    assert len(looks) == 21 and intake.faults == []
    assert looks[10].model == MODEL
    assert (looks[10].yaw, looks[10].pitch) == pytest.approx((90.0 - math.degrees(YAW), -90.0), abs=0.1)
    assert HOME.to_enu(looks[10].latitude, looks[10].longitude, 1550.0)[:2] == pytest.approx([21.213, 21.213], abs=1e-2)


def test_odometry_alone_needs_its_origin(tmp_path: Path) -> None:
    path = flight(tmp_path, fix=())
    with pytest.raises(UsageError, match=r"NavSatFix.*--origin.*/odom \(Odometry\)"):
        ros_bag.read(path, Intake())
    search, looks = ros_bag.read(path, Intake(), origin=Position(34.0, 107.0, 1500.0))
    np.testing.assert_allclose(search.tracks[0].altitude, 1550.0, atol=1e-2)
    assert len(looks) == 21


@pytest.mark.parametrize(
    ("change", "lacks"),
    [
        ({"info": False}, "camera_info"),
        ({"odom": False}, "odometry is lacking"),
        ({"mounted": False}, "a transform from d/base_link to the camera"),
        ({"length": 5.0}, "a flight of 15 m"),
    ],
)
def test_what_a_bag_lacks_for_looks_is_named(tmp_path: Path, change: dict[str, Any], lacks: str) -> None:
    intake = Intake(undulation=0.0)
    search, looks = ros_bag.read(flight(tmp_path, **change), intake)
    assert len(search.tracks) == 1 and looks == []
    assert lacks in intake.faults[0]


def test_of_several_topics_one_is_named(tmp_path: Path) -> None:
    path = flight(tmp_path, fix=("/fix", "/raw"))
    with pytest.raises(UsageError, match=r"several .*NavSatFix: /fix, /raw.*--topic fix=TOPIC"):
        ros_bag.read(path, Intake())
    search, _ = ros_bag.read(path, Intake(), {"fix": "/raw"})
    assert len(search.tracks) == 1
    with pytest.raises(UsageError, match="did you mean /raw"):
        ros_bag.read(path, Intake(), {"fix": "/row"})
    with pytest.raises(UsageError, match="did you mean fix"):
        ros_bag.read(path, Intake(), {"fixx": "/raw"})


def test_a_simulators_clock_is_no_utc(tmp_path: Path) -> None:
    search, _ = ros_bag.read(flight(tmp_path, late=0.0), Intake(undulation=0.0))
    assert np.isnan(search.tracks[0].time).all()
