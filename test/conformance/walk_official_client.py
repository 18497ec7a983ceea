"""Calls every method of the official airsim 1.8.1 client once or more; prints what came of each as JSON.

python walk_official_client.py PORT FOLDER       FOLDER: where the simulator records
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from typing import Any

import airsim
import numpy as np

V = airsim.Vector3r
WHITE = [1.0, 1.0, 1.0, 1.0]
MAX_FREE = airsim.DrivetrainType.MaxDegreeOfFreedom


class Walk:
    """The client, and what was seen so far: "ok", "wrong: ..." or "error: ..." for each method."""

    def __init__(self, port: Any, folder: Any) -> None:
        self.client = airsim.MultirotorClient(port=port)
        self.port, self.folder = port, folder
        self.seen: dict[str, str] = {}

    def call(self, name: Any, *arguments: Any, want: Any = lambda value: True, **named: Any) -> Any:
        """Call a method, wait for it if it is a motion, and check its answer."""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                value = getattr(self.client, name)(*arguments, **named)
                if name.endswith("Async"):
                    value = value.get()
            good = bool(want(value))
            told = "ok" if good else f"wrong: {value!r:.300}"
        except Exception as error:
            value, told = None, f"error: {error!s:.300}"
        if self.seen.get(name, "ok") == "ok":
            self.seen[name] = told
        return value

    def state(self) -> Any:
        return self.client.getMultirotorState().kinematics_estimated

    def run(self) -> Any:
        self.session()
        self.clock()
        self.motion()
        self.state_calls()
        self.sensors()
        self.world()
        self.cameras()
        self.detections()
        self.recording()
        self.rest()
        self.pre_emption()
        return self.seen

    def session(self) -> None:
        self.call("confirmConnection")
        self.call("ping", want=lambda v: v is True)
        self.call("getClientVersion", want=lambda v: v == 1)
        self.call("getServerVersion", want=lambda v: v >= 1)
        self.call("getMinRequiredClientVersion", want=lambda v: v <= 1)
        self.call("getMinRequiredServerVersion", want=lambda v: v == 1)
        self.call("reset")
        self.call("listVehicles", want=lambda v: v == ["Drone1", "Drone2"])
        self.call("getSettingsString", want=lambda v: json.loads(v)["SimMode"] == "Multirotor")
        self.call("enableApiControl", True)
        self.call("isApiControlEnabled", want=lambda v: v is True)
        self.call("armDisarm", True, want=lambda v: v is True)
        self.call("getHomeGeoPoint", want=lambda v: 30 < v.latitude < 40 and 2000 < v.altitude < 4500)

    def clock(self) -> None:
        self.call("simPause", True)
        self.call("simIsPause", want=lambda v: v is True)
        before = self.client.getMultirotorState().timestamp
        self.call("simContinueForTime", 0.5)
        after = self.client.getMultirotorState().timestamp
        self.call("simContinueForFrames", 10)
        last = self.client.getMultirotorState().timestamp
        if after - before != 500_000_000 or last <= after:
            self.seen["simContinueForTime"] = f"wrong: {before} {after} {last}"
        self.client.simPause(False)

    def motion(self) -> None:
        call, yes = self.call, (lambda v: v is True)
        call("takeoffAsync", want=yes)
        call("moveToPositionAsync", 4, 3, -6, 4, want=yes)
        call("moveToZAsync", -8, 2, want=yes)
        call("moveOnPathAsync", [V(6, 3, -8), V(6, 6, -8)], 4, want=yes)
        home = self.client.getHomeGeoPoint()
        call("moveToGPSAsync", home.latitude + 3e-5, home.longitude, home.altitude + 9, 4, want=yes)
        call("moveByVelocityAsync", 1, 0, 0, 0.5, want=yes)
        call("moveByVelocityZAsync", 0, 1, -9, 0.5, want=yes)
        call("moveByVelocityBodyFrameAsync", 1, 0, 0, 0.5, want=yes)
        call("moveByVelocityZBodyFrameAsync", 1, 0, -9, 0.5, want=yes)
        call("rotateToYawAsync", 90, want=yes)
        call("rotateByYawRateAsync", 30, 0.5, want=yes)
        call("moveByRollPitchYawZAsync", 0.0, 0.05, 0.0, -9, 0.5, want=yes)
        call("moveByRollPitchYawThrottleAsync", 0.0, 0.0, 0.0, 0.5, 0.3, want=yes)
        call("moveByRollPitchYawrateZAsync", 0.0, 0.0, 0.1, -9, 0.5, want=yes)
        call("moveByRollPitchYawrateThrottleAsync", 0.0, 0.0, 0.1, 0.5, 0.3, want=yes)
        call("moveByAngleZAsync", 0.05, 0.0, -9, 0.0, 0.3, want=yes)
        call("moveByAngleThrottleAsync", 0.0, 0.0, 0.5, 0.1, 0.3, want=yes)
        call("moveByAngleRatesZAsync", 0.0, 0.0, 0.1, -9, 0.3, want=yes)
        call("moveByAngleRatesThrottleAsync", 0.0, 0.0, 0.1, 0.5, 0.3, want=yes)
        call("hoverAsync", want=yes)
        call("moveByMotorPWMsAsync", 0.55, 0.55, 0.55, 0.55, 0.3, want=yes)
        call("moveToPositionAsync", 0, 0, -8, 4, want=yes)
        call("moveByRC", airsim.RCData(pitch=0.0, throttle=0.2, is_initialized=True, is_valid=True))
        high = self.state().position.z_val
        call("moveByManualAsync", 1e4, 1e4, -1e4, 1.0, want=yes)
        if self.state().position.z_val > high - 0.1:
            self.seen["moveByManualAsync"] = "wrong: the throttle did not lift"
        for part in ("AngleRate", "AngleLevel", "Velocity", "Position"):
            gains = getattr(airsim, f"{part}ControllerGains")()
            call(f"set{part}ControllerGains", gains)
        call("goHomeAsync", want=yes)
        call("landAsync", want=yes)
        call("cancelLastTask")

    def state_calls(self) -> None:
        call = self.call
        self.client.takeoffAsync().join()
        call("getMultirotorState", want=lambda v: v.landed_state == airsim.LandedState.Flying and v.timestamp > 0)
        call("getRotorStates", want=lambda v: len(v.rotors) == 4 and v.rotors[0]["thrust"] > 1.0)
        pose = call("simGetVehiclePose", want=lambda v: not v.containsNan())
        call("simGetGroundTruthKinematics", want=lambda v: abs(v.position.z_val - pose.position.z_val) < 1.0)
        call("simGetGroundTruthEnvironment", want=lambda v: 6e4 < v.air_pressure < 9e4 and 0.7 < v.air_density < 1.1)
        call("simGetCollisionInfo", want=lambda v: v.has_collided is False)
        pose.position.z_val -= 10
        call("simSetVehiclePose", pose, True)
        there = self.client.simGetVehiclePose().position.z_val
        if abs(there - pose.position.z_val) > 1.0:
            self.seen["simSetVehiclePose"] = f"wrong: {there}"
        state = self.client.simGetGroundTruthKinematics()
        state.position.z_val -= 5
        call("simSetKinematics", state, True)
        other = airsim.Pose(V(-20, 20, -30))
        call("simAddVehicle", "Drone3", "simpleflight", other, want=lambda v: v is True)

    def sensors(self) -> None:
        call = self.call
        call("getImuData", want=lambda v: v.time_stamp > 0 and -20 < v.linear_acceleration.z_val < 0)
        call("getGpsData", want=lambda v: v.gnss.fix_type == 3 and v.gnss.eph > 0 and v.is_valid)
        call("getBarometerData", want=lambda v: 6e4 < v.pressure < 9e4)
        call("getMagnetometerData", want=lambda v: 0.2 < v.magnetic_field_body.get_length() < 0.8)
        call("getDistanceSensorData", want=lambda v: v.min_distance <= v.distance <= v.max_distance)
        cloud = call("getLidarData", want=lambda v: len(v.point_cloud) % 3 == 0 and len(v.point_cloud) > 30)
        call("simGetLidarSegmentation", want=lambda v: len(v) == len(cloud.point_cloud) // 3)

    def world(self) -> None:
        call, client = self.call, self.client
        call("simListAssets", want=lambda v: "tent" in v)
        pose = airsim.Pose(V(8, 0, -30))
        call("simSpawnObject", "thing", "tent", pose, V(2, 2, 2), want=lambda v: v == "thing")
        call("simListSceneObjects", "th.*", want=lambda v: v == ["thing"])
        call("simGetObjectPose", "thing", want=lambda v: abs(v.position.x_val - 8) < 1e-6)
        call("simGetObjectScale", "thing", want=lambda v: v.x_val == 2.0)
        call("simSetObjectScale", "thing", V(3, 3, 3), want=lambda v: v is True)
        pose.position.x_val = 10
        call("simSetObjectPose", "thing", pose, want=lambda v: v is True)
        call("simSetSegmentationObjectID", "thing", 42, want=lambda v: v is True)
        call("simGetSegmentationObjectID", "thing", want=lambda v: v == 42)
        home = client.getHomeGeoPoint()
        sky, rock = airsim.GeoPoint(), airsim.GeoPoint()
        for point, up in ((sky, 200.0), (rock, -200.0)):
            point.latitude, point.longitude, point.altitude = home.latitude, home.longitude, home.altitude + up
        call("simTestLineOfSightToPoint", sky, want=lambda v: v is True)
        call("simTestLineOfSightBetweenPoints", sky, rock, want=lambda v: v is False)
        call("simGetWorldExtents", want=lambda v: v[0].latitude < home.latitude < v[1].latitude)
        call("simEnableWeather", True)
        for parameter in range(8):
            call("simSetWeatherParameter", parameter, 0.3)
        for parameter in range(8):
            client.simSetWeatherParameter(parameter, 0.0)
        call("simSetTimeOfDay", True, "2024-07-01 09:00:00", celestial_clock_speed=60, update_interval_secs=1)
        client.simSetTimeOfDay(False)
        call("simSetWind", V(2, 0, 0))
        client.simSetWind(V(0, 0, 0))
        level = "aotai"
        call("simLoadLevel", level, want=lambda v: v is True)

    def cameras(self) -> None:
        call, client = self.call, self.client
        kinds = (
            "Scene", "DepthPlanar", "DepthPerspective", "DepthVis", "DisparityNormalized", "Segmentation",
            "SurfaceNormals", "Infrared",
        )  # fmt: skip
        floats = ("DepthPlanar", "DepthPerspective", "DisparityNormalized")
        requests = [airsim.ImageRequest("0", getattr(airsim.ImageType, k), k in floats, False) for k in kinds]

        def whole(answers: Any) -> Any:
            for kind, image in zip(kinds, answers, strict=True):
                size = image.width * image.height
                data = image.image_data_float if kind in floats else image.image_data_uint8
                if len(data) != size * (1 if kind in floats else 3):
                    return False
                if kind in floats and not np.isfinite(np.array(data)).all():
                    return False
            return len(answers) == len(kinds) and len({image.time_stamp for image in answers}) == 1

        call("simGetImages", requests, want=whole)
        call("simGetImage", "front_center", airsim.ImageType.Scene, want=lambda v: v[:4] == b"\x89PNG")
        info = call("simGetCameraInfo", "0", want=lambda v: v.fov == 90.0)
        call("simSetCameraFov", "0", 60)
        call("simSetCameraPose", "0", airsim.Pose(V(0.3, 0, 0), airsim.to_quaternion(0, 0, 0.5)))
        after = client.simGetCameraInfo("0")
        if after.fov != 60.0 or after.pose.orientation == info.pose.orientation:
            self.seen["simSetCameraPose"] = "wrong: nothing changed"
        client.simSetCameraFov("0", 90)
        client.simSetCameraPose("0", airsim.Pose(V(0.3, 0, 0)))
        call("simGetDistortionParams", "0", want=lambda v: v == [0.0] * 5)

    def detections(self) -> None:
        call, client = self.call, self.client
        client.simSetWind(V(0, 0, 0))
        client.rotateToYawAsync(0).join()
        at = self.state().position
        client.simSetObjectPose("thing", airsim.Pose(V(at.x_val + 12, at.y_val, at.z_val - 1)))
        scene = airsim.ImageType.Scene
        call("simAddDetectionFilterMeshName", "0", scene, "thi*")
        call("simSetDetectionFilterRadius", "0", scene, 100 * 100)

        def sound(found: Any) -> Any:
            one = found[0]
            wide = one.box2D.max.x_val - one.box2D.min.x_val
            near = abs(one.relative_pose.position.x_val - 12) < 2.0
            deep = one.box3D.min.x_val < one.relative_pose.position.x_val < one.box3D.max.x_val + 1
            return len(found) == 1 and one.name == "thing" and wide > 10 and near and deep

        call("simGetDetections", "0", scene, want=sound)
        call("simClearDetectionMeshNames", "0", scene)
        if client.simGetDetections("0", scene):
            self.seen["simClearDetectionMeshNames"] = "wrong: still found"
        call("simDestroyObject", "thing", want=lambda v: v is True)

    def recording(self) -> None:
        call = self.call
        call("startRecording")
        call("isRecording", want=lambda v: v is True)
        time.sleep(1.0)
        call("stopRecording")
        if self.client.isRecording():
            self.seen["stopRecording"] = "wrong: still recording"
        time.sleep(1.0)
        (stamp,) = os.listdir(self.folder)
        with open(os.path.join(self.folder, stamp, "airsim_rec.txt"), encoding="utf-8") as table:
            lines = table.read().splitlines()
        images = set(os.listdir(os.path.join(self.folder, stamp, "images")))
        named = {name for line in lines[1:] for name in line.split("\t")[-1].split(";")}
        if len(lines) < 3 or lines[0].split("\t")[-1] != "ImageFile" or not named or named != images:
            self.seen["startRecording"] = f"wrong: {lines[:2]} {sorted(images)[:3]}"

    def rest(self) -> None:
        call, nothing = self.call, (lambda v: v is None)
        path, pose = [V(0, 0, -5), V(1, 1, -5)], airsim.Pose(V(0, 0, -5))
        call("simPlotPoints", path, WHITE, want=nothing)
        call("simPlotLineStrip", path, WHITE, want=nothing)
        call("simPlotLineList", path, WHITE, want=nothing)
        call("simPlotArrows", path, path, WHITE, want=nothing)
        call("simPlotStrings", ["a"], path[:1], want=nothing)
        call("simPlotTransforms", [pose], want=nothing)
        call("simPlotTransformsWithNames", [pose], ["a"], want=nothing)
        call("simFlushPersistentMarkers", want=nothing)
        call("simSetTraceLine", WHITE, want=nothing)
        call("simPrintLogMessage", "hello", "there", 1, want=nothing)
        call("simRunConsoleCommand", "stat fps", want=lambda v: v is False)
        call("simSetLightIntensity", "lamp", 1.0, want=lambda v: v is False)
        call("simSetObjectMaterial", "thing", "mud", want=lambda v: v is False)
        call("simSetObjectMaterialFromTexture", "thing", "/tmp/mud.png", want=lambda v: v is False)
        call("simSwapTextures", "thing", want=lambda v: v == [])
        call("simCreateVoxelGrid", V(0, 0, 0), 10, 10, 10, 1, "/tmp/grid.binvox")
        call("simGetMeshPositionVertexBuffers")
        camera = "0"
        for name in ("PresetLens", "Lens", "PresetFilmback", "Filmback"):
            call(f"simGet{name}Settings", camera)
        for name in ("FocalLength", "FocusDistance", "FocusAperture", "CurrentFieldOfView"):
            call(f"simGet{name}", camera)
        call("simSetPresetLensSettings", "wide", camera)
        call("simSetPresetFilmbackSettings", "wide", camera)
        call("simSetFilmbackSettings", 20.0, 10.0, camera)
        for name in ("FocalLength", "FocusDistance", "FocusAperture"):
            call(f"simSet{name}", 10.0, camera)
        call("simEnableManualFocus", True, camera)
        call("simEnableFocusPlane", True, camera)
        call("simSetDistortionParam", camera, "K1", 0.1)
        call("simSetDistortionParams", camera, {"K1": 0.1})

    def pre_emption(self) -> None:
        """A second client's command ends the first one's with false; a second vehicle flies meanwhile."""
        other = airsim.MultirotorClient(port=self.port)
        other.enableApiControl(True, "Drone2")
        other.armDisarm(True, "Drone2")
        lift = other.takeoffAsync(vehicle_name="Drone2")
        first = self.client.moveToPositionAsync(200, 0, -30, 3)
        self.client.ping()  # the official client sends only while it waits
        second = other.moveByVelocityAsync(0, 0, -1, 1.0, vehicle_name="Drone1")
        outcomes = [second.get(), first.get(), lift.get()]
        self.seen["pre-emption"] = "ok" if outcomes == [True, False, True] else f"wrong: {outcomes}"


def main(port: Any, folder: Any) -> None:
    """Walk, and tell which of the client's methods were left out."""
    walk = Walk(port, folder)
    seen = walk.run()
    names = {name for name in dir(airsim.MultirotorClient) if not name.startswith("_")}
    print(json.dumps({"seen": seen, "left_out": sorted(names - set(seen))}))


main(int(sys.argv[1]), sys.argv[2])
