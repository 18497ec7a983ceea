"""A tree of ways over a heat map, grown by informed sampling towards the greatest expected gain within a budget.

Source: TIGRIS (Moon, Chatterjee and Scherer, IROS 2022, arXiv 2203.12830), Algorithm 1. A place is drawn with a
probability in proportion to what a look at it gains; the nearest node is steered towards it by a step at most, and from
there all near nodes are; a new node's reward is that of its whole way, edges included; a node is left out where one
near it costs no more and gains no less; the best way is that of the greatest reward. The tree is kept under the way as
by IA-TIGRIS (Moon et al., arXiv 2502.15961, and its authors' planner): re-rooted at the next node, with costs, rewards
and budget reckoned anew.

Positions are m from the middle of the map's first cell, x along its columns.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.planning.belief.detection_probability import Curves
from esar_ros.planning.belief.look_map import SIDES
from esar_ros.planning.belief.view_planning import direction, passing

_MOST = 1500  # nodes
_SHORTEST = 1.0  # m, of an edge
_NOTHING = 1e-9  # a reward that is none


class Ground(NamedTuple):
    """The map that the tree grows over."""

    cell: float  # m
    expected: NDArray[np.float64]  # (R, C) of the missing in each cell, before any look
    seen: NDArray[np.float64]  # (4, R, C) the best POD of the looks from each side (belief/look_map.py)
    allowed: NDArray[np.bool_]  # (R, C) where the way may lead
    beside: Curves  # the POD by whole metres of distance on the ground from the way


class Reach(NamedTuple):
    """Distances (m) of the tree."""

    step: float  # the longest edge
    near: float  # nodes so near to a new one are led there too
    prune: float  # and so near they are compared with it
    entropy: bool = False  # the reward: fall of entropy, not people found


class _Nodes(NamedTuple):
    places: NDArray[np.float64]  # (N, 2)
    parents: NDArray[np.int64]  # (N,) -1 at the root, and always before their children
    costs: NDArray[np.float64]  # (N,) m from the root
    rewards: NDArray[np.float64]  # (N,) of the way from the root


class InformationTree:
    """The tree. Its ground's looks are those that will have been taken when the vehicle is at the root."""

    def __init__(self, root: Vector, budget: float, ground: Ground, reach: Reach) -> None:
        """root: (2,) m; budget: m, length of the longest way."""
        self.ground, self._reach = ground, reach
        self._nodes = _Nodes(np.zeros((_MOST, 2)), np.full(_MOST, -1), np.zeros(_MOST), np.zeros(_MOST))
        self._nodes.places[0] = root
        self.size, self.budget = 1, budget

    @property
    def root(self) -> Vector:
        """Returns where the ways begin, (2,) m."""
        return self._nodes.places[0].copy()

    @property
    def nodes(self) -> _Nodes:
        """Returns places, parents, costs and rewards of the nodes."""
        nodes, size = self._nodes, self.size
        return _Nodes(nodes.places[:size], nodes.parents[:size], nodes.costs[:size], nodes.rewards[:size])

    def grow(self, samples: int, random: np.random.Generator) -> None:
        """Grows the tree towards places drawn where looks gain most, as far as the budget reaches."""
        weights = np.cumsum(self._worth_sampling())
        if not weights[-1] > 0.0:
            return
        columns = self.ground.expected.shape[1]
        cells = np.searchsorted(weights, random.random(samples) * weights[-1], side="right")
        cells = np.minimum(cells, len(weights) - 1)
        places = np.stack([cells % columns, cells // columns], axis=1) + random.uniform(-0.5, 0.5, (samples, 2))
        for place in places * self.ground.cell:
            self.size = _extend(self._nodes, self.size, place, self.budget, self.ground, self._reach)

    def best(self, longest: float = math.inf) -> NDArray[np.float64]:
        """Returns the places (N, 2) after the root on the way of the greatest reward; none where nothing is gained.

        longest: m that a way may still be.
        """
        nodes = self.nodes
        node = int(np.argmax(np.where(nodes.costs <= longest, nodes.rewards, -1.0)))
        if nodes.rewards[node] <= _NOTHING:
            return np.zeros((0, 2))
        return _way(self._nodes, node)[1:]

    def reroot(self, place: Vector, budget: float, ground: Ground) -> None:
        """Keeps what grows from the child of the root at a place, over new looks and with a new budget.

        Raises ValueError where the root has no child there.
        """
        nodes, size = self._nodes, self.size
        children = (nodes.parents[:size] == 0) & (nodes.places[:size] == place).all(axis=1)
        if not children.any():
            raise ValueError(f"the root has no child at {place}")
        self.ground, self.budget = ground, budget
        self.size = _keep(nodes, size, int(np.argmax(children)), budget)
        self.revalue(ground)

    def revalue(self, ground: Ground) -> None:
        """Reckons all rewards anew over new looks."""
        self.ground = ground
        for node in range(1, self.size):
            gain = _gain(_way(self._nodes, node), ground, self._reach.entropy)
            self._nodes.rewards[node] = self._nodes.rewards[self._nodes.parents[node]] + gain

    def _worth_sampling(self) -> NDArray[np.float64]:
        """Returns by cell what the best look at it gains, 0 where the budget does not reach."""
        ground, reach = self.ground, self.budget + len(self.ground.beside.person)
        missed, least = np.prod(1.0 - ground.seen, axis=0), ground.seen.min(axis=0)
        further = np.clip((ground.beside.person.max() - least) / (1.0 - least), 0.0, None)
        rows, columns = np.indices(ground.expected.shape)
        away = np.hypot(columns * ground.cell - self.root[0], rows * ground.cell - self.root[1])
        return np.where(ground.allowed & (away <= reach), ground.expected * missed * further, 0.0).reshape(-1)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_looks(start: NDArray[np.float64], end: NDArray[np.float64], ground: Ground) -> None:
    """Counts the looks in passing of a straight flight, in place."""
    leg = direction(start, end)
    first, last, left, right = _window(start, end, ground)
    for r in range(first, last):
        for c in range(left, right):
            side, aside = passing(start, leg, c * ground.cell, r * ground.cell, ground.beside)
            if aside >= 0:
                ground.seen[side, r, c] = max(ground.seen[side, r, c], ground.beside.person[aside])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _window(start: NDArray[np.float64], end: NDArray[np.float64], ground: Ground) -> tuple[int, int, int, int]:
    """First and last row, first and last column (the last excluded) that an edge may show."""
    rows, columns = ground.expected.shape
    far = len(ground.beside.person)
    low_x, high_x = min(start[0], end[0]) - far, max(start[0], end[0]) + far
    low_y, high_y = min(start[1], end[1]) - far, max(start[1], end[1]) + far
    return (
        max(0, math.ceil(low_y / ground.cell)),
        min(rows, math.floor(high_y / ground.cell) + 1),
        max(0, math.ceil(low_x / ground.cell)),
        min(columns, math.floor(high_x / ground.cell) + 1),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _way(nodes: _Nodes, node: int) -> NDArray[np.float64]:
    """Places (N, 2) from the root to a node."""
    count, up = 1, node
    while nodes.parents[up] >= 0:
        up = nodes.parents[up]
        count += 1
    way = np.empty((count, 2))
    for k in range(count - 1, -1, -1):
        way[k] = nodes.places[node]
        node = nodes.parents[node]
    return way


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gain(way: NDArray[np.float64], ground: Ground, entropy: bool) -> float:
    """Reward of the last edge of a way (N, 2), N >= 2, after the looks from the edges before it.

    The people found there whom all looks before would have missed: of one side only the best look counts, so nothing
    is counted twice. entropy: the entropy (bits) that looks which find nobody take from the cells instead.
    """
    start, end = way[-2], way[-1]
    leg = direction(start, end)
    first, last, left, right = _window(start, end, ground)
    before = np.empty((len(way) - 2, 3))
    origins = np.empty((len(way) - 2, 2))
    count, far = 0, len(ground.beside.person) - 1.0
    for k in range(len(way) - 2):  # those that show none of these cells are left out
        a, b = way[k], way[k + 1]
        if (
            min(a[0], b[0]) - far < right * ground.cell
            and max(a[0], b[0]) + far > (left - 1) * ground.cell
            and min(a[1], b[1]) - far < last * ground.cell
            and max(a[1], b[1]) + far > (first - 1) * ground.cell
        ):
            origins[count] = a
            before[count] = direction(a, b)
            count += 1
    best, total = np.empty(SIDES), 0.0
    for r in range(first, last):
        for c in range(left, right):
            if ground.expected[r, c] <= 0.0:
                continue
            x, y = c * ground.cell, r * ground.cell
            side, aside = passing(start, leg, x, y, ground.beside)
            if aside < 0:
                continue
            p = ground.beside.person[aside]
            if p <= ground.seen[side, r, c]:
                continue
            best[:] = ground.seen[:, r, c]
            for k in range(count):
                other, off = passing(origins[k], (before[k, 0], before[k, 1], before[k, 2]), x, y, ground.beside)
                if off >= 0:
                    best[other] = max(best[other], ground.beside.person[off])
            if p <= best[side]:
                continue
            missed = 1.0
            for k in range(SIDES):
                missed *= 1.0 - best[k]
            total += _fall(ground.expected[r, c], missed, missed * (1.0 - p) / (1.0 - best[side]), entropy)
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fall(expected: float, missed: float, after: float, entropy: bool) -> float:
    """The gain of a cell when the probability of missing somebody in it falls."""
    if not entropy:
        return expected * (missed - after)
    prior = min(expected, 0.99)
    return _entropy(prior * missed / (prior * missed + 1.0 - prior)) - _entropy(
        prior * after / (prior * after + 1.0 - prior)
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _entropy(p: float) -> float:
    """Shannon entropy (bits) of somebody being there with probability p, 0 <= p < 1."""
    return -p * math.log2(p) - (1.0 - p) * math.log2(1.0 - p) if p > 0.0 else 0.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _steer(
    start: NDArray[np.float64], goal: NDArray[np.float64], longest: float, ground: Ground
) -> NDArray[np.float64]:
    """Returns how far towards the goal one comes: `longest` m at most, and not out of what is allowed."""
    ux, uy, length = direction(start, goal)
    length = min(length, longest)
    steps = math.ceil(2.0 * length / ground.cell)
    come, within = 0.0, False
    for k in range(steps + 1):
        along = length * k / max(steps, 1)
        r, c = round((start[1] + along * uy) / ground.cell), round((start[0] + along * ux) / ground.cell)
        free = 0 <= r < ground.allowed.shape[0] and 0 <= c < ground.allowed.shape[1] and ground.allowed[r, c]
        if within and not free:
            break
        if free:  # from where it is not allowed, only the way back leads
            within, come = True, along
    return np.array([start[0] + come * ux, start[1] + come * uy])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _extend(nodes: _Nodes, size: int, sample: NDArray[np.float64], budget: float, ground: Ground, reach: Reach) -> int:
    """Grows the tree towards a sampled place; returns the number of nodes then."""
    nearest, least = -1, math.inf
    for k in range(size):
        away = math.hypot(nodes.places[k, 0] - sample[0], nodes.places[k, 1] - sample[1])
        if away < least and nodes.costs[k] < budget - _SHORTEST:
            nearest, least = k, away
    if nearest < 0:
        return size
    feasible = _steer(nodes.places[nearest], sample, min(reach.step, budget - nodes.costs[nearest]), ground)
    known = size
    size = _add(nodes, size, nearest, feasible, ground, reach)
    for k in range(known):
        away = math.hypot(nodes.places[k, 0] - feasible[0], nodes.places[k, 1] - feasible[1])
        if k != nearest and away <= reach.near and nodes.costs[k] < budget - _SHORTEST:
            place = _steer(nodes.places[k], feasible, min(reach.step, budget - nodes.costs[k]), ground)
            size = _add(nodes, size, k, place, ground, reach)
    return size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(nodes: _Nodes, size: int, parent: int, place: NDArray[np.float64], ground: Ground, reach: Reach) -> int:
    """Adds a node, unless it is no step further or one near it is better; returns the number of nodes then."""
    length = math.hypot(place[0] - nodes.places[parent, 0], place[1] - nodes.places[parent, 1])
    if size == len(nodes.costs) or length < _SHORTEST:
        return size
    nodes.places[size] = place
    nodes.parents[size] = parent
    cost = nodes.costs[parent] + length
    reward = nodes.rewards[parent] + _gain(_way(nodes, size), ground, reach.entropy)
    for k in range(size):
        away = math.hypot(nodes.places[k, 0] - place[0], nodes.places[k, 1] - place[1])
        if nodes.costs[k] <= cost and nodes.rewards[k] >= reward and away <= reach.prune:
            return size
    nodes.costs[size], nodes.rewards[size] = cost, reward
    return size + 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _keep(nodes: _Nodes, size: int, root: int, budget: float) -> int:
    """Moves a node and what grows from it to the front, costs from there on, and returns the number of nodes then.

    What lies beyond the budget is dropped.
    """
    number = np.full(size, -1)
    spent, count = nodes.costs[root], 0
    for k in range(root, size):
        parent = number[nodes.parents[k]] if k != root else -1
        cost = nodes.costs[k] - spent
        if k != root and (parent < 0 or cost > budget):
            continue
        number[k] = count
        nodes.places[count] = nodes.places[k]
        nodes.parents[count] = parent
        nodes.costs[count] = cost
        nodes.rewards[count] = 0.0
        count += 1
    return count
