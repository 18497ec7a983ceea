"""Goal graph and scene graph: how far they match, where a match puts the goal, and what lies together in the scene.

Source: Yin et al., UniGoal, CVPR 2025, section 3.2 (graph construction; graph matching, equations 1 to 3) and, of 3.3,
the alignment of stage 2 (equation 4), and its public code, which is followed where the two differ: node similarity by
share and degree (`GraphMatcher.node_similarity`) in place of embeddings and an editing distance, edge similarity
(`edge_similarity`), their mean (`overlap`), the layout carried over (`predict_remaining_node_positions`). Nodes are
objects, edges say which lie near each other. Adapted: the goal itself, a person, is in no denominator, since who is
seen is flown to at once, so that a match is always one of the rest of the graph; a goal graph without edges is matched
by its nodes alone (the code takes its edges for matched); the layout is fitted to all matched nodes (paper and code:
two), and the goal's own place in it is what is predicted (equation 5: the middle of all nodes).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS, PERSON, kinds_named
from esar_ros.mission.observation import SeenClue
from esar_ros.planning.exchange import Form

MAX_NODES = 5
LANDMARKS = ("trail", "hut", "wood_edge", "water")  # kinds that only a model that sees pictures finds
NODE_KINDS = (*KINDS, *LANDMARKS)
MATCHED, VERIFY = 0.5, 0.9  # overlaps from which the goal is predicted, and verified


class GoalNode(Form):
    """An object of the goal graph."""

    kind: Literal[NODE_KINDS]  # type: ignore[valid-type]
    east: float | None = Field(default=None, ge=-5000, le=5000)
    north: float | None = Field(default=None, ge=-5000, le=5000)


class GoalGraph(Form):
    """What is looked for, and how it lies; edges are pairs of positions in the list, from 0.

    Groups are lists of positions: the graph decomposed into what is strongly related, what to look for first first.
    """

    nodes: list[GoalNode] = Field(min_length=1, max_length=MAX_NODES)
    edges: list[tuple[int, int]] = Field(default_factory=list, max_length=10)
    groups: list[list[int]] = Field(default_factory=list, max_length=MAX_NODES)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The edges between two nodes that there are."""
        return [(a, b) for a, b in self.edges if a != b and 0 <= min(a, b) and max(a, b) < len(self.nodes)]

    @property
    def clues(self) -> list[int]:
        """The nodes that are no person."""
        return [number for number, node in enumerate(self.nodes) if node.kind != PERSON]

    @property
    def first_group(self) -> list[int]:
        """The nodes to look for first, people apart: the model's first group, else what edges join, the most nodes."""
        clues = self.clues
        for group in self.groups:
            if kept := [number for number in group if number in clues]:
                return kept
        if not clues:
            return []
        joined = np.zeros((len(self.nodes), len(self.nodes)))
        for a, b in self.pairs:
            joined[a, b] = a in clues and b in clues
        _, labels = connected_components(joined, directed=False)
        largest = max(clues, key=lambda number: (sum(labels[other] == labels[number] for other in clues), -number))
        return [number for number in clues if labels[number] == labels[largest]]

    def without_landmarks(self) -> GoalGraph:
        """Returns the graph without what the detector does not know; without nodes it has a person."""
        kept = [number for number, node in enumerate(self.nodes) if node.kind not in LANDMARKS]
        new = {number: place for place, number in enumerate(kept)}
        return GoalGraph(
            nodes=[self.nodes[number] for number in kept] or [GoalNode(kind=PERSON)],
            edges=[(new[a], new[b]) for a, b in self.pairs if a in new and b in new],
            groups=[[new[number] for number in group if number in new] for group in self.groups],
        )


@dataclass(frozen=True)
class Match:
    """Match of the goal graph with the scene graph: node -> object, and the overlap 0..1."""

    found: dict[int, SeenClue]
    overlap: float


def graph_of_words(prompt: str) -> GoalGraph:
    """Goal graph without a model: a person, and the kinds that the brief names in its order, each near the person."""
    kinds = [PERSON, *(kind for kind in kinds_named(prompt) if kind != PERSON)][:MAX_NODES]
    return GoalGraph(nodes=[GoalNode(kind=kind) for kind in kinds], edges=[(0, n) for n in range(1, len(kinds))])


def match(goal: GoalGraph, scene: Sequence[SeenClue], near: float, blacklist: Collection[int] = ()) -> Match:
    """Returns the match by kind, the surest object first; a kind named twice needs two objects.

    near: m between two objects of the scene that are related; blacklist: ids of objects that match no more. The overlap
    is the mean of node and edge similarity, and node similarity the mean of the share of nodes found and of how alike
    their degrees are in the two graphs: 1 - |difference| / the greater. Without edges, node similarity alone.
    """
    left = sorted((clue for clue in scene if clue.id not in blacklist), key=lambda clue: (-clue.probability, clue.id))
    wanted = goal.clues
    found: dict[int, SeenClue] = {}
    for number in wanted:
        clue = next((clue for clue in left if clue.kind == goal.nodes[number].kind), None)
        if clue is not None:
            found[number] = clue
            left.remove(clue)
    if not found:
        return Match({}, 0.0)
    pairs = goal.pairs
    alike = 0.0
    for number, clue in found.items():
        asked = sum(number in pair for pair in pairs)
        held = sum(other.id != clue.id and _is_near(clue, other, near) for other in scene)
        alike += 1.0 - abs(asked - held) / max(asked, held, 1)
    nodes = (len(found) / len(wanted) + alike / len(found)) / 2.0
    between = [(a, b) for a, b in pairs if a in wanted and b in wanted]
    if not between:
        return Match(found, nodes)
    kept = sum(a in found and b in found and _is_near(found[a], found[b], near) for a, b in between)
    return Match(found, (nodes + kept / len(between)) / 2.0)


def groups_of(scene: Sequence[SeenClue], near: float) -> list[list[SeenClue]]:
    """Returns the scene's objects in groups that chains of neighbours within `near` (m) join, people apart."""
    things = sorted((clue for clue in scene if clue.kind != PERSON), key=lambda clue: clue.id)
    if not things:
        return []
    places = np.array([clue.position for clue in things])
    joined = np.linalg.norm(places[:, None] - places[None], axis=2) <= near
    count, labels = connected_components(joined, directed=False)
    return [[clue for clue, label in zip(things, labels, strict=True) if label == group] for group in range(count)]


def correlation_of_words(wanted: Collection[str], group: Sequence[SeenClue]) -> float:
    """Returns how far a group of the scene is what is wanted without a model: kinds in common over kinds in all."""
    there = {clue.kind for clue in group}
    return len(there & set(wanted)) / len(there | set(wanted))


def similarity(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Least-squares similarity transform (2, 3) of points (N, 2), N >= 2, onto others (Umeyama 1991).

    None where the source's points coincide.
    """
    a, b = (points[:, 0] + 1j * points[:, 1] for points in (source, target))
    centre_a, centre_b = a.mean(), b.mean()
    spread = float((np.abs(a - centre_a) ** 2).sum())
    if spread < 1e-6:
        return None
    # In the plane a rotation with scale is one complex factor.
    factor = (np.conj(a - centre_a) * (b - centre_b)).sum() / spread
    shift = centre_b - factor * centre_a
    return np.array([[factor.real, -factor.imag, shift.real], [factor.imag, factor.real, shift.imag]])


def predicted_goal(goal: GoalGraph, matched: Match) -> Vector | None:
    """Returns the predicted position (2,) of the goal, the first person, from two or more found nodes, else None."""
    if not MATCHED <= matched.overlap or len(matched.found) < 2:
        return None
    places = {n: (node.east, node.north) for n, node in enumerate(goal.nodes)}
    known = [n for n in matched.found if None not in places[n]]
    scene = np.array([matched.found[n].position[:2] for n in matched.found])
    first = places[next((n for n, node in enumerate(goal.nodes) if node.kind == PERSON), 0)]
    if len(known) >= 2 and None not in first:
        transform = similarity(
            np.array([places[n] for n in known], float), np.array([matched.found[n].position[:2] for n in known])
        )
        if transform is not None:
            place: Vector = transform @ np.array([first[0], first[1], 1.0], float)
            return place
    middle: Vector = scene.mean(axis=0)
    return middle


def _is_near(one: SeenClue, other: SeenClue, near: float) -> bool:
    return float(np.linalg.norm(one.position - other.position)) <= near
