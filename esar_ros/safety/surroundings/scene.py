"""The vehicle and its surroundings in one decision, as far as they are known."""

from __future__ import annotations

from dataclasses import dataclass

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.inputs import RangeImageData
from esar_ros.safety.surroundings.observed_space import ObservedSpace


@dataclass(frozen=True)
class Scene:
    """The vehicle and its known surroundings in one decision."""

    position: Vector  # (3,) m, map
    velocity: Vector  # (3,) m/s, map
    observed: ObservedSpace
    image: RangeImageData | None
    window: OccupancyWindow | None
    surface: float | None  # m, map z, below the vehicle; None: not observed
    last_ground: Vector | None  # (3,) m, map: point of the ground measured last
    in_takeoff_column: bool
    landing: bool  # down to the ground, wherever that is
    touching_down: bool = False  # down the last metres to ground that is measured; not while landing
    drift: float = 0.0  # m by which gusts may carry the vehicle
    traffic: tuple[tuple[Vector, float], ...] = ()  # direction to each other vehicle, distance (m)
    above_layer: float | None = None  # m above the layer to be kept while a teammate is not heard; None: all are
    way_back: Vector | None = None  # (3,) m: the way by which the wind carried a held vehicle here, back to its start

    @property
    def height(self) -> float | None:
        """Height (m) above the surface below; None where it was not observed."""
        return None if self.surface is None else float(self.position[2]) - self.surface

    @property
    def near_ground(self) -> bool:
        """The vehicle comes down to the ground, so that neither floor nor ground stop it."""
        return self.landing or self.touching_down
