"""All distractors: what may be taken for a clue or a person and is none."""

from __future__ import annotations

from esar_ros.sim.assets.animal_meshes import ANIMALS
from esar_ros.sim.assets.distractor_meshes import THINGS
from esar_ros.sim.assets.structure_meshes import DISTRACTOR_STRUCTURES
from esar_ros.sim.assets.variants import Variant

DISTRACTORS: dict[str, tuple[Variant, ...]] = {**THINGS, **ANIMALS, **DISTRACTOR_STRUCTURES}
