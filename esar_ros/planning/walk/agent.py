"""The interface of an agent on foot: reset with a task, then one action for every observation."""

from __future__ import annotations

from typing import Protocol

from esar_ros.mission.rescue import WalkAction, WalkObservation, WalkTask


class WalkAgent(Protocol):
    """An agent; deterministic in task, seed and observations."""

    @property
    def name(self) -> str:
        """Registry name, written into results."""

    @property
    def eligible(self) -> bool:
        """False when it uses ground truth: it stands outside the comparison."""

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode; forgets all of the last one. Raises UsageError when the task cannot be worked with."""

    def act(self, observation: WalkObservation) -> WalkAction:
        """Choose an action, which stays in force until the next observation."""
