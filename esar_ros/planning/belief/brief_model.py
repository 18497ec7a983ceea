"""Belief with a model for the brief: a language model reads the brief, once; all else is `belief`.

Source: the project's own, as planning/belief/search.py. The model fills in a strict form
(planning/belief/brief/form.py) that maps onto the facts which the rules read (planning/belief/brief/parser.py). It
needs a model for that alone: until an answer is there, and when none comes, the rules' reading is flown, and the
decision says why. With the clock running the prior is laid out anew when the answer comes; looks, clues and reports
until then count in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import Field

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.belief.brief.coordinates import ground_of
from esar_ros.planning.belief.brief.facts import BriefFacts
from esar_ros.planning.belief.brief.form import BriefReading, completed, facts_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.search import BeliefSearch, BeliefSettings
from esar_ros.planning.model.mind import Mind, Outcome, Thought
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.planning.model.thinker import Thinker, ask
from esar_ros.planning.registry import register
from esar_ros.planning.sectors import mission_words

READER_SYSTEM = (
    "You read the brief of a search-and-rescue mission for the drone's computer. Tell what it says about who is "
    "missing, where the drone starts as seen from a landmark, and the ways on which people went or were seen, leg by "
    "leg in the order told. Give only what is said: invent no number, and leave out wind and weather. Walking times "
    "are minutes, all other distances metres."
)


class ModelBeliefSettings(BeliefSettings):
    """Section `belief_model` of config/planners.yaml: all of `belief`, and a model."""

    model: ModelSettings = Field(default_factory=ModelSettings)


@dataclass(frozen=True)
class Reading:
    """The model's, or none and why."""

    facts: BriefFacts | None
    trouble: str


@register("belief_model")
class ModelBelief(Thinker, BeliefSearch):
    """Has the brief read by a model."""

    name = "belief_model"
    asks_model: ClassVar[bool] = True
    reads_by_rules = False
    settings_type: ClassVar[type[BeliefSettings]] = ModelBeliefSettings
    prompts: ClassVar[Sequence[str]] = (READER_SYSTEM,)
    _settings: ModelBeliefSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._mind: Mind[Any] = Mind(self._settings.model, self.name, self.prompts)
        self.name = self._mind.method

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails: also who is asked to read the brief."""
        about = self._mind.details
        return {**about, "brief_reader": about["model"]}

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission by the rules' reading. Raises UsageError when the brief cannot be worked with."""
        super().reset(brief, seed)
        self._mind.reset(brief)
        self._is_asked = False  # for its reading
        self._tokens, self._fault, self._news_of_brief = (0, 0), "", ""  # of this decision

    def act(self, observation: Observation) -> Decision:
        """As belief does; an answer that was waited for is taken first."""
        self._tokens, self._fault, self._news_of_brief = (0, 0), "", ""
        if not self._is_asked:
            self._is_asked = True
            self._mind.begin(self._read())
        if self._mind.busy:
            self._poll(observation)
        decision = super().act(observation)
        return replace(
            decision,
            why=decision.why + self._news_of_brief,
            tokens_in=self._tokens[0],
            tokens_out=self._tokens[1],
            thinking=self._mind.busy or decision.thinking,
            trouble=self._fault,
        )

    def _poll(self, observation: Observation) -> None:
        """Take the outcome of the thought under way when there is one."""
        outcome = self._mind.poll(observation)
        if outcome is not None:
            self._tokens = (self._tokens[0] + outcome.tokens_in, self._tokens[1] + outcome.tokens_out)
            self._take(outcome)

    def _take(self, outcome: Outcome[Any]) -> None:
        """Go on with what the model has read."""
        reading: Reading = outcome.value
        self._fault = reading.trouble
        if reading.facts is None:
            self._news_of_brief = f"; brief read by rules, fell back ({reading.trouble})"
            return
        self._news_of_brief = "; brief read by the model"
        self._initialise(reading.facts)
        self._finds.retell(self.people)
        self._planned = -math.inf

    def _read(self) -> Thought[Reading]:
        text = mission_words(self._brief)
        answer, trouble = yield from ask("brief", READER_SYSTEM, text, BriefReading)
        if answer is None:
            return Reading(None, trouble)
        rules = parse_brief(self._brief.prompt, ground_of(self._brief))
        return Reading(completed(facts_of(answer, self._brief.prompt), rules), "")
