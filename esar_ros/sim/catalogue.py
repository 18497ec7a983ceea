"""The catalogue of assets: a table for those who place things, and a contact sheet for those who look at them.

`python -m esar_ros.sim.catalogue` prints the table; with `--out FILE` it draws the sheet through the renderer.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.sim.assets.meshes import Asset, assets
from esar_ros.sim.terrain.maps import load_map

_CELL = 128  # px, an image's side
_LABEL = 26  # px below it
_QUALITY = 76  # of a JPEG
_VIEW = math.radians(32.0)  # field of view: as a long lens, so that shapes are not bent
_PITCH = math.radians(-33.0)
_YAW, _TURN = 2.2, -0.15  # rad, of the camera's view and of the thing: its front and its right side are seen


@dataclass(frozen=True)
class Entry:
    """One variant of an asset."""

    asset: str  # "tent/dome_red"
    kind: str  # a clue kind, "person", "distractor", "structure" or "household"
    family: str  # the name without the variant: "tent", "person_lying", "distractor_goat"
    variant: str
    description: str  # "red dome tent", as a witness would say
    colour: str
    size: tuple[float, float, float]  # length, width, height above the ground, m
    held_out: bool  # not for a detector's training set
    lit: bool  # gives light or smoke
    triangles: int


@cache
def catalogue() -> tuple[Entry, ...]:
    """Every variant once, in the order of the tables."""
    return tuple(_entry(name, asset) for name, asset in assets().items() if "/" in name)


def variants(family: str, held_out: bool | None = None) -> tuple[Entry, ...]:
    """A family's entries: all, or only those (not) held out. Raises UsageError for an unknown family."""
    found = tuple(e for e in catalogue() if e.family == family and held_out in (None, e.held_out))
    if not found and family not in assets():
        raise UsageError(f"unknown asset family '{family}'", suggest(family, sorted({e.family for e in catalogue()})))
    return found


def _entry(name: str, asset: Asset) -> Entry:
    variant = asset.variant
    size = tuple(round(side, 2) for side in asset.size)
    return Entry(
        name,
        asset.kind,
        asset.family,
        variant.name,
        variant.description,
        variant.colour,
        (size[0], size[1], size[2]),
        variant.held_out,
        bool(asset.emitters),
        len(asset.mesh.triangles),
    )


def families() -> tuple[str, ...]:
    """Every family: clues, then people, then the rest."""
    return tuple(dict.fromkeys(entry.family for entry in catalogue()))


def contact_sheet(
    names: Sequence[str], columns: int, map_id: str = "aotai", at: tuple[float, float] | None = None
) -> NDArray[np.uint8]:
    """Each asset on the ground of a map by its name, close up: RGB (rows * cell, columns * cell, 3).

    Raises UsageError where there is no OpenGL or an asset is unknown.
    """
    from esar_ros.sim.render.renderer import Renderer  # graphics only when something is drawn
    from esar_ros.sim.world.world import World

    world = World(load_map(map_id), 0)
    spot = np.array(at if at is not None else (-14.0, 6.0))
    renderer = Renderer(world, 2 * _CELL, 2 * _CELL, _VIEW)
    rows = math.ceil(len(names) / columns)
    sheet = np.full((rows * (_CELL + _LABEL), columns * _CELL, 3), 255, dtype=np.uint8)
    try:
        for index, name in enumerate(names):
            thing = world.spawn("shown", name, world.resting_pose(spot, _TURN))
            drawn = renderer.render([_close_up(thing.asset, thing.pose)], 0.0).rgb[0]
            world.destroy("shown")
            row, column = divmod(index, columns)
            top, left = row * (_CELL + _LABEL), column * _CELL
            small = cv2.resize(drawn, (_CELL, _CELL), interpolation=cv2.INTER_AREA)
            sheet[top : top + _CELL, left : left + _CELL] = small
            for line, text in enumerate(name.split("/")):
                place = (left + 3, top + _CELL + 10 + 11 * line)
                cv2.putText(sheet, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.34, (0, 0, 0), 1, cv2.LINE_AA)
    finally:
        renderer.close()
    return sheet


def _close_up(asset: Asset, pose: Pose) -> Pose:
    """Camera from the south-east, a little above, that has the asset in its middle."""
    low, high = asset.mesh.bounds
    low[2] = max(low[2], 0.0)
    middle = pose.apply((low + high).astype(np.float64) / 2.0)
    reach = 0.5 * float(np.linalg.norm(high - low))
    away = max(1.05 * reach / math.tan(_VIEW / 2.0), 0.6)
    ray = np.array([math.cos(_YAW) * math.cos(_PITCH), math.sin(_YAW) * math.cos(_PITCH), math.sin(_PITCH)])
    return Pose(middle - away * ray, quaternion_from_rotation(optical_rotation(_YAW, _PITCH)))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns its exit code."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, prog="python -m esar_ros.sim.catalogue", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, help="draw the contact sheet into this PNG or JPEG file")
    parser.add_argument("--families", help="only these, e.g. tent,person_lying; default: all")
    parser.add_argument("--per-family", type=int, default=8, help="most pictures of a family (default 8)")
    parser.add_argument("--map", default="aotai", help="on whose ground (default aotai)")
    chosen = parser.parse_args(arguments)
    wanted = chosen.families.split(",") if chosen.families else list(families())
    try:
        rows = [variants(family) for family in wanted]
        if chosen.out is None:
            _print(rows)
            return 0
        names = [name for row in rows for name in _spread([e.asset for e in row], chosen.per_family)]
        image = contact_sheet(names, chosen.per_family * 2 if len(rows) > 4 else chosen.per_family, chosen.map)
    except UsageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    if not cv2.imwrite(str(chosen.out), cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]):
        print(f"{parser.prog}: cannot write {chosen.out}", file=sys.stderr)
        return 2
    return 0


def _spread(names: list[str], count: int) -> list[str]:
    """Returns at most `count` of the names, evenly spaced from first to last."""
    if len(names) <= count:
        return names
    return [names[round(k * (len(names) - 1) / (count - 1))] for k in range(count)] if count > 1 else names[:1]


def _print(rows: list[tuple[Entry, ...]]) -> None:
    print(f"{'asset':<42} {'description':<62} {'size, m':<18} {'held out':<9} triangles")
    for entry in (entry for row in rows for entry in row):
        size = " x ".join(f"{side:g}" for side in asdict(entry)["size"])
        print(f"{entry.asset:<42} {entry.description:<62} {size:<18} {'yes' * entry.held_out:<9} {entry.triangles}")


if __name__ == "__main__":
    sys.exit(main())
