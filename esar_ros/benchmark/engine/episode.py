"""A mission in one process: the graph's cores in the graph's order, step by step, without ROS.

A step is 50 ms of the simulator's time. Frames come at 1 Hz and ranges at 10 Hz (config/vehicle.yaml), and in each step
the order is that of docs/explanation/architecture.md: state, ranges, images, objects and map, planner, pilot, governor,
autopilot. An output of a later stage reaches the earlier ones in the next step. Numbers are rounded where messages
round them (wire.py), so the result is the graph's, but for `timing`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.engine.agent import AgentError, call_agent, stack_trace
from esar_ros.benchmark.engine.missions import Deployment, MissionSuite
from esar_ros.benchmark.engine.recording import Recording
from esar_ros.benchmark.engine.run_description import describe_run, mission_id
from esar_ros.benchmark.engine.sensing import Sensed, Sensing, views_of
from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.benchmark.engine.wire import feedback_as_sent, goal_as_sent, ranges_as_sent, seconds, single
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.bridges.odometry_error import Estimate, OdometryError
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.flight.pilot import Governed, Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import Pose, Vector, covariance_in_parent, motion_in_parent
from esar_ros.mission.decision import Goal
from esar_ros.mission.modes import Mode
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.planning.method import VIEWS, Method, details_of
from esar_ros.planning.method_check import check_method
from esar_ros.planning.registry import create
from esar_ros.planning.session import Session
from esar_ros.safety.conditions import conditions_speed, site_of
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through
from esar_ros.safety.limits import load_limits
from esar_ros.safety.surroundings.landing_site import people_of
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.referee import Referee
from esar_ros.scoring.result import Result
from esar_ros.sim.terrain.maps import PlaceMap, load_map

PRESETS = {"paper": (640, 480), "fast": (320, 240)}
VEHICLE = "uav1"


_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class EpisodeResult:
    """The result of an episode; error and trace: the method's exception and its stack, if it failed."""

    result: Result
    track: dict[str, dict[str, list[Any]]]  # per vehicle: t (s), x, y, z (m, map), height (m above ground or None)
    simulated: float  # s
    error: str | None = None
    trace: str = ""


def fly_episode(
    suite: MissionSuite,
    task: Task,
    planner: str,
    seed: int,
    conditions: RunConditions,
    place: PlaceMap | None = None,
    in_agent: Callable[[bool], None] = lambda inside: None,
    method: Method | None = None,
) -> EpisodeResult:
    """Flies a task to its end and returns the result. Raises UsageError where that is not possible.

    place: the task's map, if loaded already; in_agent: called with True before and False after each call of the method;
    method: what is flown under the planner's name, None: the registry's.
    """
    if method is not None:
        check_method(method, f"planner '{planner}'")

    async def episode() -> EpisodeResult:  # a loop must be running for the simulator's motions
        mission = _Mission(suite, task, planner, seed, conditions, place or load_map(task.map), in_agent, method)
        try:
            return mission.fly()
        finally:
            mission.close()

    return asyncio.run(episode())


@dataclass
class _StepState:
    """The outputs that one step hands to the next."""

    safety: SafeCommand | None = None  # the governor's answer
    output: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, map: the velocity that the vehicle flies
    pilot: PilotOutput | None = None
    pilot_goal: int = 0  # goal_seq that the pilot followed
    sensed: Sensed | None = None
    ranges: RangeImageData | None = None
    battery: float = 1.0  # 0..1
    collision_ns: int = 0  # stamp of the last contact

    @property
    def height(self) -> float | None:
        """Height (m) above ground as reported by the governor."""
        return None if self.safety is None or self.safety.height is None else single(self.safety.height)


class _Mission:
    """The cores, the simulator and the referee of one episode with one vehicle."""

    def __init__(
        self,
        suite: MissionSuite,
        task: Task,
        planner: str,
        seed: int,
        conditions: RunConditions,
        place: PlaceMap,
        in_agent: Callable[[bool], None],
        method: Method | None,
    ) -> None:
        self._in_agent = in_agent
        self._failure: AgentError | None = None
        rig = load_vehicle().with_image_size(*PRESETS[conditions.preset])
        self._rig, self._conditions = rig, conditions
        self._session = self._call_method(lambda: Session(create(planner) if method is None else method))
        self._simulator = LocalSimulator(place, seed, rig, (VEHICLE,))
        deployment = suite.deploy(self._simulator.connect(truth=True), task, place, (VEHICLE,))
        thresholds = load_thresholds()
        name = mission_id(task, planner, seed)
        brief = suite.brief(task, place, name, thresholds.report_cap, deployment.starts[VEHICLE])
        self._judge = OfflineJudge()
        run = describe_run(
            name,
            place.digest,
            planner,
            seed,
            replace(conditions, judge=self._judge.name),
            method_eligible=self._session.method.eligible,
            planner_details=details_of(self._session.method),
        )
        self._referee = Referee(task, deployment.victims, deployment.clues, thresholds, run, deployment.odom_in_map)
        self._connect(rig, seed, deployment)
        self._recording = Recording(self._referee, VEHICLE, brief, self._remote.odom_in_map)
        self._sensing = Sensing(rig, brief, conditions.detector, suite.object_kinds())
        limits = load_limits()
        self._pilot = Pilot(load_pilot_limits(), limits)
        self._governor = Governor(limits)
        self._governor.set_site(site_of(brief, limits))
        self._pilot.slow_to(conditions_speed(brief.weather, brief.local_time, limits))
        self._brief, self._seed = brief, seed
        self._goal: tuple[int, Goal] | None = None
        self._state = _StepState()

    def _connect(self, rig: Any, seed: int, deployment: Deployment) -> None:
        """Connects the bridge's cores to the simulator: vehicle, actuation, LiDAR and the errors of odometry."""
        client = self._simulator.connect()
        self._client = client
        self._remote = AirSimVehicle(client, VEHICLE)
        self._actuation = Actuation(self._remote)
        self._lidar = AirSimLidar(client, VEHICLE)
        self._grid = RangeGrid.of(rig.lidar)
        noisy = self._conditions.odometry == "noisy"
        self._error = OdometryError(rig.odometry_error, seed, VEHICLE) if noisy else None
        self._deviation: float | None = None  # m, stated with the odometry
        self._covariance: NDArray[np.float64] | None = None  # (6, 6), the same about the map's axes
        if self._error is not None:
            self._deviation = float(np.sqrt(self._error.pose_covariance.diagonal()[:3].max()))
            self._covariance = covariance_in_parent(self._remote.odom_in_map, self._error.pose_covariance)
        rates = rig.rates
        self._period_ns = round(1e9 / rates.control)
        self._ranges_every = round(rates.control / rates.ranges)
        self._frame_every = round(rates.control / rates.cameras)

    def close(self) -> None:
        """Frees the simulator."""
        self._simulator.close()

    def fly(self) -> EpisodeResult:
        """Flies step by step until the referee ends the mission, and returns the result."""
        began = time.monotonic()
        self._remote.take_control()
        # Stamp zero means "never" to ROS clocks: the first step has a later one.
        self._advance_clock()
        start = self._remote.read().ns
        seq, self._ns = 0, start
        self._ask(lambda: self._session.reset(self._brief, self._seed))
        self._referee.begin(start)
        while True:
            self._step(seq, start)
            if seq % self._frame_every == 0 and self._referee.advance(self._ns) is not None:
                break
            self._advance_clock()
            seq += 1
        result = self._referee.result(self._judge, time.monotonic() - began)
        failed = (None, "") if self._failure is None else (str(self._failure), stack_trace(self._failure))
        return EpisodeResult(result, {VEHICLE: self._recording.track}, seconds(self._ns - start), *failed)

    def _ask(self, call: Callable[[], _Answer]) -> _Answer | None:
        """Calls the method; None where it fails: then its decision says so, by which the referee ends the mission."""
        try:
            return self._call_method(call)
        except AgentError as failure:
            self._failure = failure
            self._session.fail(str(failure))
            return None

    def _call_method(self, call: Callable[[], _Answer]) -> _Answer:
        return call_agent(call, self._in_agent)

    def _advance_clock(self) -> None:
        """Lets the simulator run for one control period."""
        self._client.call("simContinueForTime", seconds(self._period_ns))

    # -- one step -------------------------------------------------------------------------------

    def _step(self, seq: int, start: int) -> None:
        """Reads the vehicle, senses, plans, steers and governs, and hands the velocity to the autopilot."""
        state, frame = self._state, seq % self._frame_every == 0
        reading = self._remote.read()
        self._actuation.finish_touch_down(reading)
        ns = self._ns = reading.ns
        estimate = Estimate(reading.pose, reading.velocity)
        if self._error is not None:
            estimate = self._error.estimate(ns, reading.pose, reading.velocity)
        body_velocity = estimate.pose.rotation.T @ estimate.velocity
        pose, velocity = motion_in_parent(self._remote.odom_in_map, estimate.pose, body_velocity)
        if reading.collided and reading.collision_ns != state.collision_ns:
            state.collision_ns = reading.collision_ns
            if not reading.landed:
                self._recording.collision(ns, reading)
        self._recording.state(ns, reading, estimate, self._actuation.landing, holding=seq == 0)
        if seq % self._ranges_every == 0:
            state.ranges = ranges_as_sent(pool_ranges(self._lidar.read(), self._grid), self._grid, pose, ns)
        if frame:
            state.battery = single(self._remote.read_battery().charge)
            self._recording.battery(ns, state.battery)
            self._sense(ns, pose)
            self._decide(ns, start, pose, velocity)
            self._recording.summarise(seconds(ns - start), pose.position, state.height)
        landing = self._actuation.landing
        output = self._steer(ns, pose, velocity, reading, landing)
        safe, flown, yaw_rate = self._govern(ns, pose, velocity, reading, output, landing)
        state.safety, state.output, state.pilot = safe, flown, output
        state.pilot_goal = self._goal[0] if self._goal is not None else 0
        self._actuation.height = state.height
        self._actuation.obey(reading, safe.mode, (flown, yaw_rate), seconds(self._period_ns))

    def _sense(self, ns: int, pose: Pose) -> None:
        """Runs detector and mapper on a frame of all cameras."""
        began = time.perf_counter()
        colour = self._sensing.needs_colour or VIEWS in self._session.method.needs
        images = self._simulator.images(VEHICLE, self._sensing.needs_truth, colour)
        sensed = self._sensing.take(ns, pose, images, self._covariance)
        self._state.sensed = sensed
        self._recording.sensed(ns, sensed, self._sensing.detector, time.perf_counter() - began)

    def _decide(self, ns: int, start: int, pose: Pose, velocity: Vector) -> None:
        """Asks the method for a decision and keeps its goal."""
        state, session, sensed = self._state, self._session, self._state.sensed
        assert sensed is not None
        began = time.perf_counter()
        pilot = state.pilot
        observation = session.observe(
            seconds(ns),
            seconds(ns - start),
            VEHICLE,
            pose,
            velocity,
            battery=state.battery,
            clues=sensed.clues,
            detector=self._sensing.detector.backend.name,
            focal=single(self._sensing.detector.focal),
            cameras=sensed.cameras,
            grid=self._sensing.grid,
            views=lambda: views_of(sensed.frames),
            pilot=None if pilot is None else feedback_as_sent(pilot, state.pilot_goal),
            mode=state.safety.mode if state.safety is not None else Mode.UNKNOWN,
        )
        answer = self._ask(lambda: session.decide(observation)) or session.decide(None)
        self._recording.decided(ns, answer, session.method.name, time.perf_counter() - began)
        if answer.goal_seq and (self._goal is None or self._goal[0] != answer.goal_seq):
            self._goal = (answer.goal_seq, goal_as_sent(answer.goal))

    def _steer(
        self, ns: int, pose: Pose, velocity: Vector, reading: VehicleReading, touching_down: bool
    ) -> PilotOutput:
        """Returns the pilot's answer, and requests what it asks of the autopilot."""
        state = self._state
        safety = state.safety
        output = self._pilot.step(
            PilotInput(
                now=seconds(ns),
                pose=pose,
                velocity=velocity,
                armed=reading.armed,
                landed=reading.landed,
                running=True,
                ended=False,
                home=self._brief.home,
                goal=self._goal[1] if self._goal is not None else None,
                planner_silence=0.0,
                window=state.sensed.window if state.sensed is not None else None,
                governed=Governed(safety.mode, state.output, state.height) if safety is not None else None,
                touching_down=touching_down,
            )
        )
        mode = safety.mode if safety is not None else Mode.UNKNOWN
        if output.request is Request.TOUCH_DOWN:
            self._actuation.touch_down(mode, ns)
        elif output.request is not None:
            self._actuation.arm(output.request is Request.ARM, mode)
        return output

    def _govern(
        self,
        ns: int,
        pose: Pose,
        velocity: Vector,
        reading: VehicleReading,
        output: PilotOutput,
        landing: bool,
    ) -> tuple[SafeCommand, Vector, float]:
        """Returns the governor's answer, and the velocity (m/s, map) and yaw rate (rad/s) that the vehicle flies."""
        state = self._state
        now = seconds(ns)
        obeyed = self._conditions.governor
        vehicle = State(
            now, pose, velocity, reading.armed, reading.landed, state.battery, self._deviation, obeyed,
            reading.angular_velocity,
        )  # fmt: skip
        command = Command(now, output.velocity, output.yaw_rate)
        window = state.sensed.window if state.sensed is not None else None
        people = people_of(state.sensed.clues) if state.sensed is not None else []
        answer = self._governor.decide(vehicle, command, state.ranges, window, now, 0.0, landing, people=people)
        flown = answer.velocity, answer.yaw_rate
        if not self._conditions.governor:
            flown = pass_through(command)
        self._recording.safety(ns, answer, self._conditions.governor)
        return answer, *flown
