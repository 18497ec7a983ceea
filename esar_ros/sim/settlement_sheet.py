"""Sheets of the settlements and of things that are looked for in them: `python -m esar_ros.sim.settlement_sheet`.

One image shows each settlement from above, from afar and from a vehicle's height; the other twelve households from 5,
15 and 30 m, as a camera of 512 px and 90 degrees has them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.map_files import settlement_maps
from esar_ros.sim.assets.households.catalogue import HOUSEHOLDS
from esar_ros.sim.assets.meshes import HOUSEHOLD, assets
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World

TWELVE = ("car", "truck", "bench", "bicycle", "slide", "piano", "wheelbarrow", "cow", "post_box", "statue", "tractor",
          "flower_pot")  # fmt: skip
DISTANCES = (5.0, 15.0, 30.0)  # m
_CELL = (300, 200)  # px of a view of a settlement
_CROP = 116  # px of a household's view
_LAWN = {"standin_park": (-66.0, 63.0)}  # an open spot, m
_MAX_BYTES = 195_000
# Of a vehicle's view: x, y (m), height above ground (m), yaw (rad).
_VIEWS = {
    "standin_farmyard": (-14.0, -24.0, 7.0, 0.9),
    "standin_lake_cabins": (80.0, -20.0, 9.0, 2.0),
    "standin_park": (62.0, -92.0, 8.0, 0.75),
    "standin_street": (1.0, -76.0, 7.0, 1.57),
}


def settlements() -> NDArray[np.uint8]:
    """RGB image: a row a settlement; from above, from its corner, from a vehicle's height."""
    rows = []
    for map_id in settlement_maps():
        world = World(load_map(map_id), 0)
        half = world.place.size / 2
        renderer = Renderer(world, *_CELL, math.radians(80.0))
        x, y, up, yaw = _VIEWS[map_id]
        views = (
            _camera(world, 0.0, 0.0, 1.0 * half, math.pi / 2, -math.pi / 2 + 1e-3),
            _camera(world, -0.7 * half, -0.8 * half, 45.0, 0.85, -0.38),
            _camera(world, x, y, up, yaw, -0.15),
        )
        rows.append(np.hstack([renderer.render([view], 0.0).rgb[0] for view in views]))
        renderer.close()
    return np.vstack(rows)


def households(names: Sequence[str]) -> NDArray[np.uint8]:
    """RGB image: six columns; each family's first make from all distances, one below the other."""
    ((map_id, spot),) = _LAWN.items()
    world = World(load_map(map_id), 0)
    renderer = Renderer(world, 512, 512, math.radians(90.0))
    columns = []
    for name in names:
        asset = f"{HOUSEHOLD}_{name}/{HOUSEHOLDS[name].makes[0].name}"
        thing = world.spawn("shown", asset, world.resting_pose(spot, -0.6))
        middle = thing.pose.position + [0.0, 0.0, assets()[asset].size[2] / 2]
        cells = []
        for distance in DISTANCES:
            pitch = -0.42
            ray = np.array([math.cos(pitch) * math.cos(0.4), math.cos(pitch) * math.sin(0.4), math.sin(pitch)])
            reach = distance + math.hypot(*asset_size(asset)) / 2
            pose = Pose(middle - reach * ray, quaternion_from_rotation(optical_rotation(0.4, pitch)))
            image, half = renderer.render([pose], 0.0).rgb[0], _CROP // 2
            wide = max(half, min(256, round(256 * 0.62 * max(asset_size(asset)) / reach)))
            crop = image[256 - wide : 256 + wide, 256 - wide : 256 + wide]
            cells.append(cv2.resize(crop, (_CROP, _CROP), interpolation=cv2.INTER_AREA))
        world.destroy("shown")
        column = np.ascontiguousarray(np.vstack(cells))
        cv2.putText(column, name, (3, 11), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (0, 0, 0), 2, cv2.LINE_AA)
        cv2.putText(column, name, (3, 11), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (255, 255, 255), 1, cv2.LINE_AA)
        columns.append(column)
    renderer.close()
    return np.vstack([np.hstack(columns[k : k + 6]) for k in range(0, len(columns), 6)])


def asset_size(name: str) -> tuple[float, float]:
    """Length and height of an asset, m."""
    length, width, height = assets()[name].size
    return max(length, width), height


def _camera(world: World, x: float, y: float, up: float, yaw: float, pitch: float) -> Pose:
    """A camera at a height above ground."""
    eye = np.array([x, y, float(world.ground_height((x, y))) + up])
    return Pose(eye, quaternion_from_rotation(optical_rotation(yaw, pitch)))


def _write(image: NDArray[np.uint8], path: Path) -> None:
    """As JPEG of at most 195 kB."""
    for quality in range(90, 30, -5):
        done, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        if done and len(data) <= _MAX_BYTES:
            break
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.tobytes())
    print(path)


def main() -> None:
    """Write the sheets."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="folder (default %(default)s)")
    parser.add_argument("--households", help="families with commas, in place of the twelve; this sheet alone")
    arguments = parser.parse_args()
    if arguments.households is None:
        _write(settlements(), arguments.out / "settlements.jpg")
    names = TWELVE if arguments.households is None else arguments.households.split(",")
    _write(households(names), arguments.out / "households.jpg")


if __name__ == "__main__":
    main()
