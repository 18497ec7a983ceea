"""Pure-MLLM: the model sees the front image and the brief and names one discrete action.

Source: ESARBench, section 4.1 ("a direct MLLM-control baseline that maps the front-view observation and task prompt
to discrete UAV actions"): no memory, no map, "stop only when within 10 m". One call an action. Adapted: the model is
also told what a pilot would be, time, position, height, heading and the way flown; `pure_mllm@brief` gets the
picture, the brief and the actions alone. An action is a waypoint above ground; one that would leave the search area
is not flown; stop is not obeyed in the first ten actions (UAV-ON's rule for its random agent), so that neither an
arbitrary answer nor words on a sign end a mission in its first seconds. Needs a model for every action; without an
answer it goes straight on where the depth image shows free space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import images_of, mission_words

SYSTEM = (
    "You fly a search-and-rescue drone that looks for missing people and their traces. You see its front camera. "
    "Choose the next action. Stop only when every missing person has been found and you are within 10 m of the last."
)


BRIEF = "brief"


class PureMllmSettings(ModelStepSettings):
    """Section `pure_mllm` of config/planners.yaml."""

    told: Literal["flight", "brief"] = Field(
        default="flight", description="the flight in words too, or the brief alone: the paper's, pure_mllm@brief"
    )


class NextAction(Form):
    """What to do next."""

    reason: str = Field(default="", description="one sentence")
    action: Literal["forward", "left", "right", "up", "down", "turn_left", "turn_right", "stop"]


@register("pure_mllm")
class PureMllm(ActionMethod):
    """Asks for every action."""

    name = "pure_mllm"
    settings_type = PureMllmSettings
    prompts = (SYSTEM,)
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {BRIEF: {"told": BRIEF}}
    _settings: PureMllmSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if self._settings.told == BRIEF:
            self.name = f"{self.name}@{BRIEF}"

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return {**super().details, "told": self._settings.told}

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """One question, one action."""
        alone = self._settings.told == BRIEF
        words = mission_words(self._brief) if alone else self.situation(observation)
        text = f"{words}\n{self.action_words()}"
        images = images_of(observation, ("front",), self.sends_images)
        answer, trouble = yield from ask("action", SYSTEM, text, NextAction, images)
        if answer is None:
            return self.fallback(observation, trouble)
        return Choice(answer.action, clean(answer.reason) or "the model gave no reason")
