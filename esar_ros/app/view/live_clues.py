"""Words of the live page about clues: which are candidates, and which have a label on its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.nodes.messages.convert import array3
from esar_ros.planning.clue_labels import labels
from esar_ros.planning.reporting import shared_settings


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
        _Seen(c.id, c.kind, c.score, array3(c.position), np.asarray(c.covariance, dtype=np.float64).reshape(3, 3))
        for c in clues
    ]
    settings = shared_settings()
    words = labels(seen, settings)
    return {c.id: {"candidate": settings.is_candidate(c.kind, c.probability), "label": words[c.id]} for c in seen}
