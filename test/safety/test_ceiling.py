"""The ceiling above ground that falls away."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

Kit = SimpleNamespace


def sloping(kit: Kit, slope: float) -> Callable[[Pose, float, bool], RangeImageData]:
    """Returns a sensor over a plane through the origin that rises to the east, which the vehicle stays above."""

    def sense(pose: Pose, now: float, faulty: bool) -> RangeImageData:
        image = kit.World(rows=36, high=math.pi / 2).image(pose, now)
        elevation = image.elevation_min + (np.arange(image.ranges.shape[0]) + 0.5) * image.elevation_step
        azimuth = image.azimuth_min + (np.arange(image.ranges.shape[1]) + 0.5) * image.azimuth_step
        flat = np.cos(elevation)[:, None]
        rays = np.stack(
            [flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)[:, None] + 0.0 * azimuth], axis=-1
        )
        rays = rays @ pose.rotation.T
        falling = slope * rays[..., 0] - rays[..., 2]
        away = (pose.position[2] - slope * pose.position[0]) / np.where(falling > 1e-6, falling, np.nan)
        jitter = np.random.default_rng(round(now * 1e3)).uniform(0.9999, 1.0001, away.shape)
        return replace(image, ranges=np.where(away <= image.range_max, away * jitter, np.inf).astype(np.float32))

    return sense


@pytest.mark.parametrize("slope", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("asked", [[0.0, 0.0, 2.0], [-5.0, 0.0, 0.0], [-4.0, 3.0, 3.0]])
def test_over_a_slope_the_ceiling_is_kept_over_the_ground_straight_below(
    kit: Kit, limits: Limits, slope: float, asked: list[float]
) -> None:
    """Climbing, and flying out from the slope, over which level flight rises as fast as the ground falls."""
    site = Site(kit.square(500.0), 40.0, np.array([0.0, 0.0, -500.0]))
    run = kit.Rollout(
        kit.World(), Governor(limits, site), site, np.random.default_rng(0), np.array([0.0, 0.0, 30.0]), gust=0.0,
        noise=0.0, use_map=False, sense=sloping(kit, slope),
    )  # fmt: skip
    heights = []

    def out(flight: Any) -> Command:
        heights.append(float(flight.position[2] - slope * flight.position[0]))
        return Command(flight.now, np.array(asked))

    run.fly(out, 15.0)
    assert max(heights) < site.ceiling + 0.5
    if slope == 0.0 and asked[2] > 0.0:
        assert max(heights) > site.ceiling - 2.0
    if asked[0] < 0.0:
        assert float(run.position[0]) < -8.0, "it flies out along the slope, and does not stand"


def test_above_the_ceiling_over_a_slope_it_comes_down_along_the_slope(kit: Kit, limits: Limits) -> None:
    """Not over the valley, where it would be higher still; here by blowing in from above."""
    site = Site(kit.square(500.0), 40.0, np.array([0.0, 0.0, -500.0]))
    run = kit.Rollout(
        kit.World(), Governor(limits, site), site, np.random.default_rng(0), np.array([0.0, 0.0, 48.0]), gust=0.0,
        noise=0.0, use_map=False, sense=sloping(kit, 0.8),
    )  # fmt: skip
    run.fly(lambda flight: Command(flight.now, np.array([-5.0, 0.0, 0.0])), 2.0)
    assert float(run.position[2] - 0.8 * run.position[0]) < 48.5
    assert Reason.CEILING in run.answers[0].reasons


def test_where_ground_was_never_seen_the_height_above_home_and_the_way_from_it_count(kit: Kit, limits: Limits) -> None:
    """Begun in the air, in fog: 20 m away from home, and 30 m above it, ground may lie 50 m below."""
    scene = kit.Scene(limits, position=[20.0, 0.0, 30.0])
    scene.ranges = replace(scene.ranges, ranges=np.full_like(scene.ranges.ranges, math.inf))
    for ceiling, reasons in ((120.0, ()), (45.0, (Reason.CEILING,))):
        scene.site = Site(kit.square(500.0), ceiling, np.zeros(3))
        scene.window = replace(scene.window, cells=np.ones_like(scene.window.cells))
        answer = scene.decide([1.0, 0.0, 0.0], governor=Governor(limits, scene.site))
        assert (Reason.CEILING in answer.reasons) is bool(reasons)
        assert Reason.CEILING not in scene.decide([-1.0, 0.0, 0.0], governor=Governor(limits, scene.site)).reasons
