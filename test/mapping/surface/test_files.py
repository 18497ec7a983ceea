"""PLY and GLB as their specifications have them, read by hand."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from esar_ros.geometry.geodesy import Origin
from esar_ros.mapping.surface.files import DATUM, glb_bytes, ply_bytes
from esar_ros.mapping.surface.fusion import Cloud, Mesh

POINTS = np.array([[1e6 + 0.25, 2.0, 3.0], [1e6 + 1.25, 2.0, 3.0], [1e6 + 0.25, 4.0, 3.0], [9.0, 9.0, 9.0]])
NORMALS = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (4, 1))
COLOURS = np.array([[0, 128, 255], [255, 0, 0], [10, 20, 30], [1, 2, 3]], np.uint8)
MESH = Mesh(POINTS, NORMALS, COLOURS, np.array([[0, 1, 2]], np.uint32))  # no triangle has the last point
ORIGIN = Origin(33.99, 107.3, 3150.5)


def parsed(glb: bytes) -> tuple[dict[str, Any], bytes]:
    magic, version, length = struct.unpack_from("<4sII", glb)
    assert (magic, version, length) == (b"glTF", 2, len(glb))
    chunks, at = {}, 12
    while at < len(glb):
        size, kind = struct.unpack_from("<I4s", glb, at)
        assert size % 4 == 0
        chunks[kind] = glb[at + 8 : at + 8 + size]
        at += 8 + size
    return json.loads(chunks[b"JSON"]), chunks.get(b"BIN\0", b"")


def values(document: dict[str, Any], binary: bytes, index: int) -> np.ndarray:
    accessor = document["accessors"][index]
    view = document["bufferViews"][accessor["bufferView"]]
    kind = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[accessor["componentType"]]
    columns = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    found = np.frombuffer(binary, kind, accessor["count"] * columns, view["byteOffset"])
    assert found.nbytes == view["byteLength"] and view["byteOffset"] % 4 == 0
    return found.reshape(-1, columns)


def test_a_ply_states_its_frame_and_keeps_millimetres_far_from_the_origin() -> None:
    data = ply_bytes(Cloud(POINTS, NORMALS, COLOURS), "map", ORIGIN)
    head, body = data.split(b"end_header\n", 1)
    lines = head.decode("ascii").splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    assert "comment frame map, metres, z up" in lines and "element vertex 4" in lines
    assert f"comment origin 33.99 107.3 3150.5: degrees, m; {DATUM}" in lines
    sizes = {"double": "<f8", "float": "<f4", "uchar": "u1"}
    row = np.dtype([(line.split()[2], sizes[line.split()[1]]) for line in lines if line.startswith("property")])
    rows = np.frombuffer(body, row)
    assert np.array_equal(np.stack([rows[axis] for axis in "xyz"], -1), POINTS)
    assert np.array_equal(np.stack([rows[c] for c in ("red", "green", "blue")], -1), COLOURS)
    assert (rows["nz"] == 1.0).all()


def test_a_frame_s_name_of_any_letters_is_one_line_of_the_header() -> None:
    cloud = Cloud(POINTS[:0], NORMALS[:0], COLOURS[:0])
    head = ply_bytes(cloud, "Höhle\nelement face 1").split(b"end_header\n", 1)[0]
    assert rb"comment frame H\xf6hle\nelement face 1, metres" in head and head.count(b"\nelement") == 1


def test_a_ply_of_another_frame_states_no_origin() -> None:
    head = ply_bytes(Cloud(POINTS[:0], NORMALS[:0], COLOURS[:0]), "odom").split(b"end_header\n", 1)[0]
    assert b"frame odom" in head and b"origin" not in head


def test_a_glb_has_its_y_up_and_its_z_south() -> None:
    document, binary = parsed(glb_bytes(MESH, "map", "test", ORIGIN))
    node = document["nodes"][0]
    primitive = document["meshes"][0]["primitives"][0]
    position = values(document, binary, primitive["attributes"]["POSITION"])
    placed = position.astype(np.float64) + node["translation"]
    east, north, up = POINTS[:3].T
    assert np.abs(placed - np.stack([east, up, -north], -1)).max() < 1e-3
    assert np.array_equal(values(document, binary, primitive["attributes"]["NORMAL"])[0], [0.0, 1.0, 0.0])
    corner = placed[values(document, binary, primitive["indices"]).reshape(3)]
    assert np.cross(corner[1] - corner[0], corner[2] - corner[0])[1] > 0.0  # its front still looks up: no mirror
    accessor = document["accessors"][primitive["attributes"]["POSITION"]]
    assert accessor["min"] == position.min(axis=0).tolist() and accessor["max"] == position.max(axis=0).tolist()
    assert node["extras"]["origin"] == {"latitude": 33.99, "longitude": 107.3, "altitude": 3150.5, "datum": DATUM}
    assert "y up" in node["extras"]["axes"] and document["buffers"][0]["byteLength"] == len(binary)


def test_colours_of_a_glb_are_linear() -> None:
    document, binary = parsed(glb_bytes(MESH, "map", "test"))
    primitive = document["meshes"][0]["primitives"][0]
    colours = values(document, binary, primitive["attributes"]["COLOR_0"]) / 65535.0
    assert document["accessors"][primitive["attributes"]["COLOR_0"]]["normalized"]
    assert np.abs(colours[0] - [0.0, 0.2158605, 1.0, 1.0]).max() < 1e-4  # of 128 / 255, IEC 61966-2-1
    assert len(colours) == 3  # and points of no triangle are left out


def test_a_mesh_without_triangles_is_an_empty_scene() -> None:
    document, binary = parsed(glb_bytes(Mesh(POINTS, NORMALS, COLOURS, np.empty((0, 3), np.uint32)), "map", "test"))
    assert document["scenes"] == [{}] and not binary and "meshes" not in document
