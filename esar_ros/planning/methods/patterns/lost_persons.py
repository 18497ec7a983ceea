"""Published statistics of where lost people are found: config/lost_persons.yaml.

Source: R. J. Koester, Lost Person Behavior, 2008. Between the published quantiles the distribution is
linear in the logarithm of the distance; below the first a person is as likely in every ring of equal width.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings

_Four = tuple[float, float, float, float]
_FARTHEST = 3.0  # the distribution ends at this many times its last quantile


@dataclass(frozen=True)
class Distances:
    """Distance from the last known point: increasing distances (m) and the share found within each."""

    distances: NDArray[np.float64]  # (N,)
    shares: NDArray[np.float64]  # (N,)

    def within(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share found within distances (m)."""
        near = distance <= self.distances[0]
        rings = self.shares[0] * distance / self.distances[0]
        beyond = np.interp(
            np.log(np.maximum(distance, 1e-9)),
            np.log([*self.distances, self.distances[-1] * _FARTHEST]),
            [*self.shares, 1.0],
        )
        return np.where(near, rings, beyond)

    def density(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability density (1/m^2) at distances (m, > 0) when all directions are equally likely."""
        half = np.minimum(5.0, distance / 2.0)
        ring = self.within(distance + half) - self.within(distance - half)
        return ring / (2.0 * half) / (2.0 * np.pi * distance)


@dataclass(frozen=True)
class Found:
    """On what terrain people of a kind were found."""

    in_drainages: float = 0.0  # share
    offsets: tuple[float, ...] = ()  # m from the nearest trail or road within which `shares` were found
    shares: tuple[float, ...] = ()


class _File(StrictModel):
    quantiles: _Four
    in_drainages: dict[str, float] = Field(default_factory=dict)
    track_offset: dict[str, _Four] = Field(default_factory=dict)
    categories: dict[str, dict[str, _Four]]


@dataclass(frozen=True)
class LostPersons:
    """The statistics as read."""

    quantiles: _Four
    categories: dict[str, dict[str, _Four]]  # category -> domain -> km
    in_drainages: dict[str, float]  # category -> share
    track_offset: dict[str, _Four]  # category -> m

    def category(self, name: str, domain: str = "temperate_mountains") -> Distances:
        """Distances of a category in a domain; a domain that it has no figures for: its first."""
        domains = self.categories[name]
        kilometres = domains.get(domain) or next(iter(domains.values()))
        return Distances(np.array(kilometres) * 1e3, np.array(self.quantiles))

    def found(self, name: str) -> Found:
        """Terrain of a category; of what nothing is known for it, nothing."""
        offsets = self.track_offset.get(name, ())
        shares = self.quantiles if offsets else ()
        return Found(self.in_drainages.get(name, 0.0), offsets, shares)


def load_lost_persons(path: Path | None = None) -> LostPersons:
    """Statistics from a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/lost_persons.yaml")
    read = load_settings(_File, source, "lost-person statistics")
    return LostPersons(**dict(read))
