"""Flown by the official airsim 1.8.1 client, in an environment of its own; prints what it saw as JSON.

python fly_official_client.py PORT
"""

from __future__ import annotations

import json
import sys
from typing import Any

import airsim
import numpy as np

CAMERAS = ("front", "left", "right", "down")
GOAL = (12.0, 8.0, -9.0)


def main(port: Any) -> None:
    """One flight: connect, arm, take off, go somewhere, look, land."""
    seen = {}
    client = airsim.MultirotorClient(port=port)
    client.confirmConnection()
    seen["vehicles"] = client.listVehicles()
    client.enableApiControl(True)
    seen["control"] = client.isApiControlEnabled()
    seen["armed"] = client.armDisarm(True)
    seen["landed_before"] = client.getMultirotorState().landed_state
    client.takeoffAsync().join()
    state = client.getMultirotorState()
    seen["landed_after_takeoff"] = state.landed_state
    seen["takeoff_z"] = state.kinematics_estimated.position.z_val
    client.moveToPositionAsync(*GOAL, 6).join()
    at = client.getMultirotorState().kinematics_estimated.position
    seen["error"] = float(np.linalg.norm(np.array(GOAL) - [at.x_val, at.y_val, at.z_val]))

    name = "tent"
    ahead = airsim.Pose(airsim.Vector3r(GOAL[0] + 8.0, GOAL[1], GOAL[2] + 3.0))
    client.simSpawnObject(name, "tent", ahead, airsim.Vector3r(2.0, 2.0, 2.0))
    client.simSetSegmentationObjectID(name, 7)
    client.rotateToYawAsync(0, margin=2).join()
    kinds = (
        (airsim.ImageType.Scene, False),
        (airsim.ImageType.DepthPlanar, True),
        (airsim.ImageType.Segmentation, False),
    )
    requests = [airsim.ImageRequest(c, kind, as_float, False) for kind, as_float in kinds for c in CAMERAS]
    seen["images"] = []
    for request, image in zip(requests, client.simGetImages(requests), strict=True):
        if request.pixels_as_float:
            pixels = np.array(image.image_data_float, dtype=np.float32)
        else:
            pixels = np.frombuffer(image.image_data_uint8, dtype=np.uint8)
        seen["images"].append(
            {
                "camera": image.camera_name,
                "type": image.image_type,
                "width": image.width,
                "height": image.height,
                "values": int(pixels.size),
                "low": float(pixels.min()),
                "high": float(pixels.max()),
                "deviation": float(pixels.std()),
            }
        )
    png = client.simGetImage("0", airsim.ImageType.Scene)
    seen["png"] = png[:4].hex()
    client.landAsync().join()
    seen["landed_at_end"] = client.getMultirotorState().landed_state
    seen["disarmed"] = client.armDisarm(False)
    client.enableApiControl(False)
    print(json.dumps(seen))


main(int(sys.argv[1]))
