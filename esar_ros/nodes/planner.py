"""Planner node: one method of the registry, asked once a frame; reports, goals and reasons out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.decision import ReportType
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Brief as BriefMessage
from esar_ros.msg import Decision as DecisionMessage
from esar_ros.msg import MissionState, PilotState, SafetyStatus, Tick
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import start_of
from esar_ros.nodes.core.steps import LOCKSTEP, Step, StepNode
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.frame_source import TopicFrames
from esar_ros.nodes.messages.mapping import occupancy_grid
from esar_ros.nodes.messages.markers import goal_markers
from esar_ros.nodes.messages.persons import fix_message, person_message
from esar_ros.nodes.messages.team import Team
from esar_ros.planning.agent_call import AgentError, call_agent, stack_trace
from esar_ros.planning.method import GRID, VIEWS, HasBeliefGrid
from esar_ros.planning.registry import create
from esar_ros.planning.session import Answer, Session
from esar_ros.srv import Sighting

BELIEF_PERIOD_NS = 1_000_000_000  # of mission time between two images of the belief
_Answer = TypeVar("_Answer")


class PlannerNode(StepNode):
    """Feeds a `planning.method.Method` and publishes what it decides."""

    def __init__(self) -> None:
        super().__init__(node_names.PLANNER)
        name = str(declare(self, "method", names.DEFAULT_PLANNER, "registry name of the search method"))
        self._seed = int(declare(self, "seed", 0, "random seed of the method; -1 stands for 0", minimum=-1))
        self._session = Session(create(name))
        listed = declare(self, "others", [""], "names of the mission's other vehicles, in the mission's order")
        self._team = Team(self, [name for name in listed if name])
        self._brief: Brief | None = None
        self._start_ns: int | None = None
        self._odometry = convert.OdometryInMap(self)
        self.input(names.BRIEF, self._begin)
        self.input(names.MISSION_STATE, self._begin)
        self.await_input(names.CLUES, Tick.FRAME)
        self._needs = self._session.method.needs
        if GRID in self._needs:
            self.await_input(names.MAP_GRID, Tick.FRAME)
        else:
            self.input(names.MAP_GRID)
        self._frames: FrameSet | None = None
        self._images: TopicFrames | None = None
        if VIEWS in self._needs:
            self._images = TopicFrames(self, load_vehicle())
            self._images.subscribe(self._on_frames)
        self.await_input(names.BATTERY, Tick.FRAME)
        self.await_input(names.PILOT_STATE, Tick.FRAME, previous=True)
        self.await_input(names.SAFETY_STATUS, Tick.FRAME, previous=True)
        for topic in (
            names.GOAL, names.DECISION, names.REPORTS, names.REPORT_FIXES, names.PERSONS, names.BELIEF,
            names.GOAL_MARKERS, names.OPERATOR_REPORT,
        ):  # fmt: skip
            self.output(topic)
        self._shown: tuple[int, Grid | None] = (-BELIEF_PERIOD_NS, None)  # stamp and belief last published
        self.create_service(Sighting, f"~/{names.SIGHTING}", self._on_sighting)
        if self.pace != LOCKSTEP:
            self._ask(self._session.run_clock)
            self.inbox(names.CLUES)
            self.every(0.05, self._on_time)
            self._last_frame = 0
        self.join()

    def waiting_for(self) -> str:
        """The brief, the mission's state and the transform."""
        if self._brief is None:
            return "the brief and the mission's state"
        return "" if self._odometry.known and self._team.known else "the transform map -> odom"

    def _begin(self, _: BriefMessage | MissionState) -> None:
        """With the brief and the mission's state: of a planner that was started again it knows the reports made."""
        message: BriefMessage | None = self.inbox(names.BRIEF).newest
        state: MissionState | None = self.inbox(names.MISSION_STATE).newest
        if message is None or state is None:
            return
        if self._brief is not None and self._brief.mission_id == message.mission_id:
            return
        team = tuple(sorted((self.vehicles[0], *self._team.names))) if self._team.names else ()
        self._brief = replace(convert.brief_of(message), vehicle=self.vehicles[0], team=team)
        brief = self._brief
        self._ask(lambda: self._session.reset(brief, max(self._seed, 0), state.reports))
        self._start_ns = None

    def _on_sighting(self, request: Sighting.Request, response: Sighting.Response) -> Sighting.Response:
        """Puts what a person has seen on record at once; it is reported with the next decision."""
        state: MissionState | None = self.inbox(names.MISSION_STATE).newest
        try:
            if state is None or state.phase == MissionState.ENDED:
                raise ValueError("there is no mission" if state is None else "the mission has ended")
            self._session.say(convert.sighting_of(request.report))
        except ValueError as error:
            response.message = f"not reported: {error}"
            return response
        self.send(names.OPERATOR_REPORT, request.report)
        response.success = True
        return response

    def _on_frames(self, frames: FrameSet) -> None:
        self._frames = frames
        if self.lockstep:
            self.retry()

    def _has_images(self, step: Step) -> bool:
        """Returns whether the step's images have arrived, or are not to be expected any more."""
        if self._images is None or not step.exact or node_names.CAMERA_DRIVER in step.absent:
            return True
        if self._frames is not None and self._frames.ns == step.ns:
            return True
        return self._images.has_lost(step.ns)

    def _views(self, step: Step) -> dict[str, CameraFrame]:
        """The step's images; in real time the newest."""
        frames = self._frames
        if frames is None or (step.exact and frames.ns != step.ns):
            return {}
        return frames.views()

    def _on_time(self) -> None:
        clues = self.inbox(names.CLUES).newest
        state = self.inbox(names.MISSION_STATE).newest
        if clues is None or state is None or state.phase != MissionState.RUNNING:
            return
        ns = nanoseconds(clues.header.stamp)
        if ns <= self._last_frame:
            return
        self._last_frame = ns
        self.answer_now(ns, Tick.FRAME, 0.05)

    def on_step(self, step: Step) -> bool | None:
        """Decide at frames; other steps need nothing from a planner."""
        if not step.is_frame() or self._brief is None:
            return None
        if not self._has_images(step) or not self._team.is_complete(step):
            return False
        if self._start_ns is None:  # the mission's, which a planner that was started again has not seen
            state: MissionState | None = self.inbox(names.MISSION_STATE).newest
            begun = None if state is None else start_of(state)
            self._start_ns = step.ns if begun is None else begun
        began = time.perf_counter()
        observation = self._observe(step)
        answer = self._ask(lambda: self._session.decide(observation)) or self._session.decide(None)
        self._publish(step, answer, () if observation is None else observation.clues, time.perf_counter() - began)
        self._show_belief(step)
        return None

    def _ask(self, call: Callable[[], _Answer]) -> _Answer | None:
        """Calls the method; None where it fails: then every decision says why, and the mission ends as an error."""
        try:
            return call_agent(call, lambda inside: None)
        except AgentError as failure:
            print(stack_trace(failure), file=sys.stderr, flush=True)
            self.get_logger().error(f"the planner failed: {failure}")
            self._session.fail(str(failure))
            return None

    def _publish(self, step: Step, answer: Answer, clues: tuple[SeenClue, ...], latency: float) -> None:
        for number, report in answer.reports:
            self.send(names.REPORTS, convert.report_message(report, number, step))
            if self._brief is not None and any(self._brief.origin[:2]):
                fix = fix_message(report, clues, Origin(*self._brief.origin), step.stamp)
                self.send(names.REPORT_FIXES, fix)
            if report.type is ReportType.VICTIM:
                self.send(names.PERSONS, person_message(report, clues, step.stamp))
        self.send(names.GOAL, convert.goal_message(answer.goal, answer.goal_seq, step))
        own = self._odometry.at(step.at)
        if own is not None and self.wanted(names.GOAL_MARKERS):
            pilot: PilotState | None = self.inbox(names.PILOT_STATE).newest
            height = float(pilot.height) if pilot is not None and pilot.has_height else None
            words = f"{self._session.method.name}: {answer.decision.action}\n{answer.decision.why}"
            self.send(names.GOAL_MARKERS, goal_markers(answer.goal, own[1].position, height, words, step.stamp))
        message = DecisionMessage(
            seq=answer.seq,
            status=int(answer.status),
            method=self._session.method.name,
            action=answer.decision.action,
            why=answer.decision.why,
            effective=step.stamp,
            latency=latency,
            considered=answer.decision.considered,
            tokens_in=answer.decision.tokens_in,
            tokens_out=answer.decision.tokens_out,
            reports=answer.reported,
            trouble=answer.decision.trouble,
        )
        message.header.stamp = step.stamp
        self.send(names.DECISION, message)

    def _show_belief(self, step: Step) -> None:
        """Publish a method's belief when it has changed."""
        method, (at, last) = self._session.method, self._shown
        if not isinstance(method, HasBeliefGrid) or step.ns - at < BELIEF_PERIOD_NS or not self.wanted(names.BELIEF):
            return
        grid = self._ask(method.belief_grid)
        if grid is None or (last is not None and np.array_equal(grid.cells, last.cells)):
            return
        self._shown = (step.ns, grid)
        self.send(names.BELIEF, occupancy_grid(grid.cells, grid.resolution, grid.origin, step.stamp))

    def _grid(self, message: Any) -> Grid | None:
        try:
            return convert.grid_of(message)
        except ValueError as error:
            self.get_logger().warning(f"map refused: {error}", throttle_duration_sec=5.0)
            return None

    def _observe(self, step: Step) -> Observation | None:
        own = self._odometry.at(step.at)
        if own is None or self._start_ns is None:
            return None
        _, pose, velocity = own
        pilot: PilotState | None = self.of_step_before(names.PILOT_STATE, step)
        safety: SafetyStatus | None = self.of_step_before(names.SAFETY_STATUS, step)
        clues = self.of_step(names.CLUES, step)
        grid = self.of_step(names.MAP_GRID, step)
        battery = self.inbox(names.BATTERY).newest
        return self._session.observe(
            self._needs,
            step.seconds,
            (step.ns - self._start_ns) * 1e-9,
            self.vehicles[0],
            pose,
            velocity,
            battery=float(battery.percentage) if battery is not None else 1.0,
            clues=tuple(convert.clue_of(c) for c in clues.clues) if clues is not None else (),
            detector=clues.backend if clues is not None else "",
            focal=clues.focal if clues is not None else 0.0,
            cameras=tuple(clues.cameras) if clues is not None else (),
            grid=lambda: self._grid(grid) if grid is not None else None,
            views=lambda: self._views(step),
            pilot=None if pilot is None else convert.pilot_feedback(pilot),
            mode=Mode.UNKNOWN if safety is None else convert.mode_of(safety),
            team=self._team.observe(step),
        )


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [PlannerNode()])


if __name__ == "__main__":
    raise SystemExit(main())
