"""Arrays of raw images as sensor_msgs/Image holds them, whatever driver or bag they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

COLOURS = {
    "rgb8": (3, (0, 1, 2)), "bgr8": (3, (2, 1, 0)), "rgba8": (4, (0, 1, 2)), "bgra8": (4, (2, 1, 0)),
    "mono8": (1, (0, 0, 0)),
}  # channels, and which of them are red, green and blue  # fmt: skip
DEPTHS = {"32FC1": (np.float32, 1.0), "16UC1": (np.uint16, 1e-3), "mono16": (np.uint16, 1e-3)}  # m of one (REP-118)


def colours_of(message: Any) -> NDArray[np.uint8]:
    """Returns red, green and blue, (H, W, 3); read-only where the message has them so. Raises ValueError."""
    channels, order = _form(message, COLOURS)
    pixels = _rows(message, np.uint8, channels)
    return pixels if order == (0, 1, 2) == tuple(range(channels)) else np.ascontiguousarray(pixels[..., list(order)])


def depth_of(message: Any) -> NDArray[np.float32]:
    """Returns depth along the axis (H, W), m; NaN where whole numbers say that nothing was measured, or are at
    their end. Raises ValueError."""
    kind, metres = _form(message, DEPTHS)
    numbers = _rows(message, kind, 1)[..., 0]
    if kind is np.float32:
        return numbers.astype(np.float32, copy=False)
    unknown = (numbers == 0) | (numbers == np.iinfo(kind).max)
    return np.where(unknown, np.float32(np.nan), numbers.astype(np.float32) * np.float32(metres))


def _form(message: Any, known: dict[str, Any]) -> Any:
    if message.encoding not in known:
        raise ValueError(f"encoding '{message.encoding}' is not read; known: {', '.join(known)}")
    return known[message.encoding]


def _rows(message: Any, kind: type, channels: int) -> NDArray[Any]:
    """Pixels (H, W, channels) of an image whose rows may be padded. Raises ValueError."""
    number = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    height, width = int(message.height), int(message.width)
    used = width * channels * number.itemsize
    step = int(message.step) or used
    data = np.frombuffer(message.data, np.uint8)
    if not height * width or step < used or data.size != height * step:
        raise ValueError(f"{data.size} bytes are no {message.encoding} image of {width}x{height} px")
    rows = data.reshape(height, step)
    if step > used:
        rows = np.ascontiguousarray(rows[:, :used])
    return rows.view(number).reshape(height, width, channels)
