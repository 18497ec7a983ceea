"""Fusion of sightings over cameras and time into objects with an id, a place and a covariance.

Association: Mahalanobis gate and Hungarian assignment per picture (Bar-Shalom and Li,
Multitarget-Multisensor Tracking, 1995); a picture shows an object once. Filter: Kalman, static state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import SeenClue
from esar_ros.perception.localisation import Sighting
from esar_ros.perception.settings import FusionSettings

_OUTSIDE = 1e9  # cost of a pair outside the gate


@dataclass
class _Track:
    """One object; covariance without the error that all its views share."""

    id: int
    position: Vector
    covariance: NDArray[np.float64]
    score: float
    text: str
    views: int
    nearest_view: float
    first_seen: float
    last_seen: float
    evidence: dict[str, float]  # summed score by kind
    beside: set[int] = field(default_factory=set)  # ids seen in one picture with it: other objects for certain

    @property
    def kind(self) -> str:
        return max(self.evidence, key=lambda kind: (self.evidence[kind], -KINDS.index(kind)))


class ClueFusion:
    """All objects seen so far. Deterministic; the order of the sightings of one stamp does not matter."""

    def __init__(self, settings: FusionSettings | None = None, first_id: int = 1) -> None:
        """first_id: of the first object. Raises UsageError when a confusable kind does not exist or stands twice."""
        self._settings = settings or FusionSettings()
        self._group = _groups(self._settings.confusable)
        self._shared = np.eye(3) * self._settings.systematic_sigma**2
        self._tracks: list[_Track] = []  # by id
        self._next_id = first_id
        self.bearings_only = 0  # sightings without depth, left out so far

    def update(self, sightings: Iterable[Sighting]) -> tuple[SeenClue, ...]:
        """Take in the sightings of one frame (all cameras) and return every object known, by id."""
        placed = []
        for sighting in sightings:
            if sighting.position is None:
                self.bearings_only += 1
            else:
                placed.append(sighting)
        placed.sort(key=_canonical)
        touched: set[int] = set()
        for _, picture in groupby(placed, key=lambda s: (s.stamp, s.camera)):
            touched.update(self._take_in(list(picture)))
        self._merge(touched)
        return self.clues()

    def clues(self) -> tuple[SeenClue, ...]:
        """Every object known, ordered by id."""
        return tuple(
            SeenClue(
                id=track.id,
                kind=track.kind,
                text=track.text,
                score=track.score,
                position=track.position.copy(),
                covariance=track.covariance + self._shared,
                views=track.views,
                nearest_view=track.nearest_view,
                first_seen=track.first_seen,
                last_seen=track.last_seen,
            )
            for track in self._tracks
        )

    def _take_in(self, picture: list[Sighting]) -> set[int]:
        """Associate one picture's sightings and update or open their tracks; returns the tracks' ids."""
        owners: list[_Track] = []
        assigned = self._assign(picture)
        for sighting, track in zip(picture, assigned, strict=True):
            if track is None:
                track = self._open(sighting)
            else:
                self._correct(track, sighting)
            owners.append(track)
        ids = {track.id for track in owners}
        for track in owners:
            track.beside |= ids - {track.id}
        return ids

    def _assign(self, picture: list[Sighting]) -> list[_Track | None]:
        """The track of each sighting, None for a new object."""
        assigned: list[_Track | None] = [None] * len(picture)
        if not self._tracks:
            return assigned
        cost = np.full((len(picture), len(self._tracks)), _OUTSIDE)
        groups = np.array([self._group[track.kind] for track in self._tracks])
        places = np.array([track.position for track in self._tracks])
        spreads = np.array([track.covariance for track in self._tracks]) + self._shared
        for row, sighting in enumerate(picture):
            same = groups == self._group[sighting.detection.kind]
            if same.any():
                distance = _mahalanobis(places[same] - sighting.position, spreads[same] + sighting.covariance)
                cost[row, same] = np.where(distance <= self._settings.gate, distance, _OUTSIDE)
        for row, column in zip(*linear_sum_assignment(cost), strict=True):
            if cost[row, column] < _OUTSIDE:
                assigned[row] = self._tracks[column]
        return assigned

    def _open(self, sighting: Sighting) -> _Track:
        assert sighting.position is not None and sighting.covariance is not None and sighting.view_range is not None
        track = _Track(
            id=self._next_id,
            position=sighting.position.copy(),
            covariance=sighting.covariance.copy(),
            score=sighting.detection.score,
            text=sighting.detection.text,
            views=1,
            nearest_view=sighting.view_range,
            first_seen=sighting.stamp,
            last_seen=sighting.stamp,
            evidence={sighting.detection.kind: sighting.detection.score},
        )
        self._next_id += 1
        self._tracks.append(track)
        return track

    def _correct(self, track: _Track, sighting: Sighting) -> None:
        """Kalman update of a static position measured directly (H = I), in Joseph's form."""
        assert sighting.position is not None and sighting.covariance is not None and sighting.view_range is not None
        prior, noise = track.covariance, sighting.covariance
        gain = np.linalg.solve(prior + noise, prior).T
        rest = np.eye(3) - gain
        covariance = rest @ prior @ rest.T + gain @ noise @ gain.T
        track.position = track.position + gain @ (sighting.position - track.position)
        track.covariance = (covariance + covariance.T) / 2.0

        detection = sighting.detection
        track.evidence[detection.kind] = track.evidence.get(detection.kind, 0.0) + detection.score
        track.score = 1.0 - (1.0 - track.score) * (1.0 - self._settings.view_weight * detection.score)
        if sighting.view_range < track.nearest_view:
            track.nearest_view = sighting.view_range
            track.text = detection.text
        # Two cameras at one stamp are one view.
        track.views += sighting.stamp != track.last_seen
        track.first_seen = min(track.first_seen, sighting.stamp)
        track.last_seen = max(track.last_seen, sighting.stamp)

    def _merge(self, touched: set[int]) -> None:
        """Unite tracks that have come to lie in one place, unless one picture showed both."""
        for track in list(self._tracks):
            if track.id not in touched:
                continue
            partner = self._partner(track)
            while partner is not None:
                track = self._unite(*sorted((track, partner), key=lambda t: t.id))
                partner = self._partner(track)

    def _partner(self, track: _Track) -> _Track | None:
        """The nearest track that is the same object as this one."""
        group = self._group[track.kind]
        others = [
            other
            for other in self._tracks
            if other is not track and other.id not in track.beside and self._group[other.kind] == group
        ]
        if track not in self._tracks or not others:
            return None
        offsets = np.array([other.position for other in others]) - track.position
        spreads = np.array([other.covariance for other in others]) + track.covariance + self._shared
        distances = _mahalanobis(offsets, spreads)
        best = int(np.argmin(distances))
        return others[best] if distances[best] <= self._settings.merge_gate else None

    def _unite(self, elder: _Track, younger: _Track) -> _Track:
        gain = np.linalg.solve(elder.covariance + younger.covariance, elder.covariance).T
        elder.position = elder.position + gain @ (younger.position - elder.position)
        covariance = (np.eye(3) - gain) @ elder.covariance
        elder.covariance = (covariance + covariance.T) / 2.0
        elder.score = 1.0 - (1.0 - elder.score) * (1.0 - self._settings.view_weight * younger.score)
        for kind, score in younger.evidence.items():
            elder.evidence[kind] = elder.evidence.get(kind, 0.0) + score
        if younger.nearest_view < elder.nearest_view:
            elder.nearest_view, elder.text = younger.nearest_view, younger.text
        elder.views += younger.views - (elder.last_seen == younger.last_seen)
        elder.first_seen = min(elder.first_seen, younger.first_seen)
        elder.last_seen = max(elder.last_seen, younger.last_seen)
        self._tracks = [track for track in self._tracks if track is not younger]
        elder.beside |= younger.beside
        for track in self._tracks:
            if younger.id in track.beside:
                track.beside = track.beside - {younger.id} | {elder.id}
        return elder


def _groups(confusable: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """Kind -> the name of its group; a kind alone is its own group."""
    groups = {kind: kind for kind in KINDS}
    seen: set[str] = set()
    for members in confusable:
        for kind in members:
            if kind not in groups or kind in seen:
                raise UsageError(f"fusion.confusable: '{kind}'", "name each known kind in one group at most")
            seen.add(kind)
            groups[kind] = members[0]
    return groups


def _canonical(sighting: Sighting) -> tuple[object, ...]:
    assert sighting.position is not None
    detection = sighting.detection
    return (sighting.stamp, sighting.camera, detection.kind, detection.box, detection.score, tuple(sighting.position))


def _mahalanobis(offsets: NDArray[np.float64], covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances (N,) of offsets (N, 3) under covariances (N, 3, 3)."""
    solved = np.linalg.solve(covariances, offsets[..., None])[..., 0]
    return np.asarray(np.einsum("ni,ni->n", offsets, solved))
