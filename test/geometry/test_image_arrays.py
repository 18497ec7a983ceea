"""Raw images of all drivers as arrays: order of colours, units, byte order and rows that are padded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.image_arrays import colours_of, depth_of

RED = (250, 20, 10)


class Image(SimpleNamespace):
    """The fields of a sensor_msgs/Image."""

    is_bigendian = 0


def image(pixels: np.ndarray, encoding: str, padding: int = 0, **changed: Any) -> Image:
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1).view(np.uint8)
    data = np.pad(rows, ((0, 0), (0, padding)), constant_values=7)
    message = Image(height=pixels.shape[0], width=pixels.shape[1], encoding=encoding, step=data.shape[1])
    message.data = data.tobytes()
    for name, value in changed.items():
        setattr(message, name, value)
    return message


@pytest.mark.parametrize("padding", [0, 8])
@pytest.mark.parametrize("encoding", ["rgb8", "bgr8", "rgba8", "bgra8"])
def test_colours_come_in_the_order_of_red_green_and_blue(encoding: str, padding: int) -> None:
    stored = {"r": RED[0], "g": RED[1], "b": RED[2], "a": 255}
    pixels = np.tile(np.array([stored[one] for one in encoding[:-1]], np.uint8), (3, 5, 1))
    assert (colours_of(image(pixels, encoding, padding)) == RED).all()


def test_greys_are_three_times_the_same() -> None:
    grey = np.arange(15, dtype=np.uint8).reshape(3, 5)
    assert (colours_of(image(grey, "mono8")) == grey[..., None]).all()


@pytest.mark.parametrize(
    ("pixels", "encoding", "changed"),
    [
        (np.full((3, 5), 5.0, np.float32), "32FC1", {}),
        (np.full((3, 5), 5.0, ">f4"), "32FC1", {"is_bigendian": 1}),
        (np.full((3, 5), 5000, np.uint16), "16UC1", {}),
        (np.full((3, 5), 5000, ">u2"), "mono16", {"is_bigendian": 1}),
        (np.full((3, 5), 5.0, np.float32), "32FC1", {"step": 0}),
    ],
)
def test_depth_is_in_metres(pixels: np.ndarray, encoding: str, changed: dict[str, Any]) -> None:
    depth = depth_of(image(pixels, encoding, **changed))
    assert depth.dtype == np.float32 and depth.dtype.isnative
    np.testing.assert_array_equal(depth, np.full((3, 5), 5.0))


def test_numbers_at_either_end_are_no_measurements() -> None:
    depth = depth_of(image(np.array([[0, 1, 65534, 65535]], np.uint16), "16UC1"))
    np.testing.assert_array_equal(np.isnan(depth), [[True, False, False, True]])


@pytest.mark.parametrize("read", [colours_of, depth_of])
@pytest.mark.parametrize(
    "wrong", [{"encoding": "yuv422"}, {"height": 4}, {"width": 0}, {"width": 50}, {"data": b""}, {"encoding": ""}]
)
def test_what_is_no_such_image_is_refused(read: Any, wrong: dict[str, Any]) -> None:
    good = image(np.zeros((3, 5, 3), np.uint8), "rgb8") if read is colours_of else None
    message = good or image(np.zeros((3, 5), np.float32), "32FC1")
    for name, value in wrong.items():
        setattr(message, name, value)
    with pytest.raises(ValueError, match=r"is not read|are no"):
        read(message)
