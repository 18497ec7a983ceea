"""The network in 8 bits: what stays in single precision, and that it gives what it gave."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.engines import ONNXRUNTIME, OPENVINO, load_engine
from esar_ros.training.quantise import SILU_FLOOR, quantise

SIDE = 16


def _conv(name: Any, given: Any, channels_in: Any, channels_out: Any, kernel: Any, gain: Any, rng: Any) -> Any:
    weights = rng.normal(0, gain / np.sqrt(channels_in * kernel**2), (channels_out, channels_in, kernel, kernel))
    constants = [
        numpy_helper.from_array(weights.astype(np.float32), f"{name}.weight"),
        numpy_helper.from_array(rng.normal(0, 0.1, channels_out).astype(np.float32), f"{name}.bias"),
    ]
    inputs = [given, *(constant.name for constant in constants)]
    return helper.make_node("Conv", inputs, [name], name=name, pads=[kernel // 2] * 4), constants


def _silu(given: Any) -> Any:
    return [
        helper.make_node("Sigmoid", [given], [f"{given}.sigmoid"], name=f"{given}.sigmoid"),
        helper.make_node("Mul", [given, f"{given}.sigmoid"], [f"{given}.act"], name=f"{given}.act"),
    ]


@pytest.fixture
def network(tmp_path: Path) -> Any:
    """Four convolutions with SiLU between, the last one's output in pixels beside a score, as a YOLO's is."""
    rng = np.random.default_rng(5)
    nodes, constants = [], []
    for name, given, channels_in, channels_out, kernel, gain in (
        ("stem", "images", 3, 8, 3, 1),
        ("body", "stem.act", 8, 16, 3, 20),
        ("wide", "body.act", 16, 16, 3, 0.1),
        ("last", "joined", 32, 4, 1, 1),
    ):
        conv, own = _conv(name, given, channels_in, channels_out, kernel, gain, rng)
        nodes += [conv, *(_silu(name) if name != "last" else [])]
        constants += own
        if name == "wide":
            nodes.append(helper.make_node("Concat", ["body.act", "wide.act"], ["joined"], name="joined", axis=1))
    constants.append(numpy_helper.from_array(np.float32(640), "pixels"))
    nodes += [
        helper.make_node("Sigmoid", ["last"], ["score"], name="score"),
        helper.make_node("Mul", ["last", "pixels"], ["box"], name="box"),
        helper.make_node("Concat", ["box", "score"], ["output0"], name="output", axis=1),
    ]
    taken = helper.make_tensor_value_info("images", onnx.TensorProto.FLOAT, [1, 3, "height", "width"])
    given = helper.make_tensor_value_info("output0", onnx.TensorProto.FLOAT, [1, 8, "height", "width"])
    graph = helper.make_graph(nodes, "network", [taken], [given], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"names": "{0: 'tent'}", "description": "trained on /home/somebody/data.yaml"})
    onnx.save(model, tmp_path / "float.onnx")
    return tmp_path / "float.onnx"


@pytest.fixture
def images() -> Any:
    rng = np.random.default_rng(6)
    return [rng.random((1, 3, SIDE, SIDE), dtype=np.float32) for _ in range(4)]


def _rounded(model: Any) -> Any:
    """Names of the convolutions whose weights are integers."""
    made = {output: node for node in model.graph.node for output in node.output}
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    return {node.name for node in convolutions if made.get(node.input[1], node).op_type == "DequantizeLinear"}


@pytest.mark.parametrize("engine", [ONNXRUNTIME, OPENVINO])
def test_it_gives_what_it_gave(network: Any, images: Any, tmp_path: Path, engine: Any) -> None:
    if engine == OPENVINO:
        pytest.importorskip("openvino", reason="extra openvino is not installed")
    quantise(network, tmp_path / "eight.onnx", images)
    before, after = (load_engine(engine, tmp_path / name, 1) for name in ("float.onnx", "eight.onnx"))
    unseen = np.random.default_rng(7).random((1, 3, 2 * SIDE, 3 * SIDE), dtype=np.float32)
    want, got = before.run(unseen), after.run(unseen)
    assert not np.array_equal(want, got), "nothing was rounded"
    off = np.abs(want - got).mean(axis=(0, 2, 3)) / want.std(axis=(0, 2, 3))
    assert off.max() < 0.1
    assert after.class_names == before.class_names


def test_the_first_layer_and_what_follows_the_last_stay_in_single_precision(
    network: Any, images: Any, tmp_path: Path
) -> None:
    quantise(network, tmp_path / "eight.onnx", images)
    model = onnx.load(tmp_path / "eight.onnx")
    assert _rounded(model) == {"body", "wide"}
    by_name = {node.name: node for node in model.graph.node}
    assert list(by_name["score"].input) == list(by_name["box"].input)[:1] == ["last"]
    assert by_name["output"].input[:] == ["box", "score"]


def test_weights_take_seven_bits_and_activations_begin_at_the_floor(network: Any, images: Any, tmp_path: Path) -> None:
    quantise(network, tmp_path / "eight.onnx", images)
    constants = {one.name: numpy_helper.to_array(one) for one in onnx.load(tmp_path / "eight.onnx").graph.initializer}
    assert np.abs(constants["body.weight_quantized"].astype(int)).max() == 64
    assert constants["body.weight_scale"].shape == (16,), "a scale for each output channel"
    step = {name: float(constants[f"{name}_scale"]) for name in ("body", "wide")}
    least = {name: -step[name] * int(constants[f"{name}_zero_point"]) for name in step}
    assert least["body"] == pytest.approx(SILU_FLOOR, abs=step["body"]), "it goes far lower"
    assert SILU_FLOOR / 2 < least["wide"] < 0


def test_no_folder_of_who_trained_it_travels_along(network: Any, images: Any, tmp_path: Path) -> None:
    quantise(network, tmp_path / "eight.onnx", images)
    assert {entry.key for entry in onnx.load(tmp_path / "eight.onnx").metadata_props} == {"names"}
    assert b"somebody" not in (tmp_path / "eight.onnx").read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_without_onnx_it_says_what_to_install(
    network: Any, images: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UsageError, match=r"esar_ros\[train\]"):
        quantise(network, tmp_path / "eight.onnx", images)


def test_without_pictures_there_are_no_ranges(network: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without pictures"):
        quantise(network, tmp_path / "eight.onnx", [])
