"""Random: its distribution, which nothing it sees can change."""

from __future__ import annotations

from collections import Counter

import numpy as np

from esar_ros.mission.object_goal import StepKind, StepObservation
from esar_ros.planning.steps.random_steps import RandomSteps
from helpers.steps import SETTINGS, seen, step_task

EPISODES = 2000
NOWHERE, TASK, agent = seen(), step_task(), RandomSteps({})


def drawn(seed: int, at_most: int = 150) -> list[StepKind]:
    """Actions up to the stop, in a world where nothing is in the way."""
    agent.reset(TASK, seed)
    kinds: list[StepKind] = []
    while len(kinds) < at_most and StepKind.STOP not in kinds:
        kinds.append(agent.act(StepObservation(len(kinds), NOWHERE.pose, NOWHERE.views)).kind)
    return kinds


def test_frames_are_ten_and_a_geometric_number() -> None:
    """Stop has a chance of 1 in 8 from the eleventh action on: 7 frames more on average, deviation sqrt(56)."""
    frames = np.array([len(drawn(seed)) - 1 for seed in range(EPISODES)])
    assert frames.min() == 10
    assert abs(frames.mean() - 17.0) < 4.0 * np.sqrt(56.0 / EPISODES)
    assert abs(np.mean(frames == 10) - 1.0 / 8.0) < 4.0 * np.sqrt(7.0 / 64.0 / EPISODES)


def test_before_that_seven_actions_are_as_likely_and_a_step_is_19_7_m() -> None:
    counts = Counter(kind for seed in range(EPISODES) for kind in drawn(seed, 10))
    assert StepKind.STOP not in counts and len(counts) == 7
    shares = np.array(list(counts.values())) / (10 * EPISODES)
    assert abs(shares - 1.0 / 7.0).max() < 4.5 * np.sqrt(6.0 / 49.0 / (10 * EPISODES))
    length = {kind: 0.0 if "turn" in kind.value else SETTINGS.sizes[kind] for kind in counts}
    mean = sum(length[kind] * count for kind, count in counts.items()) / counts.total()
    assert abs(mean - 19.0 / 7.0) < 0.06


def test_a_seed_is_a_walk() -> None:
    assert drawn(5) == drawn(5) != drawn(6)
