"""ONNX files made byte by byte, without the onnx package, and detectors small enough to write down."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLOAT, INT64 = 1, 7  # ONNX's element types
Attribute = int | float | Sequence[int]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(name: str, array: NDArray[np.float32] | NDArray[np.int64]) -> bytes:
    """A constant."""
    whole = np.issubdtype(array.dtype, np.integer)
    data = array.astype("<i8" if whole else "<f4").tobytes()
    dims = b"".join(_number(1, side) for side in array.shape)
    return dims + _number(2, INT64 if whole else FLOAT) + _bytes(8, name) + _bytes(9, data)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    return _bytes(1, name) + b"".join(_number(8, item) for item in value) + _number(20, 7)


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Attribute) -> bytes:
    """An operation."""
    names = b"".join(_bytes(1, name) for name in inputs) + b"".join(_bytes(2, name) for name in outputs)
    return names + _bytes(4, kind) + b"".join(_bytes(5, _attribute(*pair)) for pair in attributes.items())


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(_bytes(1, _bytes(2, s) if isinstance(s, str) else _number(1, s)) for s in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, FLOAT) + _bytes(2, dims)))


Shape = Sequence[int | str]


def write_model(
    path: Path,
    nodes: Sequence[bytes],
    constants: Sequence[bytes],
    taken: Shape,
    given: Shape,
    names: str = "",
) -> Path:
    """A network from `images` of shape taken to `output0` of shape given. names: classes, as ultralytics has them."""
    return write_graph(path, nodes, constants, {"images": taken}, {"output0": given}, names)


def write_graph(
    path: Path,
    nodes: Sequence[bytes],
    constants: Sequence[bytes],
    taken: Mapping[str, Shape],
    given: Mapping[str, Shape],
    names: str = "",
) -> Path:
    """A network with inputs and outputs of these shapes by name. names: classes, as ultralytics has them."""
    graph = (
        b"".join(_bytes(1, one) for one in nodes) + _bytes(2, "tiny") + b"".join(_bytes(5, one) for one in constants)
    )
    graph += b"".join(_bytes(11, _value(*one)) for one in taken.items())
    graph += b"".join(_bytes(12, _value(*one)) for one in given.items())
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
    if names:
        model += _bytes(14, _bytes(1, "names") + _bytes(2, names))
    path.write_bytes(model)
    return path


def write_detector(
    path: Path,
    base: NDArray[np.float32],
    gain: NDArray[np.float32],
    shape: tuple[int | str, ...] = (1, 3, "height", "width"),
    names: str = "",
) -> Path:
    """A network that answers base + gain * (mean of its input): whatever the picture, known numbers.

    base, gain: of the output's shape. names: table of classes as ultralytics writes it.
    """
    nodes = [
        node("ReduceMean", ["images"], ["mean"], keepdims=0),
        node("Mul", ["gain", "mean"], ["lit"]),
        node("Add", ["base", "lit"], ["output0"]),
    ]
    return write_model(path, nodes, [tensor("base", base), tensor("gain", gain)], shape, base.shape, names)


def write_second_stage(
    path: Path,
    slope: NDArray[np.float32],
    offset: NDArray[np.float32],
    shift: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    channels: int = 8,
    side: int = 32,
) -> Path:
    """A second stage: softmax of features @ slope (features, classes + 1) + offset (classes + 1,), + 0 * its crops; it
    moves every box by the same shift."""
    nodes = [
        node("ReduceMean", ["crops"], ["colour"], axes=[1, 2], keepdims=0),  # (N, side)
        node("MatMul", ["colour", "nothing"], ["blank"]),
        node("MatMul", ["features", "slope"], ["told"]),
        node("Add", ["told", "offset"], ["known"]),
        node("Add", ["known", "blank"], ["logits"]),
        node("Softmax", ["logits"], ["probabilities"], axis=1),
        node("MatMul", ["features", "still"], ["unmoved"]),
        node("Add", ["unmoved", "shift"], ["shifts"]),
    ]
    nothing, still = np.zeros((side, slope.shape[1]), np.float32), np.zeros((slope.shape[0], len(shift)), np.float32)
    constants = [
        tensor("nothing", nothing), tensor("slope", slope), tensor("offset", offset),
        tensor("still", still), tensor("shift", np.array(shift, np.float32)),
    ]  # fmt: skip
    taken: dict[str, Shape] = {"crops": ("n", channels, side, side), "features": ("n", slope.shape[0])}
    given: dict[str, Shape] = {"probabilities": ("n", slope.shape[1]), "shifts": ("n", len(shift))}
    return write_graph(path, nodes, constants, taken, given)


def bright_tent(path: Path, classes: int = 2, **more: object) -> Path:
    """Sees one thing of the first class, 40 x 20 px about (100, 60), as sure as the picture is bright."""
    base = np.zeros((1, 4 + classes, 8), dtype=np.float32)
    gain = np.zeros_like(base)
    base[0, :4, 3] = 100.0, 60.0, 40.0, 20.0
    gain[0, 4, 3] = 1.0
    return write_detector(path, base, gain, **more)  # type: ignore[arg-type]
