"""Images as a browser takes them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """PNG of BGR or BGRA pixels (rows, columns, 3 or 4)."""
    return bytes(cv2.imencode(".png", np.ascontiguousarray(pixels))[1])


def encode_jpeg(pixels: NDArray[np.uint8], quality: int) -> bytes:
    """JPEG of BGR pixels (rows, columns, 3); quality 0..100."""
    return bytes(cv2.imencode(".jpg", np.ascontiguousarray(pixels), [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
