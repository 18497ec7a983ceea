"""All families of households."""

from __future__ import annotations

from esar_ros.sim.assets.households.animals import ANIMALS
from esar_ros.sim.assets.households.belongings import BELONGINGS
from esar_ros.sim.assets.households.containers import CONTAINERS
from esar_ros.sim.assets.households.furniture import FURNITURE
from esar_ros.sim.assets.households.garden import GARDEN
from esar_ros.sim.assets.households.kitchen import KITCHEN
from esar_ros.sim.assets.households.make import Family
from esar_ros.sim.assets.households.playground import PLAYGROUND
from esar_ros.sim.assets.households.seats import SEATS
from esar_ros.sim.assets.households.street import STREET
from esar_ros.sim.assets.households.vehicles import VEHICLES

HOUSEHOLDS: dict[str, Family] = {
    family.name: family
    for family in (
        *SEATS, *FURNITURE, *KITCHEN, *CONTAINERS, *GARDEN, *PLAYGROUND, *STREET, *VEHICLES, *ANIMALS, *BELONGINGS,
    )
}  # fmt: skip
