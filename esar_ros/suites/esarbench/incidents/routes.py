"""The ways that people meant to go: a stretch of a track, and what forks off it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.incidents.walk import STRIDE, Points

_MEET = 30.0  # m within which tracks meet
_SHORTEST = 400.0  # m of a way worth setting out on
_AWAY = 60.0  # m by which a fork's branches part before they count as two


class Fork(NamedTuple):
    """A choice on the way."""

    vertex: int  # of the way
    wrong: Points  # the way that was not meant, from there


class Route(NamedTuple):
    """A way as it was meant."""

    tracks: tuple[str, ...]  # names, in order
    line: Points  # a vertex about every STRIDE
    forks: tuple[Fork, ...]


def draw_route(place: PlaceMap, random: np.random.Generator) -> Route:
    """A way from anywhere on a track, in either sense, with a turn where tracks meet. Raises UsageError."""
    lines = {name: _even(line) for name, line in place.tracks.items()}
    lines = {name: line for name, line in lines.items() if len(line) * STRIDE >= _SHORTEST}
    if not lines:
        raise UsageError(f"map {place.id} has no track of {_SHORTEST:.0f} m", "choose a map with tracks")
    name = str(random.choice(sorted(lines)))
    line = lines[name][:: random.choice([-1, 1])]
    first = int(random.integers(0, len(line) - int(_SHORTEST / STRIDE) + 1))
    line = line[first:]
    for other in sorted(set(lines) - {name}):
        at, branches = _branches(line, lines[other])
        if branches and at > 10 and random.random() < 0.6:
            branch = branches[int(random.integers(len(branches)))]
            forks = (Fork(at, line[at:]),) if _parts(branch, line[at:]) else ()
            return Route((name, other), np.concatenate([line[:at], branch]), forks)
    return Route((name,), line, tuple(_forks_off(line, [lines[other] for other in sorted(set(lines) - {name})])))


def _forks_off(line: Points, others: list[Points]) -> list[Fork]:
    found = []
    for other in others:
        at, branches = _branches(line, other)
        found += [Fork(at, branch) for branch in branches if at > 10 and _parts(branch, line[at:])]
    return found


def _branches(line: Points, other: Points) -> tuple[int, list[Points]]:
    """Returns the vertex where another track comes near, and the branches from there that are long enough to walk."""
    apart = np.linalg.norm(line[:, None] - other[None], axis=-1)
    at, there = (int(i) for i in np.unravel_index(int(np.argmin(apart)), apart.shape))
    if apart[at, there] > _MEET:
        return 0, []
    return at, [branch for branch in (other[there:], other[there::-1]) if len(branch) * STRIDE >= 150.0]


def _parts(a: Points, b: Points) -> bool:
    """Returns whether two routes from one place diverge."""
    near = min(len(a), len(b), int(150.0 / STRIDE))
    return near > 5 and float(np.linalg.norm(a[near - 1] - b[near - 1])) > _AWAY


def _even(line: Points) -> Points:
    """The polyline with a vertex every STRIDE."""
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.arange(0.0, run[-1], STRIDE)
    return np.stack([np.interp(at, run, line[:, 0]), np.interp(at, run, line[:, 1])], axis=1)
