"""Pictures: what the official client decodes, and what the renderer saw."""

from __future__ import annotations

import io
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.suites.rescuebench.protocol_server.clocks import PausedClock
from esar_ros.suites.rescuebench.protocol_server.commands import Commands
from esar_ros.suites.rescuebench.protocol_server.pictures import SKY, encoded, palette_colour

WIDTH, HEIGHT = 96, 64


@pytest.fixture(scope="module")
def door() -> Iterator[Commands]:
    """Open ground with the victim 4 m ahead."""
    commands = Commands("FlexibleRoom", WIDTH, HEIGHT, PausedClock(0.2))
    yield commands
    commands.close()


def image(door: Commands, kind: str, how: str = "bmp") -> NDArray[np.uint8]:
    data = door.answer(f"vget /camera/1/{kind} {how}")
    return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))


def test_all_formats_hold_the_same_picture_and_none_is_text(door: Commands) -> None:
    bmp, png = image(door, "lit"), image(door, "lit", "png")
    npy = np.load(io.BytesIO(door.answer("vget /camera/1/lit npy")))
    assert bmp.shape == (HEIGHT, WIDTH, 4) and bmp.std() > 5.0
    assert np.array_equal(bmp, png) and np.array_equal(bmp, npy)
    for how in ("bmp", "png", "npy"):
        with pytest.raises(UnicodeDecodeError):
            door.answer(f"vget /camera/1/lit {how}").decode()


@pytest.mark.parametrize("how", ["bmp", "png", "npy"])
def test_a_black_picture_is_no_text(how: str) -> None:
    black = np.zeros((4, 4, 4), dtype=np.uint8)
    black[..., 3] = 255
    with pytest.raises(UnicodeDecodeError):
        encoded(black, how).decode()


def test_depth_is_centimetres_along_the_axis(door: Commands) -> None:
    depth = np.load(io.BytesIO(door.answer("vget /camera/1/depth npy")))
    assert depth.shape == (HEIGHT, WIDTH) and depth.dtype == np.float32
    assert depth[0].max() == np.float32(SKY)
    focal = WIDTH / 2 / np.tan(np.radians(55.0))
    below = (HEIGHT - 0.5 - HEIGHT / 2) / focal
    assert depth[-1, WIDTH // 8] == pytest.approx(160.0 / below, rel=0.05), "the ground, 1.6 m below the eye"
    assert door.answer("vget /camera/1/depth bmp").startswith(b"error no format 'bmp'")


def test_a_mask_shows_the_colour_that_was_set(door: Commands) -> None:
    name = "BP_Enemy_Character_C_1"
    red, green, blue = (
        int(part.split("=")[1]) for part in door.answer(f"vget /object/{name}/color").decode()[1:-1].split(",")[:3]
    )
    assert (image(door, "object_mask")[..., :3] == (blue, green, red)).all(axis=2).sum() > 10
    assert door.answer(f"vset /object/{name}/color 200 100 50") == b"ok"
    assert door.answer(f"vget /object/{name}/color") == b"(R=200,G=100,B=50,A=255)"
    mask = image(door, "object_mask")
    assert (mask[..., :3] == (50, 100, 200)).all(axis=2).sum() > 10
    assert (mask[..., 3] == 255).all()


def test_colours_of_instances_differ() -> None:
    assert len({palette_colour(instance) for instance in range(1, 255)}) == 254


def test_a_narrower_view_shows_the_victim_larger(door: Commands) -> None:
    blue, green, red = 50, 100, 200
    assert door.answer("vset /object/BP_Enemy_Character_C_1/location 800 0 90") == b"ok"
    wide = (image(door, "object_mask")[..., :3] == (blue, green, red)).all(axis=2).sum()
    assert door.answer("vset /camera/1/fov 60") == b"ok"
    narrow = (image(door, "object_mask")[..., :3] == (blue, green, red)).all(axis=2).sum()
    assert narrow > 2 * wide
    assert door.answer("vset /camera/1/fov 110") == b"ok"
    assert door.answer("vset /camera/1/fov 180").startswith(b"error a field of view")


def test_a_picture_is_drawn_anew_when_something_moved(door: Commands) -> None:
    before = door.answer("vget /camera/1/lit bmp")
    assert door.answer("vget /camera/1/lit bmp") == before
    assert door.answer("vset /object/BP_Enemy_Character_C_1/location 300 100 90") == b"ok"
    assert door.answer("vget /camera/1/lit bmp") != before
