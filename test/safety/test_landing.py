"""The end of a flight: `landed` and `armed` against the ranges, and the last metres to the ground."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, SafeCommand
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site


def on_ground(scene):  # type: ignore[no-untyped-def]
    scene.state = replace(scene.state, landed=True)
    return scene


# Whether it has landed


def coming_down(kit: SimpleNamespace, limits: Limits, landed: Callable[[int], bool]) -> float:
    """Returns the height (m) after 20 s down from 21 m at 2 m/s; landed: the autopilot's report in each step."""
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.full(3, -99.0)))
    position, velocity = np.array([30.0, 0.0, 21.0]), np.zeros(3)
    for n in range(400):
        scene = kit.Scene(limits, position=position, velocity=velocity, site=governor.site, now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, landed=landed(n))
        velocity = scene.decide([0.0, 0.0, -2.0], governor=governor).velocity
        position = position + velocity * kit.STEP
    return float(position[2])


@pytest.mark.parametrize("landed", [lambda n: n == 20, lambda n: True], ids=["once", "always"])
def test_a_false_word_of_having_landed_in_the_air_is_not_believed(
    kit: SimpleNamespace, limits: Limits, landed: Callable[[int], bool]
) -> None:
    assert coming_down(kit, limits, landed) == pytest.approx(limits.floor, abs=0.5), "the floor stays in force"


def test_one_false_word_of_being_disarmed_in_the_air_switches_nothing_off(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.full(3, -99.0)))
    position, velocity = np.array([30.0, 0.0, 21.0]), np.zeros(3)
    for n in range(400):
        scene = kit.Scene(limits, position=position, velocity=velocity, site=governor.site, now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, armed=n != 20)
        velocity = scene.decide([0.0, 0.0, -2.0], governor=governor).velocity
        position = position + velocity * kit.STEP
    assert float(position[2]) == pytest.approx(limits.floor, abs=0.5), "the floor stays in force"


def test_on_the_ground_a_vehicle_that_says_so_is_disarmed(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    flying = kit.Scene(limits, position=[0.0, 0.0, 8.0])
    flying.decide([0.0] * 3, governor=governor)
    down = kit.Scene(limits, position=[0.0, 0.0, 0.05], now=kit.NOW + 0.05)
    down.state = replace(down.state, armed=False)
    assert Reason.NOT_FLYING in down.decide([0.0, 0.0, 1.0], governor=governor).reasons


def test_moving_it_has_not_landed(kit: SimpleNamespace, limits: Limits) -> None:
    scene = on_ground(kit.Scene(limits, position=[30.0, 0.0, 0.6], velocity=[2.0, 0.0, 0.0]))
    assert Reason.NOT_FLYING not in scene.decide([1.0, 0.0, 0.1]).reasons


def test_on_the_ground_blind_ranges_leave_it_landed_and_in_the_air_they_do_not(
    kit: SimpleNamespace, limits: Limits
) -> None:
    for height, stands in ((0.05, True), (0.9, True), (8.0, False)):
        governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
        on_ground(kit.Scene(limits, position=[0.0, 0.0, min(height, 0.05)])).decide([0.0] * 3, governor=governor)
        blind = on_ground(kit.Scene(limits, position=[0.0, 0.0, height], now=kit.NOW + 0.05))
        blind.ranges = replace(blind.ranges, stamp=kit.NOW - 1.0)
        answer = blind.decide([0.0, 0.0, 1.0], governor=governor)
        assert (Reason.NOT_FLYING in answer.reasons) is stands and not answer.velocity.any(), height


def test_a_surface_too_near_to_measure_is_one_to_stand_on(kit: SimpleNamespace, limits: Limits) -> None:
    scene = on_ground(kit.Scene(limits, position=[30.0, 0.0, 0.05]))
    scene.ranges = replace(scene.ranges, ranges=np.full((24, 72), -math.inf, dtype=np.float32))
    assert Reason.NOT_FLYING in scene.decide([1.0, 0.0, 0.0]).reasons


# Touch-down


def touching(kit: SimpleNamespace, limits: Limits, height: float, asked: list[float], **scene: object) -> SafeCommand:
    """Returns the answer in a touch-down at a height (m), at the speed asked for."""
    world = scene.pop("world", kit.World())
    site = Site(kit.square(500.0), 120.0, np.full(3, -99.0))
    view = kit.Scene(limits, world, [0.0, 0.0, height], asked, site, touching_down=True, **scene)
    return view.decide(asked)


def test_a_touch_down_passes_the_floor_straight_and_slowly(kit: SimpleNamespace, limits: Limits) -> None:
    down = [0.0, 0.0, -limits.land_speed]
    for height in (4.9, 2.0, 0.3):
        answer = touching(kit, limits, height, down)
        assert answer.velocity.tolist() == down and answer.mode is Mode.NORMAL and not answer.breach
    aslant = touching(kit, limits, 4.0, [1.0, 0.0, -1.5])
    assert aslant.velocity.tolist() == down and Reason.FLOOR in aslant.reasons
    assert not touching(kit, limits, 1.0, [0.0, 0.0, 0.0]).velocity.any(), "nobody else brings it down"


def test_higher_than_five_metres_or_over_ground_that_is_not_seen_it_is_none(
    kit: SimpleNamespace, limits: Limits
) -> None:
    """The floor stays, whatever the bridge says."""
    low = limits.model_copy(update={"floor": 10.0})
    assert touching(kit, low, 8.0, [0.0, 0.0, -0.7]).mode is Mode.CLIMB
    blank = kit.World().window(np.array([0.0, 0.0, 2.0]), kit.NOW)
    scene = kit.Scene(limits, position=[30.0, 0.0, 2.0], velocity=[0.0, 0.0, -0.7], touching_down=True)
    scene.window = replace(blank, cells=np.zeros_like(blank.cells))
    scene.ranges = replace(scene.ranges, ranges=np.full((24, 72), math.nan, dtype=np.float32))
    assert abs(scene.decide([0.0, 0.0, -0.7]).velocity[2]) < 1e-9, "into the unseen"


def test_what_stands_beside_the_spot_vetoes_a_touch_down(kit: SimpleNamespace, limits: Limits) -> None:
    """A stump within the clearance vetoes it; ground that rises beside the spot does not."""
    stump = kit.World(np.array([[1.4, 0.0, 2.0, 0.3]]), 24, 180)
    answer = touching(kit, limits, 3.5, [0.0, 0.0, -0.7], world=stump)
    assert answer.velocity[2] > -0.1 and not answer.velocity[:2].any() and Reason.OBSTACLE in answer.reasons
    hill = kit.World(np.array([[7.0, 0.0, -4.0, 6.6]]), 24, 180)  # 35 degrees where it begins
    assert touching(kit, limits, 1.0, [0.0, 0.0, -0.7], world=hill).velocity[2] == pytest.approx(-0.7)


def test_a_hold_vetoes_a_touch_down(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 2.0], velocity=[0.0, 0.0, -0.7], touching_down=True)
    scene.ranges = replace(scene.ranges, stamp=kit.NOW - 1.0)
    answer = scene.decide([0.0, 0.0, -0.7])
    assert answer.mode is Mode.HOLD and not answer.velocity.any()


def test_called_off_it_climbs_back_to_the_floor(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[30.0, 0.0, 1.5], velocity=[0.0, 0.0, -0.7])
    answer = scene.decide([0.0, 0.0, -0.7])
    assert answer.mode is Mode.CLIMB and answer.velocity[2] > -0.7


# Where it comes down instead


PERSON = [[0.0, 0.0, 0.2 + 0.25 * n, 0.2] for n in range(7)]
FAR_HOME = np.full(3, -99.0)


def landing(kit: SimpleNamespace, limits: Limits, site: Site | None, **changes: object) -> tuple[float, ...]:
    """Returns the first velocity (m/s) aside of a landing on an empty battery 4 m above somebody, without a map."""
    scene = kit.Scene(limits, kit.World(np.array(PERSON), 36, 90), position=[0.0, 0.0, 6.0])
    scene.state = replace(scene.state, battery=limits.battery_land)
    scene.ranges, scene.window = replace(scene.ranges, **changes), None
    answer = scene.decide([0.0, 0.0, 0.0], governor=Governor(limits, site))
    assert answer.mode is Mode.LAND and "out of the ground below" in answer.text and answer.velocity[2] == 0.0
    return tuple(answer.velocity[:2])


def test_it_goes_aside_from_somebody_without_a_site_too(kit: SimpleNamespace, limits: Limits) -> None:
    for site in (Site(kit.square(500.0), 120.0, FAR_HOME), None):
        assert math.hypot(*landing(kit, limits, site)) > 0.0


def test_it_goes_aside_only_where_the_way_was_seen_to_be_free(kit: SimpleNamespace, limits: Limits) -> None:
    """The ground is seen all around, and the air at the vehicle's height not: behind, or nowhere."""
    site = Site(kit.square(500.0), 120.0, FAR_HOME)
    free = landing(kit, limits, site)
    ranges = kit.Scene(limits, kit.World(np.array(PERSON), 36, 90), position=[0.0, 0.0, 6.0]).ranges.ranges.copy()
    azimuth = -math.pi + (np.arange(90) + 0.5) * math.tau / 90
    ahead = np.cos(azimuth - math.atan2(free[1], free[0])) > 0.0
    ranges[24:, ahead] = np.nan  # rows from 10 degrees below the horizon on
    assert np.dot(landing(kit, limits, site, ranges=ranges), free) < 0.0
    ranges[24:] = np.nan
    assert landing(kit, limits, site, ranges=ranges) == (0.0, 0.0)


def test_it_goes_aside_into_no_keep_out_zone(kit: SimpleNamespace, limits: Limits) -> None:
    free = np.array(landing(kit, limits, Site(kit.square(500.0), 120.0, FAR_HOME)))
    ahead = free / np.linalg.norm(free)
    across = np.array([-ahead[1], ahead[0]])
    zone = np.array([ahead - 50.0 * across, 50.0 * (ahead - across), 50.0 * (ahead + across), ahead + 50.0 * across])
    aside = landing(kit, limits, Site(kit.square(500.0), 120.0, FAR_HOME, (zone,)))
    assert np.dot(aside, ahead) < 0.1 * np.linalg.norm(aside)


def test_a_touch_down_waits_for_whoever_leaves_and_goes_nowhere_else(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, FAR_HOME))
    for n, things in enumerate((PERSON, [[30.0, 0.0, 0.0, 0.1]])):
        scene = kit.Scene(
            limits, kit.World(np.array(things), 36, 90), position=[0.0, 0.0, 4.9], now=kit.NOW + n * kit.STEP,
            touching_down=True,
        )  # fmt: skip
        answer = scene.decide([0.0, 0.0, -0.1], governor=governor)
        assert ("ground below" in answer.text) is (n == 0) and bool(answer.velocity[2] < 0.0) is (n == 1)


def test_from_above_somebody_it_may_climb_away(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(
        limits, kit.World(np.array(PERSON), 36, 90, math.pi / 2), position=[0.0, 0.0, 6.0], velocity=[0.0, 0.0, 0.4],
        touching_down=True,
    )  # fmt: skip
    assert scene.decide([0.0, 0.0, 0.4]).velocity[2] == 0.4


def test_without_a_battery_s_word_a_landing_comes_down(kit: SimpleNamespace, limits: Limits) -> None:
    """The brief forecasts a storm, so that it lands at home."""
    scene = kit.Scene(
        limits, position=[0.0, 0.0, 4.0], site=Site(kit.square(500.0), 120.0, np.zeros(3), wind=limits.wind_limit + 1)
    )
    scene.state = replace(scene.state, battery=None)
    answer = scene.decide([0.0, 0.0, 0.0])
    assert answer.mode is Mode.LAND and answer.velocity[2] < 0.0


def test_without_odometry_a_landing_stands(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, FAR_HOME))
    for n in range(2):
        scene = kit.Scene(limits, position=[0.0, 0.0, 6.0], now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, battery=limits.battery_land) if n == 0 else None
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
    assert answer.mode is Mode.LAND and Reason.STALE_ODOMETRY in answer.reasons and not answer.velocity.any()


@pytest.mark.parametrize(("height", "battery", "comes"), [(4.5, 0.9, True), (8.0, 0.05, True), (4.5, 0.05, False)])
def test_somebody_below_stops_a_landing_in_its_last_metres_alone(
    kit: SimpleNamespace, limits: Limits, height: float, battery: float, comes: bool
) -> None:
    """It is asked to come down; on an empty battery it lands."""
    scene = kit.Scene(limits, position=[30.0, 0.0, height])
    assert scene.site is not None
    answer = Governor(limits, scene.site).decide(
        replace(scene.state, battery=battery),
        Command(scene.now, np.array([0.0, 0.0, -0.3])),
        scene.ranges,
        scene.window,
        scene.now,
        people=[np.array([30.0, 0.0, 0.0])],
    )
    assert (answer.velocity[2] < 0.0) == comes, answer.text
    assert (answer.mode is Mode.LAND) == (battery < limits.battery_land)
