"""Spawned objects and contacts: the nouns of a World."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.sim.assets.emitters import Emitter
from esar_ros.sim.assets.mesh_builder import Mesh
from esar_ros.sim.assets.meshes import Asset
from esar_ros.sim.assets.vehicle_mesh import AIRFRAME

FIRST_ID, LAST_ID = 1, 254  # instance ids of spawned objects; 0 is everything else
FIXTURE_ID = 0  # of what belongs to the place


@dataclass(frozen=True, eq=False)
class SceneObject:
    """An asset placed in the map frame."""

    name: str
    id: int  # FIRST_ID..LAST_ID, also its value in id images; FIXTURE_ID where it belongs to the place
    asset: Asset
    pose: Pose
    scale: float = 1.0
    draped: Mesh | None = None  # its mesh where it follows the ground instead of being the asset's
    passable: bool = False  # as somebody carried, or an open door: seen, but no body and no ray meets it

    @property
    def mesh(self) -> Mesh:
        """The object's mesh in its own frame, before scaling."""
        return self.draped or self.asset.mesh

    @property
    def radius(self) -> float:
        """Of the sphere about its position that holds it, m."""
        return self.mesh.radius * self.scale if self.draped else self.asset.radius * self.scale

    @property
    def box(self) -> NDArray[np.float64]:
        """Oriented bounding box (15,): centre (3), half extents (3), its axes as rows (9), map frame, m."""
        low, high = (corner.astype(np.float64) * self.scale for corner in self.mesh.bounds)
        rotation = self.pose.rotation
        centre = self.pose.position + rotation @ ((low + high) / 2)
        return np.concatenate([centre, np.maximum((high - low) / 2, 0.01), rotation.T.ravel()])

    @property
    def solids(self) -> NDArray[np.float64]:
        """The object's solids in the map frame: boxes (K, 15) as above; none where it is passable."""
        if self.passable:
            return np.zeros((0, 15))
        own = self.asset.solids
        rotation = self.pose.rotation
        centres = self.pose.position + self.scale * own[:, :3] @ rotation.T
        axes = own[:, 6:].reshape(-1, 3, 3) @ rotation.T
        return np.hstack([centres, self.scale * own[:, 3:6], axes.reshape(-1, 9)])


def vehicle_object(pose: Pose, radius: float) -> SceneObject:
    """Returns a vehicle at a pose, whose body's sphere has a radius (m), as cameras of others see it."""
    return SceneObject("vehicle", FIXTURE_ID, AIRFRAME, pose, radius)


@dataclass(frozen=True)
class PlacedEmitter:
    """A light, fire or smoke where it is in the map."""

    source: SceneObject
    emitter: Emitter
    position: Vector  # (3,) m, of the luminous centre
    direction: Vector  # (3,) unit, of the beam


@dataclass(frozen=True)
class Contact:
    """A sphere touching the world."""

    id: int  # as World.raycast has them
    name: str  # of the object or structure; "ground", or "tree", "bush", "rock" with its index
    depth: float  # m, how far the sphere is in
    normal: Vector  # (3,) unit, out of what was hit
    point: Vector  # (3,) m, on what was hit
    position: Vector  # (3,) m, the sphere's centre at contact
    fraction: float = 0.0  # of the way, for swept contacts
