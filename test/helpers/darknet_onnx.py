"""A network of Darknet (its .cfg and .weights) as an ONNX detector, so that a real pretrained one can be flown.

Enough of Darknet for YOLOv3-tiny (Redmon and Farhadi, 2018): convolutions, pooling, routes, upsampling, YOLO heads.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helpers.tiny_onnx import node, tensor, write_model

EPSILON = 1e-6  # of Darknet's batch normalisation


def _sections(path: Path) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    for line in path.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("["):
            found.append((text[1:-1], {}))
        elif text:
            key, _, value = text.partition("=")
            found[-1][1][key.strip()] = value.strip()
    return found


class _Graph:
    """Layers as they are added; numbers are taken off the weights in order."""

    def __init__(self, weights: Path) -> None:
        raw = weights.read_bytes()
        major, minor = np.frombuffer(raw, np.int32, 2)
        self._numbers = np.frombuffer(raw, np.float32, offset=20 if major * 10 + minor >= 2 else 16)
        self._at = 0
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []

    def take(self, *shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        self._at += size
        return self._numbers[self._at - size : self._at].reshape(shape)

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants.append(tensor(name, value))
        return name

    def add(self, kind: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(node(kind, inputs, [output], **attributes))  # type: ignore[arg-type]
        return output

    def convolution(self, name: str, source: str, channels: int, options: dict[str, str]) -> str:
        filters, side, stride = int(options["filters"]), int(options["size"]), int(options["stride"])
        bias = self.take(filters)
        scale = np.ones(filters, np.float32)
        if options.get("batch_normalize") == "1":
            gamma, mean, variance = self.take(filters), self.take(filters), self.take(filters)
            scale = gamma / (np.sqrt(variance) + EPSILON)
            bias = bias - mean * scale
        weights = self.take(filters, channels, side, side) * scale[:, None, None, None]
        inputs = [source, self.constant(f"{name}w", weights), self.constant(f"{name}b", bias)]
        pads = [side // 2] * 4
        out = self.add("Conv", inputs, f"{name}c", kernel_shape=[side, side], strides=[stride, stride], pads=pads)
        return self.add("LeakyRelu", [out], name, alpha=0.1) if options["activation"] == "leaky" else out

    def head(self, name: str, source: str, options: dict[str, str], grid: int, size: int) -> str:
        """(1, 4 + classes, boxes): centre and sides in px of the input, and object times class score."""
        classes = int(options["classes"])
        pairs = np.array([float(v) for v in options["anchors"].split(",")], np.float32).reshape(-1, 2)
        anchors = pairs[[int(v) for v in options["mask"].split(",")]]
        count, cells = len(anchors), grid * grid
        shape = self.constant(f"{name}s", np.array([1, count, 5 + classes, cells], np.int64))
        table = self.add("Reshape", [source, shape], f"{name}t")
        parts = [f"{name}{part}" for part in ("xy", "wh", "object", "class")]
        split = self.constant(f"{name}split", np.array([2, 2, 1, classes], np.int64))
        self.nodes.append(node("Split", [table, split], parts, axis=2))
        rows, columns = np.divmod(np.arange(cells), grid)
        corner = self.constant(f"{name}grid", np.stack([columns, rows]).astype(np.float32)[None, None])
        stride = self.constant(f"{name}stride", np.array(size / grid, np.float32))
        sides = self.constant(f"{name}anchors", anchors[None, :, :, None])
        inside = self.add("Add", [self.add("Sigmoid", [parts[0]], f"{name}1"), corner], f"{name}2")
        centre = self.add("Mul", [inside, stride], f"{name}3")
        extent = self.add("Mul", [self.add("Exp", [parts[1]], f"{name}4"), sides], f"{name}5")
        thing = self.add("Sigmoid", [parts[2]], f"{name}6")
        score = self.add("Mul", [thing, self.add("Sigmoid", [parts[3]], f"{name}7")], f"{name}8")
        joined = self.add("Concat", [centre, extent, score], f"{name}9", axis=2)
        turned = self.add("Transpose", [joined], f"{name}10", perm=[0, 2, 1, 3])
        flat = self.constant(f"{name}flat", np.array([1, 4 + classes, count * cells], np.int64))
        return self.add("Reshape", [turned, flat], name)


def convert(cfg: Path, weights: Path, out: Path) -> Path:
    """Write the ONNX detector."""
    (_, net), *layers = _sections(cfg)
    size = int(net["width"])
    graph = _Graph(weights)
    made: list[tuple[str, int, int]] = []  # name, channels, side of the grid
    heads: list[str] = []
    last = ("images", 3, size)
    for index, (kind, options) in enumerate(layers):
        source, channels, side = last
        name = f"l{index}"
        if kind == "convolutional":
            last = (graph.convolution(name, source, channels, options), int(options["filters"]), side)
        elif kind == "maxpool":
            stride, window = int(options["stride"]), int(options["size"])
            pads = [0, 0, window - stride, window - stride]
            graph.add("MaxPool", [source], name, kernel_shape=[window] * 2, strides=[stride] * 2, pads=pads)
            last = (name, channels, side // stride)
        elif kind == "upsample":
            scale = graph.constant(f"{name}f", np.array([1, 1, 2, 2], np.float32))
            graph.add("Resize", [source, "", scale], name)
            last = (name, channels, 2 * side)
        elif kind == "route":
            wanted = [int(v) for v in options["layers"].split(",")]
            parts = [made[place if place >= 0 else index + place] for place in wanted]
            joined = parts[0][0] if len(parts) == 1 else graph.add("Concat", [p[0] for p in parts], name, axis=1)
            last = (joined, sum(p[1] for p in parts), parts[0][2])
        elif kind == "yolo":
            heads.append(graph.head(name, source, options, side, size))
        made.append(last)
    graph.add("Concat", heads, "output0", axis=2)
    classes = int(layers[-1][1]["classes"])
    return write_model(out, graph.nodes, graph.constants, (1, 3, size, size), (1, 4 + classes, "boxes"))
