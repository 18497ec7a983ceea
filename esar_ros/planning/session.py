"""One method through one mission: the goal in force, reports numbered, and silence after it has stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.decision import Decision, DecisionStatus, Goal, GoalType, Report
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, CameraView, Grid, Observation, SeenClue, Teammate
from esar_ros.planning.method import GRID, VIEWS, Method, Patient
from esar_ros.planning.method_check import check_decision
from esar_ros.planning.team import OneVoice, own_brief


@dataclass(frozen=True)
class Answer:
    """Published outcome of one frame's decision."""

    seq: int  # of this decision, from 1
    status: DecisionStatus
    decision: Decision
    goal: Goal  # in force from now on
    goal_seq: int  # changes when the goal does, 0 before the first
    reports: tuple[tuple[int, Report], ...]  # new ones with their numbers, from 1
    reported: int  # number of the last report so far, 0 before the first


@dataclass(frozen=True)
class PilotFeedback:
    """The pilot's progress towards a goal."""

    goal_seq: int  # of the goal that it followed
    reached: bool
    blocked: bool
    height: float | None  # m above ground


class Session:
    """Asks a method once a frame. Between frames nothing changes."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.goal = Goal(GoalType.HOLD)
        self.goal_seq = 0
        self._reported = 0
        self._taken = 0
        self._decisions = 0
        self._stopped = False
        self._failure = ""  # what the method failed with
        self._voice: OneVoice | None = None  # in a team
        self._by_person: list[Report] = []  # by a person, not yet made known

    def reset(self, brief: Brief, seed: int, taken: int = 0) -> None:
        """Begin the mission. Raises UsageError when the method cannot work with the brief.

        taken: numbers of reports up to this one may have been given by a planner whose place this one takes.
        """
        self._failure = ""
        self.method.reset(own_brief(brief, self.method), seed)
        self._taken = taken
        self._voice = OneVoice(brief) if brief.team else None

    def run_clock(self) -> None:
        """Notifies a method that can think while the mission goes on that the clock runs on meanwhile."""
        if isinstance(self.method, Patient):
            self.method.run_clock()

    def fail(self, why: str) -> None:
        """Ask the method no more, since it has failed: every further decision says why, and the vehicle holds."""
        self._failure, self.goal = why, Goal(GoalType.HOLD)
        self.goal_seq += 1

    def say(self, report: Report) -> None:
        """Make a person's report known with the next decision, before the method's own."""
        self._by_person.append(report)

    def observe(
        self,
        stamp: float,
        elapsed: float,
        vehicle: str,
        pose: Pose,
        velocity: Vector,
        *,
        battery: float,
        clues: tuple[SeenClue, ...],
        detector: str,
        focal: float,
        cameras: tuple[str, ...],
        grid: Callable[[], Grid | None],
        views: Callable[[], Mapping[str, CameraView]],
        pilot: PilotFeedback | None,
        mode: Mode,
        team: tuple[Teammate, ...] = (),
    ) -> Observation:
        """Returns the method's observation: grid and views only if it asks for them, feedback only of its own goal.

        stamp, elapsed: s; pose, velocity (m/s): in the map; battery: 0..1; focal: px; cameras: whose
        images the detector has looked at; mode: of the governor.
        """
        needs = self.method.needs
        follows = pilot is not None and pilot.goal_seq == self.goal_seq
        return Observation(
            stamp=stamp,
            elapsed=elapsed,
            vehicle=vehicle,
            pose=pose,
            velocity=velocity,
            height=pilot.height if pilot is not None else None,
            battery=battery,
            clues=clues,
            detector=detector,
            focal=focal,
            cameras=cameras,
            grid=grid() if GRID in needs else None,
            views=views() if VIEWS in needs else {},
            team=team,
            held_by_safety=mode >= Mode.HOLD,
            goal_blocked=follows and pilot is not None and pilot.blocked,
            goal_reached=follows and pilot is not None and pilot.reached,
        )

    def decide(self, observation: Observation | None) -> Answer:
        """The method's answer; without an observation, or once it has stopped or failed, the vehicle holds.

        Raises WrongAnswer for an answer that is no decision, and whatever the method raises.
        """
        if self._failure:
            return self._answer(Decision("fail", "the planner failed", trouble=self._failure))
        if observation is None or self._stopped:
            return self._answer(Decision("hold", "stopped" if self._stopped else "no odometry"))
        decision = check_decision(self.method.act(observation), self.method)
        if self._voice is not None:
            due = self._voice.pass_on(decision.reports, observation, decision.stop)
            decision = replace(decision, reports=due)
        goal = Goal(GoalType.HOLD) if decision.stop else decision.goal
        if goal is not None:
            self.goal = goal
            self.goal_seq += 1
        self._stopped = decision.stop
        return self._answer(decision)

    def _answer(self, decision: Decision) -> Answer:
        self._decisions += 1
        first = max(self._reported, self._taken) + 1
        reports = (*self._by_person, *decision.reports)
        self._by_person.clear()
        if reports:
            self._reported = first + len(reports) - 1
        return Answer(
            self._decisions,
            self._status(decision),
            decision,
            self.goal,
            self.goal_seq,
            tuple(enumerate(reports, first)),
            self._reported,
        )

    def _status(self, decision: Decision) -> DecisionStatus:
        if self._failure:
            return DecisionStatus.FAILED
        if self._stopped:
            return DecisionStatus.STOP
        return DecisionStatus.THINKING if decision.thinking else DecisionStatus.DONE
