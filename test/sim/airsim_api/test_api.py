"""Every group of methods, called as a connection would, without a network or a picture."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, attitude_enu_flu_to_ned_frd, quaternion_from_rpy
from esar_ros.mission.weather import Weather
from esar_ros.sim.airsim_api.values import ApiError, attitude
from esar_ros.sim.render.process.images import NO_DEPTH, ImageType, encode_image, segmentation_palette
from helpers.api_bench import TOKEN, YAW, Bench


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Run an async test."""

    def wrapped() -> None:
        asyncio.run(test())

    wrapped.__name__ = test.__name__
    return wrapped


# The list of airsim-rpc's core, so that none disappears.
SERVED = [
    "ping", "getServerVersion", "getMinRequiredClientVersion", "reset", "enableApiControl", "isApiControlEnabled",
    "armDisarm", "getHomeGeoPoint", "listVehicles", "getSettingsString", "simAddVehicle", "simPause", "simIsPaused",
    "simContinueForTime", "simContinueForFrames", "takeoff", "land", "goHome", "hover", "moveByVelocity",
    "moveByVelocityZ", "moveByVelocityBodyFrame", "moveByVelocityZBodyFrame", "moveToPosition", "moveToGPS",
    "moveOnPath", "moveToZ", "rotateToYaw", "rotateByYawRate", "moveByRollPitchYawZ", "moveByRollPitchYawThrottle",
    "moveByRollPitchYawrateThrottle", "moveByRollPitchYawrateZ", "moveByAngleRatesZ", "moveByAngleRatesThrottle",
    "cancelLastTask", "getMultirotorState", "getRotorStates", "simGetVehiclePose", "simSetVehiclePose",
    "simGetGroundTruthKinematics", "simSetKinematics", "simGetGroundTruthEnvironment", "simGetCollisionInfo",
    "simGetImages", "simGetImage", "simGetCameraInfo", "simSetCameraPose", "simSetCameraFov", "getImuData",
    "getGpsData", "getBarometerData", "getMagnetometerData", "getDistanceSensorData", "getLidarData",
    "simEnableWeather", "simSetWeatherParameter", "simSetTimeOfDay", "simSetWind", "simListSceneObjects",
    "simGetObjectPose", "simSetObjectPose", "simSpawnObject", "simDestroyObject", "simListAssets",
    "simSetSegmentationObjectID", "simGetSegmentationObjectID", "simTestLineOfSightToPoint",
    "simTestLineOfSightBetweenPoints", "simGetWorldExtents", "esarGetBattery", "esarAuthorize", "esarPlaceOnGround",
]  # fmt: skip


def test_serves_the_listed_methods() -> None:
    assert set(SERVED) <= set(Bench().api.names)


def test_errors_are_worded_as_rpclibs() -> None:
    bench = Bench()
    with pytest.raises(ApiError, match=r"rpclib: server could not find function 'simFly' with argument count 2\."):
        bench("simFly", 1, 2)
    with pytest.raises(ApiError, match=r"'simPause' \(called with 3 arg\(s\)\).*invalid number of arguments"):
        bench("simPause", 1, 2, 3)
    with pytest.raises(ApiError, match=r"threw an exception.*Vehicle API for 'nobody' is not available"):
        bench("getMultirotorState", "nobody")


def test_vehicles_stand_on_the_ground_and_count_from_there() -> None:
    bench = Bench()
    state = bench("getMultirotorState", "uav2")
    assert state["landed_state"] == 0
    assert bench.position("uav2") == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert bench.simulation.drones["uav2"].position[:2] == pytest.approx([-4.0, 0.0])
    own = json.loads(bench("getSettingsString"))["Vehicles"]["uav2"]
    assert own["Y"] == -4.0 and own["Z"] == pytest.approx(-2.52, abs=0.01)


def test_motion_needs_control_and_arming() -> None:
    bench = Bench()
    with pytest.raises(ApiError, match="API control is off"):
        bench("takeoff", 20.0, "")
    bench("enableApiControl", True, "")
    with pytest.raises(ApiError, match="not armed"):
        bench("takeoff", 20.0, "")


@run
async def test_a_flight_from_take_off_to_landing() -> None:
    bench = Bench()
    bench.ready()
    assert await bench.motion("takeoff", 20.0, "")
    assert bench("getMultirotorState", "")["landed_state"] == 1
    assert bench.position()[2] == pytest.approx(-3.0, abs=0.3)
    goal = np.array([12.0, -7.0, -9.0])
    assert await bench.motion("moveToPosition", *goal, 5.0, 60.0, 0, YAW, -1.0, 1.0, "")
    assert np.linalg.norm(bench.position() - goal) <= 0.5
    assert await bench.motion("moveToZ", -5.0, 2.0, 60.0, YAW, -1.0, 1.0, "")
    assert bench.position()[2] == pytest.approx(-5.0, abs=0.3)
    assert await bench.motion("rotateToYaw", 90.0, 20.0, 5.0, "")
    heading = bench.simulation.drones["uav1"].yaw
    assert abs(math.remainder(heading, math.tau)) < math.radians(6.0)  # AirSim's 90 is east
    assert await bench.motion("goHome", 60.0, "")
    assert np.linalg.norm(bench.position()[:2]) < 0.5
    assert await bench.motion("land", 60.0, "")
    assert bench("getMultirotorState", "")["landed_state"] == 0
    assert bench("simGetCollisionInfo", "")["has_collided"] is False
    assert np.linalg.norm(bench.position("uav2")) < 1e-9


@run
async def test_velocity_is_ned_held_for_its_time_then_hover() -> None:
    bench = Bench()
    bench.ready()
    await bench.motion("takeoff", 20.0, "")
    before = bench.position()
    assert await bench.motion("moveByVelocity", 3.0, 1.0, -0.5, 4.0, 0, YAW, "")
    moved = bench.position() - before
    assert moved == pytest.approx([11.0, 3.5, -1.9], abs=1.5)
    for _ in range(100):
        bench("simContinueForTime", 0.05)
    still = bench("simGetGroundTruthKinematics", "")["linear_velocity"]
    assert abs(still["x_val"]) < 0.05 and abs(still["y_val"]) < 0.05


@run
async def test_body_frame_is_forward_and_right() -> None:
    bench = Bench()
    bench.ready()
    await bench.motion("takeoff", 20.0, "")
    await bench.motion("rotateToYaw", 90.0, 20.0, 1.0, "")
    before = bench.position()
    await bench.motion("moveByVelocityBodyFrame", 2.0, 1.0, 0.0, 4.0, 0, YAW, "")
    moved = bench.position() - before  # facing east: forward is y, right is -x
    assert moved[1] > 5.0 and -5.0 < moved[0] < -2.0


@run
async def test_a_new_command_answers_the_old_one_false() -> None:
    bench = Bench()
    bench.ready()
    await bench.motion("takeoff", 20.0, "")
    old = bench.begin("moveToPosition", 50.0, 0.0, -10.0, 3.0, 60.0, 0, YAW, -1.0, 1.0, "")
    await bench("simContinueForTime", 0.5)
    new = bench.begin("moveByVelocity", 0.0, 1.0, 0.0, 1.0, 0, YAW, "")
    assert await asyncio.wait_for(old, 1.0) is False
    await bench("simContinueForTime", 0.5)
    await asyncio.sleep(0)
    assert not new.done()
    bench("cancelLastTask", "")
    assert await asyncio.wait_for(new, 1.0) is False


@run
async def test_time_outs_answer_false() -> None:
    bench = Bench()
    bench.ready()
    await bench.motion("takeoff", 20.0, "")
    assert await bench.motion("moveToPosition", 90.0, 0.0, -10.0, 1.0, 2.0, 0, YAW, -1.0, 1.0, "") is False


@run
async def test_vehicles_fly_at_the_same_time() -> None:
    bench = Bench()
    bench.ready("uav1")
    bench.ready("uav2")
    futures = [bench("takeoff", 20.0, name) for name in ("uav1", "uav2")]
    for _ in range(200):
        bench("simContinueForTime", 0.05)
    assert await asyncio.gather(*futures) == [True, True]
    assert bench.position("uav1")[2] < -2.5 and bench.position("uav2")[2] < -2.5


@run
async def test_long_advances_let_others_in_and_end_paused() -> None:
    bench = Bench()
    advance = asyncio.ensure_future(bench("simContinueForTime", 20.0))
    second = asyncio.ensure_future(bench("simContinueForFrames", 50))
    await asyncio.sleep(0)
    assert bench("ping") and bench("simIsPaused")
    await asyncio.gather(advance, second)
    assert bench.simulation.clock.now == pytest.approx(21.0)


@settings(deadline=None)
@given(st.tuples(*[st.floats(-3.1, 3.1)] * 3))
def test_attitudes_are_those_of_the_shared_frames(angles: tuple[float, float, float]) -> None:
    quaternion = quaternion_from_rpy(*angles)
    mine, reference = attitude(*quaternion), attitude_enu_flu_to_ned_frd(quaternion)
    assert abs(float(mine @ reference)) == pytest.approx(1.0)
    assert abs(float(attitude(*mine) @ quaternion)) == pytest.approx(1.0)


def test_poses_round_trip_in_the_vehicles_own_frame() -> None:
    bench = Bench()
    pose = {
        "position": {"x_val": 10.0, "y_val": -6.0, "z_val": -20.0},
        "orientation": {"w_val": math.cos(0.4), "x_val": 0.0, "y_val": 0.0, "z_val": math.sin(0.4)},
    }
    bench.ready("uav2")
    bench("simSetVehiclePose", pose, True, "uav2")
    got = bench("simGetVehiclePose", "uav2")
    for part, keys in (("position", 3), ("orientation", 4)):
        assert len(got[part]) == keys
        assert {k: pytest.approx(v, abs=1e-9) for k, v in pose[part].items()} == got[part]
    assert bench.simulation.drones["uav2"].position == pytest.approx([-10.0, 10.0, 22.52], abs=0.01)
    assert bench("getMultirotorState", "uav2")["landed_state"] == 1


def test_a_collision_is_told_once_to_each_connection() -> None:
    bench = Bench()
    bench.simulation.drones["uav1"].bump(7, np.array([1.0, 0.0, 0.0]), 0.1, 5)
    other = bench.api.open()
    assert bench("getMultirotorState", "")["collision"]["has_collided"]
    assert bench("simGetCollisionInfo", "")["has_collided"]
    after = bench("simGetCollisionInfo", "")
    assert not after["has_collided"] and after["time_stamp"] == 5
    assert bench("simGetCollisionInfo", "", session=other)["has_collided"]
    assert after["normal"]["y_val"] == 1.0  # east


def test_battery_sensors_and_surroundings_answer() -> None:
    bench = Bench()
    battery = bench("esarGetBattery", "")
    assert battery["charge"] == pytest.approx(1.0) and battery["voltage"] > 24.0
    assert bench("getImuData", "", "")["linear_acceleration"]["z_val"] == pytest.approx(-9.8, abs=0.3)
    assert bench("getGpsData", "", "")["gnss"]["fix_type"] == 3
    assert bench("getBarometerData", "", "")["pressure"] == pytest.approx(71800.0, rel=0.01)
    assert len(bench("getMagnetometerData", "", "")["magnetic_field_covariance"]) == 9
    assert bench("getDistanceSensorData", "", "")["distance"] == pytest.approx(0.52, abs=0.1)
    scan = bench("getLidarData", "lidar", "")
    cloud = np.array(scan["point_cloud"]).reshape(-1, 3)
    assert len(cloud) > 500 and cloud[:, 2].max() == pytest.approx(0.52, abs=0.2)
    assert bench("simGetGroundTruthEnvironment", "")["gravity"]["z_val"] == pytest.approx(9.80665)
    assert len(bench("getRotorStates", "")["rotors"]) == 4
    low, high = bench("simGetWorldExtents")
    assert low["latitude"] < 33.9 < high["latitude"] and low["altitude"] == pytest.approx(2802.0, abs=0.1)
    with pytest.raises(ApiError, match="No gps with name tail"):
        bench("getGpsData", "tail", "")


def pose_at(north: float, east: float, down: float) -> dict[str, Any]:
    return {
        "position": {"x_val": north, "y_val": east, "z_val": down},
        "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0},
    }


ONE = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}


def test_objects_come_move_and_go() -> None:
    bench = Bench()
    assert "tent" in bench("simListAssets")
    assert bench("simSpawnObject", "camp", "tent", pose_at(10.0, 5.0, -2.0), ONE, False, False) == "camp"
    assert bench("simSpawnObject", "camp", "tent", pose_at(20.0, 5.0, -2.0), ONE, False, False) == "camp_1"
    assert bench.context.world.objects["camp"].pose.position == pytest.approx([5.0, 10.0, 2.0])
    assert bench("simListSceneObjects", "camp.*") == ["camp", "camp_1"]
    assert bench("simListSceneObjects", "cam") == []
    assert bench("simSetObjectPose", "camp", pose_at(1.0, 2.0, -3.0), True)
    assert bench("simGetObjectPose", "camp")["position"] == pytest.approx({"x_val": 1.0, "y_val": 2.0, "z_val": -3.0})
    assert math.isnan(bench("simGetObjectPose", "no")["position"]["x_val"])
    assert bench("simSetSegmentationObjectID", "camp.*", 42, True)
    assert bench("simGetSegmentationObjectID", "camp_1") == 42
    assert bench("simGetSegmentationObjectID", "no") == -1
    assert bench("simDestroyObject", "camp") and not bench("simDestroyObject", "camp")
    with pytest.raises(ApiError, match="unknown asset 'castle'"):
        bench("simSpawnObject", "c", "castle", pose_at(0.0, 0.0, 0.0), ONE, False, False)
    at = bench("esarPlaceOnGround", "tent2", "tent", 30.0, -20.0, 0.5)
    assert at == pytest.approx([30.0, -20.0, 2.0])
    with pytest.raises(ApiError, match="off the map"):
        bench("esarPlaceOnGround", "tent3", "tent", 300.0, -20.0, 0.5)


@pytest.mark.parametrize(("speed", "seconds"), [(1.0, 3.0), (10.0, 25.0), (0.5, 1.25)])
def test_a_frame_is_as_long_as_the_clock_is_fast(speed: float, seconds: float) -> None:
    bench = Bench()
    bench.context.settings = replace(bench.context.settings, clock_speed=speed)
    asyncio.run(bench.wait("simContinueForFrames", 150))
    assert bench.context.simulation.clock.now == pytest.approx(seconds, abs=2e-3)
    with pytest.raises(ApiError, match="frames must be in"):
        bench("simContinueForFrames", round(3600.0 / seconds * 150.0) + 1)


def test_a_vehicle_is_scaled_by_its_collision_sphere() -> None:
    bench = Bench()
    drone, other = bench.context.simulation.drones.values()
    small = {"x_val": 0.5, "y_val": 0.5, "z_val": 0.5}
    assert bench("simGetObjectScale", "uav1") == ONE
    stood = float(drone.position[2])
    assert bench("simSetObjectScale", "uav1", small) is True
    assert bench("simGetObjectScale", "uav1") == small
    assert drone.radius == pytest.approx(0.5 * other.radius)
    # It stands on, lower by what its sphere has lost.
    assert drone.grounded and drone.position[2] == pytest.approx(stood - drone.radius, abs=1e-3)
    assert drone.collision.count == 0
    # What a whole vehicle touches it passes by: the wall of a hut, 0.4 m from its centre.
    bench.context.world.spawn("hut", "structure_hut/stone", Pose(np.array([0.0, 0.0, 2.0])))
    beside = np.array([2.3 + 0.4, 0.0, 3.0])
    assert bench.context.world.contact(beside, drone.radius) is None
    assert bench.context.world.contact(beside, other.radius) is not None
    bench.context.world.destroy("hut")
    bench("simSetObjectScale", "uav1", ONE)
    assert drone.grounded and drone.position[2] == pytest.approx(stood, abs=1e-3)
    with pytest.raises(ApiError, match="scale of a vehicle"):
        bench("simSetObjectScale", "uav1", {"x_val": 0.0, "y_val": 0.0, "z_val": 0.0})


def test_line_of_sight_is_cut_by_what_stands_between() -> None:
    bench = Bench()
    origin = bench.context.origin

    def geo(x: float, y: float, z: float) -> dict[str, float]:
        latitude, longitude, altitude = origin.to_geodetic(np.array([x, y, z]))
        return {"latitude": latitude, "longitude": longitude, "altitude": altitude}

    ends = geo(-10.0, 0.0, 2.6), geo(10.0, 0.0, 2.6)
    assert bench("simTestLineOfSightBetweenPoints", *ends)
    bench("esarPlaceOnGround", "t", "tent", 0.0, 0.0, 0.0)
    assert not bench("simTestLineOfSightBetweenPoints", *ends)
    assert not bench("simTestLineOfSightToPoint", geo(30.0, 0.0, -20.0), "")


def test_changes_of_weather_count_from_the_call_and_bad_ones_are_refused() -> None:
    bench = Bench()
    world, now = bench.context.world, bench.context.simulation.clock.now
    rain = {"at": 10.0, "over": 20.0, "weather": "heavy_rain", "wind": None}
    wind = {"at": 30.0, "over": 20.0, "weather": None, "wind": {"x_val": 8.0, "y_val": 0.0, "z_val": 0.0}}
    bench("esarChangeWeather", [rain, wind])
    assert world.environment.air(now + 10.0).weather is Weather.CLEAR
    assert world.environment.air(now + 30.0).weather is Weather.HEAVY_RAIN
    assert world.environment.air(now + 50.0).wind == pytest.approx([0.0, 8.0, 0.0])
    for bad, why in (
        (rain, "must be a list"),
        ([{**rain, "over": 0.0}], "must take time"),
        ([{**rain, "weather": "drizzle"}], "must be one of"),
        ([{**rain, "wind": {"x_val": 90.0, "y_val": 0.0, "z_val": 0.0}}], "must not exceed"),
        ([rain, {**wind, "at": 29.0}], "begins before the one before it has ended"),
        ([{"weather": "fog"}], "finite number"),
    ):
        with pytest.raises(ApiError, match=why):
            bench("esarChangeWeather", bad)
    assert len(world.environment.changes) == 2, "what is refused changes nothing"
    bench("esarChangeWeather", [])
    assert world.environment.changes == ()


def test_weather_wind_and_hour_reach_the_world() -> None:
    bench = Bench()
    world = bench.context.world

    def weather(*told: Any) -> Weather:
        bench(*told)
        return world.environment.weather

    assert weather("simSetWeatherParameter", 0, 0.6) is Weather.CLEAR  # not enabled yet
    assert weather("simEnableWeather", True) is Weather.HEAVY_RAIN
    bench("simSetWeatherParameter", 0, 0.0)
    assert weather("simSetWeatherParameter", 7, 0.4) is Weather.FOG and world.environment.sight < 500.0
    bench("simSetWind", {"x_val": 3.0, "y_val": 1.0, "z_val": 0.0})
    assert world.environment.wind == pytest.approx([1.0, 3.0, 0.0])
    bench("simSetTimeOfDay", True, "2024-05-01 17:30:00", False, 1.0, 60.0, True)
    assert world.environment.local_time == datetime(2024, 5, 1, 17, 30)
    with pytest.raises(ApiError, match="weather value"):
        bench("simSetWeatherParameter", 0, 2.0)
    with pytest.raises(ApiError, match="start_datetime"):
        bench("simSetTimeOfDay", True, "tomorrow", False, 1.0, 60.0, True)


TRUTH = [
    ("simListSceneObjects", [".*"]),
    ("simGetObjectPose", ["camp"]),
    ("simGetObjectScale", ["camp"]),
    ("simSetObjectPose", ["camp", pose_at(0.0, 0.0, 0.0), True]),
    ("simSpawnObject", ["x", "tent", pose_at(0.0, 0.0, 0.0), ONE, False, False]),
    ("simDestroyObject", ["camp"]),
    ("simSetSegmentationObjectID", ["camp", 1, False]),
    ("simGetSegmentationObjectID", ["camp"]),
    ("esarPlaceOnGround", ["y", "tent", 0.0, 0.0, 0.0]),
    ("simGetImages", [[{"camera_name": "front", "image_type": 5}], "", False]),
    ("simGetImage", ["front", 5, "", False]),
]


@pytest.mark.parametrize(("method", "arguments"), TRUTH)
def test_truth_needs_the_token(method: str, arguments: list[Any]) -> None:
    bench = Bench(TOKEN)
    with pytest.raises(ApiError, match="ground truth"):
        bench(method, *arguments)


@run
async def test_the_token_opens_truth_to_its_connection_alone() -> None:
    bench = Bench(TOKEN)
    with pytest.raises(ApiError, match="wrong token"):
        bench("esarAuthorize", "open")
    assert bench("esarAuthorize", TOKEN)
    assert bench("simSpawnObject", "camp", "tent", pose_at(5.0, 5.0, -2.0), ONE, False, False) == "camp"
    assert await bench.wait("simGetImages", [{"camera_name": "front", "image_type": 5}], "", False)
    stranger = bench.api.open()
    with pytest.raises(ApiError, match="ground truth"):
        bench("simListSceneObjects", ".*", session=stranger)
    drone = bench.simulation.drones["uav1"]
    drone.bump(bench.context.world.objects["camp"].id, np.array([1.0, 0.0, 0.0]), 0.1, 5)
    assert bench("simGetCollisionInfo", "")["object_name"] == "camp"
    told = bench("simGetCollisionInfo", "", session=stranger)
    assert (told["object_name"], told["object_id"]) == ("obstacle", -1)
    drone.place(Pose(np.array([5.0, 5.0, 8.0])))
    assert max(bench("getLidarData", "lidar", "")["segmentation"]) > 0
    assert bench("getLidarData", "lidar", "", session=stranger)["segmentation"] == []


@run
async def test_images_of_one_call_are_one_job_of_one_instant() -> None:
    bench = Bench()
    requests = [
        {"camera_name": camera, "image_type": kind, "pixels_as_float": kind == 1, "compress": False}
        for kind in (0, 1)
        for camera in ("front", "left", "right", "down")
    ]
    answers = await bench.wait("simGetImages", requests, "uav2", False)
    assert len(bench.painter.asked) == 1
    scene, views = bench.painter.asked[0].scene, bench.painter.asked[0].views
    assert [a["camera_name"] for a in answers] == ["front", "left", "right", "down"] * 2
    assert np.frombuffer(answers[0]["image_data_uint8"], np.uint8).size == 24 * 32 * 3
    assert answers[5]["image_data_float"] == [7.0] * (24 * 32)
    assert answers[5]["image_data_uint8"] == b"\0" and answers[0]["image_data_float"] == [0.0]
    looks = {view.pose.rotation[:, 2].round(6).tobytes() for view in views}
    assert len(looks) == 4
    left = views[1].pose.rotation[:, 2]  # facing north, left is west
    assert left == pytest.approx([-math.cos(math.radians(20)), 0.0, -math.sin(math.radians(20))], abs=1e-6)
    bench("esarPlaceOnGround", "t", "tent", 0.0, 0.0, 0.0)
    await bench.wait("simGetImages", requests[:1], "uav2", False)
    changed = bench.painter.asked[1].scene
    assert scene is not None and changed is not None
    assert changed.version > scene.version and changed.objects[0].asset == "tent"
    with pytest.raises(ApiError, match="camera 'rear' does not exist on vehicle uav1; it has front, left"):
        await bench.wait("simGetImages", [{"camera_name": "rear", "image_type": 0}], "", False)


@run
async def test_cameras_can_be_turned_and_zoomed() -> None:
    bench = Bench()
    half = math.radians(45.0)
    turned = pose_at(0.0, 0.0, 0.0)
    turned["orientation"] |= {"w_val": math.cos(half), "z_val": math.sin(half)}
    bench("simSetCameraPose", "0", turned, "", False)  # FRD yaw 90: to the right
    bench("simSetCameraFov", "0", 60.0, "", False)
    await bench.wait("simGetImage", "front", 0, "", False)
    view = bench.painter.asked[0].views[0]
    assert view.pose.rotation[:, 2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)  # facing north, right is east
    assert view.capture.fov == 60.0
    info = bench("simGetCameraInfo", "front", "", False)
    assert info["fov"] == 60.0 and len(info["proj_mat"]["matrix"]) == 4


def test_image_types_follow_airsim() -> None:
    model = CameraModel.from_horizontal_fov(4, 2, math.radians(90.0))
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    depth = np.array([[10.0, 20.0, 50.0, np.inf], [1.0, 2.0, 300.0, 4.0]], dtype=np.float32)
    ids = np.array([[0, 1, 2, 3], [4, 5, 254, 255]], dtype=np.uint8)

    def made(kind: ImageType, as_float: bool) -> np.ndarray:
        raw = encode_image(kind, as_float, False, rgb, depth, ids, model)
        if as_float:
            return np.array(msgpack.unpackb(raw)).reshape(2, 4)
        return np.frombuffer(raw, np.uint8).reshape(2, 4, 3)

    assert (made(ImageType.SCENE, False) == rgb[..., ::-1]).all()
    planar = made(ImageType.DEPTH_PLANAR, True)
    assert planar[0, 3] == NO_DEPTH and planar[1, 2] == 300.0
    ray = np.linalg.norm(model.rays(), axis=-1)
    assert made(ImageType.DEPTH_PERSPECTIVE, True)[0, :3] == pytest.approx((depth * ray)[0, :3])
    vis = made(ImageType.DEPTH_VIS, True)
    assert vis[0] == pytest.approx([0.1, 0.2, 0.5, 1.0])
    palette = segmentation_palette()
    assert len({tuple(row) for row in palette}) == 256 and (palette[0] == 0).all()
    assert (made(ImageType.SEGMENTATION, False) == palette[ids][..., ::-1]).all()
    assert (made(ImageType.SEGMENTATION, True) == ids).all()


def test_another_vehicle_can_join() -> None:
    bench = Bench()
    assert bench("simAddVehicle", "uav3", "SimpleFlight", pose_at(20.0, 3.0, -2.52), "")
    assert not bench("simAddVehicle", "uav3", "SimpleFlight", pose_at(20.0, 3.0, -2.52), "")
    with pytest.raises(ApiError, match="is no vehicle's name"):
        bench("simAddVehicle", "../uav4", "SimpleFlight", pose_at(20.0, 3.0, -2.52), "")
    assert bench("listVehicles") == ["uav1", "uav2", "uav3"]
    bench.ready("uav3")
    assert bench("getImuData", "", "uav3") and bench.position("uav3") == pytest.approx([0, 0, 0], abs=0.05)


KEYS = st.sampled_from(["position", "orientation", "x_val", "camera_name", "image_type", "is_rate"])
LEAVES = [st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=6)]
values = st.recursive(
    st.one_of(*LEAVES, st.binary(max_size=6)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(SERVED), st.lists(values, max_size=9))
def test_any_arguments_are_answered_or_refused_and_nothing_breaks(method: str, arguments: list[Any]) -> None:
    async def attempt() -> None:
        if method.startswith("simContinue"):
            return  # advancing for an hour is allowed, and slow
        try:
            answer = BENCH.api.call(BENCH.session, method, arguments)
            if asyncio.iscoroutine(answer):
                waiting = asyncio.ensure_future(answer)
                await asyncio.wait([waiting], timeout=0.01)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
        except ApiError:
            pass
        BENCH.simulation.advance(5)

    asyncio.run(attempt())
    for drone in BENCH.simulation.drones.values():
        assert np.isfinite(drone.body.state).all()


BENCH = Bench()
BENCH.ready()
