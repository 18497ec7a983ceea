"""CLIP (Radford et al., 2021) with a person's own weights, through open_clip; text embeddings. Nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.perception.text.prompt_table import Vector32
from esar_ros.perception.vision_operators import lend_operators

_CURE = (
    "name a file of your own; YOLO-World wants OpenAI's ViT-B/32: open_clip_pytorch_model.bin of "
    "https://huggingface.co/timm/vit_base_patch32_clip_224.openai"
)


@dataclass(frozen=True)
class Clip:
    """A loaded network with what it needs; torch's types, which are not imported here."""

    network: Any
    prepare: Callable[[Any], Any]  # PIL image -> (3, H, W)
    tokenise: Callable[[list[str]], Any]
    torch: Any


def load_clip(model: str, weights: str) -> Clip:
    """model: open_clip's name. Raises UsageError without open_clip, or when the weights are not this model's."""
    if not Path(weights).is_file():
        raise UsageError(f"there are no CLIP weights {weights}", _CURE)
    os.environ["HF_HUB_OFFLINE"] = "1"  # some of open_clip's models would fetch their text part
    try:
        lend_operators()
        import open_clip
        import torch
    except ImportError:
        raise UsageError("CLIP needs open_clip, torch and torchvision", install("clip")) from None
    except RuntimeError as error:  # packages that do not match
        raise UsageError(f"open_clip cannot be imported: {first_line(error)}", "install those that match") from None
    if model not in open_clip.list_models():
        raise UsageError(f"open_clip has no model '{model}'", "see open_clip.list_models()")
    try:
        network, _, prepare = open_clip.create_model_and_transforms(model, pretrained=weights)
        return Clip(network.eval(), prepare, open_clip.get_tokenizer(model), torch)
    except Exception as error:  # unpickling and fitting raise whatever they meet
        raise UsageError(
            f"{weights} cannot be loaded as {model}: {first_line(error)}", "name the model they belong to"
        ) from None


class ClipText:
    """Words to unit vectors."""

    def __init__(self, model: str, weights: str) -> None:
        """Raises UsageError as load_clip does."""
        self._clip = load_clip(model, weights)
        self.name = f"{model} {Path(weights).name}"

    def encode(self, words: tuple[str, ...]) -> dict[str, Vector32]:
        """Word -> embedding, unit length."""
        with self._clip.torch.inference_mode():
            features = self._clip.network.encode_text(self._clip.tokenise(list(words)))
            features = features / features.norm(dim=-1, keepdim=True)
        return {word: np.asarray(vector, np.float32) for word, vector in zip(words, features.numpy(), strict=True)}
