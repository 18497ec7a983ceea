"""A scene's simulator: AirSim's calls, with the vehicle, cameras and contacts that the public code knows.

`python -m esar_ros.suites.uav_on.protocol_server.scene_simulator SCENE` serves until it is ended. Flags of an
Unreal binary are taken and have no effect, so that a scene server may start it in a binary's place.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from esar_ros.geometry.frames import Pose, flu_to_frd
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import Vehicle, load_vehicle
from esar_ros.sim.airsim_api.settings_reader import load_settings
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.server import port_number, serve
from esar_ros.sim.settings import CameraSettings, Capture, SensorSettings, Settings, VehicleSettings
from esar_ros.suites.uav_on.scenes import Scene, find_scene
from esar_ros.suites.uav_on.settings import SuiteSettings, load_suite_settings
from esar_ros.suites.uav_on.worlds.embedded import ENDLESS

VEHICLE, IMU = "Drone_1", "Imu"  # names that the public code's settings give
COLOUR, DEPTH_PERSPECTIVE = 0, 2  # AirSim's image types
CLOCK_SPEED = 10.0  # of the public code's settings: its 150 frames of a step are 25 s


def scene_settings(suite: SuiteSettings) -> Settings:
    """The simulator's settings as the public code writes them: one vehicle at the map's origin, cameras 0 to 3."""
    captures = {
        COLOUR: Capture(suite.colour, suite.colour, suite.fov_deg),
        DEPTH_PERSPECTIVE: Capture(suite.depth, suite.depth, suite.fov_deg),
    }
    cameras = {}
    for number, mount in enumerate(suite.cameras.values()):
        x, y, z = (float(v) for v in flu_to_frd(mount.position))
        cameras[str(number)] = CameraSettings((x, y, z), 0.0, mount.pitch_deg, -mount.yaw_deg, captures)
    sensors = {IMU: SensorSettings("imu")} | {kind: SensorSettings(kind) for kind in ("gps", "barometer")}
    return Settings((VehicleSettings(VEHICLE, z=0.0, cameras=cameras, sensors=sensors),), CLOCK_SPEED)


def endless(vehicle: Vehicle) -> Vehicle:
    """Returns the vehicle with a battery that outlasts every episode."""
    return vehicle.model_copy(update={"body": vehicle.body.model_copy(update={"battery_energy": ENDLESS})})


def furnish(simulation: Simulation, scene: Scene) -> None:
    """Put the scene's things into the world; whatever a vehicle touches is a collision, the ground too."""
    for placed in scene.objects:
        pose = Pose(np.array(placed.position), np.array(placed.quaternion))
        simulation.world.spawn(placed.name, placed.asset, pose, placed.scale)
    for drone in simulation.drones.values():
        drone.touchdown_speed = 0.0


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 ended by a signal or deserted, 2 could not start."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    parser = argparse.ArgumentParser(prog="scene_simulator", allow_abbrev=False)
    parser.add_argument("scene")
    parser.add_argument("--settings", "-settings", type=Path, help="AirSim's settings.json")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=port_number, help="instead of the settings' ApiServerPort")
    parser.add_argument("--deserted", type=float, default=math.inf, help="s without a client after which it ends")
    arguments, _ = parser.parse_known_args(argv)
    try:
        scene, vehicle = find_scene(arguments.scene), endless(load_vehicle())
        settings = scene_settings(load_suite_settings())
        if arguments.settings is not None:
            settings = load_settings(arguments.settings, vehicle)
        port = settings.port if arguments.port is None else arguments.port
        asyncio.run(
            serve(
                replace(settings, port=port),
                vehicle,
                map_id=scene.map,
                seed=0,
                host=arguments.host,
                port=port,
                paused=False,
                say=lambda line: print(line, flush=True),
                arrange=lambda simulation: furnish(simulation, scene),
                deserted=arguments.deserted,
            )
        )
    except UsageError as error:
        print(f"scene {arguments.scene}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
