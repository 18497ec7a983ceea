"""The staging of a story: things keep their distances from each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import PERSON
from esar_ros.suites.esarbench.tasks.staging import APART, stage
from esar_ros.suites.esarbench.tasks.stories import load_story, story_ids


def plain() -> Any:
    """Flat ground without a plant: every spot will do, every way is straight, everything is seen."""

    def nearest(xy: Sequence[float], *_: object, **__: object) -> tuple[float, float]:
        return float(xy[0]), float(xy[1])

    return SimpleNamespace(nearest=nearest, walk=np.array, seen_from=lambda xy: np.ones(34, dtype=bool))


@pytest.mark.parametrize("name", story_ids()[:3])
def test_two_things_keep_the_wider_of_their_two_distances(name: str) -> None:
    for snapshot in stage(load_story(name), plain(), 1).snapshots:
        lying = [(APART[PERSON], victim["position"]) for victim in snapshot.victims]
        lying += [(APART.get(clue["kind"], 2.0), clue["position"]) for clue in snapshot.clues]
        for (one, here), (other, there) in combinations(lying, 2):
            assert math.dist(here, there) >= max(one, other)
