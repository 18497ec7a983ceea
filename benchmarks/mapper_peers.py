"""The voxel map beside mappers that others wrote, on one workload: CPU, memory, accuracy against the exact surface.

    python benchmarks/mapper_peers.py [--frames 40] [--peer FILE.py:CLASS ...] [--page]

OctoMap (`pip install pyoctomap`), Open3D (`pip install open3d`) and wavemap (its own `pywavemap`) are measured where
they are installed, each at its own default or recommended update and in a process of its own; who lacks is said.
--peer adds any other: a class as those here. The last line is JSON.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import importlib.util
import json
import math
import multiprocessing
import os
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from mapper_accuracy import REACH, Frame, compared, whole
from mapper_world import CAMERAS, World, flight
from numpy.typing import NDArray
from page import Table, add_page, write_page

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap

MODEL = CameraModel.from_horizontal_fov(320, 240, math.pi / 2)
CELL = 1.0  # m
PERIOD = 0.1  # s between frames of four pictures
Classes = NDArray[np.uint8]


class Peer(ABC):
    """A mapper of 1 m voxels and 120 m reach."""

    package: ClassVar[str]  # that must be installed; its version is told

    @abstractmethod
    def integrate(self, view: CameraFrame) -> None:
        """Take in one depth picture; +inf where nothing is in reach, whose rays are free up to the reach."""

    @abstractmethod
    def classes(self, low: NDArray[np.int64], shape: tuple[int, int, int]) -> Classes:
        """UNKNOWN, FREE or OCCUPIED of the voxels from cell `low` on."""


class Ours(Peer):
    """This project's map."""

    package = "esar-ros"

    def __init__(self) -> None:
        self.map = VoxelMap()

    def integrate(self, view: CameraFrame) -> None:
        self.map.integrate_frame([view], REACH)

    def classes(self, low: NDArray[np.int64], shape: tuple[int, int, int]) -> Classes:
        return self.map.window(low, shape)


class OctoMap(Peer):
    """Hornung et al., Autonomous Robots 2013: an octree of log odds, one ray a point."""

    package = "pyoctomap"

    def __init__(self) -> None:
        import pyoctomap

        self.tree = pyoctomap.OcTree(CELL)

    def integrate(self, view: CameraFrame) -> None:
        rays = view.model.rays()
        length = np.linalg.norm(rays, axis=-1)
        depth = np.where(np.isfinite(view.depth), view.depth, 2.0 * REACH / length)[..., None]
        points = view.pose.apply((rays * depth).reshape(-1, 3))
        self.tree.insertPointCloud(points, np.asarray(view.pose.position, np.float64), max_range=REACH)

    def classes(self, low: NDArray[np.int64], shape: tuple[int, int, int]) -> Classes:
        labels = np.asarray(self.tree.getLabels(_middles(low, shape))).reshape(shape)  # -1, 0, 1
        return np.where(labels < 0, UNKNOWN, np.where(labels > 0, OCCUPIED, FREE)).astype(np.uint8)


class Open3D(Peer):
    """Dong et al., 2021: a hash grid of truncated signed distances, which are known near surfaces alone."""

    package = "open3d"
    _TRUNCATED = 4.0  # voxels

    def __init__(self) -> None:
        import open3d

        self.o3d = open3d
        core = open3d.core
        self.grid = open3d.t.geometry.VoxelBlockGrid(
            ("tsdf", "weight"), (core.float32, core.float32), ((1), (1)), CELL, 8, 40000, core.Device("CPU:0")
        )

    def integrate(self, view: CameraFrame) -> None:
        depth = np.where(np.isfinite(view.depth), view.depth, 0.0).astype(np.float32)[..., None]
        picture = self.o3d.t.geometry.Image(self.o3d.core.Tensor(np.ascontiguousarray(depth)))
        matrix = view.model.matrix - np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]])  # its pixels' middles are whole
        pose = np.eye(4)
        pose[:3, :3] = view.pose.rotation.T
        pose[:3, 3] = -view.pose.rotation.T @ view.pose.position
        inside, outside = self.o3d.core.Tensor(matrix), self.o3d.core.Tensor(pose)
        blocks = self.grid.compute_unique_block_coordinates(picture, inside, outside, 1.0, REACH, self._TRUNCATED)
        self.grid.integrate(blocks, picture, inside, outside, 1.0, REACH, self._TRUNCATED)

    def classes(self, low: NDArray[np.int64], shape: tuple[int, int, int]) -> Classes:
        active = self.grid.hashmap().active_buf_indices()
        places, indices = self.grid.voxel_coordinates_and_flattened_indices(active)
        distance = self.grid.attribute("tsdf").reshape((-1, 1))[indices].numpy().ravel() * self._TRUNCATED
        weight = self.grid.attribute("weight").reshape((-1, 1))[indices].numpy().ravel()
        cells = np.floor(places.numpy() / CELL + 1e-3).astype(np.int64) - low  # values stand at a voxel's corner
        held = ((cells >= 0) & (cells < shape)).all(axis=1) & (weight > 0) & (distance > 0)
        out = np.full(shape, UNKNOWN, np.uint8)
        out[tuple(cells[held].T)] = FREE
        surface = np.floor(self.grid.extract_point_cloud(0.5).point.positions.numpy() / CELL).astype(np.int64) - low
        out[tuple(surface[((surface >= 0) & (surface < shape)).all(axis=1)].T)] = OCCUPIED
        return out


class Wavemap(Peer):
    """Reijgwart et al., RSS 2023: wavelet octrees, integrated coarse to fine."""

    package = "pywavemap"

    def __init__(self) -> None:
        import pywavemap

        self.wave = pywavemap
        self.map = pywavemap.Map.create({"type": "hashed_chunked_wavelet_octree", "min_cell_width": {"meters": CELL}})
        self.pipeline = pywavemap.Pipeline(self.map)
        size = {"width": MODEL.width, "height": MODEL.height}
        pinhole = {"fx": MODEL.fx, "fy": MODEL.fy, "cx": MODEL.cx - 0.5, "cy": MODEL.cy - 0.5}
        sigma = {"meters": CELL / 2.0}  # as its own configurations recommend
        measurement: dict[str, Any] = {"type": "continuous_ray", "range_sigma": sigma}
        measurement |= {"scaling_free": 0.2, "scaling_occupied": 0.4}
        reach = {"min_range": {"meters": 0.1}, "max_range": {"meters": REACH}}
        self.pipeline.add_integrator("camera", {
            "projection_model": {"type": "pinhole_camera_projector", **size, **pinhole},
            "measurement_model": measurement,
            "integration_method": {"type": "hashed_chunked_wavelet_integrator", **reach},
        })  # fmt: skip

    def integrate(self, view: CameraFrame) -> None:
        depth = np.where(np.isfinite(view.depth), view.depth, 10.0 * REACH).astype(np.float32)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = view.pose.rotation, view.pose.position
        posed = self.wave.PosedImage(self.wave.Pose(pose), self.wave.Image(depth.T))
        self.pipeline.run_pipeline(["camera"], posed)

    def classes(self, low: NDArray[np.int64], shape: tuple[int, int, int]) -> Classes:
        cells = np.floor(_middles(low, shape)).astype(np.int32)
        odds = np.asarray(self.map.get_cell_values(cells)).reshape(shape)
        return np.where(np.abs(odds) < 1e-6, UNKNOWN, np.where(odds > 0, OCCUPIED, FREE)).astype(np.uint8)


PEERS: tuple[type[Peer], ...] = (Ours, OctoMap, Open3D, Wavemap)


def _middles(low: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """Middles (n, 3) m of voxels."""
    cells = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray((cells + low + 0.5) * CELL, np.float64)


def _given(name: str) -> type[Peer]:
    """The class of --peer FILE.py:CLASS."""
    path, _, kind = name.rpartition(":")
    found = importlib.util.spec_from_file_location(Path(path).stem, path)
    if found is None or found.loader is None:
        raise SystemExit(f"--peer {name}: no Python file")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    made: type[Peer] = getattr(module, kind)
    return made


def _memory() -> int:
    """Resident bytes of this process, without what it has freed."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(name: str, count: int, pipe: Any) -> None:
    """Sends a peer's figures, or the words why there are none."""
    try:
        kind = _given(name) if ":" in name else next(peer for peer in PEERS if peer.__name__ == name)
        kind()
    except (ImportError, OSError) as error:
        return pipe.send(f"not measured: {error}")
    world = World()
    poses = flight(world, count * PERIOD, PERIOD)
    frames: list[Frame] = [[world.view(pose, camera, MODEL, REACH) for camera in CAMERAS] for pose in poses]
    warm = kind()
    for view in frames[0]:
        warm.integrate(view)
    before, spent, peer = _memory(), [], kind()
    for frame in frames:
        start = time.process_time()
        for view in frame:
            peer.integrate(view)
        spent.append((time.process_time() - start) * 1e3)
    grown = _memory() - before
    reference = VoxelMap()
    for frame in frames:
        reference.integrate_frame(frame, REACH)
    low, own = whole(reference)
    state = peer.classes(low, (int(own.shape[0]), int(own.shape[1]), int(own.shape[2])))
    figures = {"CPU ms a frame, median": float(np.median(spent)), "p95": float(np.percentile(spent, 95))}
    figures["memory MB"] = max(grown, 0) / 1e6
    figures |= compared(world, low, state, frames)
    figures["known voxels, against ours"] = float((state != UNKNOWN).sum() / (own != UNKNOWN).sum())
    try:
        version = importlib.metadata.version(kind.package)
    except importlib.metadata.PackageNotFoundError:
        version = "as built here"
    pipe.send({"name": kind.__name__, "version": version, "about": (kind.__doc__ or "").split("\n")[0]} | figures)
    return None


def main() -> None:
    """Measures every peer in a process of its own, and prints."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--frames", type=int, default=40, help="of four pictures 320x240 at 10 Hz; default 40")
    parser.add_argument("--peer", metavar="FILE.py:CLASS", action="append", default=[], help="another mapper")
    add_page(parser)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    rows: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    for name in [*(peer.__name__ for peer in PEERS), *options.peer]:
        ours, theirs = context.Pipe()
        process = context.Process(target=measure, args=(name, options.frames, theirs))
        process.start()
        theirs.close()
        try:
            told = ours.recv()
        except EOFError:
            told = "ended without a word"
        process.join()
        if isinstance(told, str):
            absent[name] = told
            print(f"{name}: {told}", flush=True)
            continue
        rows.append(told)
        print(json.dumps(told), flush=True)
    names = [key for key in rows[0] if key not in ("name", "version", "about")]
    ratio = "CPU against ours"
    header = ["mapper", "version", *names, ratio]
    first = rows[0][names[0]]
    table = Table(tuple(header), [(r["name"], r["version"], *(r[n] for n in names), r[names[0]] / first) for r in rows])
    print(json.dumps({"benchmark": "mapper_peers", "rows": rows, "absent": absent}))
    if options.page:
        about = (
            f"{options.frames} frames of four depth pictures 320x240 at 10 Hz, 10 m/s at 40 to 80 m over 2 km of hills "
            f"with 60 000 trees; voxels of {CELL:g} m, reach {REACH:g} m; each mapper at its own default or "
            "recommended update, in a process of its own. CPU is of the process with all its threads, memory what it "
            "grew by. Strict precision: occupied voxels that hold something solid; recall: voxels in which pixels of "
            "three frames end that are occupied; freed: voxels at least half solid that are free. Signed distances "
            "know only space near surfaces."
        )
        words = [f"{r['name']}: {r['about']}" for r in rows] + [f"{name}: {why}" for name, why in absent.items()]
        conditions = {f"mapper {n + 1}": word for n, word in enumerate(words)}
        write_page(__file__, "The map beside its peers", about, conditions, [table])


if __name__ == "__main__":
    main()
