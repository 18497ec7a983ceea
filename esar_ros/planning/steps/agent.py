"""The interface of an agent that flies step by step: reset with a task, then one action for every observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from esar_ros.mission.object_goal import StepAction, StepObservation, StepTask


@runtime_checkable
class StepAgent(Protocol):
    """An agent; deterministic in task, seed and observations."""

    @property
    def name(self) -> str:
        """Registry name, written into results."""

    @property
    def eligible(self) -> bool:
        """False when it uses ground truth: it stands outside the comparison."""

    def reset(self, task: StepTask, seed: int) -> None:
        """Begin an episode; forgets all of the last one. Raises UsageError when the task cannot be worked with."""

    def act(self, observation: StepObservation) -> StepAction:
        """Choose an action; a stop ends the episode."""


@runtime_checkable
class Accountable(Protocol):
    """An agent whose records tell what an episode cost beyond time."""

    @property
    def account(self) -> Mapping[str, int]:
        """Counts of this episode: tokens, actions chosen without the model that it asks."""
