"""Random: every action but stop is as likely in the first ten, then stop is as likely as each of them.

Source: Xiao et al., UAV-ON, 2025, section 6.1 ("Random"): uniform over the actions with fixed sizes, the stop disabled
during the first ten steps. Needs no model and looks at nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from esar_ros.mission.object_goal import StepAction, StepKind, StepObservation, StepTask
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.parameters import check

_KINDS = tuple(StepKind)


class RandomSettings(StrictModel):
    """Section `random` of the suite's file."""

    stop_from_step: int = Field(default=10, ge=0, description="actions before stop may be drawn")


class RandomSteps:
    """Draws each action."""

    name = "random"
    eligible = True

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(RandomSettings, parameters, self.name)

    def reset(self, task: StepTask, seed: int) -> None:
        """Begin an episode."""
        self._random = np.random.default_rng(seed)

    def act(self, observation: StepObservation) -> StepAction:
        """Draw."""
        may_stop = observation.number >= self._settings.stop_from_step
        return StepAction(_KINDS[int(self._random.integers(len(_KINDS) if may_stop else len(_KINDS) - 1))])
