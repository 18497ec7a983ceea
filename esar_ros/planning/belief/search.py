"""Belief: Bayesian search with a prior read from the brief, evidence from clues and empty looks, and an optimal stop.

Source: the project's own method. Search theory after Koopman (Search and Screening, 1946) and Stone (Theory of Optimal
Search, 1975), in the terms of search and rescue: the probability of area (POA) of each cell, the probability of
detection (POD) of a look, the posterior after looks that found nobody, and effort where the probability of success
(POS = POA x POD) grows fastest. Runs without a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.names import THERMAL
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue, Teammate
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.belief_map import PersonBelief
from esar_ros.planning.belief.brief.coordinates import ground_of
from esar_ros.planning.belief.brief.facts import BriefFacts
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.detection_probability import Detection, DetectionSettings
from esar_ros.planning.belief.evidence import EvidenceSettings, ReportedClue, believed
from esar_ros.planning.belief.finds import Finds
from esar_ros.planning.belief.look_map import LookMap
from esar_ros.planning.belief.prior import Hypotheses, PriorSettings, sample
from esar_ros.planning.belief.second_looks import ConfirmSettings, SecondLooks
from esar_ros.planning.belief.sight import Sight, Warmth
from esar_ros.planning.belief.stopping import Score
from esar_ros.planning.belief.terrain import Terrain
from esar_ros.planning.belief.view_planning import (
    PlanningSettings,
    ViewLeg,
    Worth,
    after,
    best_view,
    candidates,
    flyable,
    strongest,
)
from esar_ros.planning.leg import Leg, LegSettings, LegState, waypoint
from esar_ros.planning.method import scaled
from esar_ros.planning.parameters import check
from esar_ros.planning.registry import register
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import AREA_MARGIN, distance_to_edge, flight_height, nearest_inside, polygon_of
from esar_ros.planning.team import clues_of_all, has_its_turn, waits_its_turn

_PARTS = ("prior", "clues", "looks", "stop")
_MOVED = 10.0  # m: a clue that is localised anew this far off is a new one
_UNREACHABLE_RADIUS = 25.0  # m around a place that could not be flown to


class UseSettings(StrictModel):
    """The parts of the method that can be left out, to measure the worth of each."""

    prior: bool = Field(default=True, description="false: anywhere in the area is as likely, whatever the brief says")
    clues: bool = Field(default=True, description="false: what was found moves nothing")
    looks: bool = Field(
        default=True, description="false: pictures that show nobody move nothing; only legs flown count"
    )
    stop: bool = Field(default=True, description="false: searches to the end of the mission's time")


class BeliefSettings(StrictModel):
    """The section `belief` of config/planners.yaml."""

    cell: float = Field(default=10.0, ge=2, le=50, description="m")
    absent: float = Field(default=0.1, gt=0, lt=1, description="prior probability that somebody is nowhere on the map")
    clues: int = Field(default=6, ge=1, description="clues expected of a mission")
    replan: float = Field(default=15.0, gt=0, description="s after which a leg under way is thought over")
    prior: PriorSettings = Field(default_factory=PriorSettings)
    evidence: EvidenceSettings = Field(default_factory=EvidenceSettings)
    detection: DetectionSettings = Field(default_factory=DetectionSettings)
    planning: PlanningSettings = Field(default_factory=PlanningSettings)
    confirm: ConfirmSettings = Field(default_factory=ConfirmSettings)
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=8.0))
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)
    use: UseSettings = Field(default_factory=UseSettings)


class _Unconfirmed(NamedTuple):
    """An object that was detected but not reported, and the value of another look at it."""

    clue: SeenClue
    probability: float  # that it is there
    rate: float  # 1/s, gain in score per second of the look

    def is_likely(self, probability: float) -> bool:
        """Returns whether it is a person with at least this probability."""
        return self.clue.kind == PERSON and self.probability >= probability


@register("belief")
class BeliefSearch:
    """The method: it flies where the probability of success grows fastest, confirms, reports, and stops."""

    name = "belief"
    eligible = True
    needs: frozenset[str] = frozenset()
    plans_with_team = True
    reads_by_rules = True
    settings_type: ClassVar[type[BeliefSettings]] = BeliefSettings
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {f"no_{part}": {"use": {part: False}} for part in _PARTS}

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(self.settings_type, parameters, self.name)
        off = [f"no_{part}" for part in _PARTS if not getattr(self._settings.use, part)]
        if off:
            self.name = f"{self.name}@{'+'.join(off)}"
        self._policy = ReportPolicy(self._settings.reporting)

    @property
    def details(self) -> Mapping[str, str]:
        """On which pictures the POD was measured that looks count with (see planning.method.HasDetails)."""
        return {"pod_measured_on": self._settings.detection.measured_on}

    def reset(self, brief: Brief, seed: int) -> None:
        """Begins a mission: reads the brief and initialises the prior. Random numbers come from the seed alone."""
        settings = self._settings
        self._area = polygon_of(brief)
        self._brief, self._seed = brief, seed
        self.looks = LookMap(self._area, settings.cell)
        centres = np.stack(np.meshgrid(self.looks.x, self.looks.y), axis=-1)
        self._inside = distance_to_edge(self._area, centres) > 0.0
        self._centres = centres.reshape(-1, 2)
        self._detector_in_use: tuple[str, float] = ("", 0.0)  # detector and its focal length, px
        self._initialise(parse_brief(brief.prompt, ground_of(brief)))
        rig = load_vehicle()
        self._cameras = {name: (rig.image.model, mount.pose) for name, mount in rig.cameras.items()}
        self._warmth = Warmth(settings.detection, brief, rig.thermal) if rig.thermal.mounted else None
        self._terrain = Terrain()
        self._policy.reset(brief.report_cap)
        self._finds = Finds(self.people, settings.confirm.certain)
        self._second = SecondLooks(self._settings.confirm)
        self._unreachable: list[Vector] = []
        self._leg: Leg | None = None
        self._leg_start: tuple[Vector, float] | None = None  # m, map: start (2,) and height of the search leg
        self._target: int | None = None  # id of the unconfirmed object that the leg leads to
        self._planned = -math.inf  # s, stamp of the last plan
        self._plan_outdated = False  # the belief has changed since then
        self._frame, self._reason, self._stopped = 0, "", False

    def _initialise(self, facts: BriefFacts) -> None:
        """Initialises the prior probability of area from the facts read in the brief, without any clue."""
        self.facts = facts
        self._detection = Detection(self._settings.detection, self._brief, *self._detector_in_use, facts.kinds)
        self._random = np.random.default_rng(self._seed)
        home = np.asarray(self._brief.home, dtype=np.float64)[:2]
        names: list[str | None] = list(facts.names[: facts.victims])
        names += [None] * (facts.victims - len(names))
        self.people = [
            PersonBelief(self._sample_hypotheses(name, home), self.looks, self._settings.absent, self._inside)
            for name in names
        ]
        self._score = Score.of(self._brief.t_max, facts.victims, self._settings.clues)
        self._clues_in_belief: dict[int, Vector] = {}  # clue id -> position (2,), m, map

    def _sample_hypotheses(self, name: str | None, home: Vector) -> Hypotheses:
        """Returns samples of the lines that one of the missing may have walked (name: None, not named)."""
        settings = self._settings
        if settings.use.prior:
            return sample(self.facts, name, home, settings.prior, self._random, self._area)
        inside = self._centres[self._inside.reshape(-1)]
        ends = inside[self._random.integers(0, len(inside), settings.prior.samples)]
        ends = ends + self._random.uniform(-0.5, 0.5, ends.shape) * settings.cell
        return Hypotheses(np.stack([np.broadcast_to(home, ends.shape), ends], axis=1), (frozenset(), frozenset()))

    def act(self, observation: Observation) -> Decision:
        """Updates the belief, then goes on, confirms, plans anew or stops."""
        flown = observation.detector, observation.focal
        if flown != self._detector_in_use:  # neither is known before the first frame
            self._detector_in_use = flown
            self._detection = Detection(self._settings.detection, self._brief, *flown, self.facts.kinds)
        self._sight = Sight(self._detection, self._warmth, observation.cameras)
        self._second.see_with(self._sight.of(PERSON))
        self._second.take_in(observation.clues)
        reports = self._policy.reports(observation, self._second.finished)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        self._frame += 1
        self._plan_outdated |= self._update(observation, reports)
        if waits_its_turn(self._brief, observation):
            return Decision("hold", "the others choose first", Goal(GoalType.HOLD), reports)
        state = LegState.REACHED if self._leg is None else self._leg.state(observation)
        if state is LegState.BLOCKED and self._leg is not None:
            self._unreachable.append(self._leg.goal.position[:2])
        if self._target is not None:
            aimed_at = next((clue for clue in observation.clues if clue.id == self._target), None)
            if state is LegState.FLYING and aimed_at is not None and self._is_unconfirmed(aimed_at):
                return Decision("confirm", self._reason, reports=reports)
            if state is not LegState.FLYING:
                self._second.done(self._target)
            self._target, self._plan_outdated = None, True
        due = self._plan_outdated or observation.stamp - self._planned >= self._settings.replan
        unconfirmed = self._unconfirmed(observation)
        person = next((one for one in unconfirmed if one.is_likely(self._settings.confirm.score)), None)
        may = has_its_turn(self._brief, self._frame) and (due or person is not None)
        if state is LegState.FLYING and not may:
            return Decision("continue", self._reason, reports=reports)
        return self._decide(observation, person, unconfirmed, reports)

    def belief_grid(self) -> Grid | None:
        """Returns the number of missing expected in each cell of the area (planning.method.HasBeliefGrid)."""
        expected = np.sum([person.posterior for person in self.people], axis=0)
        x, y = float(self.looks.origin[0]), float(self.looks.origin[1])
        return Grid(scaled(expected, self._inside), self.looks.cell, (x, y))

    # -- update of the belief --------------------------------------------------------------------

    def _update(self, observation: Observation, reports: tuple[Report, ...]) -> bool:
        """Updates looks, clues and people found; returns whether the belief has changed by more than looks."""
        looking: tuple[Observation | Teammate, ...] = (observation, *observation.team)
        for seen in looking:
            base, height = seen.pose, seen.height
            if height is not None:
                self._terrain.add(base.position - np.array([0.0, 0.0, height]))
            plane = self._terrain.plane(base.position[:2])
            if plane is not None and self._settings.use.looks:
                cameras = [self._cameras[name] for name in seen.cameras if name in self._cameras]
                self.looks.look(base, cameras, plane, self._detection)
                if self._warmth is not None and THERMAL in seen.cameras:
                    self.looks.look(base, [self._warmth.camera], plane, self._warmth.detection)
        found = self._finds.take_in((*reports, *self._finds.of_mates(observation)))
        people = [clue for clue in observation.clues if clue.kind == PERSON and _is_localised(clue)]
        self._finds.weigh((clue.position, self._probability(clue)) for clue in people)
        return self._update_beliefs(observation) or found

    def _update_beliefs(self, observation: Observation) -> bool:
        """Updates everybody's belief where a clue is new or has moved; returns whether one was."""
        if not self._settings.use.clues:
            return False
        min_probability = self._settings.reporting.clue.probability
        known = clues_of_all(observation)
        clues = [
            clue
            for clue in known
            if clue.kind != PERSON and clue.probability >= min_probability and _is_localised(clue)
        ]
        fresh = any(
            clue.id not in self._clues_in_belief
            or float(np.linalg.norm(self._clues_in_belief[clue.id] - clue.position[:2])) > _MOVED
            for clue in clues
        )
        if fresh:
            self._clues_in_belief = {clue.id: clue.position[:2].copy() for clue in clues}
            reported = [ReportedClue(clue.kind, clue.position[:2], clue.probability) for clue in clues]
            reported = believed(reported, self._settings.clues)
            for person in self.people:
                person.update(reported, self._settings.evidence, self._random)
        return fresh

    # -- unconfirmed objects ---------------------------------------------------------------------

    def _unconfirmed(self, observation: Observation) -> list[_Unconfirmed]:
        """Returns detected but unreported objects with the value of a second look per second, in descending order."""
        person, clue = self._score.person_value(observation.elapsed), self._score.clue_value(len(self._clues_in_belief))
        planning, here = self._settings.planning, observation.pose.position
        rated = []
        for one in observation.clues:
            if one.probability < self._settings.confirm.least or not self._is_unconfirmed(one):
                continue
            probability = self._probability(one)
            seen = self._sight.of(one.kind)[self._second.slant]  # the nose is towards it
            value = (person if one.kind == PERSON else clue) * probability * seen
            rate = value / self._second.seconds(one, here, planning.speed, planning.turn)
            rated.append(_Unconfirmed(one, probability, rate))
        return sorted(rated, key=lambda one: -one.rate)

    def _probability(self, clue: SeenClue) -> float:
        """Returns the probability that a clue is there, from the belief at its place and from second looks."""
        if not self._settings.use.prior:
            return self._second.probability(clue, None)
        if clue.kind == PERSON:
            here = self._finds.missing_at(clue.position)
        else:
            here = sum(one.clue_density_at(clue.position) for one in self.people) / len(self.people)
        return self._second.probability(clue, here / self.looks.cell**2)

    def _is_unconfirmed(self, clue: SeenClue) -> bool:
        """Returns whether it is localised, sides to look from are left, and no certain find like it is there."""
        return self._second.is_open(clue) and _is_localised(clue) and not self._finds.covers(clue)

    def _confirm(self, unconfirmed: _Unconfirmed, observation: Observation, reports: tuple[Report, ...]) -> Decision:
        """Returns a leg to a viewpoint beside an object, with the nose towards it."""
        clue = unconfirmed.clue
        self._second.begin(clue, unconfirmed.probability)
        x, y = nearest_inside(self._area, self._second.viewpoint(clue, observation.pose.position))
        yaw = math.atan2(clue.position[1] - y, clue.position[0] - x)
        self._target = clue.id
        self._reason = f"{clue.kind} {clue.id}, score {clue.probability:.2f}"
        self._reason += f", {unconfirmed.probability:.2f} here, {clue.views} views"
        goal = waypoint(x, y, flight_height(self._second.height, self._brief), yaw=yaw)
        return self._fly(goal, "confirm", observation, reports, 1)

    # -- planning --------------------------------------------------------------------------------

    def _decide(
        self,
        observation: Observation,
        person: _Unconfirmed | None,
        unconfirmed: list[_Unconfirmed],
        reports: tuple[Report, ...],
    ) -> Decision:
        """Returns the best of a look at a likely person, a look at another object, and the best view; or a stop."""
        self._plan_outdated = False
        found = self._finds.expected
        if person is not None and self._score.pays(person.rate, found):
            return self._confirm(person, observation, reports)
        worth = self._remaining_value(observation)
        view, considered = self._plan(observation, worth)
        rate = view.rate if view is not None else 0.0
        if unconfirmed and unconfirmed[0].rate > rate and self._score.pays(unconfirmed[0].rate, found):
            return self._confirm(unconfirmed[0], observation, reports)
        if view is None and not self._settings.use.stop:
            return Decision("hold", "nothing is left to be looked at", Goal(GoalType.HOLD), reports)
        if view is None or (self._settings.use.stop and not self._score.pays(rate, found)):
            self._stopped = True
            why = f"{found:.2g} of {len(self.people)} found; search gains {rate * 1e3:.2f}e-3 a second"
            why += f" and costs {self._score.cost(found) * 1e3:.2f}e-3"
            return Decision("stop", why, Goal(GoalType.HOLD), reports, stop=True, considered=considered)
        left = sum(float(one.posterior.sum()) for one in self.people)
        view, words = self._choose_view(view, worth, observation)
        self._reason = f"worth {view.value:.3f} in {view.seconds:.0f} s; {left:.2f} people expected on the map{words}"
        goal = waypoint(view.place[0], view.place[1], flight_height(view.height, self._brief))
        return self._fly(goal, "search", observation, reports, considered)

    def _choose_view(self, view: ViewLeg, worth: Worth, observation: Observation) -> tuple[ViewLeg, str]:
        """Returns the view to fly in place of the best one, and text to add to the reason; here the best itself."""
        return view, ""

    def _remaining_value(self, observation: Observation) -> Worth:
        """Returns the value that remains, with the last leg's looks and the teammates' legs counted as flown."""
        here, curves = observation.pose.position[:2].copy(), self._sight
        if self._leg_start is not None and observation.cameras:  # a blind flight has passed nothing
            start, height = self._leg_start
            lacks_cameras = not self._cameras.keys() <= set(observation.cameras)
            self.looks.passed(start, here, curves.beside(height), lacks_cameras)
        worth = self._worth(observation.elapsed)
        for mate in observation.team:
            if mate.goal is not None:  # its finds on that leg are not to be found again
                height = self._settings.planning.heights[0] if mate.height is None else mate.height
                worth = after(mate.pose.position[:2].copy(), mate.goal[:2].copy(), worth, curves.beside(height))
        return worth

    def _plan(self, observation: Observation, worth: Worth) -> tuple[ViewLeg | None, int]:
        """Returns the best view and the number of views considered."""
        planning, here = self._settings.planning, observation.pose.position[:2].copy()
        places = candidates(here, worth, planning.candidates)
        allowed = flyable(places, here, self._area, AREA_MARGIN, self._unreachable, _UNREACHABLE_RADIUS)
        left = self._brief.t_max - observation.elapsed
        return best_view(here, worth, self._sight, allowed, left, planning), len(allowed)

    def _worth(self, elapsed: float) -> Worth:
        """Returns the expected value in the cells that hold nearly all of it: POA times the gain of a find."""
        person = np.zeros(self.looks.shape)
        clue_density = np.zeros(self.looks.shape)
        for one in self.people:
            person += one.posterior
            clue_density += one.clue_density
        expected = max(0.5, float(self._score.clues - len(self._clues_in_belief)))
        clue = (
            clue_density
            * (expected / len(self.people))
            * (1.0 - self.looks.clue)
            * self._score.clue_value(len(self._clues_in_belief))
        )
        person = person * self._score.person_value(elapsed)
        chosen = strongest(person, clue)
        return Worth(
            self._centres[chosen],
            person.reshape(-1)[chosen],
            clue.reshape(-1)[chosen],
            np.ascontiguousarray(self.looks.person.reshape(len(self.looks.person), -1)[:, chosen]),
            self.looks.clue.reshape(-1)[chosen],
        )

    def _fly(
        self, goal: Goal, action: str, observation: Observation, reports: tuple[Report, ...], considered: int
    ) -> Decision:
        """Returns a decision for a new leg to the goal."""
        self._leg_start = None
        if action == "search":
            self._target = None
            self._leg_start = (observation.pose.position[:2].copy(), float(goal.position[2]))
        self._leg = Leg(goal, self._settings.leg)
        self._planned = observation.stamp
        return Decision(action, self._reason, goal=goal, reports=reports, considered=considered)


def _is_localised(clue: SeenClue) -> bool:
    """Returns whether the clue has a position."""
    return bool(np.isfinite(clue.position).all())
