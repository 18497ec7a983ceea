"""Colour and depth images fused into one coloured surface: a truncated signed distance field in sparse voxel blocks.

Curless and Levoy, A volumetric method for building complex models from range images, 1996, as Open3D's tensor
`VoxelBlockGrid` has it (Dong et al., ASH: a modern framework for parallel spatial hashing, 2021), on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import checked_depth, checked_pose
from esar_ros.mission.errors import UsageError, install

EDGE = 8  # voxels of a block's edge: of 16, half the blocks' memory would be air
MOST_BLOCKS = 100_000  # 1 GB; with the mesh that is made of them some 3 GB
TRUNCATION = (
    6.0  # voxels before and behind a surface that an image writes to: fewer leave stripes on ground seen aslant
)
LEAST_WEIGHT = 2.0  # images that must have shown a voxel: what one alone shows is mostly an edge's streak
STRIDE = 4  # px between those by which Open3D finds the blocks that an image shows
REACH = 2.5  # median depths of an image's pixels, beyond which depth is left out
OFF_GRID = np.array([0.37, 0.41, 0.43])  # voxels; marching cubes finds no surface that lies on the corners themselves
_ATTRIBUTES = ("tsdf", "weight", "color")


@dataclass(frozen=True)
class Cloud:
    """Points of a surface. Metres, map frame; colours as in the images (sRGB)."""

    points: NDArray[np.float64]  # (N, 3)
    normals: NDArray[np.float32]  # (N, 3), unit, towards where it was seen from
    colours: NDArray[np.uint8]  # (N, 3)


@dataclass(frozen=True)
class Mesh(Cloud):
    """Triangles of a surface, whose corners are its points; seen from outside they turn anticlockwise."""

    triangles: NDArray[np.uint32]  # (M, 3), rows of points


class GridFullError(Exception):
    """The voxels are too small for the memory that they may take."""


def load_open3d() -> Any:
    """Returns Open3D's module. Raises UsageError where it is absent or lacks a library of the system."""
    try:
        import open3d
    except ModuleNotFoundError as error:
        what = f"a surface is fused by Open3D, and {error.name} is not installed"
        raise UsageError(what, install("open3d")) from None
    except (ImportError, OSError) as error:  # the module is there, a shared library is not
        raise UsageError(f"Open3D cannot be loaded: {error}", "sudo apt-get install -y libusb-1.0-0 libgl1") from None
    open3d.utility.set_verbosity_level(open3d.utility.VerbosityLevel.Error)
    return open3d


class SurfaceGrid:
    """A sparse grid of voxels into which images are fused, around where the first was taken: it counts in float32."""

    def __init__(self, voxel: float, reach: float, most_blocks: int = MOST_BLOCKS) -> None:
        """voxel: edge of a voxel, m. reach: planar depth (m) beyond which an image says nothing. Raises UsageError."""
        self.voxel, self.reach = voxel, reach
        self._most = most_blocks
        self._origin: NDArray[np.float64] | None = None  # of the grid, m, map frame
        self._open3d = load_open3d()
        core = self._open3d.core
        self._grid = self._open3d.t.geometry.VoxelBlockGrid(
            _ATTRIBUTES, (core.float32,) * 3, ((1), (1), (3)), voxel, EDGE, most_blocks, core.Device("CPU:0")
        )

    def integrate(self, view: CameraFrame) -> bool:
        """Fuses an image with its colours; returns whether it shows anything within reach.

        Raises MapInputError, and GridFullError where no room is left for what it shows.
        """
        depth, rgb = checked_depth(view), view.rgb
        if rgb.shape != (*depth.shape, 3) or rgb.dtype != np.uint8:
            raise MapInputError(f"colours of shape {rgb.shape} and type {rgb.dtype} for depth of shape {depth.shape}")
        _, position = checked_pose(view.pose)
        near = np.where((depth > 0.0) & (depth < self.reach), depth, np.float32(0.0))  # NaN and inf are neither
        near[_torn(near, TRUNCATION * self.voxel)] = 0.0
        if not near[::STRIDE, ::STRIDE].any():
            return False
        if self._origin is None:
            self._origin = position - OFF_GRID * self.voxel
        pose = Pose(position - self._origin, view.pose.quaternion)
        core, image = self._open3d.core, self._open3d.t.geometry.Image
        planar, colours = image(core.Tensor(near)), image(core.Tensor(rgb.astype(np.float32) / np.float32(255.0)))
        intrinsic, extrinsic = core.Tensor(view.model.matrix), core.Tensor(pose.inverse().matrix)
        limits = (1.0, self.reach, TRUNCATION)
        blocks = self._grid.compute_unique_block_coordinates(planar, intrinsic, extrinsic, *limits)
        table = self._grid.hashmap()
        known = int(table.find(blocks)[1].numpy().sum()) if table.size() else 0
        if table.size() + len(blocks) - known > self._most:
            raise GridFullError
        self._grid.integrate(blocks, planar, colours, intrinsic, intrinsic, extrinsic, *limits)
        return True

    @property
    def size(self) -> int:
        """Returns how many blocks are in use."""
        return int(self._grid.hashmap().size())

    def cloud(self) -> Cloud:
        """Returns the points where the surface crosses the voxels' edges; none where nothing was seen often enough."""
        return self._cloud(self._grid.extract_point_cloud(LEAST_WEIGHT).point if self.size else {})

    def mesh(self) -> Mesh:
        """Returns the surface as triangles (marching cubes); none where nothing was seen often enough."""
        if not self.size:
            return Mesh(**vars(self._cloud({})), triangles=np.empty((0, 3), np.uint32))
        found = self._grid.extract_triangle_mesh(LEAST_WEIGHT)
        corners = self._cloud(found.vertex)
        triangles = found.triangle["indices"].numpy() if len(corners.points) else np.empty((0, 3))
        return Mesh(**vars(corners), triangles=triangles.astype(np.uint32))

    def _cloud(self, found: Any) -> Cloud:
        """Points from Open3D's attributes, which are absent where there are none."""
        if "positions" not in found or self._origin is None:
            nothing = np.empty((0, 3))
            return Cloud(nothing, nothing.astype(np.float32), nothing.astype(np.uint8))
        colours = np.rint(255.0 * found["colors"].numpy()).clip(0, 255).astype(np.uint8)
        return Cloud(found["positions"].numpy() + self._origin, found["normals"].numpy(), colours)


def _torn(depth: NDArray[np.float32], step: float) -> NDArray[np.bool_]:
    """Pixels (H, W) farther than a step (m) from both neighbours of their row, or both of their column.

    Of ground seen at a grazing angle they make one stripe each, with nothing between them; the edge of a thing has a
    neighbour on the thing.
    """
    torn = np.zeros(depth.shape, bool)
    for lines, out in ((depth, torn), (depth.T, torn.T)):
        apart = np.abs(np.diff(lines, axis=0)) > step
        out[1:-1] |= apart[1:] & apart[:-1]
    return torn
