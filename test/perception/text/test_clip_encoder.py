"""Text embeddings: what is told of weights and packages that do not fit. CLIP itself is stood in for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.perception.text.clip_encoder import ClipText


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file, and packages in place of open_clip and torch."""

    def create(model: str, pretrained: str) -> Any:
        raise RuntimeError("" if model == "silent" else "size mismatch for text.positional_embedding\nand more")

    clip = SimpleNamespace(list_models=lambda: ["ViT-B-32-quickgelu", "silent"], create_model_and_transforms=create)
    monkeypatch.setitem(sys.modules, "open_clip", clip)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    path = tmp_path / "clip.pt"
    path.write_bytes(b"weights")
    return str(path)


def refused(model: str, weights: str) -> str:
    with pytest.raises(UsageError) as told:
        ClipText(model, weights)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_without_weights_it_says_which_and_where_they_are(tmp_path: Path) -> None:
    told = refused("ViT-B-32-quickgelu", str(tmp_path / "none.pt"))
    assert "there are no CLIP weights" in told and "ViT-B/32" in told and "https://" in told


def test_models_and_weights_that_do_not_fit_are_told(weights: str) -> None:
    assert "no model 'ViT-Z'" in refused("ViT-Z", weights)
    told = refused("ViT-B-32-quickgelu", weights)
    assert f"{weights} cannot be loaded as ViT-B-32-quickgelu: size mismatch" in told and "and more" not in told
    assert "cannot be loaded as silent: RuntimeError" in refused("silent", weights)


def test_nothing_may_be_fetched(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")

    def offline(model: str, pretrained: str) -> Any:
        import os

        raise RuntimeError(f"offline: {os.environ['HF_HUB_OFFLINE']}")

    monkeypatch.setattr(sys.modules["open_clip"], "create_model_and_transforms", offline)
    assert "offline: 1" in refused("ViT-B-32-quickgelu", weights)


def test_a_package_that_was_built_for_another_torch_is_told(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open_clip.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')\n")
    monkeypatch.delitem(sys.modules, "open_clip")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "cannot be imported: operator torchvision::nms" in refused("ViT-B-32-quickgelu", weights)
