"""A place's tiles on the GPU: their colours for good, their light for the sun, which of them lies where."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import cv2
import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.kept_arrays import Arrays, kept_arrays, kept_path
from esar_ros.sim.render.graphics import Unit, program, variants
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.shaders import common
from esar_ros.sim.render.tiles import ground_shaders
from esar_ros.sim.render.tiles.debris import with_debris
from esar_ros.sim.render.tiles.fields import SIDE
from esar_ros.sim.render.tiles.kinds import tile_kinds
from esar_ros.sim.render.tiles.light import FROZEN, shine
from esar_ros.sim.render.tiles.macro_colour import with_macro_colour
from esar_ros.sim.render.tiles.shore import with_shore
from esar_ros.sim.render.tiles.store import load_tile
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief import surface_normals

TURN = math.atan2(3.0, 4.0)  # rad, of the tiles in the map: their seams run along no grid of the ground


class GroundTiles:
    """Tiles of one place.

    `albedo` (size, size, 4): the bake's colours with wide differences over them; the ground's normal's z.
    """

    def __init__(self, context: moderngl.Context, place: PlaceMap, bake: GroundBake) -> None:
        self._names, kinds, colours = painted_ground(place, bake)
        normals = surface_normals(place.heights, place.cell)
        up = cv2.resize(normals[..., 2], (bake.size, bake.size), interpolation=cv2.INTER_LINEAR)
        slope = np.clip(255.0 * up + 0.5, 0, 255).astype(np.uint8)
        self.albedo = np.dstack([colours, slope])
        self.steep = bool((normals[..., 2] < ground_shaders.WALL).any())
        tiles = [load_tile(name) for name in self._names]
        self._heights = [tile.height for tile in tiles]
        self._images = np.zeros((len(tiles), SIDE, SIDE, 4), dtype=np.uint8)
        for image, tile in zip(self._images, tiles, strict=True):
            image[..., :3] = tile.colour
        self._texture = context.texture_array((SIDE, SIDE, len(tiles)), 4)
        self._texture.repeat_x = self._texture.repeat_y = True
        self._kinds = context.texture((bake.size, bake.size), 1, np.ascontiguousarray(kinds).tobytes(), alignment=1)
        self._kinds.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._kinds.repeat_x = self._kinds.repeat_y = False

    def shine(self, to_sun: Vector) -> None:
        """Renew the light for a direction of the sun."""
        for image, name, height in zip(self._images, self._names, self._heights, strict=True):
            image[..., 3] = shine(name, height, to_sun, TURN)
        self._texture.write(self._images.tobytes())
        self._texture.build_mipmaps()
        self._texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)

    def programs(
        self, context: moderngl.Context, *names: str, **samplers: int
    ) -> tuple[tuple[moderngl.Program, ...], ...]:
        """Programs of near ground, of far ground, and of near ground for low cameras; each without and with lamps.

        names: defined in all.
        """
        names += ("WALLS",) if self.steep else ()
        samplers |= {"tiles": Unit.GROUND_TILES, "kind": Unit.KINDS}
        vertex = common.TERRAIN_VERTEX
        far = variants(context, vertex, ground_shaders.TILED_FAR_FRAGMENT, *names, **samplers)
        samplers["shadow_map"] = Unit.SHADOW
        near, close = (
            variants(context, vertex, ground_shaders.TILED_NEAR_FRAGMENT, *names, *grain, **samplers)
            for grain in ((), ("GRAIN",))
        )
        for made in (*near, *far, *close):
            if self.steep:
                made["walls"] = float(len(self._names) - 1)
                made["frozen"] = float(sum(name in FROZEN for name in self._names))
        return near, far, close

    def far_program(self, context: moderngl.Context, *names: str, **samplers: int) -> moderngl.Program:
        """Program of what lies beyond the map; names: defined in it."""
        fragment = common.defined(ground_shaders.TILED_APRON_FRAGMENT, *names)
        made = program(context, common.APRON_VERTEX, fragment, tiles=Unit.GROUND_TILES, **samplers)
        wanted = ("snow", "litter", "turf", "gravel")
        made["around"] = float(next((self._names.index(name) for name in wanted if name in self._names), 0))
        return made

    def use(self) -> None:
        """Bind the textures to their units."""
        self._texture.use(Unit.GROUND_TILES)
        self._kinds.use(Unit.KINDS)


def painted_ground(place: PlaceMap, bake: GroundBake) -> tuple[list[str], NDArray[np.uint8], NDArray[np.uint8]]:
    """Returns the names of a place's tiles, their numbers (size, size) and colours (size, size, 3); from the cache."""
    kept = kept_arrays(_path(place, bake), lambda: _paint(place, bake), smaller=False)
    return kept["names"].tolist(), kept["kinds"], kept["colours"]


def _paint(place: PlaceMap, bake: GroundBake) -> Arrays:
    """Returns what `painted_ground` keeps: `names`, `kinds` and `colours`."""
    names, kinds = tile_kinds(place, bake)
    colours = with_macro_colour(place, bake.albedo, names, kinds)
    if set(names) >= {"snow", "blocks"}:
        colours, kinds = with_debris(place, colours, names, kinds)
    if place.water_level is not None:
        colours = with_shore(place, colours)
    return {"names": np.array(names), "kinds": kinds, "colours": colours}


def _path(place: PlaceMap, bake: GroundBake) -> Path:
    """The file of what is painted, by all that it is painted from."""
    given = hashlib.sha256(
        f"{place.size} {place.cell} {place.water_level} {place.horizon} {place.track_width}".encode()
    )
    for part in (place.heights, place.land_cover, bake.albedo, bake.surface, *place.tracks.values()):
        given.update(np.ascontiguousarray(part).data)
    here = Path(__file__).parent
    terrain = here.parents[1] / "terrain"
    makers = here, terrain / "land_cover.py", terrain / "relief.py"
    return kept_path("grounds", place.id, makers, given.hexdigest())
