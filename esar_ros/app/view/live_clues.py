"""Words of the live page about clues and reports: which are candidates, which have a label, where a report lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import ReportType
from esar_ros.mission.same_object import nearest_of_kind
from esar_ros.nodes.messages.convert import array3
from esar_ros.planning.clue_labels import labels
from esar_ros.planning.reporting import shared_settings
from esar_ros.scoring.whereabouts import place_on_earth, stated


@dataclass(frozen=True)
class _Seen:
    id: int
    kind: str
    probability: float
    position: Vector
    covariance: Vector


def clue_words(clues: Sequence[Any]) -> dict[int, dict[str, Any]]:
    """Returns by each clue message's id whether it is a candidate, and its label on the map, empty for none."""
    seen = [
        _Seen(c.id, c.kind, c.probability, array3(c.position), np.asarray(c.covariance, dtype=np.float64).reshape(3, 3))
        for c in clues
    ]
    settings = shared_settings()
    words = labels(seen, settings)
    return {c.id: {"candidate": settings.is_candidate(c.kind, c.probability), "label": words[c.id]} for c in seen}


def origin_told(brief: Any) -> Origin | None:
    """Returns the origin of the map frame that a brief message tells; None where it tells none."""
    where = brief.origin_latitude, brief.origin_longitude
    return Origin(*where, brief.origin_altitude) if any(where) else None


def where_words(origin: Origin | None, report: Any, clues: Sequence[Any]) -> str:
    """Returns a report message's place on Earth in a line, with the error of the clue message that it is about; empty
    where it is not known."""
    position = array3(report.position)
    if not np.isfinite(position).all():
        return ""
    kind = PERSON if report.type == ReportType.VICTIM else report.kind
    clue = nearest_of_kind(kind, position, clues, lambda one: (one.kind, array3(one.position)))
    place = place_on_earth(origin, position, None if clue is None else stated(clue.covariance))
    return "" if place is None else place.words
