"""The cores of bridge, pilot and governor that fly one vehicle in the simulator, in the graph's order, without ROS.

The order of a step is that of docs/explanation/architecture.md: state, ranges, (images, planner), pilot, governor,
autopilot. An output of a later stage reaches the earlier ones in the next step. Numbers are rounded where messages
round them (wire.py), so the flight is the graph's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.engine.recording import Recording
from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.benchmark.engine.wire import goal_as_sent, ranges_as_sent, seconds, single
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.bridges.odometry_error import Estimate, OdometryError
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.flight.pilot import Governed, Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import Vector, covariance_in_parent, motion_in_parent
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.decision import Goal
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, SeenClue
from esar_ros.mission.vehicle import Vehicle
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.planning.session import Answer
from esar_ros.safety.conditions import pace_of, site_of
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through
from esar_ros.safety.limits import load_limits
from esar_ros.safety.surroundings.landing_site import people_of


@dataclass
class _StepState:
    """The outputs that one step hands to the next."""

    safety: SafeCommand | None = None  # the governor's answer
    output: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, map: the velocity that the vehicle flies
    pilot: PilotOutput | None = None
    pilot_goal: int = 0  # goal_seq that the pilot followed
    ranges: RangeImageData | None = None
    battery: float = 1.0  # 0..1
    collision_ns: int = 0  # stamp of the last contact


class FlightStack:
    """One vehicle of the simulator with its pilot and its governor. A step is `sense` and then `fly`."""

    def __init__(self, simulator: LocalSimulator, name: str, rig: Vehicle, seed: int, noisy: bool) -> None:
        """noisy: odometry has the rig's errors, drawn from the seed."""
        client = simulator.connect()
        self._client, self._name = client, name
        self._remote = AirSimVehicle(client, name)
        self.odom_in_map = self._remote.odom_in_map
        self._actuation = Actuation(self._remote)
        self._lidar = AirSimLidar(client, name)
        self._grid = RangeGrid.of(rig.lidar)
        self._error = OdometryError(rig.odometry_error, seed, name) if noisy else None
        self._deviation: float | None = None  # m, stated with the odometry
        self.covariance: NDArray[np.float64] | None = None  # (6, 6) of the pose about the map's axes
        if self._error is not None:
            self._deviation = float(np.sqrt(self._error.pose_covariance.diagonal()[:3].max()))
            self.covariance = covariance_in_parent(self.odom_in_map, self._error.pose_covariance)
        self._period_ns = round(1e9 / rig.rates.control)
        limits = load_limits()
        self._limits = limits
        self._pilot, self._governor = Pilot(load_pilot_limits(), limits), Governor(limits)
        self._state = _StepState()
        self._goal: tuple[int, Goal] | None = None

    def begin(self, brief: Brief, recording: Recording, governed: bool) -> int:
        """Takes control for a mission and returns the stamp (ns) at which it begins. governed: the governor's answers
        are flown, not only recorded."""
        self._recording, self._governed, self._home = recording, governed, brief.home
        self._governor.set_site(site_of(brief, self._limits))
        self._pace = pace_of(brief, self._limits)
        self._remote.take_control()
        self.advance_clock()  # stamp zero means "never" to ROS clocks: the first step has a later one
        self._start_ns = self._remote.read().ns
        return self._start_ns

    def advance_clock(self) -> None:
        """Lets the simulator run for one control period."""
        self._client.call("simContinueForTime", seconds(self._period_ns))

    @property
    def height(self) -> float | None:
        """Height (m) above ground as reported by the governor."""
        safety = self._state.safety
        return None if safety is None or safety.height is None else single(safety.height)

    @property
    def mode(self) -> Mode:
        """The governor's mode."""
        return self._state.safety.mode if self._state.safety is not None else Mode.UNKNOWN

    @property
    def battery(self) -> float:
        """The charge, 0..1, at the last frame."""
        return self._state.battery

    @property
    def feedback(self) -> tuple[PilotOutput, int] | None:
        """The pilot's last answer and the goal_seq that it followed."""
        pilot = self._state.pilot
        return None if pilot is None else (pilot, self._state.pilot_goal)

    def follow(self, answer: Answer) -> None:
        """Makes the goal of a decision the pilot's, where it is a new one."""
        if answer.goal_seq and (self._goal is None or self._goal[0] != answer.goal_seq):
            self._goal = (answer.goal_seq, goal_as_sent(answer.goal))

    def sense(self, first: bool, ranges: bool, frame: bool) -> None:
        """Reads the vehicle, its ranges where they are due and its battery where a frame is. first: of the mission."""
        state = self._state
        reading = self._reading = self._remote.read()
        self._actuation.finish_touch_down(reading)
        ns = self.ns = reading.ns
        estimate = Estimate(reading.pose, reading.velocity)
        if self._error is not None:
            estimate = self._error.estimate(ns, reading.pose, reading.velocity)
        body_velocity = estimate.pose.rotation.T @ estimate.velocity
        self.pose, self.velocity = motion_in_parent(self.odom_in_map, estimate.pose, body_velocity)
        if reading.collided and reading.collision_ns != state.collision_ns:
            state.collision_ns = reading.collision_ns
            if not reading.landed:
                self._recording.collision(ns, reading)
        self._recording.state(ns, reading, estimate, self._actuation.landing, holding=first)
        if ranges:
            state.ranges = ranges_as_sent(pool_ranges(self._lidar.read(), self._grid), self._grid, self.pose, ns)
        if frame:
            state.battery = single(self._remote.read_battery().charge)
            self._recording.battery(ns, state.battery)

    def fly(self, window: OccupancyWindow | None, clues: tuple[SeenClue, ...]) -> None:
        """Steers, governs, and hands the velocity to the autopilot. window, clues: of the last frame."""
        state, reading = self._state, self._reading
        landing = self._actuation.landing
        elapsed = seconds(self.ns - self._start_ns)
        self._pilot.slow_to(self._pace.at(elapsed))
        self._governor.keep_pace(elapsed)
        output = self._steer(reading, window, landing)
        safe, flown, yaw_rate = self._govern(reading, output, window, clues, landing)
        state.safety, state.output, state.pilot = safe, flown, output
        state.pilot_goal = self._goal[0] if self._goal is not None else 0
        self._actuation.height = self.height
        self._actuation.obey(reading, safe.mode, (flown, yaw_rate), seconds(self._period_ns))

    def _steer(self, reading: VehicleReading, window: OccupancyWindow | None, touching_down: bool) -> PilotOutput:
        """Returns the pilot's answer, and requests what it asks of the autopilot."""
        state = self._state
        safety = state.safety
        output = self._pilot.step(
            PilotInput(
                now=seconds(self.ns),
                pose=self.pose,
                velocity=self.velocity,
                armed=reading.armed,
                landed=reading.landed,
                running=True,
                ended=False,
                home=self._home,
                goal=self._goal[1] if self._goal is not None else None,
                planner_silence=0.0,
                window=window,
                governed=Governed(safety.mode, state.output, self.height) if safety is not None else None,
                touching_down=touching_down,
            )
        )
        if output.request is Request.TOUCH_DOWN:
            self._actuation.touch_down(self.mode, self.ns)
        elif output.request is not None:
            self._actuation.arm(output.request is Request.ARM, self.mode)
        return output

    def _govern(
        self,
        reading: VehicleReading,
        output: PilotOutput,
        window: OccupancyWindow | None,
        clues: tuple[SeenClue, ...],
        landing: bool,
    ) -> tuple[SafeCommand, Vector, float]:
        """Returns the governor's answer, and the velocity (m/s, map) and yaw rate (rad/s) that the vehicle flies."""
        state, now = self._state, seconds(self.ns)
        vehicle = State(
            now, self.pose, self.velocity, reading.armed, reading.landed, state.battery, self._deviation,
            self._governed, reading.angular_velocity,
        )  # fmt: skip
        command = Command(now, output.velocity, output.yaw_rate)
        answer = self._governor.decide(
            vehicle, command, state.ranges, window, now, 0.0, landing, people=people_of(clues)
        )
        self._recording.safety(self.ns, answer, self._governed)
        flown = (answer.velocity, answer.yaw_rate) if self._governed else pass_through(command)
        return answer, *flown
