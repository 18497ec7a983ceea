"""Sheets of every wilderness in every weather family by day, at dusk and at night, and of low beside high quality.

`python -m esar_ros.sim.contact_sheet` writes one JPEG a map, and two of the qualities.
The same camp stands in each image: tent, person, backpack, camp fire, a flare behind them.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.names import QUALITIES
from esar_ros.mission.weather import Weather
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World

WEATHERS = (
    Weather.CLEAR,
    Weather.HEAVY_RAIN,
    Weather.HEAVY_SNOW,
    Weather.FOG,
    Weather.SANDSTORM,
    Weather.DUST,
)  # one a family
_CELL = (480, 300)  # px of an image
_VIEW = math.radians(75.0)
_MAX_BYTES = 400_000
_CAMP = (
    ("tent", 0.0, 0.0),
    ("person_sitting", -5.0, 3.0),
    ("backpack", -4.0, -3.0),
    ("campfire", -8.0, 0.5),
    ("signal_flare", 6.0, -9.0),
)  # asset, m beyond and to the right of the camp's middle
_DAY = datetime(2024, 7, 20)  # a day before full moon
_NOW = 300.0  # s into the weather's flight


@dataclass(frozen=True)
class Viewpoint:
    """Position of the camp, and pose of the camera that looks at it."""

    camp: tuple[float, float]  # m, map frame
    heading: float  # rad, of the camera
    distance: float = 26.0  # m, level, to the camp
    height: float = 9.0  # m above the ground
    pitch_down: float = 0.20  # rad


VIEWPOINTS = {
    "aotai": Viewpoint((30.0, 10.0), 0.5),
    "lop_nur": Viewpoint((30.0, 10.0), 0.3),
    "k2": Viewpoint((116.0, -126.0), 3.93, 30.0, 14.0, 0.28),
    "dapeng": Viewpoint((-105.0, -565.0), -1.57, 32.0, 12.0, 0.28),
}

_DOWN = 1.45  # rad, nearly straight
PAIRS = {
    "quality_green": (
        ("aotai", Viewpoint((4.0, 3.0), 0.6, 4.0, 25.0, _DOWN)),
        ("aotai", Viewpoint((-118.0, -500.0), -1.2, 90.0, 20.0, 0.35)),
        ("aotai", Viewpoint((452.0, 178.0), 0.25, 26.0, 15.0, 0.45)),
        ("dapeng", Viewpoint((-105.0, -565.0), -1.3, 40.0, 30.0, 0.55)),
    ),
    "quality_bare": (
        ("lop_nur", Viewpoint((30.0, 10.0), 0.3, 26.0, 9.0, 0.25)),
        ("lop_nur", Viewpoint((-385.0, 886.0), 1.0, 4.0, 60.0, _DOWN)),
        ("k2", Viewpoint((116.0, -126.0), 3.93, 30.0, 14.0, 0.28)),
    ),
}  # by sheet: map, and where one looks from


def hours(place: PlaceMap) -> dict[str, datetime]:
    """Returns day, dusk and night by the sun's height there."""
    noon = Environment(local_time=_DAY + timedelta(hours=13))
    evening = [_DAY + timedelta(minutes=15 * k) for k in range(60, 95)]
    heights = [float(Environment(local_time=t).to_sun(place)[2]) for t in evening]
    dusk = evening[int(np.argmin(np.abs(np.array(heights) - 0.02)))]
    return {"day": noon.local_time, "dusk": dusk, "night": _DAY + timedelta(hours=25.5)}


def sheet(map_id: str) -> NDArray[np.uint8]:
    """Returns an RGB image: a column a weather, a row a time of day."""
    place = load_map(map_id)
    world, pose = _camp(place, VIEWPOINTS.get(map_id, Viewpoint((0.0, 0.0), 0.0)))
    renderer = Renderer(world, *_CELL, _VIEW)
    rows = []
    for name, when in hours(place).items():
        cells = []
        for weather in WEATHERS:
            world.environment = Environment(weather=weather, local_time=when, wind=np.array([3.0, 2.0, 0.0]))
            cells.append(_label(renderer.render([pose], _NOW).rgb[0], f"{map_id} {weather.value} {name}"))
        rows.append(np.hstack(cells))
    renderer.close()
    return np.vstack(rows)


def quality_sheet(name: str) -> NDArray[np.uint8]:
    """Returns an RGB image of one of PAIRS: a row a place, low quality on the left, high on the right."""
    rows = []
    for map_id, spot in PAIRS[name]:
        world, pose = _camp(load_map(map_id), spot)
        cells = []
        for quality in QUALITIES:
            renderer = Renderer(world, *_CELL, _VIEW, quality=quality)
            cells.append(_label(renderer.render([pose], _NOW).rgb[0], f"{map_id} {quality}, {spot.height:.0f} m up"))
            renderer.close()
        rows.append(np.hstack(cells))
    return np.vstack(rows)


def _camp(place: PlaceMap, spot: Viewpoint) -> tuple[World, Pose]:
    """Returns a world with the camp, and the pose of the camera that looks at it."""
    world = World(place, 0)
    ahead = np.array([math.cos(spot.heading), math.sin(spot.heading)])
    aside = np.array([ahead[1], -ahead[0]])
    camp = np.array(spot.camp)
    for asset, far, right in _CAMP:
        world.spawn(asset, asset, world.resting_pose(camp + far * ahead + right * aside, spot.heading + 2.0))
    xy = camp - spot.distance * ahead
    eye = np.array([*xy, float(world.ground_height(xy)) + spot.height])
    return world, Pose(eye, quaternion_from_rotation(optical_rotation(spot.heading, -spot.pitch_down)))


def write(image: NDArray[np.uint8], path: Path) -> None:
    """Writes an image as a JPEG of at most 400 kB."""
    for quality in range(90, 20, -6):
        done, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        if done and len(data) <= _MAX_BYTES:
            break
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.tobytes())


def _label(image: NDArray[np.uint8], words: str) -> NDArray[np.uint8]:
    out = np.ascontiguousarray(image)
    at, font = (8, out.shape[0] - 10), cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(out, words, (at[0] + 1, at[1] + 1), font, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
    cv2.putText(out, words, at, font, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return out


def main() -> None:
    """Writes the sheets."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="folder (default %(default)s)")
    parser.add_argument("--maps", default="", help="ids, separated by commas (default all, and the qualities)")
    arguments = parser.parse_args()
    if not arguments.maps:
        for name in PAIRS:
            write(quality_sheet(name), arguments.out / f"{name}.jpg")
            print(arguments.out / f"{name}.jpg")
    for map_id in [name for name in arguments.maps.split(",") if name] or shipped_maps():
        path = arguments.out / f"weather_{map_id}.jpg"
        write(sheet(map_id), path)
        print(path)


if __name__ == "__main__":
    main()
