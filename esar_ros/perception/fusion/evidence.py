"""Probability that an object exists: calibrated detector scores, and looks from separate viewpoints as evidence.

A detector's score says how an image looks to it, not how often it is right: a reliability curve, measured on held-out
images (the model card's), makes it a probability. Errors of images taken from one viewpoint are correlated, so they
count once, as a look; further looks multiply the odds (naive Bayes), with less weight each: a red rock is red from all
sides. An image that should have shown an object again and did not counts against it: a false detection caused by rain
appears only once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.perception.settings import EvidenceSettings

Curve = Sequence[tuple[float, float]]  # (score, share of detections that were right), scores ascending

DEFAULT = "default"  # key of the curve for kinds without one of their own
SUREST = 0.98  # no held-out set is large enough for more; 1 - SUREST likewise


@runtime_checkable
class Calibrated(Protocol):
    """A backend with a measured reliability."""

    @property
    def reliability(self) -> Mapping[str, Curve]:
        """Curve by kind, and under "default" for the others."""


class Reliability:
    """Probability that a detection is right, by kind and score."""

    def __init__(self, curves: Mapping[str, Curve] | None = None) -> None:
        """Without curves a score is taken for the probability. Raises UsageError on a bad curve."""
        self._curves = {kind: _checked(kind, curve) for kind, curve in (curves or {}).items()}

    def probability(self, kind: str, score: float) -> float:
        """Within 1 - SUREST and SUREST; between the curve's points by straight lines, beyond them as at its ends."""
        curve = self._curves.get(kind, self._curves.get(DEFAULT))
        value = score if curve is None else float(np.interp(score, curve[0], curve[1]))
        return min(SUREST, max(1.0 - SUREST, value))


def _checked(kind: str, curve: Curve) -> tuple[list[float], list[float]]:
    """Scores and probabilities, the latter made to never fall (pool adjacent violators)."""
    where = f"reliability of '{kind}'"
    if kind != DEFAULT and kind not in KINDS:
        raise UsageError(f"{where}: no such kind", suggest(kind, KINDS))
    try:
        points = [(float(score), float(share)) for score, share in curve]
    except (TypeError, ValueError):
        raise UsageError(f"{where}: not a list of [score, share]", "mend the model card") from None
    scores = [score for score, _ in points]
    if not points or sorted(set(scores)) != scores or not all(0.0 <= v <= 1.0 for point in points for v in point):
        raise UsageError(f"{where}: scores must ascend and all lie in 0..1", "mend the model card")
    return scores, _never_falling([share for _, share in points])


def _never_falling(values: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls, in least squares."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, n), (b, m) = blocks[-2:]
            blocks[-2:] = [((a * n + b * m) / (n + m), n + m)]
    return [mean for mean, count in blocks for _ in range(count)]


@dataclass
class _Look:
    """Images from one place: where the first was taken from, and the mean of what they say."""

    direction: Vector  # (3,) unit vector, camera to object
    distance: float  # m
    gain: float  # mean log-odds against the base rate
    images: int
    sightings: int  # of these, in which the object was seen


@dataclass
class Evidence:
    """Evidence for one object: votes by kind, and looks with their log-odds."""

    votes: dict[str, float] = field(default_factory=dict)  # summed probability by kind
    _looks: list[_Look] = field(default_factory=list)

    def add(self, kind: str, probability: float, direction: Vector, distance: float, how: EvidenceSettings) -> None:
        """Take in one sighting; probability: that it shows an object of this kind."""
        self.votes[kind] = self.votes.get(kind, 0.0) + probability
        self._place(_Look(direction, distance, _log_odds(probability) - _log_odds(how.base_rate), 1, 1), how)

    def miss(self, direction: Vector, distance: float, how: EvidenceSettings) -> None:
        """Take in an image that should have shown it and did not."""
        self._place(_Look(direction, distance, _log_odds(how.missed), 1, 0), how)

    def absorb(self, other: Evidence, how: EvidenceSettings) -> None:
        """Adds the evidence of another object that has turned out to be this one."""
        for kind, votes in other.votes.items():
            self.votes[kind] = self.votes.get(kind, 0.0) + votes
        for look in other._looks:
            self._place(look, how)

    def _place(self, new: _Look, how: EvidenceSettings) -> None:
        """Join the look from nearly the same place, or open one. A look stays where it began, so that many small steps
        become a new look."""
        for look in self._looks:
            near, far = sorted((look.distance, new.distance))
            if float(look.direction @ new.direction) > math.cos(how.look_angle) and far < how.look_ratio * near:
                total = look.images + new.images
                look.gain = (look.gain * look.images + new.gain * new.images) / total
                look.images = total
                look.sightings += new.sightings
                return
        self._looks.append(new)

    @property
    def views(self) -> int:
        """Number of looks that saw it: places apart."""
        return sum(look.sightings > 0 for look in self._looks)

    @property
    def kind(self) -> str:
        """The kind with the most votes; the first of KINDS on a tie."""
        return max(self.votes, key=lambda kind: (self.votes[kind], -KINDS.index(kind)))

    def probability(self, how: EvidenceSettings, prior: float | None = None) -> float:
        """That the object is there and of its kind; prior: before any look, by default that of the settings."""
        gains = sorted((look.gain for look in self._looks), key=abs, reverse=True)
        weights = [how.look_weight**n for n in range(len(gains))]
        before = how.prior if prior is None else prior
        odds = _log_odds(before) + sum(w * g for w, g in zip(weights, gains, strict=True))
        return self.votes[self.kind] / sum(self.votes.values()) / (1.0 + math.exp(-odds))


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))
