"""The builders of pieces by kind."""

from __future__ import annotations

from collections.abc import Callable

from esar_ros.sim.assets.buildings.fittings import fence, flower_bed, hedge, kerb, lamp, mark, pole, wall
from esar_ros.sim.assets.buildings.houses import house
from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.buildings.walk_in import container, crates, loading_deck, walk_in_house
from esar_ros.sim.assets.buildings.yards import (
    bridge,
    fountain,
    greenhouse,
    jetty,
    open_shed,
    pavilion,
    silo,
    water_tower,
    wood_pile,
)
from esar_ros.sim.terrain.settlements.plan import Piece

BUILDERS: dict[str, Callable[[Masonry, Piece], None]] = {
    "bridge": bridge, "container": container, "crates": crates, "fence": fence, "flower_bed": flower_bed,
    "fountain": fountain, "greenhouse": greenhouse, "hedge": hedge, "house": house, "jetty": jetty, "kerb": kerb,
    "lamp": lamp, "loading_deck": loading_deck, "mark": mark, "open_shed": open_shed, "pavilion": pavilion,
    "pole": pole, "silo": silo, "walk_in_house": walk_in_house, "wall": wall, "water_tower": water_tower,
    "wood_pile": wood_pile,
}  # fmt: skip
DRAPED = frozenset({"kerb", "mark", "hedge", "flower_bed"})  # they follow the ground point by point
