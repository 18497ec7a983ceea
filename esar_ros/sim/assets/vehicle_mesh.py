"""The airframe that cameras of other vehicles see: hull, four arms and rotors in a sphere of radius 1, to be scaled."""

from __future__ import annotations

import math

from esar_ros.sim.assets.mesh_builder import MeshBuilder, Model
from esar_ros.sim.assets.meshes import Asset
from esar_ros.sim.assets.variants import one

_HULL, _ARM, _ROTOR = (0.75, 0.75, 0.72), (0.08, 0.08, 0.09), (0.2, 0.2, 0.22)  # albedo
_REACH = 0.62  # of the hubs from the middle
_DISC = 0.36  # radius of a rotor


def _airframe() -> Model:
    built = MeshBuilder()
    built.ellipsoid((0.0, 0.0, 0.0), (0.5, 0.36, 0.24), _HULL, sides=12, rings=7)
    for quarter in range(4):
        yaw = math.pi / 4.0 + quarter * math.pi / 2.0
        x, y = _REACH * math.cos(yaw), _REACH * math.sin(yaw)
        built.box((0.5 * x, 0.5 * y, 0.05), (0.5 * _REACH, 0.04, 0.03), _ARM, yaw)
        built.ellipsoid((x, y, 0.12), (_DISC, _DISC, 0.03), _ROTOR, sides=12, rings=3)
    return built.model()


AIRFRAME = Asset("vehicle", "vehicle", "vehicle", one("vehicle", "grey", "a multirotor", _airframe))
