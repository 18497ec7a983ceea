"""Fusion of sightings over cameras and time into objects with an id, a place and a covariance.

Association: Mahalanobis gate and Hungarian assignment per image (Bar-Shalom and Li,
Multitarget-Multisensor Tracking, 1995); an image shows an object once. Filter: track.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import THERMAL
from esar_ros.mission.observation import SeenClue
from esar_ros.perception.fusion.bearings import Rays, measured
from esar_ros.perception.fusion.evidence import Evidence, Reliability
from esar_ros.perception.fusion.localisation import Sighting
from esar_ros.perception.fusion.track import PlaceFilter, PositionMeasurement, Track
from esar_ros.perception.fusion.visibility import unobstructed
from esar_ros.perception.settings import FusionSettings
from esar_ros.perception.size_prior import doubted

_OUTSIDE = 1e9  # cost of a pair outside the gate


class ClueFusion:
    """All objects seen so far. Deterministic; the order of the sightings of one stamp does not matter."""

    def __init__(
        self, settings: FusionSettings | None = None, first_id: int = 1, reliability: Reliability | None = None
    ) -> None:
        """first_id: of the first object; reliability: of the detector's scores, without it they are probabilities.

        Raises UsageError when a confusable kind does not exist or stands twice.
        """
        self._settings = settings or FusionSettings()
        self.reliability = self.thermal_reliability = reliability or Reliability()
        self._group = _groups(self._settings.confusable)
        self._tracks: list[Track] = []  # by id
        self._rays = Rays(self._settings.bearings)
        self._next_id = first_id
        self.owners: dict[int, int] = {}  # of the last update: place in its sightings -> the object's id
        self.merged: dict[int, int] = {}  # of the last update: id that is no more -> the one it was found to be

    def update(
        self, sightings: Iterable[Sighting], frames: Sequence[CameraFrame] = (), kinds: Collection[str] = KINDS
    ) -> tuple[SeenClue, ...]:
        """Take in the sightings of one frame (all cameras) and return every object known, by id.

        frames: the processed images; kinds: those searched for in them. Objects of these that the
        images should have shown and did not are believed less.
        """
        given = list(sightings)
        places = {id(sighting): place for place, sighting in enumerate(given)}
        self.owners, self.merged = {}, {}
        touched: set[int] = set()
        for _, group in groupby(sorted(given, key=_canonical), key=lambda s: (s.stamp, s.camera)):
            image = self._without_duplicates(list(group))
            for sighting, track in self._take_in(image):
                self.owners[places[id(sighting)]] = track.id
                touched.add(track.id)
        self._merge(touched)
        self.owners = {place: self._final(owner) for place, owner in self.owners.items()}
        shown = {(given[place].camera, owner) for place, owner in self.owners.items()}
        for frame in frames:
            self._doubt(frame, {owner for camera, owner in shown if camera == frame.camera}, kinds)
        return self.clues()

    def _doubt(self, frame: CameraFrame, shown: set[int], kinds: Collection[str]) -> None:
        """Count an image against the objects that it should show as well as any before, and does not.

        What colours alone have shown need not be warm, and what the thermal camera alone has shown need not be lit.
        """
        missing = [
            track
            for track in self._tracks
            if track.id not in shown and track.evidence.kind in kinds and (frame.camera == THERMAL) in track.shown_by
        ]
        if not missing or not np.isfinite([*frame.pose.position, *frame.pose.quaternion]).all():
            return
        places = np.array([track.place.position for track in missing])
        shows = unobstructed(frame, places, np.array([track.nearest_view for track in missing]))
        for index in np.flatnonzero(shows):
            ray = places[index] - frame.pose.position
            distance = float(np.linalg.norm(ray))
            missing[index].evidence.miss(ray / distance, distance, self._settings.evidence)

    def _final(self, identity: int) -> int:
        while identity in self.merged:
            identity = self.merged[identity]
        return identity

    def clues(self) -> tuple[SeenClue, ...]:
        """Every object known, ordered by id.

        On a ground with many warm spots each one is a person less likely: those that only the thermal camera has
        shown share the few people that are expected.
        """
        how = self._settings.evidence
        warm = {track.id for track in self._tracks if track.shown_by == {True}}
        rare = min(how.prior, how.warm_people / len(warm)) if warm else how.prior
        return tuple(track.seen_clue(self._settings, rare if track.id in warm else how.prior) for track in self._tracks)

    def _without_duplicates(self, image: list[Sighting]) -> list[Sighting]:
        """Leave out boxes that lie inside a surer one of their group: detectors frame one object twice."""
        kept: list[Sighting] = []
        for sighting in sorted(image, key=lambda s: -s.detection.score):
            group = self._group[sighting.detection.kind]
            same = (other for other in kept if self._group[other.detection.kind] == group)
            if not any(_share_inside(sighting, other) >= self._settings.contained for other in same):
                kept.append(sighting)
        return [sighting for sighting in image if any(sighting is other for other in kept)]

    def _take_in(self, image: list[Sighting]) -> list[tuple[Sighting, Track]]:
        """Associate one image's sightings and update or open their tracks; a ray without an object is kept."""
        for track in self._tracks:
            track.place.advance(image[0].stamp, image[0].pose_covariance, self._settings)
        owners: list[tuple[Sighting, Track]] = []
        for sighting, known in self._assign(image):
            if known is not None:
                self._correct(known[0], sighting, known[1])
            owner = known[0] if known is not None else self._open(sighting)
            if owner is not None:
                owners.append((sighting, owner))
        ids = {track.id for _, track in owners}
        for _, track in owners:
            track.beside |= ids - {track.id}
        return owners

    def _assign(self, image: list[Sighting]) -> list[tuple[Sighting, tuple[Track, PositionMeasurement] | None]]:
        """Each sighting with its track and what it measures of it; None for a new object."""
        cost = np.full((len(image), len(self._tracks)), _OUTSIDE)
        seen: dict[tuple[int, int], PositionMeasurement] = {}
        for column, track in enumerate(self._tracks):
            group = self._group[track.evidence.kind]
            for row, sighting in enumerate(image):
                if self._group[sighting.detection.kind] != group:
                    continue
                placed = self._measured(sighting, track)
                if placed is None or not self._could_be(placed, track):
                    continue
                seen[row, column] = placed
                model = placed.model
                spread = model @ track.place.covariance @ model.T + placed.noise + track.surface(self._settings)
                offset = placed.position - model @ track.place.state
                distance = float(offset @ np.linalg.solve(spread, offset))
                if distance <= self._settings.gate:
                    cost[row, column] = distance
        known = {
            int(row): (self._tracks[column], seen[row, column])
            for row, column in zip(*linear_sum_assignment(cost), strict=True)
            if cost[row, column] < _OUTSIDE
        }
        return [(sighting, known.get(row)) for row, sighting in enumerate(image)]

    def _measured(self, sighting: Sighting, track: Track) -> PositionMeasurement | None:
        placed = _placed(sighting)
        return placed or measured(sighting, track.place.position, self._settings.bearings)

    def _could_be(self, placed: PositionMeasurement, track: Track) -> bool:
        """Cheap test before the exact one: no covariance reaches farther than its trace."""
        offset = placed.position - track.place.position
        effect = placed.model[:, 3:]
        # Cauchy and Schwarz: twice the sum bounds the part that place and pose error share.
        bound = 2.0 * (np.trace(track.place.spread) + np.trace(effect @ track.place.covariance[3:, 3:] @ effect.T))
        bound += np.trace(placed.noise) + np.trace(track.surface(self._settings))
        drift = float(np.linalg.norm(effect @ track.place.state[3:]))
        return bool(np.linalg.norm(offset) - drift <= np.sqrt(self._settings.gate * bound))

    def _open(self, sighting: Sighting) -> Track | None:
        """A new object; for a ray, only where it crosses an earlier one."""
        group = self._group[sighting.detection.kind]
        placed, distance, first = _placed(sighting), sighting.view_range, sighting
        if placed is None or distance is None:
            crossing = self._rays.crossing(group, sighting)
            if crossing is None:
                self._rays.keep(group, sighting)
                return None
            placed, distance, first = crossing.placed, crossing.view_range, crossing.earlier
            self._rays.forget(first)
        track = Track(
            id=self._next_id,
            place=PlaceFilter(placed),
            evidence=Evidence(),
            text=sighting.detection.text,
            nearest_view=distance,
            first_seen=first.stamp,
            last_seen=sighting.stamp,
            extent=sighting.extent,
        )
        for seen in {id(s): s for s in (first, sighting)}.values():
            self._believe(track, seen)
        self._next_id += 1
        self._tracks.append(track)
        return track

    def _correct(self, track: Track, sighting: Sighting, placed: PositionMeasurement) -> None:
        track.place.correct(placed)
        self._believe(track, sighting)
        distance = float(np.linalg.norm(placed.lever))
        extent = track.extent if sighting.position is None else sighting.extent
        track.add_sighting(sighting.stamp, sighting.view_range or distance, extent, sighting.detection.text)

    def _believe(self, track: Track, sighting: Sighting) -> None:
        kind = sighting.detection.kind
        thermal = sighting.camera == THERMAL
        reliability = self.thermal_reliability if thermal else self.reliability
        probability = reliability.probability(kind, sighting.detection.score)
        track.shown_by.add(thermal)
        distance = sighting.view_range or float(np.linalg.norm(track.place.position - sighting.origin))
        if kind == PERSON and sighting.view_range is None and sighting.side > 0.0:  # depth was not there to judge it
            probability = doubted(probability, sighting.side * distance)
        track.evidence.add(kind, probability, sighting.bearing, distance, self._settings.evidence)

    def _merge(self, touched: set[int]) -> None:
        """Unite tracks that have come to lie in one place, unless one image showed both."""
        for track in list(self._tracks):
            if track.id not in touched:
                continue
            partner = self._partner(track)
            while partner is not None:
                track = self._unite(*sorted((track, partner), key=lambda t: t.id))
                partner = self._partner(track)

    def _partner(self, track: Track) -> Track | None:
        """The nearest track that is the same object as this one."""
        group = self._group[track.evidence.kind]
        others = [
            other
            for other in self._tracks
            if other is not track and other.id not in track.beside and self._group[other.evidence.kind] == group
        ]
        if track.id in self.merged or not others:
            return None
        offsets = np.array([other.place.position for other in others]) - track.place.position
        spreads = (
            np.array([other.place.spread for other in others]) + track.place.spread + track.surface(self._settings)
        )
        distances = _mahalanobis(offsets, spreads)
        best = int(np.argmin(distances))
        return others[best] if distances[best] <= self._settings.merge_gate else None

    def _unite(self, elder: Track, younger: Track) -> Track:
        elder.absorb(younger, self._settings.evidence)
        self.merged[younger.id] = elder.id
        self._tracks = [track for track in self._tracks if track is not younger]
        for track in self._tracks:
            if younger.id in track.beside:
                track.beside = track.beside - {younger.id} | {elder.id}
        return elder


def _placed(sighting: Sighting) -> PositionMeasurement | None:
    if sighting.position is None or sighting.noise is None:
        return None
    lever = sighting.position - sighting.origin
    return PositionMeasurement(sighting.stamp, sighting.position, sighting.noise, sighting.pose_covariance, lever)


def _groups(confusable: Sequence[Sequence[str]]) -> dict[str, str]:
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
    detection = sighting.detection
    place = sighting.bearing if sighting.position is None else sighting.position
    return (sighting.stamp, sighting.camera, detection.kind, detection.box, detection.score, tuple(place))


def _share_inside(sighting: Sighting, other: Sighting) -> float:
    """Share of a sighting's pixels that lie in another's: of its box, or of its mask where both have one."""
    mine, theirs = sighting.detection, other.detection
    if mine.mask is not None and theirs.mask is not None:
        return 0.0  # masks part the image: each pixel is one object's
    (x, y, width, height), (left, top, across, down) = mine.box, theirs.box
    wide = min(x + width, left + across) - max(x, left)
    high = min(y + height, top + down) - max(y, top)
    return max(0, wide) * max(0, high) / (width * height)


def _mahalanobis(offsets: NDArray[np.float64], covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances (N,) of offsets (N, 3) under covariances (N, 3, 3)."""
    solved = np.linalg.solve(covariances, offsets[..., None])[..., 0]
    return np.asarray(np.einsum("ni,ni->n", offsets, solved))
