"""A range sensor that loses its echoes: unit by unit, and in flight with the simulator's vehicle."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.geometry.occupancy_window import FREE
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.echoes import EchoCounts, EchoMonitor
from helpers.full import mostly_full

Kit = SimpleNamespace
AHEAD = np.array([1.0, 0.0, 0.0])
FORWARD = slice(30, 42)  # of 72 columns: 60 degrees ahead


def at(height: float, x: float = 0.0) -> Pose:
    return Pose(np.array([x, 0.0, height]))


def emptied(image: RangeImageData, columns: slice = slice(None), value: float = math.inf) -> RangeImageData:
    ranges = image.ranges.copy()
    ranges[:, columns] = value
    return replace(image, ranges=ranges)


# -- one scan -----------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [1.0, 5.0, 12.0, 20.0, 35.0, 59.0, 80.0])
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_sound_scan_over_open_ground_is_trusted(kit: Kit, height: float, tilt: float) -> None:
    pose = Pose(np.array([0.0, 0.0, height]), quaternion_from_rpy(tilt, -tilt, 1.0))
    image = kit.World().image(pose, 1.0)
    window = kit.World().window(pose.position, 1.0, 64)
    echoes = EchoMonitor().updated(image, height, 1.0, window)
    assert echoes.text == "" and echoes.trusted is image


@pytest.mark.parametrize("reach", [24.0, 37.0])
@pytest.mark.parametrize("step", [0.05, 0.3])
@pytest.mark.parametrize("lost", [0.0, 0.3])
def test_in_fog_it_climbs_out_of_its_ranges_and_is_not_taken_for_blind(
    kit: Kit, reach: float, step: float, lost: float
) -> None:
    """In dense fog a LiDAR ends at 24 m, in fog at 37: the ground leaves it row by row."""
    rng, echoes, window = np.random.default_rng(0), EchoMonitor(), kit.World().window(at(20.0).position, 1.0, 64)
    for n, height in enumerate(np.arange(2.0, 1.5 * reach, step)):
        image = kit.World().image(at(height), 1.0 + 0.1 * n)
        ranges = np.where((image.ranges > reach) | (rng.random(image.ranges.shape) < lost), np.inf, image.ranges)
        seen = replace(image, ranges=ranges.astype(np.float32))
        echoes = echoes.updated(seen, height, 1.0, window)
        assert echoes.text == "" and echoes.trusted is not None, f"at {height:.1f} m"
    assert not np.isfinite(ranges).any(), "it is out of its ranges"


@pytest.mark.parametrize("height", [2.0, 10.0, 18.0])
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_ground_that_must_answer_and_does_not(kit: Kit, height: float, value: float) -> None:
    image = emptied(kit.World().image(at(height), 1.0), value=value)
    echoes = EchoMonitor().updated(image, height, 1.0, None)
    assert "blind" in echoes.text and echoes.trusted is None


def test_ground_that_is_out_of_reach_or_not_known_need_not_answer(kit: Kit) -> None:
    image = emptied(kit.World().image(at(10.0), 1.0))
    for height in (None, 45.0):
        assert EchoMonitor().updated(image, height, 1.0, None).trusted is image


def test_something_in_the_map_that_must_answer_and_does_not(kit: Kit) -> None:
    """The sensor is high above the ground, beside a cliff that is in the map."""
    cliff = kit.World(np.array([[40.0, 0.0, math.inf, 30.0]]))
    window = cliff.window(at(50.0).position, 1.0, 64)
    image: RangeImageData = cliff.image(at(50.0), 1.0)
    assert EchoMonitor().updated(image, None, 1.0, window).trusted is image
    assert "blind" in EchoMonitor().updated(emptied(image), None, 1.0, window).text
    assert EchoMonitor().updated(emptied(image), None, 1.0, None).text == "", "without a map nobody knows"


def test_cells_of_a_map_are_found_at_its_own_resolution(kit: Kit) -> None:
    """The cliff in cells of 0.5 m, of 2 m, and behind a beam's reach."""
    for distance, resolution, told in ((8.0, 0.5, True), (14.0, 2.0, True), (24.0, 2.0, False)):
        cliff = kit.World(np.array([[distance + 30.0, 0.0, math.inf, 30.0]]))
        window = cliff.window(at(50.0).position, 1.0, 40, resolution)
        image = emptied(cliff.image(at(50.0), 1.0))
        assert ("blind" in EchoMonitor().updated(image, None, 1.0, window).text) is told, (distance, resolution)


def test_a_silent_sector_over_ground_is_unknown_and_no_other(kit: Kit) -> None:
    echoes = EchoMonitor().updated(emptied(kit.World().image(at(8.0), 1.0), FORWARD), 8.0, 1.0, None)
    assert echoes.text == "" and echoes.trusted is not None
    assert np.isnan(echoes.trusted.ranges[:, 32:40]).all()
    assert not np.isnan(np.delete(echoes.trusted.ranges, np.arange(27, 45), axis=1)).any()


def test_a_window_that_is_dirty_ahead_is_unknown_there(kit: Kit) -> None:
    """Ahead, five metres above the ground, no beam higher than 45 degrees below the horizon has an echo."""
    image = kit.World().image(at(5.0), 1.0)
    ranges = image.ranges.copy()
    ranges[9:, FORWARD] = math.inf
    window = kit.World().window(at(5.0).position, 1.0, 64)
    echoes = EchoMonitor().updated(replace(image, ranges=ranges), 5.0, 1.0, window)
    assert echoes.trusted is not None and np.isnan(echoes.trusted.ranges[9:, 33:39]).all()
    assert np.isfinite(echoes.trusted.ranges[:8, 33:39]).all(), "what did come back is not thrown away"


def test_too_near_is_an_echo(kit: Kit) -> None:
    image = emptied(kit.World().image(at(0.3), 1.0), value=-math.inf)
    assert EchoMonitor().updated(image, 0.3, 1.0, None).trusted is image


def test_echoes_are_counted(kit: Kit) -> None:
    counts = EchoCounts.of(emptied(kit.World().image(at(10.0), 1.0), FORWARD), 10.0, 1.0, None)
    assert (counts.returned > 0).sum() == 60 and (counts.missing_returns > 0).sum() == 12
    assert counts.share == pytest.approx(counts.echoes / (24 * 72))


# -- scan after scan ----------------------------------------------------------------------------


def texts_in_turn(images: list[RangeImageData]) -> list[str]:
    echoes, texts = EchoMonitor(), []
    for n, image in enumerate(images):
        echoes = echoes.updated(replace(image, stamp=1.0 + 0.1 * n), None, 1.0, None)
        texts.append(echoes.text)
    return texts


def test_a_share_that_collapses_is_noticed_where_nothing_is_known(kit: Kit) -> None:
    """The collapse, thirty metres up and without ground or map, counts until most of the share is back."""
    sound = [kit.World().image(at(30.0, 0.5 * n), 1.0) for n in range(12)]
    half = [emptied(image, slice(0, 54)) for image in sound]
    texts = texts_in_turn([*sound[:4], *map(emptied, sound[4:8]), *half[8:10], *sound[10:]])
    assert [bool(text) for text in texts] == [False] * 4 + [True] * 6 + [False] * 2


def test_once_blind_it_takes_half_of_the_usual_share_to_be_trusted_again(kit: Kit) -> None:
    """Two fifths of the columns answer: enough for a sensor that is trusted, too few for one that was blind."""
    sound = [kit.World().image(at(30.0), 1.0)] * 2
    some = emptied(sound[0], slice(0, 43))
    assert texts_in_turn([*sound, some])[-1] == ""
    assert "blind" in texts_in_turn([*sound, emptied(sound[0]), some])[-1]


def test_a_scan_that_looks_at_the_sky_alone_says_nothing_at_first_and_then_is_blind(kit: Kit) -> None:
    """A sensor that has turned over: none of its cells lies where something could answer."""
    sound = kit.World().image(at(5.0), 1.0)
    sky = replace(emptied(sound), stamp=1.1, elevation_min=1.0, elevation_step=0.5 / sound.ranges.shape[0])
    assert EchoCounts.of(sky, None, 1.0, None).share == 0.0
    assert EchoMonitor().updated(sky, None, 1.0, None).text == ""
    assert "blind" in EchoMonitor().updated(sound, 5.0, 1.0, None).updated(sky, None, 1.0, None).text


def test_out_over_an_edge_the_share_falls_slowly(kit: Kit) -> None:
    """Climbing out of the sensor's reach is the same: never a third of what it was within a few metres of flight."""
    climbing = [kit.World().image(at(20.0 + 0.3 * n), 1.0) for n in range(150)]
    assert not any(texts_in_turn(climbing))
    half = [kit.World().image(at(20.0, 0.5 * n), 1.0) for n in range(150)]
    for n, image in enumerate(half):  # the ground ends at x = 50
        elevation = image.elevation_min + (np.arange(24) + 0.5) * image.elevation_step
        azimuth = image.azimuth_min + (np.arange(72) + 0.5) * image.azimuth_step
        x = 0.5 * n + image.ranges * np.cos(elevation)[:, None] * np.cos(azimuth)
        half[n] = replace(image, ranges=np.where(x > 50.0, np.float32(np.inf), image.ranges))
    assert not any(texts_in_turn(half))


# -- in flight ----------------------------------------------------------------------------------

FOREST = np.array([[x, y, math.inf, 0.6] for x in range(25, 60, 5) for y in range(-20, 21, 4)], dtype=np.float64)
CLIFF = np.array([[75.0, 0.0, math.inf, 45.0]])
BLIND_FROM = 60  # step: after 3 s, at full speed


def flight(kit: Kit, limits: Limits, things: np.ndarray, seed: int, height: float, sees: object, pooled: bool = True):  # type: ignore[no-untyped-def]
    """Flies 10 s at 5 m/s towards things with an empty map; sees: azimuths whose echoes come when faulty.

    pooled: cells come from a cloud; otherwise a driver reports every cell without an echo as nothing in range.
    """
    world = kit.World(things, rows=36, high=math.pi / 2)
    site = Site(kit.square(500.0), 120.0, np.zeros(3))
    run = kit.Simulated(
        world, Governor(limits, site), site, np.random.default_rng(seed), np.array([0.0, 0.0, height]), blank=True
    )

    def sense(pose: Pose, now: float, faulty: bool) -> RangeImageData:
        image = world.cloud(pose, now, sees) if faulty else world.cloud(pose, now)
        if pooled:
            return image
        return replace(image, ranges=np.where(np.isnan(image.ranges), np.float32(np.inf), image.ranges))

    run.sense = sense
    return run.fly(lambda f: Command(f.now, 5.0 * AHEAD), 10.0, lambda n: {"sense"} if n >= BLIND_FROM else set())


def nothing(azimuth: np.ndarray) -> np.ndarray:
    return np.zeros(len(azimuth), dtype=bool)


def all_but_ahead(azimuth: np.ndarray) -> np.ndarray:
    return np.abs(azimuth) > math.radians(30.0)


@pytest.mark.parametrize("things", [FOREST, CLIFF], ids=["forest", "cliff"])
@pytest.mark.parametrize("height", mostly_full([8.0, 70.0, 30.0], 2))
@pytest.mark.parametrize("pooled", [True, False], ids=["cloud", "reported free"])
def test_a_lidar_that_falls_silent_in_flight_touches_nothing(
    kit: Kit, limits: Limits, things: np.ndarray, height: float, pooled: bool
) -> None:
    for seed in range(2):
        run = flight(kit, limits, things, seed, height, nothing, pooled)
        assert run.nearest > limits.body_radius, f"seed {seed}"
        assert float(np.linalg.norm(run.velocity)) < 1.0, f"seed {seed}: it stands"
        if height < 60.0 or not pooled:
            assert run.answers[-1].mode is Mode.HOLD and Reason.STALE_RANGES in run.answers[-1].reasons


@pytest.mark.parametrize("things", [FOREST, CLIFF], ids=["forest", "cliff"])
@pytest.mark.parametrize("height", mostly_full([8.0, 30.0]))
def test_a_dead_sector_ahead_touches_nothing(kit: Kit, limits: Limits, things: np.ndarray, height: float) -> None:
    for seed in range(3):
        run = flight(kit, limits, things, seed, height, all_but_ahead)
        assert run.nearest > limits.body_radius, f"seed {seed}"


def test_a_sound_lidar_in_the_open_keeps_its_speed(kit: Kit, limits: Limits) -> None:
    """With an empty map the ranges alone suffice, at any height from which some ground has echoes."""
    for height in (5.0, 20.0, 45.0):
        run = flight(kit, limits, np.zeros((0, 4)), 0, height, lambda azimuth: np.ones(len(azimuth), dtype=bool))
        assert not any(answer.changed for answer in run.answers[40:]), height


def test_above_the_reach_it_flies_where_the_cameras_have_seen(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 80.0], velocity=[5.0, 0.0, 0.0])
    scene.ranges = scene.world.cloud(scene.state.pose, kit.NOW)
    assert np.isnan(scene.ranges.ranges).all() and (scene.window.cells == FREE).all()
    assert not scene.decide([5.0, 0.0, 0.0]).changed


def test_a_person_clears_a_collapse(kit: Kit, limits: Limits) -> None:
    """The person sees that there is nothing more to see; ground that must answer holds it again."""
    for height, mode in ((30.0, Mode.SLOW), (8.0, Mode.HOLD)):
        governor = kit.Scene(limits).governor()
        modes = []
        for n in range(20):
            scene = kit.Scene(limits, position=[0.0, 0.0, height], now=kit.NOW + 0.05 * n)
            scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
            if n:
                scene.ranges = emptied(scene.ranges, value=math.nan)
            if n == 10:
                assert governor.clear()
            modes.append(scene.decide([1.0, 0.0, 0.0], governor=governor).mode)
        assert modes[9] is Mode.HOLD and modes[-1] is mode, height
