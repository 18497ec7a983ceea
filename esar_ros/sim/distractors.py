"""All distractors: what may be taken for a clue or a person and is none."""

from __future__ import annotations

from esar_ros.sim.animal_meshes import ANIMALS
from esar_ros.sim.distractor_meshes import THINGS
from esar_ros.sim.structure_meshes import DISTRACTOR_STRUCTURES
from esar_ros.sim.variants import Variant

DISTRACTORS: dict[str, tuple[Variant, ...]] = {**THINGS, **ANIMALS, **DISTRACTOR_STRUCTURES}
