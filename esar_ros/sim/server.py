"""The embedded simulator: one process that flies vehicles in a map and serves AirSim's RPC interface."""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from esar_ros.geometry.frames import Pose, ned_to_enu, quaternion_from_yaw
from esar_ros.mission.errors import UsageError, seed_number
from esar_ros.mission.names import DEFAULT_QUALITY, QUALITIES
from esar_ros.mission.system.truth_token import truth_token
from esar_ros.mission.vehicle import Vehicle, load_vehicle
from esar_ros.sim.airsim_api.api import Context
from esar_ros.sim.airsim_api.calls.groups import build_api
from esar_ros.sim.airsim_api.rpc_server import RpcServer
from esar_ros.sim.airsim_api.settings_reader import load_settings
from esar_ros.sim.airsim_api.values import yaw_enu
from esar_ros.sim.clock import STEP
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.render.process.client import RenderClient
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.settings import NAME_CURE, Capture, Settings, VehicleSettings, default_settings, is_name
from esar_ros.sim.terrain.maps import PlaceMap, ground_is_drawn, load_map
from esar_ros.sim.world.world import World

STAGE = "simulator: "  # of the lines that tell what is under way before the server answers
LOOPBACK = ("127.0.0.1", "localhost", "::1")
BEAT = 0.01  # s of wall time between advances in real time
MAX_LAG = 0.1  # s; a longer stall of the machine is not made up for


def place_vehicles(settings: Settings, world: World, vehicle: Vehicle) -> tuple[Settings, list[Drone]]:
    """Vehicles at their starts, and the settings with every z filled in."""
    drones, filled = [], []
    for item in settings.vehicles:
        half = world.place.size / 2.0
        if max(abs(item.x), abs(item.y)) > half:
            raise UsageError(f"vehicle {item.name}: X {item.x:g}, Y {item.y:g} is off the map", f"within {half:g} m")
        position = ned_to_enu([item.x, item.y, 0.0 if item.z is None else item.z])
        if item.z is None:
            position[2] = float(world.ground_height(position[:2]))
        start = Pose(position, quaternion_from_yaw(yaw_enu(float(np.radians(item.yaw)))))
        drone = Drone(item.name, start, position, vehicle.body, world)
        if item.z is None:  # its coordinates count from where it stands
            drone.start, drone.offset = drone.body.pose, drone.position.copy()
        if item.armed:
            drone.starts_armed = True
            drone.reset()
        drones.append(drone)
        filled.append(replace(item, z=-float(drone.offset[2])))
    return replace(settings, vehicles=tuple(filled)), drones


def captures_of(vehicles: tuple[VehicleSettings, ...]) -> list[Capture]:
    """Returns the image sizes that clients may request, each once; those of colour images first."""
    cameras = [camera for item in vehicles for camera in item.cameras.values()]
    first = [camera.capture(ImageType.SCENE) for camera in cameras]
    return list(dict.fromkeys(first + [camera.capture(kind) for camera in cameras for kind in ImageType]))


def make_context(place: PlaceMap, seed: int, settings: Settings, vehicle: Vehicle, token: str | None) -> Context:
    """A simulator without its network: the world, its vehicles, and the token that opens ground truth (None: open)."""
    world = World(place, seed)
    world.environment = replace(world.environment, wind=ned_to_enu(settings.wind))
    settings, drones = place_vehicles(settings, world, vehicle)
    simulation = Simulation(world, drones)
    simulation.warm_up()
    return Context(simulation, settings, seed, token)


async def keep_time(simulation: Simulation, speed: float) -> None:
    """Advance with the wall clock while not paused."""
    clock = simulation.clock
    last, owed = time.monotonic(), 0.0
    while True:
        await asyncio.sleep(BEAT)
        now = time.monotonic()
        owed = 0.0 if clock.paused else min(owed + (now - last) * speed, MAX_LAG * max(speed, 1.0))
        last = now
        steps = int(owed / STEP)
        if steps:
            owed -= steps * STEP
            simulation.advance(steps)


async def serve(
    settings: Settings,
    vehicle: Vehicle,
    *,
    map_id: str,
    seed: int,
    host: str,
    port: int,
    paused: bool,
    say: Callable[[str], None],
    quality: str = DEFAULT_QUALITY,
    arrange: Callable[[Simulation], None] = lambda simulation: None,
    deserted: float = math.inf,
) -> None:
    """Serve until SIGINT, SIGTERM or nobody is connected for a time. Raises UsageError when it cannot start.

    arrange: makes the world ready before it is served; deserted: s without any client after which it ends.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    renderer = RenderClient(map_id, seed, captures_of(settings.vehicles), quality)
    server = RpcServer()
    pace: asyncio.Task[None] | None = None
    try:
        port = await server.bind(host, port)
        say(f"{STAGE}drawing the ground of {map_id}" if not ground_is_drawn(map_id) else f"{STAGE}opening {map_id}")
        place = load_map(map_id)  # before the renderer starts, so that a new map is made once
        say(f"{STAGE}starting the renderer and its view of {map_id}")
        renderer.launch()
        context = make_context(place, seed, settings, vehicle, truth_token() or None)
        context.simulation.clock.paused = paused
        arrange(context.simulation)
        api, recorder = build_api(context, renderer)
        waiting = asyncio.ensure_future(renderer.ready())
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            waiting.result()
            if settings.recording.enabled:
                say(f"recording into {recorder.start()}")
            await server.start(api)
            for line in _greeting(context, host, port, map_id, paused):
                say(line)
            pace = asyncio.ensure_future(keep_time(context.simulation, settings.clock_speed))
            left = asyncio.ensure_future(server.deserted(deserted))
            await asyncio.wait({stopping, pace, left}, return_when=asyncio.FIRST_COMPLETED)
            if pace.done():
                pace.result()
            if left.done():
                say(f"{STAGE}nobody was connected for {deserted:g} s")
            left.cancel()
        waiting.cancel()
        stopping.cancel()
    finally:
        if pace is not None:
            pace.cancel()
        await server.close()
        renderer.close()


def run(
    *,
    map_id: str = "aotai",
    vehicles: tuple[str, ...] = ("uav1",),
    settings_file: Path | None = None,
    image: tuple[int, int] | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    seed: int = 0,
    paused: bool = False,
    quality: str = DEFAULT_QUALITY,
    say: Callable[[str], None] = lambda line: print(line, flush=True),
) -> None:
    """Serves a simulator until it is stopped. Raises UsageError when it cannot start.

    settings_file: AirSim's settings.json, instead of `vehicles`; image: size in px, instead of config/vehicle.yaml's.
    """
    if not vehicles or len(set(vehicles)) < len(vehicles):
        raise UsageError("--vehicles must name at least one vehicle, each once", "e.g. --vehicles uav1,uav2")
    if wrong := [name for name in vehicles if not is_name(name)]:
        raise UsageError(f"--vehicles: {wrong[0]!r:.60} is no vehicle's name", NAME_CURE)
    vehicle = load_vehicle()
    if image is not None:
        vehicle = vehicle.with_image_size(*image)
    if settings_file is not None:
        settings = load_settings(settings_file, vehicle)
    else:
        settings = default_settings(vehicle, vehicles)
    for warning in settings.warnings:
        say(f"warning: {warning}")
    if port is None:
        port = settings.port
    asyncio.run(
        serve(
            replace(settings, port=port),
            vehicle,
            map_id=map_id,
            seed=seed,
            host=host,
            port=port,
            paused=paused,
            say=say,
            quality=quality,
        )
    )


def _greeting(context: Context, host: str, port: int, map_id: str, paused: bool) -> list[str]:
    names = ", ".join(context.simulation.drones)
    truth = "by token" if truth_token() else "open"
    lines = [
        f"simulator: map {map_id}, vehicles {names}, {'paused' if paused else 'real time'}, ground truth {truth}",
        f'connect: airsim.MultirotorClient("{host}", {port})',
    ]
    if host not in LOOPBACK:
        lines.insert(0, f"warning: {host} is reachable from other machines, and AirSim's RPC knows no passwords")
    return [*lines, f"ready on {host}:{port}"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the simulator alone."""
    parser.add_argument("--map", default="aotai", help="map id (default %(default)s)")
    parser.add_argument("--vehicles", default="uav1", help="names, separated by commas (default %(default)s)")
    parser.add_argument("--settings", type=Path, help="an AirSim settings.json, instead of --vehicles")
    parser.add_argument("--image", type=image_size, help="picture size, e.g. 640x480")
    about = "of the pictures (default %(default)s)"
    parser.add_argument("--quality", default=DEFAULT_QUALITY, choices=QUALITIES, help=about)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=port_number, help="port to listen on (default 41451, 0: any free one)")
    parser.add_argument("--seed", type=seed_number, default=0, help="of sensor noise and weather (default %(default)s)")
    parser.add_argument("--paused", action="store_true", help="time stands still until a client moves it")


def port_number(words: str) -> int:
    """A TCP port, 0 for any free one."""
    if not words.isdecimal() or int(words) > 65535:
        raise argparse.ArgumentTypeError(f"'{words}' is not a port in 0..65535")
    return int(words)


def image_size(words: str) -> tuple[int, int]:
    """Width and height in px of e.g. 640x480."""
    width, cross, height = words.partition("x")
    if not (cross and width.isdigit() and height.isdigit() and 16 <= int(width) <= 4096 and 16 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"'{words}' is not a size such as 640x480")
    return int(width), int(height)


def main(arguments: argparse.Namespace | None = None) -> int:
    """Exit status: 0 ended by a signal, 2 could not start. arguments: as parsed; by default the command line's."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if arguments is None:
        parser = argparse.ArgumentParser(prog="python -m esar_ros.sim.server", allow_abbrev=False)
        add_arguments(parser)
        arguments = parser.parse_args()
    try:
        run(
            map_id=arguments.map,
            vehicles=tuple(name for name in arguments.vehicles.split(",") if name),
            settings_file=arguments.settings,
            image=arguments.image,
            host=arguments.host,
            port=arguments.port,
            seed=arguments.seed,
            paused=arguments.paused,
            quality=arguments.quality,
        )
    except UsageError as error:
        print(f"sim: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
