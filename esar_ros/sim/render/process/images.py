"""AirSim's image types out of one rendered view."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.sim.msgpack_wire import pack_floats
from esar_ros.sim.render.infrared import counts

NO_DEPTH = 65504.0  # m, what AirSim answers where nothing is in range (the largest half float)
DEPTH_VIS_RANGE = 100.0  # m, shown as white
STEREO_BASELINE = 0.25  # m, of the disparity image


class ImageType(IntEnum):
    """AirSim's numbers; THERMAL is this simulator's own: greys of a thermal camera."""

    SCENE = 0
    DEPTH_PLANAR = 1
    DEPTH_PERSPECTIVE = 2
    DEPTH_VIS = 3
    DISPARITY_NORMALIZED = 4
    SEGMENTATION = 5
    SURFACE_NORMALS = 6
    INFRARED = 7
    THERMAL = 100


SERVED = frozenset(ImageType)


@lru_cache(maxsize=1)
def segmentation_palette() -> NDArray[np.uint8]:
    """RGB of each segmentation id, (256, 3): bits of the id spread over the channels, as Pascal VOC's colour map."""
    ids = np.arange(256)
    palette = np.zeros((256, 3), dtype=np.uint8)
    for bit in range(8):
        for channel in range(3):
            palette[:, channel] |= (((ids >> channel) & 1) << (7 - bit)).astype(np.uint8)
        ids = ids >> 3
    return palette


def encode_image(
    kind: ImageType,
    as_float: bool,
    compress: bool,
    rgb: NDArray[np.uint8],
    depth: NDArray[np.float32],
    ids: NDArray[np.uint8],
    model: CameraModel,
    normals: NDArray[np.uint8] | None = None,
    celsius: NDArray[np.float32] | None = None,
) -> bytes:
    """Wire bytes of an image: a msgpack float array, or the raw contents of a bin (BGR, or PNG if compressed).

    rgb (H, W, 3); depth (H, W) planar m, +inf nothing; ids (H, W) segmentation ids. normals (H, W, 3) and
    celsius (H, W) are needed for their own kinds alone.
    """
    if kind is ImageType.SURFACE_NORMALS:
        if normals is None:
            raise ValueError("surface normals were not computed")
        rgb, kind = normals, ImageType.SCENE  # encoded as any colour image
    if kind is ImageType.THERMAL:
        kind = ImageType.SCENE  # the painter has put its greys in place of colours
    if kind is ImageType.INFRARED:
        if celsius is None:
            raise ValueError("temperatures were not computed")
        if as_float:
            return pack_floats(celsius)
        rgb, kind = np.repeat(counts(celsius)[..., None], 3, axis=2), ImageType.SCENE
    if as_float:
        return pack_floats(_floats(kind, rgb, depth, ids, model))
    image = np.ascontiguousarray(_image(kind, rgb, depth, ids, model))
    if compress:
        done, png = cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
        if not done:
            raise RuntimeError("the picture could not be compressed")
        return png.tobytes()
    return image.tobytes()


def _floats(kind: ImageType, rgb: Any, depth: Any, ids: Any, model: CameraModel) -> NDArray[np.float32]:
    if kind is ImageType.SEGMENTATION:
        return np.asarray(ids, dtype=np.float32)
    if kind is ImageType.SCENE:
        return np.asarray(rgb[..., 0], dtype=np.float32) / np.float32(255.0)  # AirSim gives the red channel
    if kind is ImageType.DEPTH_VIS:
        return np.minimum(depth / np.float32(DEPTH_VIS_RANGE), np.float32(1.0))
    if kind is ImageType.DISPARITY_NORMALIZED:
        return np.float32(STEREO_BASELINE * model.fx / model.width) / np.maximum(depth, np.float32(1e-3))
    metres = depth * _ray_lengths(model) if kind is ImageType.DEPTH_PERSPECTIVE else depth
    return np.minimum(metres, np.float32(NO_DEPTH))


def _image(kind: ImageType, rgb: Any, depth: Any, ids: Any, model: CameraModel) -> NDArray[np.uint8]:
    if kind is ImageType.SCENE:
        return np.asarray(rgb[..., ::-1])
    if kind is ImageType.SEGMENTATION:
        return segmentation_palette()[:, ::-1][ids]
    values = _floats(kind, rgb, depth, ids, model)
    if kind in (ImageType.DEPTH_VIS, ImageType.DISPARITY_NORMALIZED):
        values = values * np.float32(255.0)
    grey = np.clip(values, 0.0, 255.0).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


@lru_cache(maxsize=8)
def _ray_lengths(model: CameraModel) -> NDArray[np.float32]:
    """Metres along the ray per metre of planar depth, (H, W)."""
    return np.linalg.norm(model.rays(), axis=-1).astype(np.float32)
