"""All that can be placed, by asset name `<kind>/<variant>`; a bare kind names its first variant.

Kinds: the twelve clues, `person_<pose>`, `distractor_<thing>`, `structure_<thing>`, `household_<thing>` and
`rescue_<thing>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import PERSON
from esar_ros.sim.assets.animal_meshes import ANIMALS
from esar_ros.sim.assets.clue_meshes import CLUES
from esar_ros.sim.assets.distractor_meshes import THINGS
from esar_ros.sim.assets.emitters import Emitter
from esar_ros.sim.assets.households.catalogue import HOUSEHOLDS
from esar_ros.sim.assets.mesh_builder import Mesh, Model
from esar_ros.sim.assets.people.persons import PERSONS
from esar_ros.sim.assets.rescue_meshes import RESCUES
from esar_ros.sim.assets.structure_meshes import DISTRACTOR_STRUCTURES, STRUCTURES
from esar_ros.sim.assets.variants import Variant

__all__ = ["DISTRACTOR", "HOUSEHOLD", "RESCUE", "STRUCTURE", "Asset", "Mesh", "assets"]

DISTRACTOR = "distractor"
HOUSEHOLD = "household"
RESCUE = "rescue"
STRUCTURE = "structure"
# What may be taken for a clue or a person and is none.
_DISTRACTORS: dict[str, tuple[Variant, ...]] = {**THINGS, **ANIMALS, **DISTRACTOR_STRUCTURES}


@dataclass(frozen=True, eq=False)
class Asset:
    """A thing that World.spawn can place; it stands on its origin, z up, front along +x."""

    name: str
    kind: str  # one of mission.clues.KINDS, or DISTRACTOR, STRUCTURE, HOUSEHOLD or RESCUE
    family: str  # the name without the variant
    variant: Variant

    @property
    def held_out(self) -> bool:
        """True where a detector's training set must not show it."""
        return self.variant.held_out

    @cached_property
    def model(self) -> Model:
        """Built when first asked for, and shared by the names of one variant."""
        return _model(self.family, self.variant)

    @property
    def mesh(self) -> Mesh:
        """The asset's mesh."""
        return self.model.mesh

    @property
    def solids(self) -> NDArray[np.float64]:
        """The asset's solids (K, 15): see Model."""
        return self.model.solids

    @property
    def emitters(self) -> tuple[Emitter, ...]:
        """Its lights, fires and smokes."""
        return self.model.emitters

    @cached_property
    def radius(self) -> float:
        """Of the sphere about its origin that holds it, m."""
        return self.mesh.radius

    @property
    def size(self) -> tuple[float, float, float]:
        """Length, width and height above the ground, m."""
        low, high = self.mesh.bounds
        return float(high[0] - low[0]), float(high[1] - low[1]), float(high[2])

    @property
    def emissive(self) -> bool:
        """True where any part of it emits light."""
        return bool(np.any(self.mesh.emission > 0.0))


@cache
def assets() -> Mapping[str, Asset]:
    """All assets."""
    found: dict[str, Asset] = {}
    for clue, variants in CLUES.items():
        _register(found, clue.value, clue.value, variants)
    for pose, variants in PERSONS.items():
        _register(found, f"{PERSON}_{pose.value}", PERSON, variants)
    for thing, variants in _DISTRACTORS.items():
        _register(found, f"{DISTRACTOR}_{thing}", DISTRACTOR, variants)
    for thing, variants in STRUCTURES.items():
        _register(found, f"{STRUCTURE}_{thing}", STRUCTURE, variants)
    for thing, family in HOUSEHOLDS.items():
        _register(found, f"{HOUSEHOLD}_{thing}", HOUSEHOLD, family.makes)
    for thing, variants in RESCUES.items():
        _register(found, f"{RESCUE}_{thing}", RESCUE, variants)
    return MappingProxyType(found)


@cache
def _model(family: str, variant: Variant) -> Model:
    return variant.make()


def _register(found: dict[str, Asset], family: str, kind: str, variants: tuple[Variant, ...]) -> None:
    for variant in variants:
        found.setdefault(family, Asset(family, kind, family, variant))
        found[f"{family}/{variant.name}"] = Asset(f"{family}/{variant.name}", kind, family, variant)
