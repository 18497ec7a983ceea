"""CPU cost, memory and accuracy of the voxel map, on a workload this command makes itself.

    python benchmarks/mapper.py [--quick]

Times are CPU ms of the calling thread. The last line is one JSON object with figures, goals and
which goals are met; --quick leaves out the ten minutes' flight and the goals that need it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mapper_world import CAMERAS, World, flight
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mapping.coverage import Coverage
from esar_ros.mapping.frontiers import Frontiers
from esar_ros.mapping.inputs import DepthView, pool_depth
from esar_ros.mapping.layers import BevLayers
from esar_ros.mapping.local_window import window_around
from esar_ros.mapping.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap

REACH = 120.0  # m
SMALL = CameraModel.from_horizontal_fov(320, 240, math.pi / 2)
LARGE = CameraModel.from_horizontal_fov(640, 480, math.pi / 2)
Frame = list[DepthView]

# Name of a figure: (goal, whether it is the most or the least allowed).
GOALS: dict[str, tuple[float, str]] = {
    "320x240 1 m 120 m median ms": (15.0, "<="),
    "320x240 1 m 120 m p95 ms": (30.0, "<="),
    "320x240 1 m 60 m median ms": (4.0, "<="),
    "640x480 pooled 1 m 120 m median ms": (18.0, "<="),
    "320x240 0.5 m 60 m median ms": (10.0, "<="),
    "320x240 0.5 m 120 m median ms": (60.0, "<="),
    "5 km against 2 km world ratio": (1.1, "<="),
    "nearest obstacle 100 points 30 m ms": (2.0, "<="),
    "nearest obstacle or unknown 100 points 30 m ms": (2.0, "<="),
    "frontiers update ms": (10.0, "<="),
    "layers and grid update ms": (6.0, "<="),
    "strict precision": (0.99, ">="),
    "recall": (0.97, ">="),
    "solid voxels freed share": (0.0005, "<="),
    "last against first 50 frames ratio": (1.25, "<="),
    "ten minutes memory MB": (250.0, "<="),
    "save ms": (300.0, "<="),
    "load ms": (500.0, "<="),
    "first use compile s": (15.0, "<="),
}


def timed(call: Callable[[], Any]) -> float:
    """CPU ms of a call on this thread."""
    start = time.thread_time()
    call()
    return (time.thread_time() - start) * 1e3


def record(world: World, poses: Sequence[Pose], model: CameraModel) -> list[Frame]:
    """Depth of the four cameras at each pose of the vehicle."""
    return [[world.view(pose, camera, model, REACH) for camera in CAMERAS] for pose in poses]


def integration_times(voxel_map: VoxelMap, frames: Iterable[Frame], reach: float) -> NDArray[np.float64]:
    """CPU ms of each frame."""
    return np.array([timed(lambda frame=frame: voxel_map.integrate_frame(frame, reach)) for frame in frames])


def measure_integration(frames: list[Frame], large: list[Frame]) -> dict[str, float]:
    """Frames at 10 Hz into empty maps of several resolutions and ranges."""
    figures: dict[str, float] = {}
    by_world = []
    for span in (2000.0, 5000.0):
        half = span / 2
        voxel_map = VoxelMap(1.0, (-half, -half, -64.0), (half, half, 192.0))
        by_world.append(integration_times(voxel_map, frames, REACH))
    figures["320x240 1 m 120 m median ms"] = float(np.median(by_world[0]))
    figures["320x240 1 m 120 m p95 ms"] = float(np.percentile(by_world[0], 95))
    figures["5 km against 2 km world ratio"] = float(by_world[1].sum() / by_world[0].sum())
    figures["320x240 1 m 60 m median ms"] = float(np.median(integration_times(VoxelMap(), frames, 60.0)))

    def pooled(voxel_map: VoxelMap, frame: Frame) -> None:
        halved = [DepthView(pool_depth(view.depth), view.model.scaled(0.5), view.pose) for view in frame]
        voxel_map.integrate_frame(halved, REACH)

    voxel_map = VoxelMap()
    times = [timed(lambda frame=frame: pooled(voxel_map, frame)) for frame in large]
    figures["640x480 pooled 1 m 120 m median ms"] = float(np.median(times))
    for reach in (60.0, REACH):
        times = list(integration_times(VoxelMap(0.5), frames, reach))
        figures[f"320x240 0.5 m {reach:.0f} m median ms"] = float(np.median(times))
    return figures


def measure_consumers(frames: list[Frame]) -> dict[str, float]:
    """What reads the map, twice a second while it is fed at 10 Hz."""
    voxel_map = VoxelMap()
    frontiers, layers = Frontiers(voxel_map), BevLayers(voxel_map)
    times: dict[str, list[float]] = {}
    rng = np.random.default_rng(1)

    def note(name: str, call: Callable[[], Any]) -> None:
        times.setdefault(name, []).append(timed(call))

    for n, frame in enumerate(frames):
        voxel_map.integrate_frame(frame, REACH)
        if n % 5 != 4:
            continue
        here = frame[0].pose.position
        note("frontiers update ms", lambda: (frontiers.update(), frontiers.clusters()))
        note("layers and grid update ms", lambda: (layers.update(), layers.grid()))
        near = here + rng.uniform(-30.0, 30.0, (100, 3))
        note("nearest obstacle 100 points 30 m ms", lambda near=near: voxel_map.nearest_obstacle(near, 30.0, False))
        note(
            "nearest obstacle or unknown 100 points 30 m ms",
            lambda near=near: voxel_map.nearest_obstacle(near, 30.0, True),
        )
        note("window 96x96x64 ms", lambda here=here: window_around(voxel_map, here, 0.0))
        window = window_around(voxel_map, here, 0.0)
        note("window packed ms", window.pack)
    figures = {name: float(np.median(values[1:])) for name, values in times.items()}
    cost = timed(voxel_map.occupied_points)
    figures["occupied points per 1e5 ms"] = cost * 1e5 / voxel_map.occupied_count
    return figures


def disturbed(frames: list[Frame], depth_noise: float = 0.0, pose_noise: bool = False, late: int = 0) -> list[Frame]:
    """The same frames with Gaussian depth noise (share), pose noise (0.1 m, 0.3 degrees), or poses so many late."""
    rng = np.random.default_rng(7)
    out = []
    for n, frame in enumerate(frames):
        shift = rng.normal(0.0, 0.1, 3) if pose_noise else np.zeros(3)
        turn = Pose(shift, quaternion_from_rpy(*(rng.normal(0.0, math.radians(0.3), 3) * pose_noise)))
        views = []
        for view, old in zip(frame, frames[max(0, n - late)], strict=True):
            noise = 1.0 + depth_noise * rng.standard_normal(view.depth.shape)
            pose = Pose(old.pose.position + turn.position, turn.compose(old.pose).quaternion)
            views.append(replace(view, depth=(view.depth * noise).astype(np.float32), pose=pose))
        out.append(views)
    return out


def accuracy(world: World, frames: list[Frame], clean: list[Frame], depth_noise: float = 0.0) -> dict[str, float]:
    """Of a map made from frames, against the world that the clean frames show."""
    voxel_map = VoxelMap()
    for frame in frames:
        voxel_map.integrate_frame(frame, REACH, depth_noise)
    known = voxel_map.known_blocks() * 16
    low = known.min(axis=0) + voxel_map.first_cell
    shape = tuple(int(n) for n in known.max(axis=0) + 16 - known.min(axis=0))
    state = voxel_map.window(low, shape)  # type: ignore[arg-type]
    solid = world.solid(low, shape)  # type: ignore[arg-type]
    seen = np.zeros(shape, np.int16)
    for frame in clean:
        hit = np.zeros(shape, np.bool_)
        for view in frame:
            depth = view.depth.astype(np.float64)
            rays = view.model.rays()
            valid = np.isfinite(depth) & (depth * np.linalg.norm(rays, axis=-1) <= REACH)
            points = view.pose.apply(rays[valid] * depth[valid][:, None])
            cell = np.floor(points).astype(np.int64) - low
            cell = cell[((cell >= 0) & (cell < shape)).all(axis=1)]
            hit[tuple(cell.T)] = True
        seen += hit
    occupied, half = state == OCCUPIED, (solid >= 4) & (solid <= 8)
    often = seen >= 3
    return {
        "strict precision": float((occupied & (solid > 0)).sum() / occupied.sum()),
        "recall": float((occupied & often).sum() / often.sum()),
        "solid voxels freed share": float(((state == FREE) & half).sum() / (half & (state != UNKNOWN)).sum()),
    }


def measure_ten_minutes(world: World) -> dict[str, float]:
    """600 s at 1 Hz of pictures: growth, memory and the file."""
    voxel_map = VoxelMap()
    times = []
    for pose in flight(world, 600.0, 1.0):
        frame = record(world, [pose], SMALL)
        times.extend(integration_times(voxel_map, frame, REACH))
    figures = {
        "ten minutes at 1 Hz median ms": float(np.median(times)),
        "last against first 50 frames ratio": float(np.median(times[-50:]) / np.median(times[:50])),
        "ten minutes memory MB": voxel_map.memory_bytes / 1e6,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.vox"
        figures["save ms"] = timed(lambda: voxel_map.save(path))
        figures["file MB"] = path.stat().st_size / 1e6
        figures["load ms"] = timed(lambda: VoxelMap.load(path))
    return figures


def first_use(frame: Frame) -> float:
    """CPU s until every kernel has run once; what a fresh machine pays, and nearly nothing after that."""
    voxel_map = VoxelMap()
    frontiers, layers = Frontiers(voxel_map), BevLayers(voxel_map)
    here = frame[0].pose.position

    def everything() -> None:
        voxel_map.integrate_frame(frame, REACH)
        voxel_map.state(here[None])
        voxel_map.raycast(here, (1.0, 0.0, 0.0), 10.0)
        voxel_map.nearest_obstacle(here[None], 10.0)
        voxel_map.window((0, 0, 0), (16, 16, 16))
        voxel_map.occupied_points()
        frontiers.update()
        layers.update()
        layers.grid()
        Coverage([(-900.0, -900.0), (900.0, -900.0), (0.0, 900.0)], REACH).observe(frame[0])

    return timed(everything) / 1e3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="about 30 s, without the ten minutes' flight")
    options = parser.parse_args(arguments)
    world = World()
    poses = flight(world, 5.0 if options.quick else 8.0, 0.1)
    frames = record(world, poses, SMALL)
    figures: dict[str, float] = {"first use compile s": first_use(frames[0])}
    figures |= measure_integration(frames, record(world, poses[: len(poses) // 2], LARGE))
    figures |= measure_consumers(frames)
    clean = frames[:40]
    figures |= accuracy(world, clean, clean)
    if not options.quick:
        cases: list[tuple[str, list[Frame], float]] = [
            (f"{noise:.1%} depth noise", disturbed(clean, depth_noise=noise), noise) for noise in (0.005, 0.01, 0.02)
        ]
        cases.append(("pose noise 0.1 m 0.3 deg", disturbed(clean, pose_noise=True), 0.0))
        cases.append(("pose 100 ms late", disturbed(clean, late=1), 0.0))
        for name, noisy, noise in cases:
            for figure, value in accuracy(world, noisy, clean, noise).items():
                figures[f"{figure}, {name}"] = value
        figures |= measure_ten_minutes(world)
    goals = {name: goal for name, goal in GOALS.items() if name in figures}
    met = {n: figures[n] <= goal if sign == "<=" else figures[n] >= goal for n, (goal, sign) in goals.items()}
    for name, value in figures.items():
        wanted = f"{goals[name][1]} {goals[name][0]:g}" if name in goals else ""
        verdict = ("met" if met[name] else "MISSED") if name in goals else "stated"
        print(f"{name:<58}{value:>12.4g}  {wanted:<12}{verdict}")
    line = {"benchmark": "mapper", "figures": figures, "goals": {n: list(g) for n, g in goals.items()}, "met": met}
    print(json.dumps(line))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
