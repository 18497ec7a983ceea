"""The last metres of a landing: straight down where nobody is below, else to a clear spot beside, or a wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.failsafe import LAST_CHARGE, landing_velocity
from esar_ros.safety.inputs import Findings, State
from esar_ros.safety.limits import TOUCH_DOWN_FROM
from esar_ros.safety.surroundings.landing_site import Ground, LandingSite
from esar_ros.safety.surroundings.scene import Scene

_ASIDE = 1.0  # m/s, to another spot to land on


def look_below(
    envelope: Envelope, aim: Vector | None, scene: Scene, people: Sequence[Vector], charge: float | None
) -> LandingSite:
    """Returns whether the vehicle may come down here, or where (m, map) a landing goes instead.

    aim: where it was on its way to. people: (3,) m, map. At the last of the charge (0..1) it comes down wherever it
    is, and where no range shows the ground nothing is known of it.
    """
    if not scene.near_ground or scene.image is None or scene.height is None or scene.height > TOUCH_DOWN_FROM:
        return LandingSite()
    if charge is not None and charge <= LAST_CHARGE:
        return LandingSite()
    ground = Ground(scene.image, scene.position, people, envelope.limits)
    if not scene.landing:
        return LandingSite(ground.veto())
    return ground.site(aim, lambda place: _is_reachable(place, envelope, scene))


def _is_reachable(place: Vector, envelope: Envelope, scene: Scene) -> bool:
    """Returns whether the way to a place (m, map) at this height was seen to be free, and it lies within the site.

    A vehicle that is outside already may go no farther.
    """
    way = place - scene.position
    distance = magnitude(way)
    if scene.observed.known_free(way / distance, distance) < distance - 1e-6:
        return False
    site = envelope.site
    if site is None:
        return True
    room = max(-envelope.limits.fence_margin, site.outside(scene.position))
    return site.outside(place) <= room and not site.inside_keep_out(place) > 0.0


def is_vetoed(below: LandingSite, findings: Findings) -> bool:
    """Returns whether the vehicle must not come down here, and notes why."""
    if below.veto:
        findings.add(Mode.SLOW, Reason.OBSTACLE, below.veto)
    return bool(below.veto)


def come_down(envelope: Envelope, state: State, scene: Scene, below: LandingSite, findings: Findings) -> Vector:
    """Returns the velocity (m/s, map) of a landing: down, or above the floor to a clear spot, or none."""
    if not is_vetoed(below, findings):
        return envelope.keep(landing_velocity(envelope.limits), state, scene, findings)
    aside = np.zeros(3)
    if below.aim is not None:
        way = (below.aim - scene.position) * [1.0, 1.0, 0.0]
        aside = way * min(1.0, _ASIDE / magnitude(way))
    return envelope.keep(aside, state, replace(scene, landing=False), findings)
