"""Arrays as Image messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import Image


def image_message(data: Any, encoding: str, stamp: Time, frame_id: str) -> Image:
    """An array (H, W) or (H, W, channels) in an encoding of sensor_msgs."""
    contiguous = np.ascontiguousarray(data)
    message = Image(
        height=int(contiguous.shape[0]),
        width=int(contiguous.shape[1]),
        encoding=encoding,
        step=int(contiguous.strides[0]),
    )
    # frombytes on the message's own array is the one fill that neither checks nor copies twice.
    message.data.frombytes(contiguous.data.cast("B"))
    message.header.stamp, message.header.frame_id = stamp, frame_id
    return message
