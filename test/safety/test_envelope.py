"""The spatial and speed limits one at a time, each in a scene in which it alone decides."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety import envelope as envelope_module
from esar_ros.safety.envelope import Envelope, Scene
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, Findings
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.observed_space import SECTORS, ObservedSpace

Kit = SimpleNamespace
UP, DOWN, EAST = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -0.7]), np.array([1.0, 0.0, 0.0])


def kept(  # type: ignore[no-untyped-def]
    scene, asked: Any, site: Site | None = None, *, landed: bool = False, deviation: float | None = None, **flags: Any
) -> tuple[np.ndarray, Findings]:
    """Returns the velocity that the envelope keeps of one asked for, and its findings; flags: of its own Scene."""
    position, image, window = scene.state.pose.position, scene.ranges, scene.window
    observed = ObservedSpace(position, image, window, scene.limits.own_radius)
    usual = {"surface": observed.surface_below(), "last_ground": None, "in_takeoff_column": False, "landing": False}
    view = Scene(position, scene.velocity, observed, image, window, **(usual | flags))
    findings = Findings()
    state = replace(scene.state, landed=landed, deviation=deviation)
    asked = np.array(asked, dtype=np.float64)
    return Envelope(scene.limits, site).keep(asked, state, view, findings), findings


def unseen(scene):  # type: ignore[no-untyped-def]
    """Returns the scene with a map in which nothing was seen."""
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    return scene


# Speed


@pytest.mark.parametrize("asked", [[6.0, 0.0, 2.5], [3.0, 5.0, -1.9]])
def test_a_position_known_as_well_as_the_limit_asks_slows_nothing(limits: Limits, asked: list[float]) -> None:
    findings = Findings()
    velocity = Envelope(limits, None).limit_speed(np.array(asked), limits.deviation_slow, findings)
    assert velocity.tolist() == asked and not findings.reasons
    slowed = Envelope(limits, None).limit_speed(np.array(asked), limits.deviation_slow + 0.1, findings)
    assert float(np.linalg.norm(slowed)) < limits.speed_horizontal and findings.reasons == [Reason.ESTIMATOR]


def test_what_an_obstacle_turns_down_is_no_faster_than_a_descent(kit: Kit, limits: Limits) -> None:
    """Level flight under a ball overhead slides down beside it, at 2.2 m/s if nothing else limited it."""
    scene = kit.Scene(limits, kit.World(np.array([[1.12, 0.0, 42.89, 1.0]]), 48, 180, math.pi / 2), [0.0, 0.0, 40.0])
    velocity, findings = kept(scene, 6.0 * EAST)
    assert findings.reasons == [Reason.OBSTACLE]
    assert velocity[2] == pytest.approx(-limits.speed_down, abs=1e-3)


def test_a_landing_that_nothing_turns_aside_is_not_slowed_by_an_uncertain_position(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 8.0])
    velocity, findings = kept(scene, DOWN, landing=True, deviation=2.0 * limits.deviation_hold)
    assert velocity.tolist() == DOWN.tolist() and not findings.reasons


# Modes of the findings


def test_only_the_way_back_to_the_floor_is_a_climb(kit: Kit, limits: Limits) -> None:
    beside = kit.Scene(limits, kit.World(np.array([[3.2, 0.0, math.inf, 2.0]]), 24, 180))
    velocity, findings = kept(beside, np.zeros(3))
    assert velocity[0] < 0.0 and findings.reasons == [Reason.OBSTACLE] and findings.mode is Mode.SLOW, "backs off"
    above = kit.Scene(limits, position=[0.0, 0.0, limits.floor + 0.2])
    velocity, findings = kept(above, -1.0 * UP)
    assert velocity[2] > -1.0 and Reason.FLOOR in findings.reasons and findings.mode is Mode.SLOW, "brakes"
    below = kit.Scene(limits, position=[0.0, 0.0, limits.floor - 1.0])
    assert kept(below, -1.0 * UP)[1].mode is Mode.CLIMB


# Several limits at once


def between(kit: Kit, limits: Limits, west: float, east: float, gust: float = 0.0):  # type: ignore[no-untyped-def]
    """Returns the scene of a vehicle carried east (m/s) between two pillars, so far (m) away; the map shows neither."""
    pillars = kit.World(np.array([[east + 1.0, 0.0, math.inf, 1.0], [-west - 1.0, 0.0, math.inf, 1.0]]), 36, 180)
    return unseen(kit.Scene(limits, pillars, velocity=[gust, 0.0, 0.0]))


@pytest.mark.parametrize("asked", [np.zeros(3), 2.0 * EAST, -2.0 * EAST])
def test_squeezed_it_makes_for_the_middle_whatever_is_asked(kit: Kit, limits: Limits, asked: np.ndarray) -> None:
    velocity, findings = kept(between(kit, limits, 1.0, 1.6), asked)
    assert 0.05 < velocity[0] <= limits.push_speed and findings.reasons == [Reason.OBSTACLE]
    assert abs(kept(between(kit, limits, 1.3, 1.3), asked)[0][0]) < 1e-6, "it is there"


def test_squeezed_it_stands_up_to_a_gust_and_calm_it_does_not(kit: Kit, limits: Limits) -> None:
    calm, gusty = (kept(between(kit, limits, 1.5, 0.9, gust), np.zeros(3))[0][0] for gust in (0.0, 1.0))
    assert gusty < calm - 0.2 < 0.0


def test_squeezed_it_flies_over_no_fence_to_make_room(kit: Kit, limits: Limits) -> None:
    scene = between(kit, limits, 1.0, 1.6)
    for edge, flies in ((100.0, True), (0.5 * limits.fence_margin, False)):
        corners = np.array([[-100.0, -100.0], [edge, -100.0], [edge, 100.0], [-100.0, 100.0]])
        velocity, _ = kept(scene, np.zeros(3), Site(corners, 120.0, np.zeros(3)))
        assert bool(velocity[0] > 0.05) is flies


def test_squeezed_between_two_things_it_may_fly_out_between_them(kit: Kit, limits: Limits) -> None:
    """One echo ahead and one behind, both so near that it would back off from either."""
    scene = kit.Scene(limits, kit.World(rows=24, columns=180))
    ranges = np.full_like(scene.ranges.ranges, math.inf)
    ranges[18, 90] = ranges[17, 0] = 1.2  # opposite to each other
    scene.ranges = replace(scene.ranges, ranges=ranges)
    azimuth = 0.5 * scene.ranges.azimuth_step + 0.5 * math.pi
    aside = 0.4 * np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    velocity, findings = kept(scene, aside)
    np.testing.assert_allclose(velocity, aside, atol=1e-6)
    assert not findings.reasons, "it is given unchanged"


def test_where_no_velocity_is_found_it_stands(kit: Kit, limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope_module, "project", lambda *a: None)
    assert kept(kit.Scene(limits), EAST)[0].tolist() == [0.0, 0.0, 0.0]


# Take-off, landing, touch-down


def test_a_landing_begins_in_the_take_off_column_also_where_no_fence_is_known(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 2.0])
    assert kept(scene, DOWN, landing=True, in_takeoff_column=True)[0].tolist() == DOWN.tolist()


def test_without_a_fence_a_vehicle_in_the_air_is_kept_within_the_other_limits(kit: Kit, limits: Limits) -> None:
    assert kept(kit.Scene(limits), EAST)[0].tolist() == EAST.tolist()


def test_on_the_ground_there_is_no_way_down(kit: Kit, limits: Limits) -> None:
    site = Site(kit.square(99.0), 60.0, np.zeros(3))
    scene = kit.Scene(limits, position=[0.0, 0.0, 0.05])
    velocity, findings = kept(scene, DOWN, site, landed=True, in_takeoff_column=True)
    assert not velocity.any() and findings.reasons == [Reason.NOT_FLYING]


def test_a_landing_passes_the_floor(kit: Kit, limits: Limits) -> None:
    velocity, findings = kept(kit.Scene(limits, position=[0.0, 0.0, 2.0]), DOWN, landing=True)
    assert velocity.tolist() == DOWN.tolist() and not findings.reasons


@pytest.mark.parametrize("flag", ["in_takeoff_column", "landing"])
def test_neither_take_off_nor_landing_backs_off(kit: Kit, limits: Limits, flag: str) -> None:
    """A roof 1.2 m above the vehicle: in flight it is left downwards."""
    roof = kit.Scene(limits, kit.World(np.array([[0.0, 0.0, 26.2, 5.0]]), 24, 90, math.pi / 2))
    site = Site(kit.square(99.0), 60.0, np.zeros(3))
    assert kept(roof, np.zeros(3), site)[0][2] < 0.0
    velocity, findings = kept(roof, np.zeros(3), site, **{flag: True})
    assert not velocity.any() and not findings.reasons
    assert kept(roof, UP, site, **{flag: True})[0][2] == pytest.approx(0.0, abs=1e-6), "but it is not flown into"


def test_a_landing_from_above_the_ceiling_is_no_faster(kit: Kit, limits: Limits) -> None:
    site = Site(kit.square(99.0), 10.0, np.zeros(3))
    velocity, findings = kept(kit.Scene(limits), DOWN, site, landing=True)
    assert velocity.tolist() == DOWN.tolist() and not findings.reasons


@pytest.mark.parametrize("what", ["fence", "zone", "other vehicle"])
def test_blown_aside_in_the_take_off_column_it_goes_on_straight_up(kit: Kit, limits: Limits, what: str) -> None:
    """A vehicle that took off 1 m from the fence, from a keep-out zone, or beside another vehicle."""
    zones = (kit.square(5.0) + [6.0, 0.0],) if what == "zone" else ()
    site = Site(kit.square(99.0) - ([98.0, 0.0] if what == "fence" else [0.0, 0.0]), 60.0, np.zeros(3), zones)
    scene = kit.Scene(limits, position=[1.3, 0.0, 1.0])
    traffic = ((EAST, 3.0),) if what == "other vehicle" else ()
    velocity, findings = kept(scene, UP, site, in_takeoff_column=True, traffic=traffic)
    assert velocity.tolist() == UP.tolist() and not findings.reasons
    assert kept(scene, UP, site, traffic=traffic)[0][0] < 0.0


def test_a_landing_beside_another_vehicle_goes_straight_down(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 2.0])
    velocity, findings = kept(scene, DOWN, landing=True, traffic=((EAST, 3.0),))
    assert velocity.tolist() == DOWN.tolist() and not findings.reasons
    assert kept(scene, DOWN, traffic=((EAST, 3.0),))[0][0] < 0.0


def test_in_flight_ground_that_rises_beside_the_vehicle_is_an_obstacle(kit: Kit, limits: Limits) -> None:
    """In a touch-down it is not: there it is the ground that is landed on."""
    hill = kit.Scene(limits, kit.World(np.array([[7.0, 0.0, -4.0, 6.6]]), 24, 180), [0.0, 0.0, 1.0])
    assert kept(hill, DOWN, touching_down=True)[0].tolist() == DOWN.tolist()
    assert Reason.OBSTACLE in kept(hill, [0.7, 0.0, 0.0])[1].reasons


def test_a_touch_down_over_ground_that_is_not_measured_takes_all_around_for_obstacles(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 1.0])
    velocity, findings = kept(scene, DOWN, surface=None, touching_down=True)
    assert not velocity.any() and Reason.OBSTACLE in findings.reasons


def test_cells_of_the_slope_that_it_stands_on_do_not_stop_a_take_off(kit: Kit, limits: Limits) -> None:
    """The cell begins 0.95 m above the vehicle: nearer than a cell and a half, farther than the body."""
    scene = unseen(kit.Scene(limits, position=[0.5, 0.5, 0.05]))
    inside = np.floor((np.array([0.5, 0.5, 1.5]) - scene.window.origin) / scene.window.resolution).astype(int)
    scene.window.cells[tuple(inside)] = 2
    site = Site(kit.square(99.0), 60.0, np.zeros(3))
    assert kept(scene, 0.5 * UP, site, in_takeoff_column=True)[0].tolist() == (0.5 * UP).tolist()
    assert kept(scene, 0.5 * UP, site)[0][2] < 0.4


# Unseen space


def test_into_air_that_was_seen_it_climbs_at_full_speed(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits)
    velocity, findings = kept(scene, limits.speed_up * UP)
    assert velocity.tolist() == (limits.speed_up * UP).tolist() and not findings.reasons
    velocity, findings = kept(unseen(scene), limits.speed_up * UP)
    assert velocity[2] == pytest.approx(limits.speed_unseen_up) and findings.reasons == [Reason.UNKNOWN_SPACE]


def test_turned_upwards_by_a_slope_it_climbs_no_faster_into_unseen_air(kit: Kit, limits: Limits) -> None:
    """Level flight towards a steep bank slides up along it, farther up than the scan reaches."""
    bank = kit.World(np.array([[8.9, 0.0, -8.5, 27.9]]), 24, 180)
    scene = unseen(kit.Scene(limits, bank, velocity=[5.4, 0.0, 0.4]))
    velocity, findings = kept(scene, [5.4, 0.0, 0.4])
    assert velocity[2] <= limits.speed_unseen_up + 1e-6 and Reason.UNKNOWN_SPACE in findings.reasons


def test_of_a_climb_the_way_of_the_upper_edge_too_must_be_seen(kit: Kit, limits: Limits) -> None:
    """Of 24 degrees up, a scan that ends 30 degrees up shows the middle of the way and not what hangs over it."""
    asked = [2.0, 0.0, 0.9]
    for high, climb in ((math.pi / 6, limits.speed_unseen_up), (math.pi / 2, 0.9)):
        scene = unseen(kit.Scene(limits, kit.World(rows=round(math.degrees(high) / 5) + 18, high=high)))
        velocity, findings = kept(scene, asked)
        assert velocity[2] == pytest.approx(climb)
        assert findings.reasons == ([] if climb == 0.9 else [Reason.UNKNOWN_SPACE])
    assert kept(scene, UP * limits.speed_up)[0].tolist() == (UP * limits.speed_up).tolist()


def test_the_whole_width_of_the_way_must_be_seen(kit: Kit, limits: Limits) -> None:
    """A sector that was never seen begins 4 degrees beside the way; what stands at its edge is in the way."""
    scene = unseen(kit.Scene(limits))
    ranges = scene.ranges.ranges.copy()
    azimuth = scene.ranges.azimuth_min + (np.arange(ranges.shape[1]) + 0.5) * scene.ranges.azimuth_step
    for sector in ((4.0, 28.0), (-28.0, -4.0)):
        blind = ranges.copy()
        blind[:, (azimuth > math.radians(sector[0])) & (azimuth < math.radians(sector[1]))] = math.nan
        half = replace(scene, ranges=replace(scene.ranges, ranges=blind))
        assert kept(half, 5.0 * EAST)[1].reasons == [Reason.UNKNOWN_SPACE]
        assert not kept(half, -5.0 * EAST)[1].reasons and not kept(scene, 5.0 * EAST)[1].reasons


@pytest.mark.parametrize("radius", [0.15, 0.3, 1.0])
def test_it_stops_below_what_hangs_over_it(kit: Kit, limits: Limits, radius: float) -> None:
    world = kit.World(np.array([[0.2, 0.1, 27.0, radius]]), 36, 60, math.pi / 2)
    site = Site(kit.square(99.0), 120.0, np.zeros(3))
    flight = kit.Rollout(world, Governor(limits, site), site, np.random.default_rng(0), use_map=False)
    flight.fly(lambda f: Command(f.now, np.array([0.0, 0.0, 3.0])), 12.0)
    assert flight.nearest > limits.body_radius


def test_standing_still_and_climbing_straight_up_need_no_direction(kit: Kit, limits: Limits) -> None:
    """Both are decided without dividing by a speed that is zero."""
    scene = unseen(kit.Scene(limits))
    with np.errstate(all="raise"):
        for asked in (0.0 * UP, 0.5 * UP):
            velocity, findings = kept(scene, asked)
            assert velocity.tolist() == asked.tolist() and not findings.reasons


def test_a_climb_whose_way_was_seen_is_not_slowed_by_what_is_unseen_below_it(kit: Kit, limits: Limits) -> None:
    scene = unseen(kit.Scene(limits, kit.World(rows=36, high=math.pi / 2)))
    ranges = scene.ranges.ranges.copy()
    ranges[18:21] = math.nan  # from the horizon to 15 degrees above it
    scene.ranges = replace(scene.ranges, ranges=ranges)
    asked = [2.0, 0.0, 0.8]
    velocity, findings = kept(scene, asked)
    assert velocity.tolist() == asked and not findings.reasons
    assert kept(scene, [2.0, 0.0, 0.1])[1].reasons == [Reason.UNKNOWN_SPACE]


def test_a_landing_goes_down_into_what_nobody_has_seen(kit: Kit, limits: Limits) -> None:
    scene = unseen(kit.Scene(limits, position=[0.0, 0.0, 8.0]))
    scene.ranges = replace(scene.ranges, ranges=np.full_like(scene.ranges.ranges, math.nan))
    velocity, findings = kept(scene, DOWN, landing=True)
    assert velocity.tolist() == DOWN.tolist() and not findings.reasons
    assert kept(scene, DOWN)[1].reasons == [Reason.UNKNOWN_SPACE]


def test_where_the_map_alone_shows_the_ground_the_ceiling_counts_from_there(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 12.0])
    scene.ranges = replace(scene.ranges, ranges=np.full_like(scene.ranges.ranges, math.nan))
    for ceiling, reasons in ((30.0, []), (12.0, [Reason.CEILING])):
        assert kept(scene, UP, Site(kit.square(99.0), ceiling, np.zeros(3)))[1].reasons == reasons


def test_with_neither_ranges_nor_map_it_stands_and_lands_where_it_has_to(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits)
    scene.ranges = scene.window = None
    velocity, findings = kept(scene, EAST)
    assert not velocity.any() and Reason.UNKNOWN_SPACE in findings.reasons
    assert kept(scene, DOWN, landing=True)[0].tolist() == DOWN.tolist()


def test_below_the_ceiling_it_climbs_as_fast_as_it_can_stop(kit: Kit, limits: Limits) -> None:
    site = Site(kit.square(99.0), 22.0, np.zeros(3))
    velocity, findings = kept(kit.Scene(limits, position=[0.0, 0.0, 21.0]), 2.0 * UP, site)
    assert findings.reasons == [Reason.CEILING]
    assert float(velocity[2]) == pytest.approx(limits.closing_speed(1.0, 0.0), rel=0.05)


@pytest.mark.parametrize(("deepest", "room"), [(None, 2.0), (21.5, 0.5)])
def test_on_a_slope_the_ceiling_counts_from_the_lowest_ground_below(
    kit: Kit, limits: Limits, deepest: float | None, room: float
) -> None:
    below = SimpleNamespace(depth_below=lambda: deepest, fall_around=lambda slope: np.zeros(SECTORS))
    view = Scene(np.array([0.0, 0.0, 20.0]), np.zeros(3), below, None, None, 0.0, None, False, False)  # type: ignore[arg-type]
    ceiling = Envelope(limits, Site(kit.square(99.0), 22.0, np.zeros(3)))._ceiling(view)
    assert ceiling.bounds.tolist() == [limits.closing_speed(room, 0.0)] * (1 + SECTORS)


def test_what_the_map_alone_shows_is_the_nearest_obstacle(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.2, 0.3, 1.2])
    observed = ObservedSpace(scene.state.pose.position, None, scene.window, limits.own_radius)
    view = Scene(scene.state.pose.position, np.zeros(3), observed, None, scene.window, None, None, False, False)
    measured, known = Envelope(limits, None).nearest(view)
    assert measured == math.inf and known < limits.clearance
    assert Envelope(limits, None).nearest(replace(view, window=None)) == (math.inf, math.inf)


def test_a_climb_is_seen_only_where_the_vehicle_s_sides_are(kit: Kit, limits: Limits) -> None:
    """Beside a slanting way up a sector is blind: its middle and its upper edge were seen, and one side was not."""
    asked = np.array([2.0, 0.0, 2.0])
    scene = kit.Scene(limits, kit.World(rows=36, columns=180, high=math.pi / 2), velocity=asked)
    assert scene.decide(asked).velocity[2] > limits.speed_unseen_up
    ranges = scene.ranges.ranges.copy()
    ranges[20:, 92:110] = np.nan  # from 10 degrees above the horizon, 4 to 40 degrees to the left
    scene.ranges, scene.window = replace(scene.ranges, ranges=ranges), None
    assert scene.decide(asked).velocity[2] <= limits.speed_unseen_up
