"""CLIP's cosine through a small stand-in for open_clip: words are colours, a picture is its mean colour."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.planning import registry
from esar_ros.planning.image_text import ClipScorer, LabelScorer, ScorerSettings, relevance

COLOURS = {"": (0.0, 0.0, 0.0), "red": (3.0, 0.0, 0.0), "green": (0.0, 5.0, 0.0), "purple": (1.0, 0.0, 1.0)}
CONTEXT = 4  # tokens that the stand-in reads, the end's zero included: three words


def tokenise(texts: list[str]) -> np.ndarray:
    """(N, CONTEXT) numbers of known words, other words 1 beyond them, zeros after the last."""
    names = list(COLOURS)
    out = np.zeros((len(texts), CONTEXT), int)
    for row, text in enumerate(texts):
        words = text.casefold().replace(".", "").split()
        ids = [names.index(word) if word in COLOURS else len(names) for word in words]
        out[row, : len(ids)] = ids[:CONTEXT]
    return out


class Tensor(np.ndarray):
    """As much of torch's as the scorer uses."""

    def norm(self, dim: int, keepdim: bool) -> Any:
        return np.linalg.norm(self, axis=dim, keepdims=keepdim)

    def unsqueeze(self, dim: int) -> Any:
        return np.expand_dims(self, dim)


def tensor(values: Any) -> Any:
    return np.asarray(values, dtype=np.float64).view(Tensor)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of weights, and packages that load it."""
    file = tmp_path / "clip.pt"
    file.write_bytes(b"weights")
    model = SimpleNamespace(
        encode_text=lambda tokens: tensor(
            [np.sum([[*COLOURS.values(), (0.0, 0.0, 1e-3)][t] for t in row], axis=0) for row in tokens]
        ),
        encode_image=lambda batch: batch,
    )
    model.eval = lambda: model

    def load(name: str, pretrained: str) -> Any:
        assert (name, pretrained) == ("ViT-B-32", str(file)), "nothing but the file named"
        return model, None, lambda image: tensor(np.asarray(image).mean(axis=(0, 1)))

    package = SimpleNamespace(
        list_models=lambda: ["ViT-B-32"], create_model_and_transforms=load, get_tokenizer=lambda _: tokenise
    )
    monkeypatch.setitem(sys.modules, "open_clip", package)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(no_grad=contextlib.nullcontext))
    return str(file)


def test_the_score_is_the_cosine(weights: str, look: Any, observe: Any) -> None:
    scorer = ClipScorer(ScorerSettings(weights=weights), "clip_h")
    view = look()["front"]
    view.rgb[:] = (200, 0, 0)
    for words, cosine in (("red", 1.0), ("green", 0.0), ("purple", 0.5**0.5)):
        scorer.read(words)
        assert scorer.score(view, observe()) == pytest.approx(cosine)
    assert scorer.name == "open_clip/ViT-B-32/clip.pt"


def test_words_beyond_what_clip_reads_are_scored_sentence_by_sentence(weights: str, look: Any, observe: Any) -> None:
    scorer = ClipScorer(ScorerSettings(weights=weights), "vlfm")
    view = look()["front"]
    view.rgb[:] = (0, 200, 0)
    brief = "She wore red. Her tent is green. He left his purple rucksack at the old hut."
    scorer.read(brief)
    assert scorer.score(view, observe()) == pytest.approx(1.0, abs=1e-3), "the second sentence, of more than is read"
    view.rgb[:] = (100, 0, 100)
    assert scorer.score(view, observe()) == pytest.approx(1.0, abs=1e-3), "the last, in pieces that are read"
    assert scorer._pieces("red green") == ["red green"], "what fits stays whole"
    pieces = scorer._pieces(brief)
    assert " ".join(pieces) == brief and all(len(piece.split()) < CONTEXT for piece in pieces)


def test_clip_h_flies_towards_the_view_that_fits_and_names_its_network(
    weights: str, look: Any, observe: Any, brief: Any
) -> None:
    method = registry.create("clip_h", {"scorer": {"weights": weights}})
    method.reset(brief(prompt="red"), 1)
    views = look()
    for name, view in views.items():
        view.rgb[:] = (200, 100, 0) if name == "left" else (10, 200, 10)
    method.act(observe(0.0, views=views))
    decision = method.act(observe(1.0, views=views))
    assert decision.action == "left" and "fits with 0.89" in decision.why
    assert method.details == {"scorer": "open_clip/ViT-B-32/clip.pt"}  # type: ignore[attr-defined]


def test_without_the_package_it_says_what_to_install(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(UsageError, match=r"needs open_clip, torch and torchvision: \./esar exec pip install"):
        registry.create("vlfm", {"scorer": {"weights": weights}})


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("open_clip") is None, reason="no open_clip: install the extra clip")
def test_a_real_network_reads_a_long_brief_in_pieces_and_scores_pictures(
    tmp_path: Path, look: Any, observe: Any
) -> None:
    """Untrained weights of a real architecture: its tokens, preparation of pictures and file are the real ones."""
    import open_clip
    import torch

    torch.manual_seed(0)
    torch.save(open_clip.create_model("ViT-S-32").state_dict(), tmp_path / "clip.pt")
    scorer = ClipScorer(ScorerSettings(model="ViT-S-32", weights=str(tmp_path / "clip.pt")), "vlfm")
    brief = " ".join(f"On day {day} the two hikers went west from the hut along the crest." for day in range(1, 9))
    assert (
        not scorer._fits(brief) and len(scorer._pieces(brief)) == 8 and scorer._pieces("a red tent") == ["a red tent"]
    )
    scorer.read(brief)
    view = look()["front"]
    dark = scorer.score(view, observe())
    view.rgb[::2] = 255
    assert -1.0 <= dark <= 1.0 and scorer.score(view, observe()) != dark
    with pytest.raises(UsageError, match="cannot be loaded as ViT-B-32"):
        ClipScorer(ScorerSettings(weights=str(tmp_path / "clip.pt")), "vlfm")


def test_the_stand_in_weighs_what_is_detected_in_the_picture(look: Any, observe: Any, clue: Any) -> None:
    views, scorer = look(), LabelScorer()
    seen = observe(clues=(clue(1, "tent", (40.0, 0.0, 0.0)), clue(2, "person", (-40.0, 0.0, 0.0))))
    scorer.read("a blue TENT")
    assert scorer.score(views["front"], seen) == pytest.approx(0.9 * 0.8), "the person lies behind"
    assert scorer.score(views["left"], seen) == 0.0
    scorer.read("a rope")
    assert scorer.score(views["front"], seen) == pytest.approx(0.9 * 0.5)
    assert relevance("person", "") == 1.0
