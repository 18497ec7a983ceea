"""NavGPT: a language model that sees through words plans, remembers, reasons and picks one of the safe actions.

Source: Zhou et al., NavGPT: explicit reasoning in vision-and-language navigation with large language models, AAAI
2024, section 3 (visual perceptors, history, reasoning and acting, prompt manager), and its public code (action plan,
summariser); as a baseline in ESARBench, section 4.1. Its steps, by the headings of section 3:

- plan: once, the instruction is divided into steps (the code's action plan);
- visual perceptors: each view becomes a caption, with the detector's objects by bearing and distance;
- reasoning and acting: from plan, history, observation and safe actions the model writes a thought, then an action;
- history: every turn is kept as thought, action and observation, the observation summarised in a sentence by the
  model in a question of its own, as all captions of all turns would be too long.

Adapted for the air: four cameras in place of eight directions, captions by the language model in place of BLIP-2, and
in place of the viewpoints of an indoor graph the actions whose path the depth images show free. Calls: one for the
plan, then six a turn in two rounds: four captions at once; then turn and summary at once. All of them need a model;
without captions the detector's words stand alone, without a plan the brief, without a summary the detector's words,
without a turn the first free path is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from esar_ros.mission.observation import Observation
from esar_ros.planning.exchange import Form, Question, Reply, clean
from esar_ros.planning.methods.models.action_method import ActionMethod, Choice, ModelStepSettings
from esar_ros.planning.model.mind import Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import CAPTION_SYSTEM, ORDER, caption_questions, object_words, sector_words

PLAN_SYSTEM = (
    "You are the pilot of a search-and-rescue drone. Divide the mission brief into the steps of a search, in order: "
    "where to go first and by which heading, what to look for there, what each trace would mean, when to go on."
)
SYSTEM = (
    "You are the pilot of a search-and-rescue drone and look for missing people and their traces. You follow a plan. "
    "Each turn you get your history, an observation of four camera sectors, and the safe actions. First think: at "
    "which step of the plan are you, has it been seen, what is new? Do not go back over what has been searched. Then "
    "act: pick one of the safe actions. Stop only when all have been found."
)
SUMMARY_SYSTEM = "You keep the log of a search-and-rescue drone. Put what its cameras show into one sentence."


class NavGptSettings(ModelStepSettings):
    """Section `navgpt` of config/planners.yaml."""

    history: int = Field(default=12, ge=1, description="past turns the model is told")


class Plan(Form):
    """The search, step by step."""

    steps: list[str] = Field(min_length=1, max_length=12, description="one sentence each, in order")


class Turn(Form):
    """Thought and action."""

    thought: str = Field(min_length=1, description="your reasoning in one to three sentences")
    action: str = Field(description="one of the safe actions")


class Summary(Form):
    """What was seen."""

    summary: str = Field(min_length=1, description="one sentence")


@register("navgpt")
class NavGpt(ActionMethod):
    """Plan, then think, act, observe."""

    name = "navgpt"
    settings_type = NavGptSettings
    prompts = (PLAN_SYSTEM, SYSTEM, SUMMARY_SYSTEM, CAPTION_SYSTEM)
    _settings: NavGptSettings

    def prepare(self) -> None:
        """No plan, no history."""
        self._plan: str | None = None  # None: not asked for yet
        self._history: list[str] = []

    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """The plan once; captions; then the decision among the safe actions, and the summary for the history."""
        if self._plan is None:
            text = f"{self.situation(observation)}\n{self.action_words()}"
            plan, _ = yield from ask("plan", PLAN_SYSTEM, text, Plan)
            self._plan = "none" if plan is None else _numbered(plan.steps)
        questions = caption_questions(observation, self.sends_images)
        replies = (yield questions) if questions else ()
        words = sector_words(observation, replies)
        seen = [f"{name}: {words[name]}" for name in ORDER]
        safe = self.safe_actions(observation)
        turn, summary = yield [
            Question("turn", SYSTEM, self._turn_text(seen, safe, observation), Turn),
            Question("summary", SUMMARY_SYSTEM, "\n".join(seen), Summary),
        ]
        choice = self._choice(turn, safe, observation)
        saw = clean(summary.value.summary, 200) if isinstance(summary.value, Summary) else ""
        saw = saw or object_words(observation, observation.clues) or "nothing detected"
        place = self.place_words(observation)
        self._history.append(
            f"{observation.elapsed:.0f} s, {place}: saw: {saw} Thought: {clean(choice.why, 160)} -> {choice.action}"
        )
        return choice

    def _turn_text(self, seen: Sequence[str], safe: Sequence[str], observation: Observation) -> str:
        """Returns the question of a turn: the paper's prompt manager puts plan, history and observation together."""
        history = self._history[-self._settings.history :]
        return "\n".join(
            [
                self.situation(observation),
                f"Plan: {self._plan}",
                "History, oldest first:",
                *([f"- {turn}" for turn in history] or ["- none yet"]),
                "Observation:",
                *seen,
                self.action_words(),
                f"Safe actions: {', '.join(safe)}.",
            ]
        )

    def _choice(self, reply: Reply, safe: Sequence[str], observation: Observation) -> Choice:
        """Returns the model's action, or the first free way and why it is not the model's."""
        if not isinstance(reply.value, Turn):
            return self.fallback(observation, reply.reason)
        if reply.value.action not in safe:
            return self.fallback(observation, "the model's action is none of the safe ones")
        return Choice(reply.value.action, clean(reply.value.thought), considered=len(safe))


def _numbered(steps: Sequence[str]) -> str:
    """Returns steps as "1. ... 2. ..." on one line."""
    return " ".join(f"{number}. {clean(step, 200)}" for number, step in enumerate(steps, 1))
