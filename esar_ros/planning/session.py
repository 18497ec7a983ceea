"""Decisions through one mission: the goal in force, reports numbered, and silence after a stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.decision import Decision, DecisionStatus, Goal, GoalType, Report
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue, Teammate
from esar_ros.planning.method import GRID, VIEWS, Method, SupportsAsync
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


class DecisionLog:
    """Keeps what decisions have set so far. Between frames nothing changes."""

    def __init__(self) -> None:
        self.goal = Goal(GoalType.HOLD)
        self.goal_seq = 0
        self._reported = 0
        self._taken = 0
        self._decisions = 0
        self._stopped = False
        self._failure = ""  # what the method failed with
        self._by_person: list[Report] = []  # by a person, not yet made known

    @property
    def is_silent(self) -> bool:
        """Returns whether the vehicle holds whatever is decided: after a stop or a failure."""
        return self._stopped or bool(self._failure)

    def begin(self, taken: int) -> None:
        """Begins a mission. taken: numbers of reports up to this one may have been given by a planner before."""
        self._failure, self._taken = "", taken

    def fail(self, why: str) -> None:
        """Ends the decisions, since who makes them has failed: every further one says why, and the vehicle holds."""
        self._failure, self.goal = why, Goal(GoalType.HOLD)
        self.goal_seq += 1

    def say(self, report: Report) -> None:
        """Makes a person's report known with the next decision, before the method's own."""
        self._by_person.append(report)

    def observe(
        self,
        needs: frozenset[str],
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
        views: Callable[[], Mapping[str, CameraFrame]],
        pilot: PilotFeedback | None,
        mode: Mode,
        team: tuple[Teammate, ...] = (),
    ) -> Observation:
        """Returns an observation: grid and views only if they are among the needs, feedback only of the goal in force.

        needs: see planning.method.Method; stamp, elapsed: s; pose, velocity (m/s): in the map; battery: 0..1; focal:
        px; cameras: whose images the detector has looked at; mode: of the governor.
        """
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

    def take(self, decision: Decision | None) -> Answer:
        """Returns what a decision sets; None, and any decision after a stop or a failure: the vehicle holds."""
        if self._failure:
            decision = Decision("fail", "the planner failed", trouble=self._failure)
        elif decision is None or self._stopped:
            decision = Decision("hold", "stopped" if self._stopped else "no odometry")
        else:
            goal = Goal(GoalType.HOLD) if decision.stop else decision.goal
            if goal is not None:
                self.goal = goal
                self.goal_seq += 1
            self._stopped = decision.stop
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


class Session(DecisionLog):
    """Asks a method once a frame."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method = method
        self._voice: OneVoice | None = None  # in a team

    def reset(self, brief: Brief, seed: int, taken: int = 0) -> None:
        """Begins the mission (see `begin`). Raises UsageError when the method cannot work with the brief."""
        self.begin(taken)
        self.method.reset(own_brief(brief, self.method), seed)
        self._voice = OneVoice(brief) if brief.team else None

    def run_clock(self) -> None:
        """Notifies a method that can think while the mission goes on that the clock runs on meanwhile."""
        if isinstance(self.method, SupportsAsync):
            self.method.run_clock()

    def decide(self, observation: Observation | None) -> Answer:
        """The method's answer; without an observation, or once it has stopped or failed, the vehicle holds.

        Raises WrongAnswer for an answer that is no decision, and whatever the method raises.
        """
        if observation is None or self.is_silent:
            return self.take(None)
        decision = check_decision(self.method.act(observation), self.method)
        if self._voice is not None:
            due = self._voice.pass_on(decision.reports, observation, decision.stop)
            decision = replace(decision, reports=due)
        return self.take(decision)
