"""The governor's promises as properties, over random scenes, commands and faults."""

from __future__ import annotations

import copy
import hashlib
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, Findings, SafeCommand
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

plain = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 2**31)
wild = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-10.0, 10.0),
    st.sampled_from([5e-324, -5e-324, 1.7e308, -1.7e308, math.nan, math.inf, -math.inf, 0.0, -0.0]),
)


def random_scene(kit: SimpleNamespace, limits: Limits, seed: int, far: bool = False, blind: bool = True):  # type: ignore[no-untyped-def]
    """Returns a vehicle in the air among pillars and rocks, perhaps partly blind; far: none within the clearance."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 7))
    things = np.column_stack(
        [
            rng.uniform(-12.0, 12.0, (count, 2)),
            np.where(rng.random(count) < 0.5, math.inf, rng.uniform(0.0, 20.0, count)),
            rng.uniform(0.5, 4.0, count),
        ]
    )
    position = np.array([0.0, 0.0, rng.uniform(4.0, 30.0)])
    gap = np.linalg.norm(np.where(np.isinf(things[:, :3]), 0.0, things[:, :3] - position), axis=1)
    level = np.hypot(things[:, 0], things[:, 1])
    gap = np.where(np.isinf(things[:, 2]), level, gap) - things[:, 3]
    things = things[gap > (limits.clearance + 1.5 if far else 0.6)]
    velocity = rng.normal(0.0, 2.0, 3) if rng.random() < 0.7 else np.zeros(3)
    site = Site(kit.square(rng.uniform(8.0, 60.0) if rng.random() < 0.5 else 500.0), 40.0, np.zeros(3))
    scene = kit.Scene(limits, kit.World(things, 24, 60), position, velocity, site)
    if blind and rng.random() < 0.3:
        holes = rng.random(scene.ranges.ranges.shape) < rng.random()
        bad = rng.choice([math.nan, -math.inf, math.inf])
        scene.ranges = replace(scene.ranges, ranges=np.where(holes, bad, scene.ranges.ranges).astype(np.float32))
    if blind and rng.random() < 0.3:
        scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    return scene


def random_command(seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed + 1)
    return rng.normal(0.0, rng.choice([0.5, 3.0, 8.0]), 3)


def within(answer: SafeCommand, limits: Limits) -> bool:
    v = answer.velocity
    return bool(
        np.isfinite(v).all()
        and math.isfinite(answer.yaw_rate)
        and math.hypot(v[0], v[1]) <= limits.speed_horizontal + 1e-6
        and -limits.speed_down - 1e-6 <= v[2] <= limits.speed_up + 1e-6
        and abs(answer.yaw_rate) <= limits.yaw_rate
    )


@given(st.tuples(wild, wild, wild), wild, seeds)
@plain
def test_i1_finite_and_within_limits(
    kit: SimpleNamespace, limits: Limits, velocity: tuple[float, float, float], yaw_rate: float, seed: int
) -> None:
    assert within(random_scene(kit, limits, seed).decide(velocity, yaw_rate), limits)


@given(st.tuples(wild, wild, wild), st.tuples(wild, wild, wild), st.tuples(wild, wild, wild, wild), wild, wild, seeds)
@plain
def test_i1_whatever_state_and_clock_say(
    kit: SimpleNamespace,
    limits: Limits,
    position: tuple[float, float, float],
    velocity: tuple[float, float, float],
    attitude: tuple[float, float, float, float],
    now: float,
    battery: float,
    seed: int,
) -> None:
    scene = random_scene(kit, limits, seed)
    scene.state = replace(
        scene.state, pose=Pose(np.array(position), np.array(attitude)), velocity=np.array(velocity), battery=battery
    )
    answer = scene.decide(random_command(seed))
    assert within(answer, limits)
    scene.now = now
    assert within(scene.decide(random_command(seed)), limits)


@given(seeds)
@plain
def test_i2_never_faster_than_asked_but_in_a_recovery(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    scene, asked = random_scene(kit, limits, seed), random_command(seed)
    answer = scene.decide(asked)
    recovers = set(answer.reasons) & {Reason.FLOOR, Reason.OBSTACLE, Reason.FENCE, Reason.CEILING, Reason.BREACH}
    faster = float(np.linalg.norm(answer.velocity)) > float(np.linalg.norm(asked)) + 1e-6
    assert not faster or recovers
    calm = limits.model_copy(update={"push_speed": 0.0, "floor_deadband": 5.0})
    if scene.site.outside(scene.position) <= 0.0 and scene.position[2] < scene.site.ceiling:
        scene.limits = calm
        assert np.linalg.norm(scene.decide(asked).velocity) <= np.linalg.norm(asked) + 1e-6


@given(seeds)
@plain
def test_i3_transparent_when_safe(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """A command within the limits that changes slowly passes bit by bit, far from everything."""
    rng = np.random.default_rng(seed)
    scene = kit.Scene(limits, kit.World(rows=24, columns=60), np.array([0.0, 0.0, 25.0]))
    heading, speed = rng.uniform(-math.pi, math.pi), rng.uniform(0.0, limits.speed_horizontal * 0.999)
    asked = np.array([speed * math.cos(heading), speed * math.sin(heading), rng.uniform(-1.99, 1.99)])
    scene.state = replace(scene.state, velocity=asked + rng.uniform(-0.05, 0.05, 3))
    yaw_rate = float(rng.uniform(-limits.yaw_rate, limits.yaw_rate))
    answer = scene.decide(asked, yaw_rate)
    assert answer.velocity.tobytes() == asked.tobytes() and answer.yaw_rate == yaw_rate
    assert (answer.mode, answer.reasons, answer.changed) == (Mode.NORMAL, (), False)


@given(seeds)
@plain
def test_i4_idempotent(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """A recovery that is being ramped up is excepted: one step gives only a share of it."""
    calm = limits.model_copy(update={"push_speed": 0.0, "floor_deadband": 5.0})
    scene, asked = random_scene(kit, calm, seed), random_command(seed)
    if scene.site.outside(scene.position) > 0.0 or scene.position[2] > scene.site.ceiling:
        return
    once = scene.decide(asked, 0.5)
    twice = scene.decide(once.velocity, once.yaw_rate)
    if twice.reason is Reason.UNKNOWN_SPACE and not np.allclose(twice.velocity, once.velocity, atol=1e-5):
        # A way along the very edge of what was seen is judged on either side of it by the last bit of its direction.
        assert np.linalg.norm(twice.velocity) < np.linalg.norm(once.velocity)
        return
    np.testing.assert_allclose(twice.velocity, once.velocity, atol=1e-5)
    assert twice.yaw_rate == once.yaw_rate


def kept(scene, asked: NDArray[np.float64]) -> NDArray[np.float64]:  # type: ignore[no-untyped-def]
    """Returns the velocity that the spatial and speed limits leave of a command, without the rate limits."""
    governor = scene.governor()
    after = governor._memory.after(scene.state, governor.site, governor.limits)
    view, _ = governor._build_scene(after, scene.state, scene.ranges, scene.window, False)
    return governor.envelope.keep(asked, scene.state, view, Findings())


@given(seeds)
@plain
def test_i5_more_obstacles_never_loosen(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """The difference between command and output never gets smaller."""
    rng = np.random.default_rng(seed)
    asked = rng.normal(0.0, 1.0, 3).clip(-1.1, 1.1)
    scene = random_scene(kit, limits, seed, far=True, blind=False)
    scene.state = replace(scene.state, velocity=np.zeros(3))
    fewer = kit.Scene(limits, replace(scene.world, things=scene.world.things[:-1]), scene.position, site=scene.site)
    fewer.window = replace(fewer.window, cells=np.full_like(fewer.window.cells, 1))
    scene.window = fewer.window
    more = np.linalg.norm(kept(scene, asked) - asked)
    less = np.linalg.norm(kept(fewer, asked) - asked)
    assert more >= less - 1e-5


@given(seeds, st.sampled_from(["obstacle_margin", "deceleration", "latency", "tau", "fence_margin", "floor"]))
@plain
def test_i5_tighter_limits_never_loosen(kit: SimpleNamespace, limits: Limits, seed: int, name: str) -> None:
    asked = np.random.default_rng(seed).normal(0.0, 1.0, 3).clip(-1.1, 1.1)
    limits = limits.model_copy(update={"tau": 0.5})
    scene = random_scene(kit, limits, seed, far=True, blind=False)
    scene.state = replace(scene.state, velocity=np.zeros(3))
    loose = np.linalg.norm(kept(scene, asked) - asked)
    value = getattr(limits, name)
    scene.limits = limits.model_copy(update={name: value * (0.7 if name == "deceleration" else 1.3)})
    assert np.linalg.norm(kept(scene, asked) - asked) >= loose - 1e-5


AGED: dict[str, tuple[str, Reason]] = {
    "state": ("odometry_age", Reason.STALE_ODOMETRY),
    "command": ("command_age", Reason.STALE_COMMAND),
    "ranges": ("ranges_age", Reason.STALE_RANGES),
}


def with_stamp(scene, what: str, stamp: float | None):  # type: ignore[no-untyped-def]
    """Returns the scene with one input missing or of another stamp."""
    scene.command = Command(scene.now, np.array([2.0, 0.0, 0.0]))
    setattr(scene, what, None if stamp is None else replace(getattr(scene, what), stamp=stamp))
    return scene


@pytest.mark.parametrize("what", list(AGED))
@given(ages=st.lists(st.floats(0.0, 2.0), min_size=2, max_size=6))
@plain
def test_i5_older_never_loosens(kit: SimpleNamespace, limits: Limits, what: str, ages: list[float]) -> None:
    speeds = []
    for age in sorted(ages):
        scene = with_stamp(kit.Scene(limits, velocity=[2.0, 0.0, 0.0]), what, kit.NOW - age)
        speeds.append(float(np.linalg.norm(scene.ask(scene.command).velocity)))
    assert speeds == sorted(speeds, reverse=True)


@pytest.mark.parametrize("what", list(AGED))
@pytest.mark.parametrize("fault", ["missing", "stale", "future", "nan"])
def test_i6_i7_missing_stale_or_future_input_holds(kit: SimpleNamespace, limits: Limits, what: str, fault: str) -> None:
    """The hold begins at once, with the reason, and ends the release time after the input is back."""
    age, reason = AGED[what]
    stamps = {
        "missing": None,
        "stale": kit.NOW - getattr(limits, age) - 0.01,
        "future": kit.NOW + limits.future + 0.01,
        "nan": math.nan,
    }
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    scene = with_stamp(kit.Scene(limits, velocity=[2.0, 0.0, 0.0]), what, stamps[fault])
    answer = scene.ask(scene.command, governor)
    assert answer.mode is Mode.HOLD and answer.reason is reason and not answer.velocity.any()
    released = None
    for n in range(1, 12):
        now = kit.NOW + n * kit.STEP
        later = kit.Scene(limits, velocity=[0.1, 0.0, 0.0], now=now).decide([0.1, 0.0, 0.0], governor=governor)
        if later.mode is Mode.NORMAL and released is None:
            released = now - kit.NOW
    assert released == pytest.approx(limits.release + kit.STEP, abs=kit.STEP + 1e-6)


@pytest.mark.parametrize("name", ["position", "velocity", "quaternion"])
def test_i6_odometry_that_is_not_finite_holds(kit: SimpleNamespace, limits: Limits, name: str) -> None:
    scene = kit.Scene(limits)
    bad = scene.state.pose.position * math.nan
    if name == "velocity":
        scene.state = replace(scene.state, velocity=bad)
    else:
        values = {"position": scene.state.pose.position, "quaternion": scene.state.pose.quaternion}
        values[name] = values[name] * math.nan
        scene.state = replace(scene.state, pose=Pose(**values))
    answer = scene.decide([1.0, 0.0, 0.0])
    assert answer.reason is Reason.STALE_ODOMETRY and not answer.velocity.any()


def test_i6_ranges_without_a_pose_hold(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits)
    scene.ranges = replace(scene.ranges, pose=Pose(np.full(3, math.nan)))
    answer = scene.decide([1.0, 0.0, 0.0])
    assert answer.reason is Reason.STALE_RANGES and not answer.velocity.any()


@pytest.mark.parametrize("jump", [-50.0, -0.05, 1.5, 1e6])
def test_i6_a_jump_of_the_clock_holds_and_settles(kit: SimpleNamespace, limits: Limits, jump: float) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    kit.Scene(limits).decide([0.1, 0.0, 0.0], governor=governor)
    held = 0
    for n in range(30):
        now = kit.NOW + jump + n * kit.STEP
        answer = kit.Scene(limits, now=now).decide([0.1, 0.0, 0.0], governor=governor)
        held += answer.mode is Mode.HOLD
        if n == 0:
            assert answer.reason is Reason.CLOCK_JUMP and not answer.velocity.any()
    assert limits.clock_settle / kit.STEP <= held <= (limits.clock_settle + limits.release) / kit.STEP + 2


def test_i6_no_time_at_all_holds(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits)
    scene.now = math.nan
    assert scene.ask(Command(kit.NOW, np.ones(3))).reason is Reason.CLOCK_JUMP


@given(st.floats(0.51, 1e9) | st.just(math.nan))
@plain
def test_i7_a_silent_producer_leads_to_a_hold(kit: SimpleNamespace, limits: Limits, age: float) -> None:
    """The hold begins even while its last commands keep coming, fresh by their stamps."""
    answer = kit.Scene(limits, velocity=[2.0, 0.0, 0.0], heartbeat_age=age).decide([2.0, 0.0, 0.0])
    assert answer.mode is Mode.HOLD and answer.reason is Reason.LINK and not answer.velocity.any()


@given(seeds)
@plain
def test_i9_unknown_and_invalid_are_never_free(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """Only a slow climb is left where every range is invalid and no cell is known."""
    scene = random_scene(kit, limits, seed, far=True)
    scene.state = replace(scene.state, velocity=np.zeros(3))
    bad = math.nan if seed % 2 else 1e4
    scene.ranges = replace(scene.ranges, ranges=np.full(scene.ranges.ranges.shape, bad, dtype=np.float32))
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    if scene.site.outside(scene.position) > -limits.fence_margin:
        return
    answer = scene.decide(random_command(seed))
    assert math.hypot(answer.velocity[0], answer.velocity[1]) <= 1e-6
    assert -1e-6 <= answer.velocity[2] <= limits.speed_unseen_up + 1e-6


@given(st.lists(st.sampled_from(["low", "empty", "link", "good", "terminate", "clear"]), max_size=8))
@plain
def test_i10_latched_modes_only_rise_until_cleared(kit: SimpleNamespace, limits: Limits, events: list[str]) -> None:
    quick = limits.model_copy(update={"link_return": 0.04})
    governor = Governor(quick, Site(kit.square(500.0), 120.0, np.array([200.0, 0.0, 0.0])))
    least, ended = Mode.NORMAL, False
    window = kit.World().window(np.array([0.0, 0.0, 20.0]), kit.NOW)
    for n, event in enumerate(events):
        if event == "terminate":
            governor.terminate()
            ended = True
        if event == "clear" and governor.clear():
            assert not ended
            least = Mode.NORMAL
        charge = {"low": quick.battery_return, "empty": quick.battery_land}.get(event, 0.9)
        scene = kit.Scene(quick, now=kit.NOW + 0.05 * n, window=window, site=governor.site)
        scene.heartbeat_age = 9.0 if event == "link" else 0.0
        scene.state = replace(scene.state, battery=charge)
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
        if ended:
            assert answer.mode is Mode.TERMINATE and not answer.velocity.any()
        assert answer.mode >= least
        if answer.mode >= Mode.RETURN:
            least = max(least, answer.mode)


@given(seeds)
@example(1089071)  # squeezed, with a command that none of the limits changes
@plain
def test_i11_a_change_has_a_reason_and_no_change_has_none(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    answer = random_scene(kit, limits, seed).decide(random_command(seed), float(random_command(seed)[0]))
    assert answer.changed is (answer.reason is not Reason.NONE)
    assert bool(answer.text) is answer.changed and (answer.mode is Mode.NORMAL) is not answer.changed


def test_i14_same_inputs_same_decisions(kit: SimpleNamespace, limits: Limits) -> None:
    def digest() -> str:
        total = hashlib.sha256()
        for seed in range(12):
            governor = None
            for n in range(6):
                scene = random_scene(kit, limits, seed)
                governor = governor or scene.governor()
                answer = scene.decide(random_command(seed + n), governor=governor)
                total.update(answer.velocity.tobytes() + repr((answer.mode, answer.reasons, answer.text)).encode())
        return total.hexdigest()

    assert digest() == digest()


def test_inputs_are_left_alone(kit: SimpleNamespace, limits: Limits) -> None:
    scene = random_scene(kit, limits, 3)
    before = copy.deepcopy(scene.__dict__)
    asked = np.array([20.0, 0.0, -5.0])
    command = Command(scene.now, asked)
    answer = scene.ask(command)
    assert asked.tolist() == [20.0, 0.0, -5.0]
    np.testing.assert_array_equal(scene.ranges.ranges, before["ranges"].ranges)
    np.testing.assert_array_equal(scene.window.cells, before["window"].cells)
    answer.velocity[:] = math.nan
    np.testing.assert_array_equal(scene.state.velocity, before["velocity"])
