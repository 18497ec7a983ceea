"""Flight: limits, wind, energy, landing, collisions; on a flat world with boxes made of assets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy, quaternion_from_yaw
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.clock import STEP, SimClock
from esar_ros.sim.physics.autopilot import Fly, GoTo, Heading, Land, Path, Rotate, Spin, Turn
from esar_ros.sim.physics.battery import AVIONICS_POWER, Battery
from esar_ros.sim.physics.drone import CLEARANCE, Drone
from esar_ros.sim.physics.dynamics import (
    ATTITUDE,
    ATTITUDE_THROTTLE,
    DEFAULTS,
    GRAVITY,
    RATE_THROTTLE,
    VELOCITY,
    Quadrotor,
    SetPoint,
    limits_of,
)
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.sensors.instruments import air_density
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.world import World

CALM = np.zeros(3)
BODY = load_vehicle().body
FOREVER = 1e9


def flat_place(slope: float = 0.0) -> PlaceMap:
    """200 m square, rising eastward with a slope, without plants."""
    x = np.linspace(-100.0, 100.0, 65, dtype=np.float32)
    heights = np.ascontiguousarray(np.broadcast_to(slope * x, (65, 65)))
    return PlaceMap(
        id="flat",
        name="flat",
        size=200.0,
        origin=Origin(33.9, 107.6, 2800.0),
        utc_offset=8.0,
        seed=1,
        heights=heights,
        land_cover=np.zeros((65, 65), dtype=np.uint8),
        water_level=None,
        flora={},
        digest="flat",
    )


def simulation(*positions: tuple[float, float, float], slope: float = 0.0) -> Simulation:
    """Vehicles at map-frame places; on the ground where z is 0."""
    world = World(flat_place(slope), 0)
    drones = []
    for index, position in enumerate(positions or ((0.0, 0.0, 0.0),)):
        start = Pose(np.array(position, dtype=np.float64))
        drones.append(Drone(f"uav{index + 1}", start, np.zeros(3), BODY, world))
    return Simulation(world, drones)


def airborne(*position: float) -> tuple[Simulation, Drone]:
    """One armed vehicle hovering in the air."""
    sim = simulation()
    drone = sim.drones["uav1"]
    drone.arm(True)
    drone.place(Pose(np.array(position, dtype=np.float64)))
    return sim, drone


def fly(sim: Simulation, seconds: float) -> None:
    sim.advance(round(seconds / STEP))


def test_hovers_within_a_metre_in_eight_metres_of_wind() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    sim.world.environment = type(sim.world.environment)(wind=np.array([8.0 * 0.6, 8.0 * 0.8, 0.0]))
    farthest = 0.0
    for _ in range(600):
        fly(sim, 0.1)
        farthest = max(farthest, float(np.linalg.norm(drone.position - [0.0, 0.0, 20.0])))
    assert farthest <= 1.0
    assert np.linalg.norm(drone.velocity) < 0.5  # gusts go on


@settings(deadline=None, max_examples=30)
@given(
    st.tuples(*[st.floats(-15.0, 15.0)] * 3),
    st.floats(-6.0, 6.0),
    st.booleans(),
    st.tuples(*[st.floats(-10.0, 10.0)] * 2),
)
def test_tilt_and_rates_stay_within_their_limits(
    velocity: tuple[float, float, float], yaw: float, is_rate: bool, wind: tuple[float, float]
) -> None:
    body = Quadrotor(Pose())
    body.float_at(Pose(np.array([0.0, 0.0, 50.0])))
    setpoint = SetPoint(VELOCITY, np.array(velocity), yaw, is_rate).as_array()
    tilt, rate = 0.0, 0.0
    for _ in range(400):
        body.advance(setpoint, np.array([*wind, 0.0]), 5)
        tilt = max(tilt, math.acos(min(1.0, body.pose.rotation[2, 2])))
        rate = max(rate, float(np.abs(body.rates).max()))
    assert tilt <= DEFAULTS.tilt + math.radians(0.5)
    assert rate <= DEFAULTS.rate + 1e-9
    assert np.isfinite(body.state).all()
    assert np.linalg.norm(body.quaternion) == pytest.approx(1.0)


@settings(deadline=None, max_examples=15)
@given(st.tuples(*[st.floats(-4.0, 4.0)] * 2), st.floats(-2.0, 2.0))
def test_reaches_the_commanded_velocity_without_exceeding_it(level: tuple[float, float], climb: float) -> None:
    body = Quadrotor(Pose())
    body.float_at(Pose(np.array([0.0, 0.0, 50.0])))
    wanted = np.array([*level, climb])
    setpoint = SetPoint(VELOCITY, wanted).as_array()
    fastest = 0.0
    for _ in range(800):
        body.advance(setpoint, CALM, 5)
        fastest = max(fastest, float(np.linalg.norm(body.velocity)))
    assert np.linalg.norm(body.velocity - wanted) < 0.1
    assert fastest <= np.linalg.norm(wanted) * 1.1 + 0.1


def answer(velocity_tau: float | None, first: float, then: float, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Speed (m/s) and way (m) at each 10 ms after an order `then`, given after 5 s of an order `first`."""
    body = Quadrotor(Pose(), limits_of(velocity_tau))
    body.float_at(Pose(np.array([0.0, 0.0, 50.0])))
    for _ in range(500):
        body.advance(SetPoint(VELOCITY, np.array([first, 0.0, 0.0])).as_array(), CALM, 5)
    start, speeds, way = float(body.position[0]), [], []
    for _ in range(round(seconds / 0.01)):
        body.advance(SetPoint(VELOCITY, np.array([then, 0.0, 0.0])).as_array(), CALM, 5)
        speeds.append(float(body.velocity[0]))
        way.append(float(body.position[0]) - start)
    return np.array(speeds), np.array(way)


def after(reached: np.ndarray) -> float:
    """Time (s) of the first that holds."""
    return 0.01 * (1 + int(np.argmax(reached)))


@pytest.mark.parametrize("speed", [1.0, 2.0, 3.0, 4.0, 5.0])
def test_it_follows_like_px4_where_asked(speed: float) -> None:
    """PX4 1.17 in SITL: 63 % after 1.05 to 1.4 s, up to 2.8 s when reversing, 70 to 90 % after 3 to 5 s."""
    rise, _ = answer(1.1, 0.0, speed, 5.0)
    assert 1.05 <= after(rise >= 0.632 * speed) <= 1.4
    assert rise[300] >= 0.7 * speed and rise[-1] <= 0.92 * speed
    back, _ = answer(1.1, speed, -speed, 5.0)
    assert 1.4 < after(back <= -0.632 * speed) <= 2.8
    usual, _ = answer(None, 0.0, speed, 5.0)
    assert after(usual >= 0.632 * speed) < 0.75, "AirSim's autopilot is quicker"


@pytest.mark.parametrize(("speed", "metres"), [(0.79, 1.17), (1.74, 1.56), (2.31, 2.18), (3.27, 4.18), (5.33, 6.31)])
def test_it_stops_like_px4_where_asked(speed: float, metres: float) -> None:
    """Distances that PX4 1.17 in SITL took; no lag meets all five."""
    flown, way = answer(1.1, speed / 0.88, 0.0, 12.0)
    assert way.max() * speed / flown[0] == pytest.approx(metres, rel=0.35)


def test_the_same_inputs_give_the_same_bytes_however_time_is_cut() -> None:
    states = []
    for cuts in ((1000,), (25,) * 40, (5,) * 200):
        sim, drone = airborne(0.0, 0.0, 20.0)
        drone.command(GoTo(np.array([10.0, -4.0, 25.0]), 5.0, Heading(), FOREVER), lambda _: None)
        for cut in cuts:
            sim.advance(cut)
        states.append(drone.body.state.tobytes())
    assert states[0] == states[1] == states[2]


def test_flies_to_a_point_and_stays() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    outcomes: list[bool] = []
    goal = np.array([25.0, -10.0, 12.0])
    drone.command(GoTo(goal, 6.0, Heading(Turn.FORWARD), FOREVER), outcomes.append)
    fly(sim, 15.0)
    assert outcomes == [True]
    fly(sim, 5.0)
    assert np.linalg.norm(drone.position - goal) < 0.1


def test_flies_a_path_past_its_corners() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    outcomes: list[bool] = []
    corners = [np.array(p) for p in ((20.0, 0.0, 20.0), (20.0, 20.0, 22.0), (0.0, 20.0, 20.0))]
    drone.command(Path(corners, 4.0, Heading(), FOREVER), outcomes.append)
    nearest = [math.inf] * 3
    for _ in range(400):
        fly(sim, 0.1)
        for k, corner in enumerate(corners):
            nearest[k] = min(nearest[k], float(np.linalg.norm(drone.position - corner)))
        if outcomes:
            break
    assert outcomes == [True]
    assert max(nearest) < 3.0
    assert np.linalg.norm(drone.position - corners[-1]) < 0.3


def test_turns_to_a_heading_and_at_a_rate() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    outcomes: list[bool] = []
    drone.command(Rotate(math.radians(170.0), math.radians(2.0), FOREVER), outcomes.append)
    fly(sim, 6.0)
    assert outcomes == [True]
    assert abs(math.remainder(drone.yaw - math.radians(170.0), math.tau)) < math.radians(2.0)
    before = drone.yaw
    drone.command(Spin(0.5, sim.clock.now + 2.0), outcomes.append)
    fly(sim, 2.1)
    assert math.remainder(drone.yaw - before, math.tau) == pytest.approx(1.0, abs=0.15)
    assert np.linalg.norm(drone.position - [0.0, 0.0, 20.0]) < 0.2


def test_attitude_commands_lean_the_right_way() -> None:
    sim, drone = airborne(0.0, 0.0, 40.0)
    lean = np.array([0.0, math.radians(10.0), 0.0])  # FLU: nose down
    drone.command(Fly(ATTITUDE, lean, Heading(Turn.ANGLE, 0.0), sim.clock.now + 2.0, z=40.0), lambda _: None)
    fly(sim, 1.5)
    assert drone.velocity[0] > 1.0 and abs(drone.velocity[1]) < 0.1
    assert drone.position[2] == pytest.approx(40.0, abs=0.3)
    sim, drone = airborne(0.0, 0.0, 40.0)
    lean = np.array([math.radians(10.0), 0.0, 0.5])  # right side down
    drone.command(Fly(ATTITUDE_THROTTLE, lean, Heading(Turn.ANGLE, 0.0), sim.clock.now + 2.0), lambda _: None)
    fly(sim, 1.5)
    assert drone.velocity[1] < -1.0 and abs(drone.velocity[0]) < 0.1


def test_rate_commands_turn_about_their_axes() -> None:
    sim, drone = airborne(0.0, 0.0, 40.0)
    rates = np.array([0.2, 0.0, 0.5])
    drone.command(Fly(RATE_THROTTLE, rates, Heading(Turn.RATE, 0.0), sim.clock.now + 2.0), lambda _: None)
    fly(sim, 1.0)
    assert drone.body.rates == pytest.approx([0.2, 0.0, 0.0], abs=0.01)


def test_a_new_command_pre_empts_the_old_one() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    heard: list[tuple[str, bool]] = []
    drone.command(GoTo(np.array([50.0, 0.0, 20.0]), 5.0, Heading(), FOREVER), lambda ok: heard.append(("a", ok)))
    fly(sim, 1.0)
    drone.command(Land(FOREVER), lambda ok: heard.append(("b", ok)))
    assert heard == [("a", False)]
    drone.autopilot.cancel()
    assert heard == [("a", False), ("b", False)]
    fly(sim, 5.0)
    assert np.linalg.norm(drone.velocity) < 0.05


def test_takes_off_and_lands_without_a_collision() -> None:
    sim = simulation()
    drone = sim.drones["uav1"]
    assert drone.grounded
    fly(sim, 1.0)
    assert np.linalg.norm(drone.velocity) == 0.0
    drone.arm(True)
    drone.command(GoTo(drone.position + [0.0, 0.0, 3.0], 1.5, Heading(), FOREVER), lambda _: None)
    fly(sim, 5.0)
    assert (drone.grounded, drone.height()) == (False, pytest.approx(3.0, abs=0.2))
    outcomes: list[bool] = []
    drone.command(Land(FOREVER), outcomes.append)
    fly(sim, 10.0)
    assert outcomes == [True] and drone.grounded
    assert drone.height() == pytest.approx(CLEARANCE, abs=0.02)
    assert drone.collision.count == 0


def test_stands_on_a_slope_and_leaves_it() -> None:
    sim = simulation((10.0, 0.0, 0.0), slope=0.5)
    drone = sim.drones["uav1"]
    assert drone.grounded
    assert sim.world.contact(drone.position, BODY.radius) is None
    drone.arm(True)
    drone.command(GoTo(drone.position + [0.0, 0.0, 3.0], 1.5, Heading(), FOREVER), lambda _: None)
    fly(sim, 5.0)
    assert drone.height() > 2.5 and drone.collision.count == 0


def test_hitting_the_ground_is_a_collision() -> None:
    sim, drone = airborne(0.0, 0.0, 15.0)
    drone.command(Fly(VELOCITY, np.array([0.0, 0.0, -5.0]), Heading(), FOREVER), lambda _: None)
    fly(sim, 5.0)
    assert drone.collision.count >= 1
    assert drone.collision.object_id == 0
    assert drone.collision.normal == pytest.approx([0.0, 0.0, 1.0])
    assert drone.position[2] >= BODY.radius


def test_disarmed_in_the_air_it_falls_and_stays_down() -> None:
    sim, drone = airborne(0.0, 0.0, 15.0)
    drone.arm(False)
    fly(sim, 1.0)
    assert drone.velocity[2] < -6.0
    fly(sim, 5.0)
    assert drone.grounded and drone.collision.count == 1
    before = drone.position.copy()
    fly(sim, 5.0)
    assert (drone.position == before).all()


@settings(deadline=None, max_examples=40)
@given(st.floats(0.0, 2.0 * math.pi), st.floats(8.0, 15.0), st.floats(0.2, 1.2))
def test_thin_obstacles_are_not_tunnelled_through(bearing: float, speed: float, height: float) -> None:
    """A tent ridge or trekking pole in the way of a vehicle at up to 15 m/s."""
    sim, drone = airborne(0.0, 0.0, 20.0)
    way = np.array([math.cos(bearing), math.sin(bearing), 0.0])
    pose = Pose(20.0 * way + [0.0, 0.0, 20.0 - height / 2.0], quaternion_from_yaw(bearing + math.pi / 2.0))
    sim.world.spawn("pole", "trekking_pole", pose, 2.0)
    drone.velocity[:] = speed * way
    drone.command(Fly(VELOCITY, speed * way, Heading(Turn.ANGLE, bearing), FOREVER), lambda _: None)
    for _ in range(60):
        fly(sim, 0.05)
        if drone.collision.count:
            break
    assert drone.collision.count == 1
    assert drone.collision.object_id == sim.world.objects["pole"].id
    assert float(drone.position @ way) < 20.0


def test_vehicles_collide_with_each_other() -> None:
    sim = simulation((0.0, 0.0, 0.0), (10.0, 0.0, 0.0))
    one, other = sim.drones.values()
    for drone, x in ((one, 0.0), (other, 6.0)):
        drone.arm(True)
        drone.place(Pose(np.array([x, 0.0, 20.0])))
    one.command(GoTo(np.array([6.0, 0.0, 20.0]), 3.0, Heading(), FOREVER), lambda _: None)
    fly(sim, 4.0)
    assert one.collision.count >= 1 and other.collision.count >= 1
    assert np.linalg.norm(one.position - other.position) > 1.9 * BODY.radius


def test_hover_power_and_endurance_are_the_airframes() -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    fly(sim, 2.0)
    used = drone.battery.used
    fly(sim, 60.0)
    assert (drone.battery.used - used) / 60.0 == pytest.approx(BODY.hover_power, rel=0.01)
    climbing = Battery.of(BODY)
    climbing.drain(GRAVITY * 1.2, True, 1.0)
    assert climbing.power > BODY.hover_power * 1.2
    assert 21.0 < climbing.voltage < 25.2
    assert climbing.current == pytest.approx(climbing.power / climbing.voltage)


def test_an_empty_battery_stops_the_motors() -> None:
    sim, drone = airborne(0.0, 0.0, 5.0)
    drone.battery.used = drone.battery.energy - 1.0
    fly(sim, 5.0)
    assert drone.battery.charge == 0.0 and not drone.armed and drone.grounded
    drone.arm(True)
    assert not drone.armed


def test_many_small_requests_add_up_to_the_same_time() -> None:
    clock = SimClock()
    assert sum(clock.steps_for(0.0033) for _ in range(1000)) == 1650
    assert clock.steps_for(0.05) == 25


def test_hover_power_is_a_plausible_quadrotors() -> None:
    """Momentum theory for 2 kg on four 10-inch rotors at 2800 m: figure of merit times drive efficiency."""
    area = 4.0 * math.pi * (0.254 / 2.0) ** 2
    density = air_density(2800.0)
    ideal = (BODY.mass * GRAVITY) ** 1.5 / math.sqrt(2.0 * density * area)
    assert 0.45 < ideal / (BODY.hover_power - AVIONICS_POWER) < 0.75
    assert 20.0 < BODY.battery_energy / BODY.hover_power * 60.0 < 45.0  # minutes


@settings(deadline=None, max_examples=5)
@given(st.floats(0.0, 2.0 * math.pi), st.integers(0, 1000))
def test_it_reaches_its_goal_in_gusts(bearing: float, seed: int) -> None:
    sim, drone = airborne(0.0, 0.0, 20.0)
    sim.world.seed = seed
    sim.world.environment = type(sim.world.environment)(wind=8.0 * np.array([math.cos(bearing), math.sin(bearing), 0]))
    outcomes: list[bool] = []
    goal = np.array([15.0, 10.0, 25.0])
    drone.command(GoTo(goal, 5.0, Heading(), 60.0), outcomes.append)
    farthest = 0.0
    for _ in range(300):
        fly(sim, 0.1)
        if outcomes:
            farthest = max(farthest, float(np.linalg.norm(drone.position - goal)))
    assert outcomes == [True]
    assert farthest <= 1.0  # it stays there


def test_a_standing_vehicle_is_not_pushed() -> None:
    sim = simulation((0.0, 0.0, 0.0), (10.0, 0.0, 0.0))
    one, other = sim.drones.values()
    before = one.position.copy()
    other.arm(True)
    other.place(Pose(one.position + [0.0, 0.0, 1.2]))
    other.command(Fly(VELOCITY, np.array([0.0, 0.0, -1.0]), Heading(), FOREVER), lambda _: None)
    fly(sim, 3.0)
    assert (one.position == before).all() and one.collision.count >= 1
    assert np.linalg.norm(other.position - one.position) > 1.8 * BODY.radius


@settings(deadline=None, max_examples=25)
@given(
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    st.tuples(*[st.floats(-math.pi, math.pi)] * 3),
    st.floats(10.0, 15.0),
    st.floats(0.01, 0.5),
)
def test_nothing_thin_is_flown_through_from_any_side(
    offset: tuple[float, float, float], turn: tuple[float, float, float], speed: float, scale: float
) -> None:
    """A thing of a few centimetres, anyhow turned, within the body's radius of its way."""
    sim, drone = airborne(0.0, 0.0, 20.0)
    aside = 0.45 * BODY.radius * np.array([0.0, *offset[1:]])
    thing = sim.world.spawn("thin", "trekking_pole", Pose(np.zeros(3), quaternion_from_rpy(*turn)), scale)
    centre = thing.box[:3]
    sim.world.move("thin", Pose(np.array([15.0, 0.0, 20.0]) + aside - centre, thing.pose.quaternion))
    drone.velocity[:] = [speed, 0.0, 0.0]
    drone.command(Fly(VELOCITY, np.array([speed, 0.0, 0.0]), Heading(Turn.ANGLE, 0.0), FOREVER), lambda _: None)
    for _ in range(40):
        fly(sim, 0.05)
    assert drone.collision.count >= 1


def test_a_vehicle_whose_start_lies_in_a_thing_stands_on_the_ground_there() -> None:
    sim = simulation()
    world = sim.world
    world.spawn("hut", "tent", world.ground_pose(np.array([20.0, 0.0]), 0.0), 3.0)
    drone = Drone("late", Pose(np.array([20.0, 0.0, 0.0])), np.zeros(3), BODY, world)
    assert drone.position[2] >= BODY.radius
    before = drone.position.copy()
    sim.drones["late"] = drone
    fly(sim, 1.0)
    assert drone.position[2] >= BODY.radius and np.linalg.norm(drone.position - before) < 3.0
