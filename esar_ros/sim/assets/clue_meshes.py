"""The twelve clue kinds, each in several shapes, colours and states."""

from __future__ import annotations

from esar_ros.mission.clues import ClueKind
from esar_ros.sim.assets.camp_meshes import CAMPFIRES, TENTS
from esar_ros.sim.assets.clothes_meshes import CLOTHES
from esar_ros.sim.assets.gear_meshes import ROPES, TREKKING_POLES, WATER_BOTTLES
from esar_ros.sim.assets.pack_meshes import BACKPACKS, SLEEPING_BAGS
from esar_ros.sim.assets.signal_meshes import LIGHTS, SIGNAL_FLARES
from esar_ros.sim.assets.trace_meshes import FOOD_WRAPPERS, FOOTPRINTS
from esar_ros.sim.assets.variants import Variant

# The first variant is the default.
CLUES: dict[ClueKind, tuple[Variant, ...]] = {
    ClueKind.TENT: TENTS,
    ClueKind.BACKPACK: BACKPACKS,
    ClueKind.CLOTHING: CLOTHES,
    ClueKind.CAMPFIRE: CAMPFIRES,
    ClueKind.SIGNAL_FLARE: SIGNAL_FLARES,
    ClueKind.LIGHT: LIGHTS,
    ClueKind.SLEEPING_BAG: SLEEPING_BAGS,
    ClueKind.TREKKING_POLE: TREKKING_POLES,
    ClueKind.WATER_BOTTLE: WATER_BOTTLES,
    ClueKind.FOOD_WRAPPER: FOOD_WRAPPERS,
    ClueKind.ROPE: ROPES,
    ClueKind.FOOTPRINTS: FOOTPRINTS,
}
