"""Motors one by one, sticks and gains: what the interface can do to the autopilot."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.sim.airsim_api.motion_commands import COMMANDS
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.physics.dynamics import DEFAULTS, GRAVITY, MOTORS, Quadrotor, SetPoint
from helpers.api_bench import YAW, Bench

CALM = np.zeros(3)


def flown(duties: tuple[float, float, float, float], seconds: float = 0.2) -> Quadrotor:
    body = Quadrotor(Pose())
    body.float_at(Pose(np.array([0.0, 0.0, 50.0])))
    setpoint = SetPoint(MOTORS, np.array(duties[:3]), duties[3]).as_array()
    body.advance(setpoint, CALM, round(seconds / 0.002))
    return body


def test_motors_lift_turn_and_tilt_as_a_quad_x() -> None:
    """Duties: front right, rear left, front left, rear right; rates are FLU."""
    hover = GRAVITY / DEFAULTS.thrust
    assert np.abs(flown((hover,) * 4).velocity).max() < 0.01
    assert flown((hover + 0.1,) * 4).velocity[2] > 0.1
    left_up = flown((0.45, 0.55, 0.55, 0.45), 0.05)
    assert left_up.rates[0] > 0.3 and abs(left_up.rates[1]) < 1e-9
    rear_up = flown((0.45, 0.55, 0.45, 0.55), 0.05)
    assert rear_up.rates[1] > 0.3 and abs(rear_up.rates[0]) < 1e-9
    clockwise_rotors = flown((0.45, 0.45, 0.55, 0.55), 0.1)
    assert clockwise_rotors.rates[2] > 0.05  # the body turns against its rotors


@settings(deadline=None, max_examples=50)
@given(st.tuples(*[st.floats(0.0, 1.0)] * 4))
def test_motors_never_break_the_state(duties: tuple[float, float, float, float]) -> None:
    body = flown(duties, 3.0)
    assert np.isfinite(body.state).all()
    assert np.linalg.norm(body.quaternion) == pytest.approx(1.0)


def test_motors_lift_off_and_end_after_their_time() -> None:
    async def fly() -> None:
        bench = Bench()
        bench.ready()
        assert await bench.motion("moveByMotorPWMs", 0.6, 0.6, 0.6, 0.6, 1.0, "")
        assert bench.position()[2] < -0.5
        with pytest.raises(ApiError, match="front_right_pwm must be in"):
            bench("moveByMotorPWMs", 1.1, 0.0, 0.0, 0.0, 1.0, "")

    asyncio.run(fly())


def test_sticks_fly_relative_to_the_heading_and_hold_when_old() -> None:
    async def fly() -> None:
        bench = Bench()
        bench.ready()
        await bench.motion("takeoff", 20.0, "")
        stick = {"pitch": 1.0, "roll": 0.0, "throttle": 0.0, "yaw": 0.0, "is_valid": True, "timestamp": 0}
        bench("moveByRC", stick, "")
        assert bench("getMultirotorState", "")["rc_data"]["pitch"] == 1.0
        before = bench.position()
        await bench.motion("moveByManual", 2e4, 2e4, -1e4, 3.0, 0, YAW, "")
        assert bench.position()[0] - before[0] > 3.0  # the nose points north
        bench("moveByRC", stick | {"timestamp": 1}, "")  # 1 ns: long ago
        await bench.motion("moveByManual", 2e4, 2e4, -1e4, 3.0, 0, YAW, "")
        before = bench.position()
        await bench.motion("moveByManual", 2e4, 2e4, -1e4, 2.0, 0, YAW, "")
        assert np.linalg.norm(bench.position() - before) < 0.3

    asyncio.run(fly())


def test_gains_are_multiples_of_airsims_and_bounded() -> None:
    bench = Bench()
    bench("setVelocityControllerGains", [0.16, 0.16, 1.6], [0, 0, 2.0], [0, 0, 0], "uav1")
    limits = bench.simulation.drones["uav1"].body.limits
    assert limits.gain_velocity == pytest.approx(0.8 * DEFAULTS.gain_velocity)
    assert limits.gain_climb == pytest.approx(0.8 * DEFAULTS.gain_climb)
    assert bench.simulation.drones["uav2"].body.limits == DEFAULTS
    with pytest.raises(ApiError, match=r"between 0\.7 and 1\.5 times"):
        bench("setAngleLevelControllerGains", [50.0, 2.5, 2.5], [0, 0, 0], [0, 0, 0], "")
    with pytest.raises(ApiError, match="three numbers"):
        bench("setPositionControllerGains", 5, 0, 0, "")


@settings(deadline=None, max_examples=5)
@given(*[st.floats(0.71, 1.49)] * 4, st.floats(0.0, 2.0 * math.pi))
def test_it_flies_with_any_gains_allowed(velocity: float, level: float, rate: float, place: float, way: float) -> None:
    async def fly() -> None:
        bench = Bench()
        zeros = [0.0, 0.0, 0.0]
        bench("setVelocityControllerGains", [0.2 * velocity] * 2 + [2.0 * velocity], zeros, zeros, "")
        bench("setAngleLevelControllerGains", [2.5 * level] * 3, zeros, zeros, "")
        bench("setAngleRateControllerGains", [0.25 * rate] * 3, zeros, zeros, "")
        bench("setPositionControllerGains", [0.25 * place] * 3, zeros, zeros, "")
        bench.ready()
        await bench.motion("takeoff", 20.0, "")
        goal = (10.0 * math.cos(way), 10.0 * math.sin(way), -10.0)
        assert await bench.motion("moveToPosition", *goal, 4.0, 60.0, 0, YAW, -1.0, 1.0, "")
        bench("simContinueForTime", 0.2)
        assert np.linalg.norm(bench.position() - goal) < 0.5

    asyncio.run(fly())


def test_every_command_wants_the_arguments_that_airsim_sends() -> None:
    """Names and order as in AirSim's client; the vehicle's name follows."""
    wanted = {
        "moveByVelocity": "vx vy vz duration drivetrain yaw_mode",
        "moveToPosition": "x y z velocity timeout_sec drivetrain yaw_mode lookahead adaptive_lookahead",
        "moveToZ": "z velocity timeout_sec yaw_mode lookahead adaptive_lookahead",
        "moveByRollPitchYawrateThrottle": "roll pitch yaw_rate throttle duration",
        "moveByAngleRatesZ": "roll pitch yaw_rate z duration",
        "rotateToYaw": "yaw timeout_sec margin",
    }
    for name, arguments in wanted.items():
        assert " ".join(COMMANDS[name].arguments) == arguments
    bench = Bench()
    bench.ready()
    with pytest.raises(ApiError, match="Expected: 4"):
        bench("rotateToYaw", 1.0)
