"""Photographs of people drawn by the simulator, on a map whose elevation model is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyproj

from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Position
from esar_ros.incident.ground import Ground, utm_zone
from esar_ros.incident.looks import LookErrors, attitude
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.world import World
from helpers.photographs import photograph

ABOVE = 60.0  # m over the ground
SIZE, FILM = (1600, 1200), 24.0  # px; mm, as of 35 mm film
FOV = 2.0 * math.atan(SIZE[0] / 2.0 / (FILM / 43.267 * math.hypot(*SIZE)))
FACTS = np.zeros(7)  # no error: east, north, up, above home (m), yaw, pitch, roll (degrees)


@dataclass(frozen=True)
class Shot:
    """A photograph and the truth about it."""

    path: Path
    home: Position
    person: Position
    pixel: tuple[float, float]  # the middle of the person in it


def elevation_model(place: PlaceMap, cell: float = 5.0, sigma: float = 1.0) -> Ground:
    """Returns the map's heights as a survey would have them."""
    origin: Origin = place.origin
    crs = utm_zone(origin.latitude, origin.longitude)
    local = f"+proj=aeqd +lat_0={origin.latitude} +lon_0={origin.longitude} +datum=WGS84 +units=m"
    x, y = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(origin.longitude, origin.latitude)
    half = round(place.size / 2.0 / cell) - 4
    west, north = round(x) - half * cell, round(y) + half * cell
    side = np.arange(2 * half) + 0.5
    east, up = np.meshgrid(west + side * cell, north - side * cell)
    at = np.stack(pyproj.Transformer.from_crs(crs, local, always_xy=True).transform(east, up), axis=-1)
    return Ground(place.ground_height(at) + origin.altitude, west, north, cell, crs, sigma)


def shots(
    folder: Path, count: int, seed: int, errors: LookErrors | None = None, map_id: str = "lop_nur"
) -> Iterator[Shot]:
    """Yields photographs, each of one person who lies on open ground; what the camera tells is off by errors drawn."""
    place, random = load_map(map_id), np.random.default_rng(seed)
    world = World(place, seed)
    renderer = Renderer(world, *SIZE, FOV)
    scale = FACTS
    if errors is not None:
        moved = [errors.horizontal, errors.horizontal, errors.vertical, errors.above_home]
        scale = np.array([*moved, errors.yaw, errors.pitch, errors.roll])
    try:
        number = 0
        while number < count:
            shot = _shot(folder / f"DJI_{number:04d}.JPG", world, renderer, random, scale * random.normal(size=7))
            if shot is not None:
                number += 1
                yield shot
    finally:
        renderer.close()


def _shot(path: Path, world: World, renderer: Renderer, random: np.random.Generator, off: np.ndarray) -> Shot | None:
    """None where the person is hidden or outside the picture."""
    place: PlaceMap = world.place
    camera, home = random.uniform(-0.3, 0.3, 2) * place.size, random.uniform(-0.3, 0.3, 2) * place.size
    victim = camera + random.uniform(-25.0, 25.0, 2)
    yaw, pitch = random.uniform(0.0, 360.0), random.uniform(-90.0, -60.0)
    position = np.array([*camera, float(place.ground_height(camera)) + ABOVE])
    thing = world.spawn("person", "person_lying", world.resting_pose(victim, random.uniform(0.0, 6.28)))
    frame = renderer.render([Pose(position, quaternion_from_rotation(attitude(yaw, pitch, 0.0)))], 0.0)
    rows, columns = np.nonzero(frame.ids[0] == thing.id)
    world.destroy("person")
    if len(rows) < 8:
        return None
    latitude, longitude, altitude = place.origin.to_geodetic(position + off[:3])
    where = [place.origin.to_geodetic([*xy, float(place.ground_height(xy))]) for xy in (home, victim)]
    photograph(
        path, latitude, longitude, altitude=altitude, pixels=frame.rgb[0], film=FILM,
        RelativeAltitude=f"{position[2] - place.ground_height(home) + off[3]:+.3f}",
        GimbalYawDegree=f"{(yaw + off[4] + 180.0) % 360.0 - 180.0:+.2f}", GimbalPitchDegree=f"{pitch + off[5]:+.2f}",
        GimbalRollDegree=f"{off[6]:+.2f}",
    )  # fmt: skip
    return Shot(path, Position(*where[0]), Position(*where[1]), (columns.mean() + 0.5, rows.mean() + 0.5))
