"""The track of an object: its position with covariance, and the evidence for it.

Views of one flight have correlated errors, since odometry wanders slowly: a hundred images from one place are no surer
than the pose they share. So the filter's state holds the pose's error beside the object's position (coloured
measurement noise: Bar-Shalom, Li and Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001,
section 8.3), as a first-order Gauss-Markov process with the covariance that the odometry states. A look ten minutes
later then adds information, a second look after one second does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import SeenClue
from esar_ros.perception.fusion.evidence import Evidence
from esar_ros.perception.fusion.localisation import pose_jacobian
from esar_ros.perception.settings import EvidenceSettings, FusionSettings

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PositionMeasurement:
    """A measurement of a position, with the covariance of the pose that it was taken from."""

    stamp: float  # s
    position: Vector  # (3,) m, map
    noise: Matrix  # (3, 3) m^2, map, the pose taken as exact
    pose_covariance: Matrix  # (6, 6), m^2 and rad^2, about the map's axes
    lever: Vector  # (3,) m, map axes, from the camera to the position

    @property
    def model(self) -> Matrix:
        """Measurement matrix H (3, 9), by the position and the pose's error."""
        return np.hstack([np.eye(3), pose_jacobian(self.lever)])


class PlaceFilter:
    """A Kalman filter of a static position, seen from poses that err slowly. State: position (3), pose error (6)."""

    def __init__(self, first: PositionMeasurement) -> None:
        """Initialises the state from the first measurement alone, without a prior on the position."""
        jacobian, pose = pose_jacobian(first.lever), first.pose_covariance
        self.state = np.concatenate([first.position, np.zeros(6)])
        cross = -jacobian @ pose
        self.covariance = np.block([[first.noise + jacobian @ pose @ jacobian.T, cross], [cross.T, pose]])
        self._stamp = first.stamp

    @property
    def position(self) -> Vector:
        """Estimated position (3,), m, map."""
        return self.state[:3]

    @property
    def spread(self) -> Matrix:
        """Covariance (3, 3) of the position, m^2, map."""
        return self.covariance[:3, :3]

    def advance(self, stamp: float, pose_covariance: Matrix, settings: FusionSettings) -> None:
        """Propagates the pose's error to a stamp (s); a stamp before the last changes nothing."""
        passed = stamp - self._stamp
        if passed <= 0.0:
            return
        self._stamp = stamp
        kept = np.ones(9)
        kept[3:6] = math.exp(-passed / settings.position_time)
        kept[6:9] = math.exp(-passed / settings.attitude_time)
        self.state = self.state * kept
        self.covariance = self.covariance * np.outer(kept, kept)
        # Stationary: the error keeps the covariance that is stated now.
        self.covariance[3:, 3:] += pose_covariance * (1.0 - np.outer(kept[3:], kept[3:]))

    def correct(self, seen: PositionMeasurement) -> None:
        """Updates the state by a measurement, in Joseph's form."""
        model, prior = seen.model, self.covariance
        total = model @ prior @ model.T + seen.noise
        gain = np.linalg.solve(total, model @ prior).T
        rest = np.eye(9) - gain @ model
        covariance = rest @ prior @ rest.T + gain @ seen.noise @ gain.T
        self.state = self.state + gain @ (seen.position - model @ self.state)
        self.covariance = (covariance + covariance.T) / 2.0


@dataclass
class Track:
    """An object of the fusion with an id."""

    id: int
    place: PlaceFilter
    evidence: Evidence
    text: str
    nearest_view: float
    first_seen: float
    last_seen: float
    extent: float  # m, mean over the sightings
    sightings: int = 1
    beside: set[int] = field(default_factory=set)  # ids seen in one image with it: other objects for certain
    shown_by: set[bool] = field(default_factory=set)  # whether by the thermal camera: one of them, or both

    def add_sighting(self, stamp: float, distance: float, extent: float, text: str) -> None:
        """Adds a sighting at a distance (m), of an extent (m)."""
        self.sightings += 1
        self.extent += (extent - self.extent) / self.sightings
        if distance < self.nearest_view:
            self.nearest_view, self.text = distance, text
        self.first_seen = min(self.first_seen, stamp)
        self.last_seen = max(self.last_seen, stamp)

    def absorb(self, other: Track, how: EvidenceSettings) -> None:
        """Merges a track that has turned out to be the same object.

        The surer position is kept, the other left out: both err by the same pose, their mean would be overconfident.
        """
        if np.trace(other.place.spread) < np.trace(self.place.spread):
            self.place = other.place
        self.evidence.absorb(other.evidence, how)
        total = self.sightings + other.sightings
        self.extent = (self.extent * self.sightings + other.extent * other.sightings) / total
        self.sightings = total
        if other.nearest_view < self.nearest_view:
            self.nearest_view, self.text = other.nearest_view, other.text
        self.first_seen = min(self.first_seen, other.first_seen)
        self.last_seen = max(self.last_seen, other.last_seen)
        self.beside |= other.beside
        self.shown_by |= other.shown_by

    def surface(self, settings: FusionSettings) -> Matrix:
        """Returns the covariance (3, 3), m^2, of the visible part about the position, which no view reduces."""
        return np.eye(3) * (settings.surface_sigma**2 + (settings.surface_share * self.extent) ** 2)

    def seen_clue(self, settings: FusionSettings, prior: float | None = None) -> SeenClue:
        """Returns the track as planners receive it; prior: that it is there, by default that of the settings."""
        return SeenClue(
            id=self.id,
            kind=self.evidence.kind,
            text=self.text,
            probability=self.evidence.probability(settings.evidence, prior),
            position=self.place.position.copy(),
            covariance=self.place.spread + self.surface(settings),
            views=self.evidence.views,
            nearest_view=self.nearest_view,
            first_seen=self.first_seen,
            last_seen=self.last_seen,
        )
