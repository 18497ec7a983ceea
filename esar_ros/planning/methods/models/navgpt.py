"""NavGPT: the model reads captions, objects and history, thinks aloud and picks one of the safe actions.

Source: Zhou et al., NavGPT: explicit reasoning in vision-and-language navigation with large language models, AAAI 2024;
as a baseline in ESARBench, section 4.1. Adapted for the air: the sectors are the four cameras, each with a caption, the
detector's objects with bearing and distance, and no metric map; in place of the viewpoints of an indoor graph the model
gets the actions whose path the depth images show free. Captions and the decision need a model; without captions the
detector's words stand alone, without a decision the first free path is taken.
"""

from __future__ import annotations

from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.exchange import Form, clean
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import CAPTION_SYSTEM, ORDER, caption_questions, sector_words

SYSTEM = (
    "You are the pilot of a search-and-rescue drone and look for missing people and their traces. Each turn you get an "
    "observation of four camera sectors, your history, and the safe actions. First think: where are you, what does the "
    "mission say, what has been searched? Then act: pick one of the safe actions. Stop only when all have been found."
)


class NavGptSettings(ModelStepSettings):
    """Section `navgpt` of config/planners.yaml."""

    history: int = Field(default=12, ge=0, description="past turns the model is told")


class Turn(Form):
    """Thought and action."""

    thought: str = Field(min_length=1, description="your reasoning in one to three sentences")
    action: str = Field(description="one of the safe actions")


@register("navgpt")
class NavGpt(ActionMethod):
    """Think, act, observe."""

    name = "navgpt"
    settings_type = NavGptSettings
    prompts = (SYSTEM, CAPTION_SYSTEM)
    _settings: NavGptSettings

    def prepare(self) -> None:
        """No history."""
        self._history: list[str] = []

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Captions first, then the decision among the safe actions."""
        questions = caption_questions(observation, self.sends_images)
        replies = (yield questions) if questions else ()
        words = sector_words(observation, replies)
        safe = self.safe_actions(observation)
        history = self._history[-self._settings.history :] if self._settings.history else []
        text = "\n".join(
            [
                self.situation(observation),
                "History: " + (" | ".join(history) or "none"),
                *(f"{name}: {words[name]}" for name in ORDER),
                self.action_words(),
                f"Safe actions: {', '.join(safe)}.",
            ]
        )
        turn, trouble = yield from ask("turn", SYSTEM, text, Turn)
        choice = self._choice(turn, safe, trouble, observation)
        self._history.append(f"{observation.elapsed:.0f} s: {clean(choice.why, 120)} -> {choice.action}")
        return choice

    def _choice(self, turn: Turn | None, safe: list[str], trouble: str, observation: Observation) -> Choice:
        if turn is None:
            return self.fallback(observation, trouble)
        if turn.action not in safe:
            return self.fallback(observation, "the model's action is none of the safe ones")
        return Choice(turn.action, clean(turn.thought), considered=len(safe))
