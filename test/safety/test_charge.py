"""A battery that reports impossible charges, and a brief in flight whose site the vehicle is outside of."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode
from esar_ros.safety.governor import Governor
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

Kit = SimpleNamespace


def modes_after(kit: Kit, limits: Limits, charges: list[float | None], step: float) -> list[Mode]:
    """Returns the modes 300 m from home after each of these charges, step (s) apart."""
    governor, modes = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3))), []
    for n, charge in enumerate(charges):
        scene = kit.Scene(limits, position=[300.0, 0.0, 20.0], now=kit.NOW + n * step)
        scene.state = replace(scene.state, battery=charge)
        modes.append(scene.decide([0.0, 0.0, 0.0], governor=governor).mode)
    return modes


@pytest.mark.parametrize("charge", [55.0, -1.0, 1.01, -0.01, math.inf, math.nan])
def test_a_charge_that_cannot_be_neither_lands_at_once_nor_flies_for_ever(
    kit: Kit, limits: Limits, charge: float
) -> None:
    """The charge counts as what the endurance leaves of a full one, or of the last possible one."""
    quick = limits.model_copy(update={"clock_gap": 10.0})
    modes = modes_after(kit, quick, [charge] * 400, 4.0)
    assert modes[0] is Mode.NORMAL
    first = next(n for n, mode in enumerate(modes) if mode >= Mode.RETURN)
    assert 0.5 < first * 4.0 / limits.endurance < 0.95
    after = modes_after(kit, quick, [0.6, *[charge] * 400], 4.0)
    assert next(n for n, mode in enumerate(after) if mode >= Mode.RETURN) < 0.7 * first


def test_a_battery_that_is_not_measured_counts_with_its_last_charge(kit: Kit, limits: Limits) -> None:
    assert set(modes_after(kit, limits, [0.6, *[None] * 20], 0.05)) == {Mode.NORMAL}


def flying(kit: Kit, limits: Limits) -> Governor:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    kit.Scene(limits, position=[50.0, 0.0, 30.0]).decide([0.0, 0.0, 0.0], governor=governor)
    return governor


@pytest.mark.parametrize(
    ("half", "ceiling", "zones", "words"),
    [
        (100.0, 25.0, False, "above its ceiling"),
        (40.0, 60.0, False, "outside its fence"),
        (100.0, 60.0, True, "in one of its keep-out zones"),
    ],
)
def test_a_brief_in_flight_does_not_drive_the_vehicle_elsewhere(
    kit: Kit, limits: Limits, half: float, ceiling: float, zones: bool, words: str
) -> None:
    governor = flying(kit, limits)
    before = governor.site
    around = (kit.square(10.0) + [50.0, 0.0],) if zones else ()
    with pytest.raises(UsageError, match=words):
        governor.set_site(Site(kit.square(half), ceiling, np.zeros(3), around))
    assert governor.site is before
    governor.set_site(Site(kit.square(80.0), 40.0, np.zeros(3)))
