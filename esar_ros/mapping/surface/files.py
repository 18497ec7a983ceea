"""A surface as files that other programs read: points as PLY, triangles as binary glTF 2.0 (GLB)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.geodesy import Origin
from esar_ros.mapping.surface.fusion import Cloud, Mesh

DATUM = "WGS 84, altitude above mean sea level"
_POINT = np.dtype([
    *((axis, "<f8") for axis in "xyz"), *((f"n{axis}", "<f4") for axis in "xyz"),
    *((colour, "u1") for colour in ("red", "green", "blue")),
])  # fmt: skip
_PLY = {"<f8": "double", "<f4": "float", "|u1": "uchar"}
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # east, north, up to glTF's x, y (up), z: south
_FLOAT, _UINT, _USHORT = 5126, 5125, 5123  # glTF's componentType
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963


def ply_bytes(cloud: Cloud, frame: str, origin: Origin | None = None) -> bytes:
    """Returns a binary PLY of points with normals and sRGB colours, in m; of the map x is east, y north, z up.

    frame: name of the frame, which a comment states. origin: geodetic place of its (0, 0, 0), stated too where known.
    """
    comments = [f"frame {frame.encode('unicode_escape').decode()}, metres, z up"]  # a header is lines of ASCII
    if origin is not None:
        comments.append(f"origin {origin.latitude!r} {origin.longitude!r} {origin.altitude!r}: degrees, m; {DATUM}")
    header = ["ply", "format binary_little_endian 1.0", *(f"comment {text}" for text in comments)]
    header += [f"element vertex {len(cloud.points)}"]
    header += [f"property {_PLY[_POINT[name].str]} {name}" for name in _POINT.names or ()] + ["end_header", ""]
    rows = np.empty(len(cloud.points), _POINT)
    for k, axis in enumerate("xyz"):
        rows[axis], rows[f"n{axis}"] = cloud.points[:, k], cloud.normals[:, k]
        rows[("red", "green", "blue")[k]] = cloud.colours[:, k]
    return "\n".join(header).encode("ascii") + rows.tobytes()


def glb_bytes(mesh: Mesh, frame: str, generator: str, origin: Origin | None = None) -> bytes:
    """Returns binary glTF 2.0 of triangles with colours. Its axes are glTF's: x east, y up, z south, m.

    Colours are linear, as COLOR_0 is by the specification, and shown unlit (KHR_materials_unlit): the light of the
    place is in the images already. The node's `extras` state frame and origin. Positions are float32 about the node's
    translation, so that millimetres survive far from the frame's origin. A mesh without triangles makes a scene
    without a node.
    """
    used = np.zeros(len(mesh.points), bool)
    used[mesh.triangles] = True
    rows = np.cumsum(used, dtype=np.uint32) - np.uint32(1)
    points = mesh.points[used] @ _UP.T
    centre = np.round(points.mean(axis=0)) if len(points) else np.zeros(3)
    parts: list[tuple[str, NDArray[Any], int, str, bool]] = [
        ("POSITION", (points - centre).astype("<f4"), _FLOAT, "VEC3", False),
        ("NORMAL", (mesh.normals[used] @ _UP.T).astype("<f4"), _FLOAT, "VEC3", False),
        ("COLOR_0", _linear(mesh.colours[used]), _USHORT, "VEC4", True),
        ("", rows[mesh.triangles].ravel().astype("<u4"), _UINT, "SCALAR", False),
    ]
    document: dict[str, Any] = {"asset": {"version": "2.0", "generator": generator}, "scene": 0, "scenes": [{}]}
    if not len(points):
        return _glb(document, b"")
    views: list[dict[str, Any]] = []
    accessors: list[dict[str, Any]] = []
    at = 0
    for name, values, component, kind, normalised in parts:
        target = _ARRAY_BUFFER if name else _ELEMENT_BUFFER
        views.append({"buffer": 0, "byteOffset": at, "byteLength": values.nbytes, "target": target})
        accessor = {"bufferView": len(accessors), "componentType": component, "count": len(values), "type": kind}
        if normalised:
            accessor["normalized"] = True
        if name == "POSITION":
            accessor |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        accessors.append(accessor)
        at += values.nbytes
    attributes = {name: k for k, (name, *_) in enumerate(parts) if name}
    unlit = {"extensions": {"KHR_materials_unlit": {}}, "doubleSided": True}
    unlit["pbrMetallicRoughness"] = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
    document |= {
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": frame, "translation": centre.tolist(), "extras": _extras(frame, origin)}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": len(parts) - 1, "material": 0}]}],
        "materials": [unlit],
        "extensionsUsed": ["KHR_materials_unlit"],
        "buffers": [{"byteLength": at}],
        "bufferViews": views,
        "accessors": accessors,
    }
    return _glb(document, b"".join(values.tobytes() for _, values, *_ in parts))


def _extras(frame: str, origin: Origin | None) -> Mapping[str, Any]:
    extras: dict[str, Any] = {"frame": frame, "axes": "x east, y up, z south of the frame's east, north, up"}
    if origin is not None:
        place = {"latitude": origin.latitude, "longitude": origin.longitude, "altitude": origin.altitude}
        extras["origin"] = {**place, "datum": DATUM}
    return extras


def _linear(colours: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """sRGB (N, 3) as linear colours with alpha (N, 4), of full scale (IEC 61966-2-1)."""
    share = np.arange(256) / 255.0
    curve = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    out = np.full((len(colours), 4), 65535, "<u2")
    out[:, :3] = np.rint(65535.0 * curve).astype("<u2")[colours]
    return out


def _glb(document: Mapping[str, Any], binary: bytes) -> bytes:
    """The container: a header, a chunk of JSON, a chunk of binary data, each of whole four bytes."""
    text = json.dumps(document, separators=(",", ":")).encode("utf-8")
    chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
    if binary:
        chunks.append((b"BIN\0", binary + bytes(-len(binary) % 4)))
    body = b"".join(len(data).to_bytes(4, "little") + kind + data for kind, data in chunks)
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body
