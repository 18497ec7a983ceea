"""Points of a sensor_msgs/PointCloud2, by the names of its fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import PointField


def points_of(cloud: Any) -> NDArray[np.float32] | None:
    """Returns the points (N, 3) of a sensor_msgs/PointCloud2, m; None where it holds none that can be read."""
    offsets = {field.name: field.offset for field in cloud.fields if field.datatype == PointField.FLOAT32}
    whole = len(cloud.data) == cloud.point_step * cloud.width * cloud.height
    if cloud.is_bigendian or not whole or not cloud.point_step or not {"x", "y", "z"} <= set(offsets):
        return None
    if max(offsets[axis] for axis in "xyz") + 4 > cloud.point_step:
        return None
    kind = np.dtype(
        {"names": ["x", "y", "z"], "formats": ["<f4"] * 3, "offsets": [offsets[a] for a in "xyz"],
         "itemsize": cloud.point_step}
    )  # fmt: skip
    points = np.frombuffer(cloud.data, kind)
    return np.stack([points["x"], points["y"], points["z"]], axis=-1)
