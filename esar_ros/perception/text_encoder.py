"""Text embeddings by CLIP (Radford et al., 2021) with a person's own weights, through open_clip; nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.mission.errors import UsageError
from esar_ros.perception.prompt_table import Vector32


class ClipText:
    """Words to unit vectors."""

    def __init__(self, model: str, weights: str) -> None:
        """model: open_clip's name. Raises UsageError without open_clip, or when the weights are not this model's."""
        if not Path(weights).is_file():
            raise UsageError(
                f"there are no CLIP weights {weights}", "name a file of your own: YOLO-World wants ViT-B/32"
            )
        try:
            import open_clip
            import torch
        except ImportError:
            raise UsageError("text embeddings need open_clip and torch", "pip install esar_ros[clip]") from None
        self._torch = torch
        if model not in open_clip.list_models():
            raise UsageError(f"open_clip has no model '{model}'", "see open_clip.list_models()")
        try:
            self._model = open_clip.create_model(model, pretrained=weights).eval()
        except Exception as error:  # unpickling and fitting raise whatever they meet
            first = (str(error).splitlines() or [type(error).__name__])[0][:160]
            raise UsageError(
                f"{weights} cannot be loaded as {model}: {first}", "name the model they belong to"
            ) from None
        self._tokenise = open_clip.get_tokenizer(model)
        self.name = f"{model} {Path(weights).name}"

    def encode(self, words: tuple[str, ...]) -> dict[str, Vector32]:
        """Word -> embedding, unit length."""
        with self._torch.inference_mode():
            features = self._model.encode_text(self._tokenise(list(words)))
            features = features / features.norm(dim=-1, keepdim=True)
        return {word: np.asarray(vector, np.float32) for word, vector in zip(words, features.numpy(), strict=True)}
