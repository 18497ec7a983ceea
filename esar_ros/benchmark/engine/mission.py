"""A mission in one process: `reset`, then a `step` for every decision, then its `result`.

A decision is due with every frame of the four cameras, at 1 Hz; between two of them the vehicle flies steps of 50 ms of
the simulator's time, with ranges at 10 Hz (config/vehicle.yaml). What flies are the graph's cores in the graph's order
(flight_stack.py), so the result is the graph's, but for `timing`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.engine.flight_stack import FlightStack
from esar_ros.benchmark.engine.missions import MissionSuite
from esar_ros.benchmark.engine.recording import Recording
from esar_ros.benchmark.engine.run_description import describe_run
from esar_ros.benchmark.engine.sensing import Sensing
from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.benchmark.engine.wire import feedback_as_sent, seconds, single
from esar_ros.mission.briefing import mission_id
from esar_ros.mission.decision import Decision
from esar_ros.mission.names import PRESETS
from esar_ros.mission.observation import Brief, Grid, Observation
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle, overridden
from esar_ros.planning.method import VIEWS, Decider, details_of
from esar_ros.planning.method_check import check_decision
from esar_ros.planning.session import DecisionLog
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.referee import Referee
from esar_ros.scoring.result import Result
from esar_ros.sim.terrain.maps import PlaceMap, load_map

VEHICLE = "uav1"
_LOG = logging.getLogger(__name__)


@cache
def _tell(words: str) -> None:
    """Tells something once a process; empty words: nothing."""
    if words:
        _LOG.warning(words)


@dataclass(frozen=True)
class Caller:
    """Whoever calls `step`, without more to say of itself."""

    name: str = "caller"
    eligible: bool = True
    needs: frozenset[str] = frozenset()
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EpisodeResult:
    """The result of an episode; error and trace: the method's exception and its stack, if it failed."""

    result: Result
    track: dict[str, dict[str, list[Any]]]  # per vehicle: t (s), x, y, z (m, map), height (m above ground or None)
    simulated: float  # s
    error: str | None = None
    trace: str = ""


class Mission:
    """Flies one vehicle through missions of a suite, one after another.

    Time stands still between `reset` and `step`. Use `close` (or `with`) to give the graphics context back.
    """

    def __init__(
        self,
        suite: MissionSuite,
        conditions: RunConditions | None = None,
        decider: Decider | None = None,
        planner: str = "",
    ) -> None:
        """conditions: None: those of a run; planner: the name in results, empty: the decider's."""
        self.conditions = conditions or RunConditions()
        self._suite, self._decider = suite, decider or Caller()
        self._planner = planner or self._decider.name
        _tell(overridden(vehicle := load_vehicle(), self.conditions.preset))
        self._rig = vehicle.with_image_size(*PRESETS[self.conditions.preset])
        rates = self._rig.rates
        self._ranges_every = round(rates.control / rates.ranges)
        self._frame_every = round(rates.control / rates.cameras)
        self._judge = OfflineJudge()
        self._simulator: LocalSimulator | None = None
        self.ended = True

    def __enter__(self) -> Mission:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the simulator."""
        if self._simulator is not None:
            self._simulator.close()
        self._simulator = None

    def reset(self, task: Task, seed: int = 0, place: PlaceMap | None = None) -> Observation:
        """Begins a mission and returns what is seen at its start. Raises UsageError where it cannot be flown.

        place: the task's map, if loaded already.
        """
        self.close()
        self.ended = True  # until all of what follows has come about
        place = place or load_map(task.map)
        conditions, decider = self.conditions, self._decider
        self._simulator = LocalSimulator(place, seed, self._rig, (VEHICLE,), conditions.quality)
        deployment = self._suite.deploy(self._simulator.connect(truth=True), task, place, (VEHICLE,))
        thresholds = load_thresholds()
        name = mission_id(task, self._planner, seed)
        self.brief: Brief = self._suite.brief(task, place, name, thresholds.report_cap, deployment.starts[VEHICLE])
        run = describe_run(
            name,
            place.digest,
            self._planner,
            seed,
            replace(conditions, judge=self._judge.name),
            method_eligible=decider.eligible,
            planner_details=details_of(decider),
        )
        self._referee = Referee(task, deployment.victims, deployment.clues, thresholds, run, deployment.odom_in_map)
        self._stack = FlightStack(self._simulator, VEHICLE, self._rig, seed, conditions.odometry == "noisy")
        self._recording = Recording(self._referee, VEHICLE, self.brief, self._stack.odom_in_map)
        self._sensing = Sensing(self._rig, self.brief, conditions.detector, self._suite.object_kinds())
        self._log = DecisionLog()
        self._began = time.monotonic()
        self._start = self._stack.begin(self.brief, self._recording, conditions.governor)
        self._referee.begin(self._start)
        self._seq = 0
        seen = self._observe()
        self.ended = False
        return seen

    def step(self, decision: Decision) -> Observation:
        """Flies a decision until the next frame and returns what is seen then; at the end what was seen before.

        Raises RuntimeError when no mission is under way, WrongAnswer for what is no decision.
        """
        if self._simulator is None or self.ended:
            raise RuntimeError("no mission is under way: call reset")
        return self._advance(check_decision(decision, self._decider))

    def fail(self, why: str) -> None:
        """Ends the decisions, since who makes them has failed: by the next frame the referee ends the mission."""
        self._log.fail(why)
        while not self.ended:
            self._advance(None)

    def result(self) -> EpisodeResult:
        """Returns the result of a mission that has ended; says what of its detector's finds could not be used."""
        if left_out := self._sensing.detector.left_out:
            counts = ", ".join(f"{count} x {reason}" for reason, count in sorted(left_out.items()))
            _LOG.warning("detector %s: detections left out: %s", self.conditions.detector, counts)
        result = self._referee.result(self._judge, self._took)
        return EpisodeResult(result, {VEHICLE: self._recording.track}, seconds(self._stack.ns - self._start))

    def pictures(self) -> dict[str, NDArray[np.uint8]]:
        """Returns what the four cameras see now, (height, width, 3) RGB by name. Raises UsageError without OpenGL."""
        assert self._simulator is not None
        frame_set = self._simulator.images(VEHICLE, segmentation=False, colour=True)
        return {frame.camera: frame.rgb for frame in frame_set.frames}

    def grid(self) -> Grid:
        """Returns the bird's-eye view of the map so far."""
        return self._sensing.grid()

    @property
    def track(self) -> NDArray[np.float64]:
        """The way flown so far, (N, 2) m in the map, a point for each decision."""
        rows = self._recording.track
        return np.array([rows["x"], rows["y"]], dtype=np.float64).T

    # -- between two frames ---------------------------------------------------------------------

    def _advance(self, decision: Decision | None) -> Observation:
        """Records a decision and flies to the next frame."""
        stack = self._stack
        answer = self._log.take(decision)
        self._recording.decided(stack.ns, answer, self._decider.name, time.perf_counter() - self._asked)
        stack.follow(answer)
        self._recording.summarise(seconds(stack.ns - self._start), stack.pose.position, stack.height)
        stack.fly(self._sensed.window, self._sensed.clues)
        if self._referee.advance(stack.ns) is not None:
            self.ended = True
            self._took = time.monotonic() - self._began
            return self._seen
        while True:
            stack.advance_clock()
            self._seq += 1
            if self._seq % self._frame_every == 0:
                return self._observe()
            stack.sense(first=False, ranges=self._seq % self._ranges_every == 0, frame=False)
            stack.fly(self._sensed.window, self._sensed.clues)

    def _observe(self) -> Observation:
        """Senses a frame of all cameras, with detector and mapper, and returns it as an observation."""
        stack, sensing, simulator = self._stack, self._sensing, self._simulator
        assert simulator is not None
        stack.sense(first=self._seq == 0, ranges=self._seq % self._ranges_every == 0, frame=True)
        began = time.perf_counter()
        colour = sensing.needs_colour or VIEWS in self._decider.needs
        taken = simulator.images(VEHICLE, sensing.needs_truth, colour)
        sensed = self._sensed = sensing.take(stack.pose, taken.placed(stack.ns, stack.pose, stack.covariance))
        self._asked = time.perf_counter()
        self._recording.sensed(stack.ns, sensed, sensing.detector, self._asked - began)
        feedback = stack.feedback
        self._seen = self._log.observe(
            self._decider.needs,
            seconds(stack.ns),
            seconds(stack.ns - self._start),
            VEHICLE,
            stack.pose,
            stack.velocity,
            battery=stack.battery,
            clues=sensed.clues,
            detector=sensing.detector.backend.name,
            focal=single(sensing.detector.focal),
            cameras=sensed.cameras,
            grid=sensing.grid,
            views=sensed.frames.views,
            pilot=None if feedback is None else feedback_as_sent(*feedback),
            mode=stack.mode,
        )
        return self._seen
