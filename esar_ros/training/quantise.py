"""The embedded detector's network in 8 bits, which takes half of the CPU time in ONNX Runtime.

Static quantisation (Jacob et al., CVPR 2018), weights per output channel, activations by their range over calibration
images. Three choices keep what it finds:

- The first convolution, whose three channels 8 bits do not speed up, and what follows the last ones, boxes in pixels
  beside scores of 0 to 1, stay in single precision.
- An input of SiLU (x * sigmoid(x)) is cut off at -6, below which SiLU is nearly 0, so that its steps are not spent on
  numbers that all give the same.
- Weights have 7 bits: pairs of products then fit the 16 bits in which processors without VNNI add them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.engines import Tensor, load_session
from esar_ros.scoring.result import write_atomically
from esar_ros.training.train import require

SILU_FLOOR = -6.0  # SiLU is -0.015 there
_QUANTISED = ("Conv", "Sigmoid", "Mul", "Concat", "MaxPool", "Resize", "Split", "Add", "LeakyRelu")
_KEPT = ("names", "stride", "task", "license", "author", "version")  # of what the exporter wrote beside the network


def quantise(network: Path, file: Path, images: Sequence[Tensor]) -> None:
    """Write a network (.onnx, one image in, single precision) in 8 bits.

    images: (1, 3, H, W), RGB 0..1, such as it will see: they give the ranges. Raises UsageError without onnx or with
    no image.
    """
    require("onnx")
    if not images:
        raise UsageError(f"{network} cannot be quantised without pictures", "draw them first: esar train-detector")
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]  # untyped
        def __init__(self) -> None:
            self._left = iter(images)

        def get_next(self) -> dict[str, Tensor] | None:
            image = next(self._left, None)
            return None if image is None else {name: image}

    model = onnx.load(network)
    name = model.graph.input[0].name
    single = _in_single_precision(model.graph)
    ranges = {
        tensor: [{"rmin": np.float32(minimum), "rmax": np.float32(maximum), "quant_type": QuantType.QUInt8}]
        for tensor, (minimum, maximum) in _silu_ranges(model, single, images).items()
    }
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / file.name
        quantize_static(
            network, made, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, op_types_to_quantize=list(_QUANTISED),
            nodes_to_exclude=single, extra_options={"TensorQuantOverrides": ranges},
        )  # fmt: skip
        whole = onnx.load(made)
    metadata = {entry.key: entry.value for entry in model.metadata_props if entry.key in _KEPT}
    del whole.metadata_props[:]
    onnx.helper.set_model_props(whole, metadata)
    write_atomically(file, whole.SerializeToString())


def _silu_ranges(model: Any, single: Collection[str], images: Sequence[Tensor]) -> dict[str, tuple[float, float]]:
    """Least, not below the floor, and greatest value of every input of a quantised SiLU, over the images."""
    import onnx

    tensors = [node.input[0] for node in model.graph.node if node.op_type == "Sigmoid" and node.name not in single]
    if not tensors:
        return {}
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    for tensor in tensors:
        watched.graph.output.append(onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "watched.onnx"
        onnx.save(watched, path)
        session = load_session(path, threads=1)
        seen = np.array([
            [(out.min(), out.max()) for out in session.run(tensors, {model.graph.input[0].name: image})]
            for image in images
        ])  # fmt: skip
    minimum, maximum = np.maximum(seen[..., 0].min(axis=0), SILU_FLOOR), seen[..., 1].max(axis=0)
    return {tensor: (float(low), float(high)) for tensor, low, high in zip(tensors, minimum, maximum, strict=True)}


def _in_single_precision(graph: Any) -> list[str]:
    """Names of the nodes that stay so: from which no convolution is reached, and the first one with its activation."""
    leading: set[str] = set()  # tensors from which a convolution is reached
    kept = []
    for node in reversed(graph.node):
        if leading.isdisjoint(node.output):
            kept.append(node.name)
        if node.op_type == "Conv" or not leading.isdisjoint(node.output):
            leading.update(node.input)
    stem = {graph.input[0].name}
    for node in graph.node:
        given = [tensor for tensor in node.input if tensor]
        own = node.op_type == "Conv" and given[0] == graph.input[0].name
        if own or (node.op_type in ("Sigmoid", "Mul") and set(given) <= stem):
            stem.update(node.output)
            kept.append(node.name)
    return kept
