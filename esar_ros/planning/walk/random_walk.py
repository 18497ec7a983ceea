"""Random: every action of the action space is as likely. Source: Wu et al., RescueBench, 2026, public code."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.rescue import FASTEST, SHARPEST, Animation, Head, WalkAction, WalkObservation, WalkTask


class RandomWalk:
    """Draws each action; looks at nothing."""

    name = "random"
    eligible = True

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode."""
        self._random = np.random.default_rng(seed)

    def act(self, observation: WalkObservation) -> WalkAction:
        """Draw."""
        return WalkAction(
            speed=float(self._random.uniform(-FASTEST, FASTEST)),
            angle=float(self._random.uniform(-SHARPEST, SHARPEST)),
            head=Head(int(self._random.integers(len(Head)))),
            animation=Animation(int(self._random.integers(len(Animation)))),
        )
