"""Flown by Cosys-AirSim's client (version 4); prints what it saw as JSON.

python fly_cosys_client.py PORT
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

import cosysairsim as airsim
import numpy as np

GOAL = (6.0, 4.0, -7.0)


def main(port: Any) -> None:
    """Connect, take off, go somewhere, look, land."""
    client = airsim.MultirotorClient(port=port)
    greeting = io.StringIO()
    with contextlib.redirect_stdout(greeting), contextlib.redirect_stderr(greeting):
        client.confirmConnection()
    client.enableApiControl(True)
    client.armDisarm(True)
    client.takeoffAsync().join()
    client.moveToPositionAsync(*GOAL, 5).join()
    at = client.getMultirotorState().kinematics_estimated.position
    scene, depth = client.simGetImages(
        [
            airsim.ImageRequest("front", airsim.ImageType.Scene, False, False),
            airsim.ImageRequest("front", 1, True, False),
        ]
    )
    points = client.getLidarData("lidar").point_cloud
    client.landAsync().join()
    print(
        json.dumps(
            {
                "greeting": greeting.getvalue(),
                "error": float(np.linalg.norm(np.array(GOAL) - [at.x_val, at.y_val, at.z_val])),
                "image": [scene.width, scene.height, len(scene.image_data_uint8)],
                "depth": len(depth.image_data_float),
                "points": len(points) // 3,
                "landed": client.getMultirotorState().landed_state,
            }
        )
    )


main(int(sys.argv[1]))
