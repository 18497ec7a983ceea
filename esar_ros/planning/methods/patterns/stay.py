"""Stay: does nothing. A reference row of every table: what the safety term alone is worth.

Source: none; the floor of equation 7 of ESARBench, which pays 0.1 for a mission without a crash. The pilot takes it
up as it does every vehicle; it asks for no goal and reports nothing, so nothing that it would still wait for can
change its score: it says stop soon. Needs no model.
"""

from __future__ import annotations

from pydantic import Field

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.methods.patterns.reference_row import ReferenceRow, ReferenceSettings
from esar_ros.planning.registry import register


class StaySettings(ReferenceSettings):
    """Section `stay` of config/planners.yaml."""

    stop_after: float = Field(default=10.0, ge=0, description="s; infinity waits for the end of the mission")


@register("stay")
class Stay(ReferenceRow[StaySettings]):
    """Waits where it is."""

    name = "stay"
    settings_type = StaySettings

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: nothing to prepare."""

    def act(self, observation: Observation) -> Decision:
        """No goal, no report."""
        over = observation.elapsed >= self._settings.stop_after
        return Decision("stop" if over else "stay", "does nothing", stop=over)
