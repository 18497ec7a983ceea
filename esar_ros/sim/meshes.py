"""All that can be placed, by asset name: `<kind>` and `<kind>/<variant>`, people as `person_<pose>[/<outfit>]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import PERSON, VictimPose
from esar_ros.sim.clue_meshes import CLUE_MESHES
from esar_ros.sim.emitters import Emitter
from esar_ros.sim.mesh_builder import Mesh
from esar_ros.sim.persons import OUTFITS, person

__all__ = ["Asset", "Mesh", "assets"]


@dataclass(frozen=True, eq=False)
class Asset:
    """A thing that World.spawn can place; it stands on its origin, z up, front along +x."""

    name: str
    kind: str  # one of mission.clues.KINDS
    mesh: Mesh
    emitters: tuple[Emitter, ...] = ()

    @property
    def radius(self) -> float:
        """Of the sphere about its origin that holds it, m."""
        return self.mesh.radius

    @property
    def solids(self) -> NDArray[np.float64]:
        """What of it is solid: boxes (K, 15) in its own frame, see Model."""
        low, high = self.mesh.bounds
        half = np.maximum((high - low) / 2, 0.01)
        return np.concatenate([(low + high) / 2, half, np.eye(3).ravel()])[None, :].astype(np.float64)

    @property
    def emissive(self) -> bool:
        """Whether it gives light."""
        return bool(np.any(self.mesh.emission > 0.0))


@cache
def assets() -> Mapping[str, Asset]:
    """All assets; the bare kind names its first variant."""
    found: dict[str, Asset] = {}
    for kind, variants in CLUE_MESHES.items():
        for variant, make in variants.items():
            _register(found, kind.value, kind.value, variant, make())
    for pose in VictimPose:
        for name, outfit in OUTFITS.items():
            _register(found, f"{PERSON}_{pose.value}", PERSON, name, person(pose, outfit))
    return MappingProxyType(found)


def _register(found: dict[str, Asset], name: str, kind: str, variant: str, mesh: Mesh) -> None:
    found.setdefault(name, Asset(name, kind, mesh))
    found[f"{name}/{variant}"] = Asset(f"{name}/{variant}", kind, mesh)
