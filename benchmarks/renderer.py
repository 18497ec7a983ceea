"""The CPU time of one four-camera frame (RGB, depth, ids; depth and ids), of a LiDAR scan, of the start, and memory.

`python benchmarks/renderer.py [--frames N] [--maps ID,ID]`. CPU time is of the whole process with all its threads.
Every size runs in a process of its own, since memory and start belong to it. Then images of high quality are drawn by
turns with those of low quality: the ratio is what holds on another machine. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from datetime import datetime
from typing import Any

import numpy as np
from page import add_page, goal_table, write_page

_SIZES = ((320, 240), (640, 480))
SPOTS = {  # by map: x, y, height above ground (m), yaw (rad)
    "aotai": {
        "meadow": (0.0, 0.0, 8.0, 0.0),
        "overview": (0.0, 60.0, 60.0, -0.6),
        "forest": (-150.0, -420.0, 20.0, -1.2),
        "blockfield": (420.0, 170.0, 15.0, 0.1),
    },
    "lop_nur": {"desert": (0.0, 0.0, 8.0, 0.0), "dunes": (300.0, -200.0, 20.0, 1.0)},
    "k2": {"shoulder": (116.0, -126.0, 15.0, 0.8)},
    "dapeng": {"beach": (-105.0, -540.0, 15.0, -1.5)},
}
_NIGHT = "aotai"  # the map on which weather and lamps are measured
_GOALS = {
    "forest_320x240_cpu_ms": 50.0,
    "forest_640x480_cpu_ms": 120.0,
    "desert_320x240_cpu_ms": 35.0,
    "desert_640x480_cpu_ms": 80.0,
    "lidar_16x360_cpu_ms": 3.0,
    "start_warm_s": 5.0,
    "rss_mb": 800.0,
}
_RATIO = 1.3  # goal of every ratio of high to low quality
_BEGIN_RATIO = 1.2  # goal of that of the start and of memory
_RAIN_RATIO = 1.15  # goal of rain to a clear sky, in high quality


def _measure(map_id: str, width: int, height: int, frames: int) -> dict[str, float]:
    """Returns the figures of one picture size; run in a fresh process."""
    import psutil

    started = time.perf_counter()
    from esar_ros.mission.weather import Weather
    from esar_ros.sim.render.renderer import Renderer
    from esar_ros.sim.world.environment import Environment

    world = _world(map_id)
    renderer = Renderer(world, width, height, math.pi / 2)
    spots = SPOTS[map_id]
    renderer.render(_poses(world, *next(iter(spots.values()))), 0.0)
    figures = {"start_warm_s": time.perf_counter() - started}

    def measure(name: str, x: float, y: float, above: float, yaw: float) -> None:
        renderer.render(_poses(world, x, y, above, yaw), 0.0)
        before = time.process_time()
        for frame in range(frames):  # flying 3 m/s east at 1 Hz: the shadow map's renewals count
            renderer.render(_poses(world, x + 3.0 * frame, y, above, yaw), float(frame))
        figures[f"{name}_{width}x{height}_cpu_ms"] = 1e3 * (time.process_time() - before) / frames
        before = time.process_time()
        for frame in range(frames):
            renderer.shapes(_poses(world, x + 3.0 * frame, y, above, yaw))
        figures[f"{name}_{width}x{height}_shapes_cpu_ms"] = 1e3 * (time.process_time() - before) / frames

    for name, spot in spots.items():
        measure(name, *spot)
    if map_id == _NIGHT:
        for name, changed in (
            ("heavy_snow", Environment(weather=Weather.HEAVY_SNOW)),
            ("night_with_fire", Environment(local_time=datetime(2024, 7, 6, 1, 0))),
        ):
            world.environment = changed
            measure(name, *spots["meadow"])
        figures["lidar_16x360_cpu_ms"] = _lidar(world)
    figures["rss_mb"] = psutil.Process().memory_info().rss / 1e6
    renderer.close()
    return figures


def _world(map_id: str) -> Any:
    """Returns a map with five things beside its centre."""
    from esar_ros.sim.terrain.maps import load_map
    from esar_ros.sim.world.world import World

    world = World(load_map(map_id), seed=0)
    for index, asset in enumerate(("tent", "person_lying", "person_standing", "backpack", "campfire")):
        world.spawn(asset, asset, world.resting_pose((20.0 + 4.0 * index, 6.0 - 3.0 * index), 0.7 * index))
    return world


def _poses(world: Any, x: float, y: float, above: float, yaw: float) -> list[Any]:
    """Returns the poses of the vehicle's four cameras."""
    from esar_ros.geometry.frames import Pose, quaternion_from_yaw
    from esar_ros.mission.vehicle import load_vehicle

    ground = float(world.ground_height((x, y)))
    body = Pose(np.array([x, y, ground + above]), quaternion_from_yaw(yaw))
    return [body.compose(mount.pose) for mount in load_vehicle().cameras.values()]


def _compare(map_id: str, width: int, height: int, frames: int) -> dict[str, float]:
    """Returns how many times the CPU time of low quality one of high quality takes, by medians of frames."""
    from esar_ros.sim.render.renderer import Renderer

    world = _world(map_id)
    made = [Renderer(world, width, height, math.pi / 2, quality=quality) for quality in ("low", "high")]
    figures = {}
    for name, (x, y, above, yaw) in SPOTS[map_id].items():
        spent: Any = [[], []], [[], []]  # s, by what is drawn and by quality
        for frame in range(frames + 1):
            poses = _poses(world, x + 3.0 * frame, y, above, yaw)
            for index, renderer in enumerate(made):
                before = time.process_time()
                renderer.render(poses, float(frame))
                between = time.process_time()
                renderer.shapes(poses)
                if frame:
                    spent[0][index].append(between - before)
                    spent[1][index].append(time.process_time() - between)
        for what, (low, high) in zip(("", "_shapes"), spent, strict=True):
            figures[f"{name}_{width}x{height}{what}_high_to_low"] = float(np.median(high) / np.median(low))
    for renderer in made:
        renderer.close()
    return figures


def _begin(map_id: str, width: int, height: int, quality: str) -> dict[str, float]:
    """Returns the CPU s until a first picture is drawn, its ground's tiles made before, and memory; a fresh process."""
    import psutil

    began = time.process_time()
    from esar_ros.sim.render.renderer import Renderer

    world = _world(map_id)
    renderer = Renderer(world, width, height, math.pi / 2, quality=quality)
    renderer.render(_poses(world, *next(iter(SPOTS[map_id].values()))), 0.0)
    return {"start": time.process_time() - began, "rss": psutil.Process().memory_info().rss / 1e6}


def _rain(width: int, height: int, frames: int) -> dict[str, float]:
    """Returns how many times the CPU time of a frame by a clear sky one in heavy rain takes, in high quality."""
    from esar_ros.mission.weather import Weather
    from esar_ros.sim.render.renderer import Renderer
    from esar_ros.sim.world.environment import Environment

    world = _world(_NIGHT)
    spent: Any = [], []
    renderer = Renderer(world, width, height, math.pi / 2, quality="high")
    poses = _poses(world, *SPOTS[_NIGHT]["meadow"])
    for frame in range(frames + 1):
        for times, weather in zip(spent, (Weather.CLEAR, Weather.HEAVY_RAIN), strict=True):
            world.environment = Environment(weather=weather)
            renderer.render(poses, float(frame))
            before = time.process_time()
            renderer.render(poses, frame + 0.5)
            times.extend([time.process_time() - before] if frame else [])
    renderer.close()
    return {f"meadow_{width}x{height}_rain_to_clear": float(np.median(spent[1]) / np.median(spent[0]))}


def _lidar(world: Any) -> float:
    """Returns the CPU ms of a 16 x 360 scan, +-15 degrees, 100 m, 8 m above a forest's ground."""
    elevation, azimuth = np.meshgrid(np.radians(np.linspace(-15, 15, 16)), np.radians(np.arange(360)), indexing="ij")
    flat = np.cos(elevation)
    rays = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=-1).reshape(-1, 3)
    x, y = SPOTS["aotai"]["forest"][:2]
    eye = np.array([x, y, float(world.ground_height((x, y))) + 8.0])
    world.raycast(eye, rays, 100.0)
    times = []
    for _ in range(30):
        before = time.process_time()
        world.raycast(eye, rays, 100.0)
        times.append(time.process_time() - before)
    return 1e3 * float(np.median(times))


def _goal_of(ratio: str) -> float:
    """Returns the goal of a ratio by its name."""
    if ratio.endswith("_rain_to_clear"):
        return _RAIN_RATIO
    return _BEGIN_RATIO if ratio.endswith(("_start_high_to_low", "_rss_high_to_low")) else _RATIO


def main() -> None:
    """Measures every size and prints a table and a JSON line."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--frames", type=int, default=20, help="frames a place and size")
    parser.add_argument("--maps", default=",".join(SPOTS), help="map ids, separated by commas (default %(default)s)")
    add_page(parser)
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    context = multiprocessing.get_context("spawn")  # EGL does not survive a fork
    for map_id in arguments.maps.split(","):
        for width, height in _SIZES:
            for measured in (_measure, _compare):
                with context.Pool(1) as pool:
                    part = pool.apply(measured, (map_id, width, height, arguments.frames))
                for name, value in part.items():
                    figures[name] = max(value, figures.get(name, 0.0))
            begun = []
            for quality in ("low", "high"):
                with context.Pool(1) as pool:
                    begun.append(pool.apply(_begin, (map_id, width, height, quality)))
            for what in begun[0]:
                figures[f"{map_id}_{width}x{height}_{what}_high_to_low"] = begun[1][what] / begun[0][what]
            if map_id == _NIGHT:
                with context.Pool(1) as pool:
                    figures |= pool.apply(_rain, (width, height, arguments.frames))
    goals = _GOALS | {name: _goal_of(name) for name in figures if "_to_" in name}
    print(f"{'figure':<40}{'measured':>10}{'goal':>8}")
    for name, value in figures.items():
        print(f"{name:<40}{value:>10.2f}{goals.get(name, float('nan')):>8.1f}")
    figures = {name: round(value, 2) for name, value in figures.items()}
    met = {name: figures[name] <= goal for name, goal in goals.items() if name in figures}
    print(json.dumps({"benchmark": "renderer", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "CPU time of the whole process, with all its threads, for one frame of four cameras (RGB, depth and ids; "
            "depth and ids alone), for a LiDAR scan and for the start, drawn by software OpenGL where there is no "
            "GPU; how many times that of low quality one of high quality takes, with start "
            "and memory; and rain, by a clear sky."
        )
        conditions = {"frames a place and size": arguments.frames, "maps": arguments.maps}
        write_page(__file__, "What a frame costs", about, conditions, [goal_table(figures, goals, met)])


if __name__ == "__main__":
    main()
