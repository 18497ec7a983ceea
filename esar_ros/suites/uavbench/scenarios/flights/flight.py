"""One scenario, flown: our pilot under our governor in the simulator's dynamics over level ground, judged by truth.

There is no perception: the governor is given a surveyed window and ranges to the ground. Each step of 50 ms goes
faults -> estimate -> survey -> pilot -> governor -> vehicle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.flight.pilot import Governed, Phase, Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.decision import Goal, GoalType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through
from esar_ros.safety.traffic import OtherVehicle
from esar_ros.sim.clock import CONTROL_STEPS, STEP_NS
from esar_ros.sim.physics.autopilot import Fly, Heading
from esar_ros.sim.physics.dynamics import VELOCITY
from esar_ros.suites.uavbench.scenarios.flights.air import Survey, Wind
from esar_ros.suites.uavbench.scenarios.flights.failing import Faults
from esar_ros.suites.uavbench.scenarios.flights.outcome import SCHEMA, Ending, Watch, level, metrics
from esar_ros.suites.uavbench.scenarios.flights.vehicle import set_up
from esar_ros.suites.uavbench.scenarios.geometry import edge_distance
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.risk import label
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import Family

_STEP = 0.05  # s
_CONTROLS = 5  # intervals of 10 ms in a step
_LATEST = 1.25  # time budgets after which a flight is ended
_TAKE_OFF = 120.0  # s, at most
_TOLD_FROM = 300.0  # m, nearer than which others are told to the governor


@dataclass(frozen=True)
class Options:
    """The conditions of a flight."""

    governor: bool = True
    as_multirotor: bool = False  # wings and hybrids, too, as if they hovered
    told: bool = True  # the governor is told of traffic and obstacles


def fly(scene: Scene, options: Options) -> dict[str, Any]:
    """Returns the result of a flight (esar-scenario-flight/1), or why the scenario was not flown."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "scenario": scene["/name"],
        "hash": digest(scene.data),
        "predicted": {key: label(scene)[key] for key in ("risk_level", "risk_tag", "risk_score", "factors")},
    }
    if scene.family is not Family.ROTOR and not options.as_multirotor:
        return {**found, "status": "not_flown", "why": f"type {scene.vehicle} is no multirotor; see --as-multirotor"}
    try:
        flight = _Flight(scene, options)
    except UsageError as error:
        return {**found, "status": "not_flown", "why": str(error)}
    flight.run()
    watch, ending = flight.watch, flight.ending()
    return {
        **found,
        "status": "flown",
        "outcome_level": level(watch, ending),
        "metrics": metrics(watch, ending),
        "waypoints": {"reached": ending.reached, "of": len(scene.waypoints)},
        "seconds": round(ending.seconds, 3),
        "interventions": dict(sorted(watch.interventions.items())),
        "faults_reached": sorted(flight.faults.reached.values()),
        "as_multirotor": scene.family is not Family.ROTOR,
        "capped": list(flight.setup.capped),
        "unmodelled": _unmodelled(scene, flight.faults),
    }


def _unmodelled(scene: Scene, faults: Faults) -> list[str]:
    found = [f"fault {kind}" for kind in faults.unmodelled]
    if scene.zones:
        found.append("floor and ceiling of zones: the governor keeps out at all heights")
    if scene.moving_zones:
        found.append("moving zones: measured, the governor is not told of them")
    if scene.traffic or scene.obstacles:
        found.append("others do not react")
    if scene["/mission/pattern"] != "corridor":
        found.append(f"pattern {scene['/mission/pattern']}: its waypoints are flown as a corridor")
    if scene["/environment/weather/gust_mps"] > 0.0 and not scene["/environment/weather/wind_mps"] > 0.0:
        found.append("gusts without a mean wind")
    modelled = {"clear", "gusts", "crosswind_strong"}
    found += [f"phenomenon {token}" for token in scene.phenomena if token not in modelled]
    if scene.get("/swarm/enabled", False) and scene["/swarm/size"] > 1:
        found.append("swarm: one vehicle is flown")
    return found


class _Flight:
    """The vehicle, its governor and pilot, and the moment that they are in."""

    def __init__(self, scene: Scene, options: Options) -> None:
        seed = int(scene.get("/seed", 0))
        self.scene, self.options, self.setup = scene, options, set_up(scene)
        self.faults, self.watch, self._wind = Faults(scene, seed), Watch(scene), Wind(scene, seed)
        self._drone, limits = self.setup.drone, self.setup.limits
        self._origin = np.array([*scene.spawn[:2], 0.0])
        self._survey = Survey.of(limits.stopping_distance(limits.speed_horizontal) + 20.0, scene.band[1])
        self._governor, self._pilot = Governor(limits, self.setup.site), Pilot(self.setup.pilot, limits)
        self._random = np.random.default_rng(seed)
        self._thrust, self._power = self._drone.body.limits.thrust, self._drone.battery.hover_power
        self._goals = [Goal(GoalType.WAYPOINT, np.array(w, dtype=np.float64) - self._origin) for w in scene.waypoints]
        self._reached, self._tick = 0, 1
        self._start: float | None = None  # s, when the mission began: the spawn's height was reached
        self._window: OccupancyWindow | None = None
        self._ranges: RangeImageData | None = None
        self._safe: SafeCommand | None = None
        self._flown = np.zeros(3)
        self._landing = False
        self._lost = False

    @property
    def _now(self) -> float:
        return self._tick * _STEP

    @property
    def _mission_time(self) -> float:
        """s from the mission's start; 0 before."""
        return 0.0 if self._start is None else self._now - self._start

    def run(self) -> None:
        """Flies until all waypoints are reached, the vehicle is down, or time is over."""
        latest = min(_LATEST * self.scene["/mission/time_budget_s"], self.scene.duration)
        while not self._lost and self._reached < len(self._goals) and self._pilot.phase is not Phase.DONE:
            if self._start is None and self._now > _TAKE_OFF:
                break
            if self._mission_time > latest:
                break
            self._step()
            self._tick += 1

    def ending(self) -> Ending:
        """Returns how the flight ended."""
        battery = self._drone.battery
        left = battery.charge * battery.energy / 3600.0
        return Ending(self._reached, self._mission_time, left, battery.charge, self._lost, self.faults.outage)

    def _step(self) -> None:
        drone, now, t, ns = self._drone, self._now, self._mission_time, self._tick * 50_000_000
        if self._start is not None:
            self.faults.apply(drone, t, _STEP, self._thrust, self._power)
        truth = drone.body.pose
        estimate, deviation = self.faults.estimate(t, ns, truth, drone.velocity.copy())
        if self._tick % 2 == 1 and self.faults.sees(t):
            self._ranges = self._survey.ranges(estimate.pose, truth, now, self._random)
        if self._window is None or self._tick % 20 == 0:
            self._window = self._survey.window(estimate.pose.position, now)
        landed = drone.grounded
        safe = self._safe
        output = self._pilot.step(
            PilotInput(
                now=now,
                pose=estimate.pose,
                velocity=estimate.velocity,
                armed=drone.armed,
                landed=landed,
                running=True,
                ended=False,
                home=self.setup.site.home,
                goal=self._goals[self._reached],
                planner_silence=self.faults.silence(t) if self._start is not None else 0.0,
                window=self._window,
                governed=Governed(safe.mode, self._flown, safe.height) if safe is not None else None,
                touching_down=self._landing,
            )
        )
        self._obey(output, landed)
        state = State(now, estimate.pose, estimate.velocity, drone.armed, landed, drone.battery.charge, deviation)
        command = Command(now, output.velocity, output.yaw_rate)
        others = self._others(now, t) if self.options.told else ()
        answer = self._governor.decide(state, command, self._ranges, self._window, now, 0.0, self._landing, others)
        self._safe = answer
        self._flown, yaw_rate = (answer.velocity, answer.yaw_rate) if self.options.governor else pass_through(command)
        if self._start is not None and answer.changed and self.options.governor:
            self.watch.intervened(answer.reason)
        self._move(self._flown, yaw_rate, answer.mode)
        self._mark(output)

    def _obey(self, output: PilotOutput, landed: bool) -> None:
        """Follows the pilot's requests."""
        if output.request is Request.ARM:
            self._drone.arm(True)
        elif output.request is Request.TOUCH_DOWN:
            self._landing = True
        if self._landing and landed:
            self._drone.arm(False)

    def _move(self, velocity: Vector, yaw_rate: float, mode: Mode) -> None:
        drone, tick = self._drone, self._tick * _CONTROLS
        flying = drone.armed and not drone.grounded
        if mode is Mode.TERMINATE and self.options.governor:
            drone.arm(False)
        if drone.armed:
            drone.command(Fly(VELOCITY, velocity, Heading(value=yaw_rate), self._now + 2.0 * _STEP), lambda done: None)
        for k in range(_CONTROLS):
            height = max(0.0, drone.height())
            drone.air = self._wind.at(tick + k, drone.velocity, height) if not drone.grounded else np.zeros(3)
            drone.advance(drone.air, (tick + k) * CONTROL_STEPS * STEP_NS, CONTROL_STEPS)
        # A collision with the ground, or motors that stopped in the air, end the flight.
        self._lost = drone.collision.count > 0 or (flying and not drone.armed and not drone.grounded)

    def _mark(self, output: PilotOutput) -> None:
        """Looks at where the vehicle truly is, and goes on to the next waypoint where one is reached."""
        place = self._drone.position + self._origin
        if self._start is None:
            up = self._pilot.phase in (Phase.FLY, Phase.HOLD)
            if up or (self._drone.armed and place[2] >= max(self.scene.spawn[2], self._pilot.limits.take_off_height)):
                self._start = self._now
            else:
                return
        landing = self._pilot.phase is Phase.LAND or (self._safe is not None and self._safe.mode >= Mode.LAND)
        self.watch.look(self._mission_time, place.tolist(), self._drone.velocity.tolist(), landing)
        goal = self._goals[self._reached]
        gap = goal.position + self._origin - place
        room = self._room(self.scene.waypoints[self._reached])
        near = math.hypot(gap[0], gap[1]) <= room and abs(gap[2]) <= self._pilot.limits.arrival + 1.0
        self._reached += bool(near or output.goal_reached)

    def _room(self, waypoint: Any) -> float:
        """Returns how near (m) counts as reached: farther where the governor's margins lie over a waypoint."""
        margin = self.setup.limits.fence_margin
        edge = edge_distance(self.scene.fence, waypoint)
        zone = min((z.distance(waypoint) for z in self.scene.zones), default=math.inf)
        return self._pilot.limits.arrival + max(0.0, margin - min(edge, zone)) + 1.0

    def _others(self, now: float, t: float) -> list[OtherVehicle]:
        """Returns traffic, and the nearest points of obstacles, as other vehicles report themselves."""
        found = []
        for ball in (*self.scene.traffic, *self.scene.obstacles):
            center = np.array(ball.center) + np.array(ball.velocity) * t - self._origin
            away = center - self._drone.position
            distance = float(np.linalg.norm(away))
            if distance - ball.radius < _TOLD_FROM and distance > ball.radius:
                near = center - away * (ball.radius / distance)
                found.append(OtherVehicle(now, near, np.array(ball.velocity, dtype=np.float64)))
        return found


def try_to_fly(scene: Scene, options: Options) -> dict[str, Any]:
    """Returns the result of a flight; whatever fails costs this scenario alone and is recorded."""
    try:
        return fly(scene, options)
    except Broken as broken:
        return {"schema": SCHEMA, "hash": digest(scene.data), "status": "not_flown", "why": f"{broken} is missing"}
    except Exception as failure:
        return {
            "schema": SCHEMA,
            "hash": digest(scene.data),
            "status": "error",
            "why": f"{type(failure).__name__}: {failure}",
        }
