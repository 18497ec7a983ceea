"""The tree of ways: its budget, what it leaves out, where it samples, what it counts, what it keeps, what it finds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.planning.belief.detection_probability import Curves
from esar_ros.planning.methods.patterns.hedac import trajectory
from esar_ros.planning.methods.patterns.information_tree import Ground, InformationTree, Reach, count_looks

CELL, SIZE = 20.0, 61
MIDDLE = np.full(2, CELL * (SIZE // 2))
REACH = Reach(200.0, 200.0, 200.0)
ROWS, COLUMNS = np.indices((SIZE, SIZE))
# No symmetry, on whose axis HEDAC would stay.
GRAIN = 1.0 + 0.3 * np.sin(0.37 * COLUMNS + 1.1 * np.sin(0.21 * ROWS)) * np.cos(0.29 * ROWS + 0.8)


def hill(x: float, y: float, width: float) -> Any:
    """A hill of probability at m from the middle."""
    return np.exp(-((COLUMNS * CELL - MIDDLE[0] - x) ** 2 + (ROWS * CELL - MIDDLE[1] - y) ** 2) / (2.0 * width**2))


def ground(heat: Any, **values: Any) -> Ground:
    beside = Curves(np.linspace(0.8, 0.0, 81), np.zeros(81))
    expected = heat / heat.sum()
    given = {"seen": np.zeros((4, SIZE, SIZE)), "allowed": np.ones((SIZE, SIZE), np.bool_), **values}
    return Ground(CELL, expected, given["seen"], given["allowed"], beside)


def over(heat: Any, way: Any) -> float:
    """The probability of finding somebody on a way (N, 2)."""
    looked = ground(heat)
    for start, end in pairwise(way):
        count_looks(start, end, looked)
    return found(looked)


def found(looked: Ground) -> float:
    return float((looked.expected * (1.0 - np.prod(1.0 - looked.seen, axis=0))).sum())


def grown(heat: Any, budget: float = 600.0, seed: int = 0, samples: int = 60, reach: Reach = REACH) -> InformationTree:
    tree = InformationTree(MIDDLE, budget, ground(heat), reach)
    tree.grow(samples, np.random.default_rng(seed))
    return tree


def way_to(nodes: Any, node: int) -> Any:
    way = []
    while node >= 0:
        way.append(nodes.places[node])
        node = nodes.parents[node]
    return np.array(way[::-1])


HILLS = 0.25 * hill(-310.0, 120.0, 80.0) + 0.75 * hill(380.0, -60.0, 80.0)
RIDGES = (hill(0.0, 260.0, 60.0) + hill(180.0, 320.0, 90.0) + 0.7 * hill(-250.0, -180.0, 120.0)) * GRAIN


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.floats(5.0, 900.0), st.floats(30.0, 500.0))
def test_no_way_is_longer_than_the_budget_and_no_edge_than_a_step(seed: int, budget: float, step: float) -> None:
    tree = grown(HILLS, budget, seed, 30, Reach(step, 200.0, 50.0))
    nodes = tree.nodes
    edges = np.linalg.norm(nodes.places[1:] - nodes.places[nodes.parents[1:]], axis=1)
    assert (nodes.parents[1:] < np.arange(1, tree.size)).all() and nodes.parents[0] == -1
    assert (edges <= step + 1e-9).all() and (nodes.costs <= budget + 1e-9).all()
    assert nodes.costs[1:] == pytest.approx(nodes.costs[nodes.parents[1:]] + edges)
    half = tree.best(budget / 2.0)
    path = np.concatenate([tree.root[None], half])
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() <= budget / 2.0 + 1e-6


def test_what_the_budget_leaves_of_a_step_is_flown() -> None:
    assert grown(hill(500.0, 0.0, 30.0), 130.0).nodes.costs.max() == pytest.approx(130.0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999), st.floats(10.0, 400.0))
def test_only_what_a_near_node_betters_is_left_out(seed: int, prune: float) -> None:
    tree = grown(RIDGES, 500.0, seed, 40, Reach(150.0, 150.0, prune))
    places, _, costs, rewards = tree.nodes
    for later in range(1, tree.size):
        near = np.linalg.norm(places[:later] - places[later], axis=1) <= prune
        assert not (near & (costs[:later] <= costs[later]) & (rewards[:later] >= rewards[later])).any()
    best = rewards.max()
    tree.grow(20, np.random.default_rng(seed + 1))
    assert tree.nodes.rewards.max() >= best, "the best way stays"


def test_without_pruning_every_step_is_kept() -> None:
    tree = grown(HILLS, 2000.0, 0, 40, Reach(1e4, 0.0, 0.0))
    assert tree.size == 41


def test_samples_fall_where_there_is_information() -> None:
    tree = grown(HILLS, 1e4, 0, 400, Reach(1e4, 0.0, 0.0))  # a node at every sample
    low, high = (
        np.linalg.norm(tree.nodes.places[1:] - MIDDLE - at, axis=1) < 250.0 for at in ([-310, 120], [380, -60])
    )
    assert (low | high).mean() > 0.95 and 0.65 < high.mean() < 0.85
    seen = np.zeros((4, SIZE, SIZE))
    seen[:, :, SIZE // 2 :] = 0.8
    looked = InformationTree(MIDDLE, 1e4, ground(HILLS, seen=seen), Reach(1e4, 0.0, 0.0))
    looked.grow(50, np.random.default_rng(0))
    assert (looked.nodes.places[1:, 0] < MIDDLE[0]).all(), "nothing is left in the east"
    near = InformationTree(MIDDLE, 100.0, ground(hill(600.0, 0.0, 5.0)), REACH)
    near.grow(50, np.random.default_rng(0))
    assert near.size == 1 and not len(near.best()), "out of reach"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 999))
def test_a_reward_is_what_the_whole_way_finds_each_cell_once(seed: int) -> None:
    nodes = grown(RIDGES, 700.0, seed, 25, Reach(150.0, 150.0, 30.0)).nodes
    for node in range(1, len(nodes.costs)):
        way = way_to(nodes, node)
        assert nodes.rewards[node] == pytest.approx(over(RIDGES, way), abs=1e-12)


def test_looks_before_the_root_count() -> None:
    looked = ground(RIDGES)
    count_looks(MIDDLE, MIDDLE + [0.0, 300.0], looked)
    before = found(looked)
    tree = InformationTree(MIDDLE, 400.0, looked, REACH)
    tree.grow(40, np.random.default_rng(3))
    node = int(np.argmax(tree.nodes.rewards))
    for start, end in pairwise(way_to(tree.nodes, node)):
        count_looks(start, end, looked)
    assert tree.nodes.rewards[node] == pytest.approx(found(looked) - before, abs=1e-12)


def test_the_fall_of_entropy_is_that_of_the_cells() -> None:
    def entropy(looked: Ground) -> float:
        there = looked.expected * np.prod(1.0 - looked.seen, axis=0)
        p = np.maximum(there / (there + 1.0 - looked.expected), 1e-300)
        return float((-p * np.log2(p) - (1.0 - p) * np.log2(1.0 - p)).sum())

    tree = grown(HILLS, 500.0, 0, 20, REACH._replace(entropy=True))
    node = int(np.argmax(tree.nodes.rewards))
    looked = ground(HILLS)
    before, way = entropy(looked), way_to(tree.nodes, node)
    for start, end in pairwise(way):
        count_looks(start, end, looked)
    assert tree.nodes.rewards[node] == pytest.approx(before - entropy(looked)) and before > entropy(looked)


def test_a_new_root_keeps_what_grows_from_it() -> None:
    tree = grown(HILLS, 600.0, 1, 60)
    nodes = type(tree.nodes)(*(part.copy() for part in tree.nodes))
    place = tree.best()[0]
    child = int(np.flatnonzero((nodes.places == place).all(axis=1))[0])
    kept = [node for node in range(tree.size) if place.tolist() in way_to(nodes, node).tolist()]
    spent = float(nodes.costs[child])
    kept = [node for node in kept if nodes.costs[node] - spent <= 350.0]
    ahead = ground(HILLS)
    count_looks(MIDDLE, place, ahead)
    before = found(ahead)
    tree.reroot(place, 350.0, ahead)
    assert tree.root.tolist() == place.tolist() and 3 < len(kept) < len(nodes.costs)
    assert sorted(tree.nodes.places.tolist()) == sorted(nodes.places[kept].tolist())
    assert sorted(tree.nodes.costs) == pytest.approx(sorted(nodes.costs[kept] - spent))
    for node in range(1, tree.size):
        way = np.concatenate([MIDDLE[None], way_to(tree.nodes, node)])
        assert tree.nodes.rewards[node] == pytest.approx(over(HILLS, way) - before, abs=1e-12)
    with pytest.raises(ValueError, match="no child"):
        tree.reroot(MIDDLE, 600.0, ahead)


def test_no_way_leads_over_what_is_not_allowed() -> None:
    allowed = np.ones((SIZE, SIZE), np.bool_)
    allowed[:, 34:37] = allowed[:, :4] = False
    tree = InformationTree(MIDDLE, 2000.0, ground(HILLS, allowed=allowed), REACH)
    tree.grow(150, np.random.default_rng(0))
    assert tree.size > 20
    assert (tree.nodes.places[:, 0] < 33.5 * CELL).all(), "the way to the higher hill is barred"
    outside = InformationTree(np.array([CELL, MIDDLE[1]]), 900.0, ground(HILLS, allowed=allowed), REACH)
    outside.grow(50, np.random.default_rng(0))
    assert outside.size > 5 and (outside.nodes.places[1:, 0] > 3.4 * CELL).all(), "from outside, the way back in"


@pytest.mark.parametrize("heat", [HILLS * GRAIN, RIDGES], ids=["hills", "ridges"])
def test_finds_as_much_as_hedac_and_as_a_sweep_of_the_same_length(heat: Any) -> None:
    longest, random = 1200.0, np.random.default_rng(0)
    tree, way, left = grown(heat, 600.0, 0, 150), [MIDDLE], longest
    while len(best := tree.best(left)):
        ahead = tree.ground
        count_looks(tree.root, best[0], ahead)
        left -= float(np.linalg.norm(best[0] - tree.root))
        way.append(best[0])
        tree.reroot(best[0], min(600.0, left), ahead)
        tree.grow(60, random)
    everywhere = np.ones((SIZE, SIZE), np.bool_)
    hedac = trajectory(heat, everywhere, 100.0 / CELL, longest / CELL) * CELL
    lanes = np.array(
        [(x, y) for k, y in enumerate(range(-160, 161, 80)) for x in ((-150, 150) if k % 2 else (150, -150))]
    )
    sweep = np.concatenate([MIDDLE[None], MIDDLE + lanes])
    assert np.linalg.norm(np.diff(way, axis=0), axis=1).sum() <= longest + 1e-6
    assert np.linalg.norm(np.diff(sweep, axis=0), axis=1).sum() > longest
    assert over(heat, np.array(way)) > over(heat, np.concatenate([MIDDLE[None], hedac])) > 0.2
    assert over(heat, np.array(way)) > over(heat, sweep)
