"""Pure-MLLM: the model sees the front image and the brief and names one discrete action.

Source: ESARBench, section 4.1 ("Pure-MLLM"): no memory, no map, "stop only when within 10 m". Adapted for the air: an
action is a waypoint above ground; one that would leave the search area is not flown; stop is not obeyed in the first
ten actions (UAV-ON's rule for its random agent), so that neither an arbitrary answer nor words on a sign end a mission
in its first seconds. Needs a model for every action; without an answer it goes straight on where the depth image shows
free space.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import images_of

SYSTEM = (
    "You fly a search-and-rescue drone that looks for missing people and their traces. You see its front camera. "
    "Choose the next action. Stop only when every missing person has been found and you are within 10 m of the last."
)


class NextAction(Form):
    """What to do next."""

    reason: str = Field(default="", description="one sentence")
    action: Literal["forward", "left", "right", "up", "down", "turn_left", "turn_right", "stop"]


@register("pure_mllm")
class PureMllm(ActionMethod):
    """Asks for every action."""

    name = "pure_mllm"
    prompts = (SYSTEM,)

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """One question, one action."""
        text = f"{self.situation(observation)}\n{self.action_words()}"
        images = images_of(observation, ("front",), self.sends_images)
        answer, trouble = yield from ask("action", SYSTEM, text, NextAction, images)
        if answer is None:
            return self.fallback(observation, trouble)
        return Choice(answer.action, clean(answer.reason) or "the model gave no reason")
