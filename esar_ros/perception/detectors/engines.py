"""Engines that run an exported network: ONNX Runtime and OpenVINO, on the CPU, with a fixed number of threads.

Both are deterministic then: the same image gives the same numbers, run after run and process after process.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError, install

Tensor = NDArray[np.float32]
ONNXRUNTIME, OPENVINO = "onnxruntime", "openvino"


class Engine(Protocol):
    """A loaded network with one image in and one array out."""

    @property
    def size(self) -> tuple[int, int] | None:
        """(height, width) in px that it takes; None: any multiple of its stride."""

    @property
    def class_names(self) -> str:
        """Table of classes that its exporter wrote into it, as text; empty: none."""

    def run(self, image: Tensor) -> Tensor:
        """Output for an image (1, 3, H, W), RGB 0..1."""


def engine_version(name: str) -> str:
    """Name and version, for results. Raises UsageError when it is not installed."""
    try:
        return f"{name} {version(name)}"
    except ModuleNotFoundError:
        raise _absent(name) from None


def load_engine(name: str, path: Path, threads: int) -> Engine:
    """A network's file in an engine. Raises UsageError in one line."""
    engine: type[_OnnxRuntime] | type[_OpenVino] = _OnnxRuntime if name == ONNXRUNTIME else _OpenVino
    return engine(path, threads)


def load_session(path: Path, threads: int) -> Any:
    """Loads a network's file into ONNX Runtime, deterministic, with the given number of threads. Raises UsageError."""
    try:
        import onnxruntime
    except ImportError:
        raise _absent(ONNXRUNTIME) from None
    onnxruntime.set_default_logger_severity(4)  # what matters is told in one line of our own
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # the other nodes need the core

    def load() -> Any:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    return _loaded(load, path)


class _OnnxRuntime:
    """ONNX Runtime."""

    def __init__(self, path: Path, threads: int) -> None:
        self._session = load_session(path, threads)
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        if len(inputs) != 1 or inputs[0].type != "tensor(float)":
            raise _no_detector(path, f"{len(inputs)} inputs, the first of {inputs[0].type}" if inputs else "no input")
        self._input, self._output = inputs[0].name, outputs[0].name
        self.size = _size(path, [side if isinstance(side, int) else None for side in inputs[0].shape])
        self.class_names = str(self._session.get_modelmeta().custom_metadata_map.get("names", ""))

    def run(self, image: Tensor) -> Tensor:
        """Output for an image (1, 3, H, W), RGB 0..1."""
        output: Tensor = self._session.run([self._output], {self._input: image})[0]
        return output


class _OpenVino:
    """OpenVINO, one graph an image size; full precision, so that results depend less on the processor."""

    def __init__(self, path: Path, threads: int) -> None:
        try:
            import openvino
        except ImportError:
            raise _absent(OPENVINO) from None
        self._core = openvino.Core()
        self._model = _loaded(lambda: self._core.read_model(str(path)), path)
        if len(self._model.inputs) != 1:
            raise _no_detector(path, f"{len(self._model.inputs)} inputs")
        shape = self._model.inputs[0].get_partial_shape()
        self.size = _size(path, [None if side.is_dynamic else side.get_length() for side in shape])
        self.class_names = ""
        self._path = path
        self._configuration = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        self._requests: dict[tuple[int, ...], Any] = {}

    def run(self, image: Tensor) -> Tensor:
        """Output for an image (1, 3, H, W), RGB 0..1."""
        request = self._requests.get(image.shape)
        if request is None:
            model = self._model.clone()
            model.reshape(list(image.shape))
            compiled = _loaded(lambda: self._core.compile_model(model, "CPU", self._configuration), self._path)
            request = self._requests[image.shape] = compiled.create_infer_request()
        output: Tensor = np.array(request.infer([image])[0])  # the request's own memory is written again
        return output


def _loaded(load: Callable[[], Any], path: Path) -> Any:
    try:
        return load()
    except Exception as error:  # the engines raise types of their own for every way in which a file can be wrong
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise UsageError(
            f"{path} cannot be loaded as a network: {lines[-1].strip()[:160]}", "export or copy the file again"
        ) from None


def _size(path: Path, shape: list[int | None]) -> tuple[int, int] | None:
    if len(shape) != 4 or shape[0] not in (1, None) or shape[1] not in (3, None):
        raise _no_detector(path, f"input of shape {shape}")
    height, width = shape[2:]
    return None if height is None or width is None else (height, width)


def _absent(name: str) -> UsageError:
    cure = install(name) if name == OPENVINO else f"./esar exec pip install {name}"  # which is no extra
    return UsageError(f"the engine {name} is not installed", f"{cure}, or choose another detector backend")


def _no_detector(path: Path, what: str) -> UsageError:
    return UsageError(f"{path} is no detector of pictures: {what}", "a detector takes one (1, 3, H, W) float picture")
