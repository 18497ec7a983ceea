"""AirSim's settings.json: read, checked, written back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.airsim_api.settings_reader import load_settings, parse_settings
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.server import captures_of
from esar_ros.sim.settings import Capture, default_settings

VEHICLE = load_vehicle()


def parse(data: Any) -> Any:
    return parse_settings(json.dumps(data), "settings.json", VEHICLE)


def test_the_default_is_the_projects_vehicle() -> None:
    made = default_settings(VEHICLE, ("uav1", "uav2"))
    assert [v.name for v in made.vehicles] == ["uav1", "uav2"]
    first = made.vehicles[0]
    assert tuple(first.cameras) == CAMERAS
    for name, mount in VEHICLE.cameras.items():
        own = first.cameras[name].mount
        assert own.position == pytest.approx(mount.position)
        forward = mount.pose.rotation[:, 2]  # of the optical frame
        assert own.rotation[:, 0] == pytest.approx(forward, abs=1e-9)
    capture = first.cameras["down"].capture(ImageType.SCENE)
    assert (capture.width, capture.height, capture.fov) == (640, 480, 90.0)
    assert {s.kind for s in first.sensors.values()} == {"imu", "gps", "barometer", "magnetometer", "distance", "lidar"}


def test_every_size_that_may_be_asked_for_is_made_ready_first() -> None:
    sizes = [{"ImageType": kind, "Width": side, "Height": side} for kind, side in ((0, 512), (2, 256))]
    made = parse({"CameraDefaults": {"CaptureSettings": sizes}})
    assert captures_of(made.vehicles) == [Capture(512, 512), Capture(256, 256)]


def test_what_is_written_is_read_back_the_same() -> None:
    made = default_settings(VEHICLE, ("uav1", "uav2"))
    filled = parse_settings(made.to_json(), "own", VEHICLE)
    assert filled.vehicles == made.vehicles
    assert filled.warnings == ()
    assert filled.to_json() == made.to_json()


def test_reads_what_airsim_users_write() -> None:
    got = parse(
        {
            "SettingsVersion": 1.2,
            "SimMode": "Multirotor",
            "ClockSpeed": 2.5,
            "ViewMode": "NoDisplay",
            "OriginGeopoint": {"Latitude": 47.6, "Longitude": -122.1, "Altitude": 120.0},
            "CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 320, "Height": 240, "FOV_Degrees": 70}]},
            "Vehicles": {
                "Drone1": {
                    "VehicleType": "SimpleFlight",
                    "X": 4, "Y": -2, "Z": -1, "Yaw": 90,
                    "Cameras": {
                        "nose": {
                            "X": 0.5, "Y": 0.1, "Z": 0.2, "Pitch": -15, "Roll": 0, "Yaw": 30,
                            "CaptureSettings": [
                                {"ImageType": 0, "Width": 160, "Height": 120},
                                {"ImageType": 1, "Width": 64, "Height": 48, "FOV_Degrees": 100},
                            ],
                        },
                        "tail": {"Yaw": 180},
                    },
                    "Sensors": {
                        "Lidar1": {"SensorType": 6, "Enabled": True, "NumberOfChannels": 8, "PointsPerSecond": 8000,
                                   "RotationsPerSecond": 10, "DataFrame": "SensorLocalFrame"},
                        "Eyes": {"SensorType": 5, "MaxDistance": 25, "Enabled": False},
                    },
                }
            },
        }
    )  # fmt: skip
    assert got.clock_speed == 2.5 and got.origin == (47.6, -122.1, 120.0) and got.warnings == ()
    (drone,) = got.vehicles
    assert (drone.x, drone.y, drone.z, drone.yaw) == (4.0, -2.0, -1.0, 90.0)
    nose = drone.cameras["nose"]
    assert nose.capture(0).width == 160 and nose.capture(0).fov == 90.0
    assert nose.capture(1).fov == 100.0
    assert nose.capture(5).width == 160  # what is not set is as the picture
    assert nose.mount.position == pytest.approx([0.5, -0.1, -0.2])
    # 30 degrees to the right, 15 down
    assert nose.mount.rotation[:, 0] == pytest.approx(
        [np.cos(np.radians(15)) * np.cos(np.radians(30)), -np.cos(np.radians(15)) * 0.5, -np.sin(np.radians(15))]
    )
    assert drone.cameras["tail"].capture(0).width == 320
    assert drone.sensors["Lidar1"].channels == 8 and not drone.sensors["Eyes"].enabled
    assert drone.sensors["Eyes"].range == 25.0
    assert "imu" in drone.sensors and "lidar" not in drone.sensors


def test_names_keys_without_effect() -> None:
    got = parse({"Weather": 1, "Vehicles": {"a": {"Colour": "red", "Cameras": {"c": {"Gimbal": {}}}}}})
    words = " ".join(got.warnings)
    assert "Weather" in words and "Vehicles.a.Colour" in words and "Vehicles.a.Cameras.c.Gimbal" in words


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ([], "the file"),
        ({"SimMode": "Car"}, "SimMode"),
        ({"ClockSpeed": 0}, "ClockSpeed"),
        ({"ClockSpeed": "fast"}, "ClockSpeed"),
        ({"ClockSpeed": True}, "ClockSpeed"),
        ({"Vehicles": {"a": {"VehicleType": "PX4Multirotor"}}}, "Vehicles.a.VehicleType"),
        ({"Vehicles": {"a": 3}}, "Vehicles.a"),
        ({"Vehicles": {"a": {"X": None}}}, "Vehicles.a.X"),
        ({"CameraDefaults": {"CaptureSettings": {}}}, "CameraDefaults.CaptureSettings"),
        ({"CameraDefaults": {"CaptureSettings": [{"Width": 0}]}}, "CameraDefaults.CaptureSettings[0].Width"),
        ({"Vehicles": {"a": {"Sensors": {"s": {"SensorType": 9}}}}}, "Vehicles.a.Sensors.s.SensorType"),
        ({"OriginGeopoint": {"Latitude": 91}}, "OriginGeopoint.Latitude"),
        ({"Vehicles": {"../uav1": {}}}, "Vehicles"),
        ({"Vehicles": {"a\tb": {}}}, "Vehicles"),
        ({"Vehicles": {"": {}}}, "Vehicles"),
        ({"Vehicles": {"a" * 81: {}}}, "Vehicles"),
        ({"Vehicles": {"a": {"Cameras": {"front\\left": {}}}}}, "Vehicles.a.Cameras"),
    ],
)
def test_bad_settings_name_file_and_key(data: Any, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(data)
    assert "settings.json" in str(caught.value) and f"key {key}:" in str(caught.value)


def test_unreadable_files_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_settings(tmp_path / "none.json", VEHICLE)
    broken = tmp_path / "broken.json"
    broken.write_text('{"SimMode": ')
    with pytest.raises(UsageError, match="line 1: not JSON"):
        load_settings(broken, VEHICLE)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["Vehicles", "Cameras", "Sensors", "X", "Wind", "CaptureSettings", "a", "SensorType"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(json_values)
def test_any_json_is_read_or_refused_in_one_line(data: Any) -> None:
    try:
        parse(data)
    except UsageError as error:
        assert "\n" not in str(error)


def test_reads_recording_time_of_day_and_armed_starts() -> None:
    got = parse(
        {
            "Recording": {
                "RecordOnMove": True,
                "RecordInterval": 0.5,
                "Folder": "/tmp/x",
                "Cameras": [
                    {"CameraName": "0", "ImageType": 1, "PixelsAsFloat": True, "Compress": False, "VehicleName": "b"},
                    {"CameraName": "down"},
                ],
            },
            "TimeOfDay": {"Enabled": True, "StartDateTime": "2024-07-01 09:00:00", "CelestialClockSpeed": 60},
            "Vehicles": {"a": {"DefaultVehicleState": "Armed"}, "b": {}},
        }
    )
    assert got.warnings == ()
    assert got.recording.on_move and got.recording.interval == 0.5 and got.recording.folder == "/tmp/x"
    assert [image.camera for image in got.recording.images_of("a")] == ["down"]
    assert [(image.kind, image.as_float) for image in got.recording.images_of("b")] == [(1, True)]
    assert parse({}).recording.images_of("any")[0].camera == "0"
    assert got.time_of_day.speed == 60.0 and got.time_of_day.move_sun
    assert parse({"TimeOfDay": {"Enabled": False}}).time_of_day is None
    assert [vehicle.armed for vehicle in got.vehicles] == [True, False]


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"Recording": {"RecordInterval": 0}}, "Recording.RecordInterval"),
        ({"Recording": {"Cameras": [{"VehicleName": "x"}]}, "Vehicles": {"a": {}}}, "Recording.Cameras[0].VehicleName"),
        ({"TimeOfDay": {"StartDateTime": "noon"}}, "TimeOfDay.StartDateTime"),
        ({"Vehicles": {"a": {"DefaultVehicleState": "Asleep"}}}, "Vehicles.a.DefaultVehicleState"),
    ],
)
def test_bad_recordings_and_hours_name_their_key(data: Any, key: str) -> None:
    with pytest.raises(UsageError, match=re.escape(key)):
        parse(data)


def test_camera_defaults_reach_every_camera_and_listed_cameras_join_the_standard_ones() -> None:
    small = {"CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 256, "Height": 144}]}}
    (alone,) = parse(small).vehicles
    assert alone.cameras["front"].capture(0).width == 256
    (vehicle,) = parse(small | {"Vehicles": {"a": {"Cameras": {"nose": {"X": 0.5}}}}}).vehicles
    assert set(vehicle.cameras) == {*CAMERAS, "nose"}
    assert {camera.capture(0).height for camera in vehicle.cameras.values()} == {144}
