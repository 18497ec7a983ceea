"""Likelihood of found clues under the lines that people may have walked.

The likelihood of a clue under a line: it fell anywhere on the line, it lies with the person, it lies at a place that
the brief names with a clue of its kind, or it has nothing to do with it. After that, lines through the clues themselves
are proposed: a person is near his things, or has gone on in the direction in which they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.belief.prior import Hypotheses

_AREA = 1.0e6  # m^2 over which a clue that has nothing to do with the line may lie
_SHORTEST = 60.0  # m, a line's length counts as at least this


class EvidenceSettings(StrictModel):
    """Widths are assumptions, in the order of how far things are carried, thrown away or left; no published figures."""

    foreign: float = Field(default=0.15, gt=0, lt=1, description="share of clues that are nobody's")
    on_line: float = Field(default=0.45, ge=0, le=1, description="share of a person's clues along his line")
    at_place: float = Field(default=0.15, ge=0, le=1, description="share at the place the brief names them with")
    line_width: float = Field(default=30.0, gt=0, description="m, standard deviation off the line")
    clue_lines: float = Field(default=0.6, ge=0, lt=1, description="share of lines through the clues, with many clues")
    gap: float = Field(default=60.0, gt=0, description="m, mean way on beyond the last clue")
    radius: dict[str, float] = Field(
        default_factory=lambda: {
            "signal_flare": 25.0, "light": 30.0, "sleeping_bag": 35.0, "rope": 45.0, "backpack": 50.0,
            "clothing": 50.0, "campfire": 60.0, "trekking_pole": 60.0, "water_bottle": 70.0, "tent": 80.0,
            "food_wrapper": 90.0, "footprints": 80.0,
        },
        description="m, standard deviation of a person's distance from a thing of his",
    )  # fmt: skip


class ReportedClue(NamedTuple):
    """A clue at a place (2,), and the probability that there is one."""

    kind: str
    place: Vector
    real: float = 1.0


def believed(clues: Sequence[ReportedClue], expected: float) -> list[ReportedClue]:
    """Returns the clues with their weights scaled so that they sum up to at most `expected`, the number a mission has.

    A detector that errs in one place's rain or stones errs there again and again: sixty detections that it calls clues
    are not sixty times as much evidence.
    """
    share = min(1.0, expected / max(sum(clue.real for clue in clues), 1e-9))
    return [clue._replace(real=clue.real * share) for clue in clues]


def log_likelihood(lines: Hypotheses, clues: Sequence[ReportedClue], settings: EvidenceSettings) -> NDArray[np.float64]:
    """Of all clues under each line, (S,)."""
    total = np.zeros(len(lines.nodes))
    steps = np.linalg.norm(np.diff(lines.nodes, axis=1), axis=2)
    length = np.maximum(steps.sum(axis=1), _SHORTEST)
    for kind, place, real in clues:
        radius = settings.radius.get(kind, settings.line_width)
        near = _gaussian(np.linalg.norm(lines.ends - place, axis=1), radius)
        off = distance_to_lines(lines.nodes, place)
        tube = np.exp(-0.5 * (off / settings.line_width) ** 2) / (settings.line_width * np.sqrt(2.0 * np.pi) * length)
        named = [number for number, kinds in enumerate(lines.kinds) if kind in kinds]
        at_end, at_place = 1.0 - settings.on_line - settings.at_place, settings.at_place
        own = at_end * near + settings.on_line * tube
        if named:
            own = own + at_place / len(named) * sum(
                _gaussian(np.linalg.norm(lines.nodes[:, number] - place, axis=1), settings.line_width)
                for number in named
            )
        else:
            own = own / (1.0 - at_place)
        his = real * (1.0 - settings.foreign)
        total += np.log((1.0 - his) / _AREA + his * own)
    return total


def through_clues(
    lines: Hypotheses,
    weights: NDArray[np.float64],
    clues: Sequence[ReportedClue],
    settings: EvidenceSettings,
    count: int,
    random: np.random.Generator,
) -> Hypotheses:
    """Lines from the likely beginnings through the clues to a person near one of them or ahead of the last."""
    chosen = lines.nodes[random.choice(len(weights), count, p=weights)]
    start = chosen[:, 0]
    places = np.array([clue.place for clue in clues])
    radius = np.array([settings.radius.get(clue.kind, settings.line_width) for clue in clues])
    # Clues in the order in which a walk from the start's middle passes them.
    order = np.argsort(np.linalg.norm(places - np.median(start, axis=0), axis=1), kind="stable")
    places, radius = places[order], radius[order]
    share = 1.0 / radius**2 * (1.0 + np.arange(len(places)))  # later ones are nearer to the person
    with_thing = random.choice(len(places), count, p=share / share.sum())
    end = places[with_thing] + random.normal(size=(count, 2)) * radius[with_thing, None]
    if len(places) > 1:
        back = places[-1] - (places[:-1].mean(axis=0) if len(places) < 4 else places[-4:-1].mean(axis=0))
        ahead = np.arctan2(back[1], back[0]) + random.normal(0.0, 0.5, count)
        distance = random.exponential(settings.gap, count)
        onward = places[-1] + distance[:, None] * np.stack([np.cos(ahead), np.sin(ahead)], axis=1)
        end = np.where((random.uniform(size=count) < 0.4)[:, None], onward, end)
    through = np.broadcast_to(places[-6:], (count, *places[-6:].shape))
    nodes = np.concatenate([start[:, None], through, end[:, None]], axis=1)
    return Hypotheses(nodes, (frozenset(),) * nodes.shape[1])


def clue_line_share(clues: int, settings: EvidenceSettings) -> float:
    """Share of lines that go through the clues, by their number."""
    return settings.clue_lines * clues / (clues + 1.5)


def distance_to_lines(nodes: NDArray[np.float64], place: Vector) -> NDArray[np.float64]:
    """Distance (m) of a place (2,) from each line (S, N, 2)."""
    first, run = nodes[:, :-1], np.diff(nodes, axis=1)
    squared = np.maximum((run**2).sum(axis=2), 1e-9)
    share = np.clip(((place - first) * run).sum(axis=2) / squared, 0.0, 1.0)
    feet = first + share[..., None] * run
    return np.asarray(np.linalg.norm(feet - place, axis=2).min(axis=1))


def _gaussian(distance: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    return np.asarray(np.exp(-0.5 * (distance / radius) ** 2) / (2.0 * np.pi * radius**2))


def normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that add up to 1 from logarithms."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
