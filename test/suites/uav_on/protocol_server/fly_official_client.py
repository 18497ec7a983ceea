"""Flies in a scene as the public code's client does, with msgpack-rpc-python and airsim 1.8.1; prints JSON.

python fly_official_client.py SERVER_PORT SCENE X Y Z       position: NED, m
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import airsim
import msgpackrpc
import numpy as np

V, STEPS = airsim.Vector3r, ((5.0, 0.0, 0.0), (0.0, 0.0, -2.0), (0.0, -5.0, 0.0))
CAMERAS = ("0", "1", "2", "3")


def main(port: Any, scene: Any, start: Any) -> None:
    server = msgpackrpc.Client(msgpackrpc.Address("127.0.0.1", port), timeout=300)
    seen = {"ping": server.call("ping")}
    done, (ip, ports) = server.call("reopen_scenes", "127.0.0.1", [(scene, 0)])
    seen["opened"] = [done, ip.decode() if isinstance(ip, bytes) else ip, len(ports)]
    client = airsim.MultirotorClient(ip="127.0.0.1", port=ports[0], timeout_value=300)
    client.confirmConnection()
    client.enableApiControl(True)
    client.armDisarm(True)
    client.takeoffAsync()

    client.simPause(False)
    client.simSetVehiclePose(airsim.Pose(V(*start), airsim.to_quaternion(0.0, 0.0, 0.0)), True)
    seen["scaled"] = client.simSetObjectScale(client.listVehicles()[0], V(0.5, 0.5, 0.5))
    client.simContinueForFrames(50)
    client.simPause(True)
    client.simGetCollisionInfo()

    seen["gaps"], seen["seconds"], goal = [], [], np.array(start)
    for step in STEPS:
        goal = goal + step
        before = client.getMultirotorState().timestamp
        client.simPause(False)
        free = airsim.DrivetrainType.MaxDegreeOfFreedom
        client.moveToPositionAsync(*goal.tolist(), velocity=1, drivetrain=free)
        client.simContinueForFrames(150)
        client.simPause(True)
        state = client.getMultirotorState()
        at = state.kinematics_estimated.position
        seen["gaps"].append(float(np.linalg.norm(goal - [at.x_val, at.y_val, at.z_val])))
        seen["seconds"].append((state.timestamp - before) * 1e-9)
    client.simPause(False)
    client.rotateToYawAsync(90.0)
    client.simContinueForFrames(150)
    client.simPause(True)
    turned = airsim.to_eularian_angles(client.getMultirotorState().kinematics_estimated.orientation)[2]
    seen["yaw_gap"] = abs(math.degrees(turned) - 90.0)
    seen["collided"] = client.simGetCollisionInfo().has_collided
    seen["imu"] = client.getImuData(imu_name="Imu").time_stamp > 0

    requests = []
    for camera in CAMERAS:
        requests.append(airsim.ImageRequest(camera, airsim.ImageType.Scene, pixels_as_float=False, compress=True))
        requests.append(airsim.ImageRequest(camera, airsim.ImageType.DepthPerspective, True, False))
    seen["images"] = []
    answers = client.simGetImages(requests)
    for colour, depth in zip(answers[::2], answers[1::2], strict=True):
        metres = airsim.list_to_2d_float_array(depth.image_data_float, depth.width, depth.height)
        seen["images"].append([colour.image_data_uint8[:4].hex(), colour.width, *metres.shape, float(metres.min())])
    seen["closed"] = server.call("close_scenes", "127.0.0.1")
    print(json.dumps(seen))


main(int(sys.argv[1]), sys.argv[2], [float(v) for v in sys.argv[3:6]])
