"""Referee node: deploys the task, briefs the planner, listens, ends the mission and scores it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from esar_ros.benchmark.engine.missions import Deployment
from esar_ros.benchmark.engine.run_description import describe_run
from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.bridges.airsim.connect import authorise
from esar_ros.mission import names
from esar_ros.mission.briefing import make_brief, mission_id
from esar_ros.mission.decision import DecisionStatus
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.msg import MissionState, PilotState, SafetyStatus, Score, Tick, Truth
from esar_ros.nodes.airsim.server import Server
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.graph.mission import AUTOPILOTS, ENDS, NOISY, ODOMETRIES
from esar_ros.nodes.graph.progress import PHASES, REPORT, Progress, tell, told_failure
from esar_ros.nodes.messages import convert
from esar_ros.planning.method import details_of
from esar_ros.planning.registry import create as create_method
from esar_ros.planning.reporting import shared_settings
from esar_ros.safety.conditions import load_keep_out, polygons_of
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.rows import TOPICS as SCORED
from esar_ros.scoring.referee import Referee
from esar_ros.scoring.result import Result, write_atomically
from esar_ros.scoring.whereabouts import told_reports
from esar_ros.suites.esarbench.deployer import deploy
from esar_ros.suites.esarbench.tasks.validation import ground_of, load_valid_task

LINGER = 0.5  # s the graph goes on after the end, so that everybody hears of it
RETURN_PATIENCE = 180.0  # s wall to come home and land after the end, where that was asked for
PERSON = "a person took part"  # why a flight is not eligible
RECORDER_PATIENCE = 30.0  # s to wait for the recorder after the end


class RefereeNode(StepNode):
    """Holds the ground truth, which no other node has."""

    def __init__(
        self, recorded: Callable[[int], bool] = lambda ns: True, trouble: Callable[[], str] = lambda: ""
    ) -> None:
        """recorded(ns): whether the recorder has everything up to a stamp; trouble(): why it cannot go on, or empty."""
        super().__init__(node_names.REFEREE)
        self._recorded = recorded
        self._task = load_valid_task(str(declare(self, "task", "aotai-first", "task id or path of a task file")))
        self._planner = str(declare(self, "planner", names.DEFAULT_PLANNER, "method, for the result"))
        seed = int(declare(self, "seed", -1, "random seed; -1: the task's", minimum=-1))
        self._seed = self._task.seed if seed < 0 else seed
        self._out = Path(str(declare(self, "out", "out", "folder of the results")))
        self._world = str(declare(self, "world", "embedded", "what is flown in, for the result"))
        self._end_with = str(declare(self, "end", "hold", "what happens after the mission", choices=ENDS))
        self._preset = str(declare(self, "preset", "paper", "size of images, for the result"))
        about = "of images, for the result"
        self._quality = str(declare(self, "quality", names.DEFAULT_QUALITY, about, choices=names.QUALITIES))
        self._governor = bool(declare(self, "governor", True, "whether the safety governor intervenes"))
        self._odometry = str(declare(self, "odometry", NOISY, "of the vehicles, for the result", choices=ODOMETRIES))
        self._detector = str(declare(self, "detector", names.DEFAULT_DETECTOR, "detector backend, for the result"))
        zones = str(declare(self, "keep_out", "", "YAML file of keep-out zones, for the report; empty: none"))
        self._zones = load_keep_out(Path(zones)) if zones else ()
        self._server = Server.of(self)
        self._progress = bool(declare(self, "progress", False, "print machine-readable progress lines"))
        self._thresholds = load_thresholds()
        self._judge = OfflineJudge()
        self._referee: Referee | None = None
        self._deployment: Deployment | None = None
        self._person = False  # whether one took part
        self._waiting = ""  # for what, as told last
        self._trouble = trouble
        self._wall_start = 0.0
        self._ended_at = 0.0
        self._result: Result | None = None
        self._collisions = dict.fromkeys(self.vehicles, 0)
        self._reports = dict.fromkeys(self.vehicles, 0)
        self._complete_to = 0  # ns
        self.exit_code: int | None = None
        self.mission_id = mission_id(self._task, self._planner, self._seed)
        for vehicle in self.vehicles:
            for topic in SCORED:
                if topic in (names.BRIEF, names.MISSION_STATE, names.TRUTH):
                    continue
                self.input(topic, lambda m, v=vehicle, t=topic: self._take(v, t, m), vehicle=vehicle)
            self.input(names.PILOT_STATE, vehicle=vehicle)
            self.await_input(names.ODOMETRY, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.VEHICLE_STATE, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.BATTERY, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.MAP_STATUS, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.CLUES, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.DECISION, Tick.FRAME, vehicle=vehicle)
            self.await_input(names.SAFETY_STATUS, Tick.FRAME, vehicle=vehicle)
            for topic in (names.BRIEF, names.MISSION_STATE, names.SCORE, names.TRUTH):
                self.output(topic, vehicle)
            for topic in (names.OPERATOR_ORDER, names.OPERATOR_REPORT, names.OPERATOR_ACT):
                entry = BY_NAME[topic]
                kind, quality = message_class(entry.type), PROFILES[entry.quality]
                self.create_subscription(kind, self.topic(topic, vehicle), self._on_operator, quality)
        self._deploy_timer = self.create_timer(0.05, self._deploy, clock=self.steady)
        self._end_timer = self.create_timer(0.1, self._finish, clock=self.steady)
        self.join()

    def waiting_for(self) -> str:
        """The deployed task."""
        return "" if self._referee is not None else "the task to be deployed"

    # -- before the mission ---------------------------------------------------------------------

    def _deploy(self) -> None:
        if not self.alone:
            return
        self._deploy_timer.cancel()
        place = ground_of(self._task.map)
        if self._world != "embedded":  # the embedded one tells what it does itself
            self._tell("join", text=f"waiting for the simulator on {self._server}")
        client = self._server.connect()
        self._tell("join", text="placing people, clues and weather")
        try:
            authorise(client)
            self._deployment = deploy(client, self._task, place, tuple(self.vehicles), pause=self.lockstep)
        except AirSimError as error:
            raise UsageError(f"task {self._task.id} cannot be deployed: {error}", "check the simulator") from None
        finally:
            client.close()
        method = create_method(self._planner)
        run_about = describe_run(
            self.mission_id,
            place.digest,
            self._planner.partition(":")[0],  # without the file of a plan
            self._seed,
            RunConditions(
                preset=self._preset,
                quality=self._quality,
                governor=self._governor,
                odometry="autopilot" if self._world in AUTOPILOTS else "noisy" if self._odometry == NOISY else "true",
                detector=self._detector,
                pace="lockstep" if self.lockstep else "realtime",
                world=self._world,
                judge=self._judge.name,
                faults=self.mission_has_faults,
            ),
            method_eligible=method.eligible,
            planner_details=details_of(method),
        )
        run_about = run_about.model_copy(update={"keep_out": polygons_of(self._zones, place.origin)})
        self._referee = Referee(
            self._task,
            self._deployment.victims,
            self._deployment.clues,
            self._thresholds,
            run_about,
            self._deployment.odom_in_map,
        )
        if self._person:
            self._referee.disqualify(PERSON)
        for vehicle in self.vehicles:
            start = self._deployment.starts[vehicle]
            cap = self._thresholds.report_cap // len(self.vehicles)  # the team's, shared out
            brief = make_brief(self._task, place, self.mission_id, cap, start)
            message = convert.brief_message(brief)
            self.send(names.BRIEF, message, vehicle)
            self._referee.add(vehicle, names.BRIEF, message)
        self._publish_state(0, MissionState.PREPARING, "ready to start")

    # -- during the mission ---------------------------------------------------------------------

    def _take(self, vehicle: str, topic: str, message: Any) -> None:
        if self._referee is None:
            return
        self._referee.add(vehicle, topic, message)
        if topic == names.COLLISION:
            self._collisions[vehicle] += 1
        elif topic == names.REPORTS:
            self._reports[vehicle] = max(self._reports[vehicle], message.seq)
        elif topic == names.ODOMETRY and not self.lockstep:
            self._in_real_time(vehicle, message)

    def _on_operator(self, message: Any) -> None:
        """Disqualifies a mission in which a person gave orders or reports: they are not the method's merit."""
        self._person = True
        if self._referee is not None:
            self._referee.disqualify(PERSON)

    def _in_real_time(self, vehicle: str, message: Any) -> None:
        """Real time gives no steps: the first odometry after everybody is ready starts the clock."""
        if vehicle != self.vehicles[0] or self._referee is None:
            return
        state = self.inbox(names.VEHICLE_STATE, vehicle).newest
        decision = self.inbox(names.DECISION, vehicle).newest
        ns = nanoseconds(message.header.stamp)
        if self._referee.start is None:
            clues = self.inbox(names.CLUES, vehicle).newest
            if state is not None and clues is not None:
                self._start(ns)
            else:
                late = "state" if state is None else "first pictures to be searched for clues"
                self._tell_waiting(f"waiting for {vehicle}'s {late}")
            return
        over = decision is not None and decision.status in (DecisionStatus.STOP, DecisionStatus.FAILED)
        if ns % 1_000_000_000 < 60_000_000 or over:
            self._advance(ns)

    def on_step(self, step: Step) -> bool | None:
        """At frames: has the mission ended, with everything up to this stamp at hand?"""
        if self._referee is None:
            return None
        if self._referee.start is None:
            self._start(step.ns)
        if not step.is_frame():
            return None
        for vehicle in self.vehicles:
            decision = self.inbox(names.DECISION, vehicle).at(step.ns)
            state = self.inbox(names.VEHICLE_STATE, vehicle).at(step.ns)
            if decision is not None and self._reports[vehicle] < decision.reports:
                return False  # its reports are on their way
            if state is not None and self._collisions[vehicle] < state.collisions:
                return False
        self._advance(step.ns)
        return None

    def _start(self, ns: int) -> None:
        assert self._referee is not None
        self._referee.begin(ns)
        self._complete_to = ns
        self._wall_start = time.monotonic()
        self._publish_state(ns, MissionState.RUNNING, "the mission clock runs")

    def _advance(self, ns: int) -> None:
        assert self._referee is not None
        if self._result is not None:
            return
        for words in told_reports(self._referee.record, self._referee.start or 0, self._complete_to, ns):
            self._tell(REPORT, text=words)
        self._complete_to = ns
        ending = self._referee.advance(ns)
        if ending is None:
            self._publish_state(ns, MissionState.RUNNING, "")
            self._show(ns)
            return
        self._end()

    def _end(self) -> None:
        assert self._referee is not None and self._referee.ending is not None
        wall = time.monotonic() - self._wall_start
        self._result = self._referee.result(self._judge, wall)
        write_atomically(self._out / "result.json", self._result.dump())  # before anything else can go wrong
        truth = Truth(mission_id=self.mission_id, truth=self._referee.truth(wall).dump())
        truth.header.stamp, truth.header.frame_id = to_stamp(self._referee.ending.stamp), names.MAP
        score = score_message(self._result, self._referee.ending.stamp)
        for vehicle in self.vehicles:
            self.send(names.TRUTH, truth, vehicle)
            self.send(names.SCORE, score, vehicle)
        self._publish_state(self._referee.ending.stamp, MissionState.ENDED, self._referee.ending.text)
        self._ended_at = time.monotonic()
        self._tell("ended", text=f"{self._result.end.value}: {self._result.end_text}")

    def _finish(self) -> None:
        """After the end: end the process once the recorder has everything."""
        if self._trouble() and self._result is None:
            self._fail()
        if self._result is None or self._referee is None or self._referee.ending is None:
            return
        waited = time.monotonic() - self._ended_at
        if self._end_with == "return_land" and waited < RETURN_PATIENCE and not self._all_landed():
            return
        if waited < LINGER or (waited < RECORDER_PATIENCE and not self._recorded(self._referee.ending.stamp)):
            return
        if self._trouble():
            raise UsageError(f"{self._trouble()}; what was flown is scored in {self._out / 'result.json'}")
        self.exit_code = 0
        self._end_timer.cancel()

    def _fail(self) -> None:
        """Ends a mission that cannot be recorded as an error, with what was flown of it. Raises UsageError before."""
        if self._referee is None or self._referee.start is None:
            raise UsageError(self._trouble())
        self._referee.fail(self._complete_to, self._trouble())
        self._referee.advance(self._complete_to)
        self._end()

    def _all_landed(self) -> bool:
        states = [self.inbox(names.PILOT_STATE, vehicle).newest for vehicle in self.vehicles]
        return all(state is not None and state.phase == PilotState.DONE for state in states)

    def wind_down(self) -> bool:
        """Scores the flight so far when a person, or a process that failed, ends it. False when nothing was flown."""
        if self._referee is None or self._referee.start is None:
            return False
        if self._result is None:
            # The last stamp up to which everything is at hand, so that the bag scores the same.
            failure = told_failure()
            if failure:
                self._referee.fail(self._complete_to, failure)
            else:
                self._referee.abort(self._complete_to)
            self._referee.advance(self._complete_to)
            self._end()
        return True

    # -- telling --------------------------------------------------------------------------------

    def _publish_state(self, ns: int, phase: int, text: str) -> None:
        assert self._referee is not None
        progress = self._referee.progress(ns)
        message = MissionState(
            mission_id=self.mission_id,
            phase=phase,
            end=progress.end_code,
            elapsed=progress.elapsed,
            t_max=progress.t_max,
            reports=progress.reports,
            text=text,
        )
        message.header.stamp = to_stamp(ns)
        for vehicle in self.vehicles:
            self.send(names.MISSION_STATE, message, vehicle)

    def _show(self, ns: int) -> None:
        assert self._referee is not None
        vehicle = self.vehicles[0]
        pilot = self.inbox(names.PILOT_STATE, vehicle).newest
        status = self.inbox(names.MAP_STATUS, vehicle).newest
        clues = self.inbox(names.CLUES, vehicle).newest
        seen = clues.clues if clues is not None else ()
        candidates = sum(shared_settings().is_candidate(clue.kind, clue.probability) for clue in seen)
        safety = self.inbox(names.SAFETY_STATUS, vehicle).newest
        progress = self._referee.progress(ns)
        modes = {getattr(SafetyStatus, n): n[5:].lower() for n in dir(SafetyStatus) if n.startswith("MODE_")}
        self._tell(
            PHASES.get(pilot.phase if pilot is not None else PilotState.UNKNOWN, "search"),
            elapsed=progress.elapsed,
            t_max=progress.t_max,
            coverage=status.coverage if status is not None else 0.0,
            clues=len(seen) - candidates,
            candidates=candidates,
            reports=progress.reports,
            mode=modes.get(safety.mode, "") if safety is not None else "",
            text=safety.text if safety is not None and safety.mode >= SafetyStatus.MODE_HOLD else "",
        )

    def _tell_waiting(self, words: str) -> None:
        """Says before the start what is waited for, once."""
        if words != self._waiting:
            self._waiting = words
            self._tell("join", text=words)

    def _tell(self, phase: str, **numbers: Any) -> None:
        if self._progress:
            tell(Progress(phase, **numbers))


def score_message(result: Result, ns: int) -> Score:
    """The result as a topic."""
    m = result.metrics
    message = Score(
        mission_id=result.mission_id,
        planner=result.planner,
        eligible=result.eligible,
        victims=m.victims,
        victims_found=m.victims_found,
        clues=m.clues,
        clues_located=m.clues_located,
        clues_exact=m.clues_exact,
        sr=float(m.sr),
        tsr=float(m.tsr),
        cds=float(m.cds),
        rs=float(m.rs),
        safe=m.safe,
        elapsed=float(m.elapsed),
        result=result.dump(),
    )
    message.header.stamp = to_stamp(ns)
    return message


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [RefereeNode()])


if __name__ == "__main__":
    raise SystemExit(main())
