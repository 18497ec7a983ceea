"""Time to fill an Image message: `python -m esar_ros.nodes.tools.image_check` prints ms for 640x480 colour.

Assigning an array to `data` goes through a check of every byte in Python, 50 to 130 ms; by the array's own buffer it
takes some hundredths of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.messages.image import image_message

REPEATS = 3


def fill_time(fill: Callable[..., Any] = image_message) -> float:
    """Least time of some (ms)."""
    image = np.zeros((480, 640, 3), dtype=np.uint8)
    took = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        fill(image, "rgb8", to_stamp(0), "camera")
        took.append(time.perf_counter() - began)
    return 1e3 * min(took)


if __name__ == "__main__":
    print(f"{fill_time():.3f}")
