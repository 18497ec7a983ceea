"""The interface of a search method: reset with a brief, then one decision for every observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import UNKNOWN, Brief, Grid, Observation

# What a method may ask for beyond pose, battery and clues; the node fills in what is needed only.
GRID = "grid"  # Observation.grid
VIEWS = "views"  # Observation.views
NEEDS = frozenset({GRID, VIEWS})


class Decider(Protocol):
    """Whoever decides, as results name it."""

    @property
    def name(self) -> str:
        """Registry name, written into results."""

    @property
    def eligible(self) -> bool:
        """False when it uses ground truth: it stands outside the comparison."""

    @property
    def needs(self) -> frozenset[str]:
        """Subset of NEEDS."""


@runtime_checkable
class Method(Decider, Protocol):
    """A search method; deterministic in brief, seed and observations."""

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission; forgets all of the last one. Raises UsageError when the brief cannot be worked with."""

    def act(self, observation: Observation) -> Decision:
        """Decide, once for every four-camera frame. Goal None keeps the last goal; stop ends the mission."""


@runtime_checkable
class SupportsAsync(Protocol):
    """A method that can wait for a model over several observations; until then its decisions say `thinking`."""

    def run_clock(self) -> None:
        """Mission time does not stand still while the method thinks."""


@runtime_checkable
class ReadsByRules(Protocol):
    """A method that searches by what the rules of `planning.belief.brief` read of its brief, if it says so."""

    @property
    def reads_by_rules(self) -> bool:
        """Returns whether it does."""


@runtime_checkable
class HasDetails(Protocol):
    """A method of which results must say more than its name."""

    @property
    def details(self) -> Mapping[str, str]:
        """Identity of the models a method uses: language model and prompts, image-text scorer."""


@runtime_checkable
class HasBeliefGrid(Protocol):
    """A method that keeps a map of where it expects to find somebody, and shows it."""

    def belief_grid(self) -> Grid | None:
        """Returns the belief as bird's-eye grid: cells 0..100 scaled by the maximum, UNKNOWN where undefined; pure."""


def scaled(values: NDArray[np.floating[Any]], known: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Cells of such a grid from values (rows, columns), those below 0 as 0: per cent of the known maximum."""
    maximum = float(np.max(values, initial=0.0, where=known))
    share = np.rint(np.clip(values, 0.0, None) * (100.0 / maximum)) if maximum > 0.0 else np.zeros(values.shape)
    return np.where(known, np.minimum(share, 100.0), UNKNOWN).astype(np.int8)


def details_of(method: object) -> dict[str, str]:
    """Returns a method's entries in results beside its name."""
    return dict(method.details) if isinstance(method, HasDetails) else {}
