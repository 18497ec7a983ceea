"""MLLM: a model as strategist over an image of the map, and a fast local policy that flies what it decides.

Source: the project's own; the strategist's view of a map with numbered candidates follows set-of-mark prompting (Yang
et al., Set-of-Mark prompting unleashes extraordinary visual grounding in GPT-4V, 2023). Prior, evidence, second looks,
reports and the stop are those of `belief` (planning/belief/search.py), the brief is read by the model too
(planning/belief/brief_model.py). Every minute, when the place chosen is searched or something new was found, the model
gets a drawn map (planning/methods/models/strategy_map.py) with numbered candidates (peaks of the belief, surroundings
of clues, frontiers), the cameras' images, the brief, the finds and its earlier answers. It answers with a ranking of
the candidates, a reason, and its present hypothesis of what has happened. From then on only the region around the first
of them counts, and belief's views fly there leg by leg. Ranking and reading need a model: while no answer is there, or
when there is none to be had, belief's own are flown, and the decision says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Decision, Report, ReportType, partly
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.belief.brief_model import READER_SYSTEM, ModelBelief, ModelBeliefSettings
from esar_ros.planning.belief.search import BeliefSettings
from esar_ros.planning.belief.view_planning import ViewLeg, Worth
from esar_ros.planning.exchange import Form, LabelledImage, clean, labelled_image
from esar_ros.planning.flight_words import flight_words
from esar_ros.planning.method import GRID, VIEWS
from esar_ros.planning.methods.maps.grid_walk import GridWalk, WalkSettings
from esar_ros.planning.methods.models.strategy import Candidate, around_clues, numbered, peaks, whereabouts
from esar_ros.planning.methods.models.strategy_map import MapDrawing, draw
from esar_ros.planning.model.mind import Outcome, Thought
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.registry import register
from esar_ros.planning.search_area import contains
from esar_ros.planning.sectors import ORDER, images_of, mission_words, object_words

SYSTEM = (
    "You lead the search of a search-and-rescue drone. You get a map drawn by its computer, north up, with numbered "
    "candidate places; the pictures of its cameras; the brief; what its detector found; and what you said before. "
    "Yellow to red on the map is where its statistics expect a missing person. Weigh the brief, the finds and the "
    "terrain: where would the missing have gone, and where were the finds on their way? Rank the candidates by "
    "number, the place to search next first. Near places cost less time. The drone flies, looks twice, reports and "
    "stops by itself."
)
_TRACK_STEP = 5.0  # m between two points of the way that is drawn


class StrategistSettings(ModelBeliefSettings):
    """Section `mllm` of config/planners.yaml: all of `belief_model`, and these."""

    every: float = Field(default=60.0, gt=0, description="s after which the model is asked again in any case")
    least: float = Field(default=15.0, ge=0, description="s between two questions at least")
    reach: float = Field(default=70.0, gt=0, description="m around a chosen place that are searched")
    searched: float = Field(default=0.4, gt=0, lt=1, description="share of its worth left at which a place is done")
    peaks: int = Field(default=5, ge=1, le=9, description="candidates from the belief, at most")
    finds: int = Field(default=3, ge=0, le=9, description="candidates from clues, at most")
    frontiers: int = Field(default=3, ge=0, le=9, description="candidates from the map's frontiers, at most")
    history: int = Field(default=6, ge=0, description="past decisions the model is told")


class Strategy(Form):
    """Where to search and why."""

    ranking: list[int] = Field(min_length=1, max_length=20, description="candidate numbers, the first to search first")
    reason: str = Field(min_length=1, max_length=1000, description="one sentence for the first")
    hypothesis: str = Field(default="", max_length=1000, description="where the missing are and what happened, now")


@dataclass(frozen=True)
class Region:
    """Region being searched: a place (2,), its worth when chosen, and the time (s) until which it is searched."""

    place: Vector
    worth: float
    until: float
    words: str


@dataclass(frozen=True)
class Choice:
    """The model's, or none and why."""

    region: Region | None
    trouble: str


@register("mllm")
class MllmSearch(ModelBelief):
    """Asks where to search, flies there by belief's views."""

    name = "mllm"
    needs: frozenset[str] = frozenset({GRID, VIEWS})
    settings_type: ClassVar[type[BeliefSettings]] = StrategistSettings
    prompts: ClassVar[Sequence[str]] = (SYSTEM, READER_SYSTEM)
    _settings: StrategistSettings

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        super().reset(brief, seed)
        self._frontiers = GridWalk(WalkSettings(), self._area, 0.0)
        self._region: Region | None = None
        self._news = False  # something was found since the last question
        self._asked = -np.inf  # s, stamp of the last question
        self._track: list[Vector] = []
        self._history: list[str] = []
        self._hypothesis = ""
        self._trouble = ""  # of the last answer

    def act(self, observation: Observation) -> Decision:
        """Decides as belief does, and records the track flown."""
        here = observation.pose.position[:2]
        if not self._track or float(np.linalg.norm(self._track[-1] - here)) >= _TRACK_STEP:
            self._track.append(here.copy())
        return super().act(observation)

    def _update(self, observation: Observation, reports: tuple[Report, ...]) -> bool:
        changed = super()._update(observation, reports)
        self._news |= changed
        return changed

    def _choose_view(self, view: ViewLeg, worth: Worth, observation: Observation) -> tuple[ViewLeg, str]:
        """Returns the best view around the model's choice, or belief's own while there is none, and why."""
        if not self._mind.busy and self._is_due(worth, observation):
            self._asked, self._news, self._region = observation.stamp, False, None
            self._mind.begin(self._deliberate(worth, observation))
            self._poll(observation)
        if self._mind.busy:
            return view, "; own ranking while the model thinks"
        region = self._region
        if region is None:
            return view, f"; own ranking, fell back ({self._trouble})" if self._trouble else "; own ranking"
        near, _ = self._plan(observation, self._around(region.place, worth))
        if near is None:
            self._region = None
            return view, "; own ranking, nothing to be seen around the model's choice"
        return near, f"; {region.words}"

    def _is_due(self, worth: Worth, observation: Observation) -> bool:
        since, region = observation.stamp - self._asked, self._region
        if since < self._settings.least:
            return False
        if region is None or self._news or since >= self._settings.every:
            return True
        left = _total(self._around(region.place, worth))
        return observation.stamp >= region.until or left <= self._settings.searched * region.worth

    def _around(self, place: Vector, worth: Worth) -> Worth:
        """Returns the worth of the cells within reach of a place."""
        near = np.linalg.norm(worth.cells - place, axis=1) <= self._settings.reach
        return Worth(worth.cells[near], *(np.ascontiguousarray(part[..., near]) for part in worth[1:]))

    def _deliberate(self, worth: Worth, observation: Observation) -> Thought[Choice]:
        """One question, one ranking."""
        candidates = self.candidates(observation)
        if not candidates:
            yield from ()
            return Choice(None, "no candidate to choose from")
        text, images = self._words(candidates, observation), self._images(candidates, observation)
        answer, trouble = yield from ask("strategy", SYSTEM, text, Strategy, images)
        if answer is None:
            return Choice(None, trouble)
        number = next((n for n in answer.ranking if 1 <= n <= len(candidates)), None)
        if number is None:
            return Choice(None, "the model ranks none of the candidates")
        chosen, here = candidates[number - 1], observation.pose.position[:2]
        reason = clean(answer.reason) or "no reason given"
        self._hypothesis = clean(answer.hypothesis, 400)
        self._history.append(f"{observation.elapsed:.0f} s: {number} ({chosen.what}), {reason}")
        travel_time = float(np.linalg.norm(chosen.place - here)) / self._settings.planning.speed
        words = f"model's {number} of {len(candidates)} ({chosen.what}): {reason}"
        if self._hypothesis:
            words += f"; it believes: {self._hypothesis}"
        until = observation.stamp + 1.5 * travel_time + self._settings.every
        return Choice(Region(chosen.place, _total(self._around(chosen.place, worth)), until, words), "")

    def _take(self, outcome: Outcome[Any]) -> None:
        """Search where the model says, and think the leg over; or what ModelBelief takes."""
        if not isinstance(outcome.value, Choice):
            super()._take(outcome)
            return
        self._region = outcome.value.region
        self._trouble = outcome.value.trouble
        self._fault = self._trouble or partly(self._fault)  # that of the brief, if it came with this decision
        self._planned = -np.inf

    # -- what the model is shown -------------------------------------------------------------------

    def candidates(self, observation: Observation) -> list[Candidate]:
        """Places in the area to choose from, numbered from 1 in this order."""
        settings, here = self._settings, observation.pose.position[:2]
        expected = np.sum([person.posterior for person in self.people], axis=0)
        likely = peaks(expected, self.looks.cell, self.looks.origin, settings.peaks)
        found = around_clues([c for c in observation.clues if np.isfinite(c.position).all()], settings.finds)
        edges = []
        if observation.grid is not None:
            frontiers = self._frontiers.frontiers(observation.grid, observation)
            frontiers.sort(key=lambda f: float(np.linalg.norm(f.position - here)) - 0.5 * len(f.cells))
            edges = [Candidate(f.position, "edge of the mapped ground") for f in frontiers[: 3 * settings.frontiers]]
        spread = [one for one in numbered([likely, found, edges]) if contains(self._area, one.place)]
        count = settings.peaks + settings.finds + settings.frontiers
        return spread[:count]

    def _words(self, candidates: Sequence[Candidate], observation: Observation) -> str:
        here = observation.pose.position[:2]
        people = sum(report.type is ReportType.VICTIM for report in self._finds.reports)
        history = self._history[-self._settings.history :] if self._settings.history else []
        lines = [
            mission_words(self._brief),
            flight_words(observation, np.asarray(self._brief.home, dtype=np.float64), self._track),
            f"Missing: {len(self.people)}; people reported: {people}.",
            f"Found by the detector: {object_words(observation, observation.clues) or 'nothing yet'}.",
            "You believed: " + (self._hypothesis or "nothing yet"),
            "You chose: " + (" | ".join(history) or "nothing yet"),
            "Candidates, as seen from the drone:",
            *(f"{n}: {whereabouts(one.place, here)}, {one.what}" for n, one in enumerate(candidates, 1)),
        ]
        return "\n".join(lines)

    def _images(self, candidates: Sequence[Candidate], observation: Observation) -> tuple[LabelledImage, ...]:
        how = self._mind.sends_images
        if how is None:
            return ()
        scene = MapDrawing(
            observation.pose.position[:2],
            observation.pose.yaw,
            np.asarray(self._brief.home, dtype=np.float64)[:2],
            np.array(self._track),
            self._area,
            [candidate.place for candidate in candidates],
            observation.clues,
            observation.grid,
            self.belief_grid(),
        )
        return (labelled_image("map", draw(scene), *how), *images_of(observation, ORDER, how))


def _total(worth: Worth) -> float:
    return float(worth.person.sum() + worth.clue.sum())
