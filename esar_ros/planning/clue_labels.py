"""Labels of fused objects on maps: none for candidates, one for several objects that may be the same thing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

from esar_ros.geometry.frames import Vector
from esar_ros.planning.reporting import ReportingSettings, sigma_of


class Fused(Protocol):
    """An object as a detector fuses it, whatever message or record it comes in; position m, covariance m^2, map."""

    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def position(self) -> Vector: ...
    @property
    def covariance(self) -> Vector: ...


def labels(objects: Iterable[Fused], settings: ReportingSettings) -> dict[int, str]:
    """Returns the words beside each object on a map, empty where there are none.

    A candidate has none; of several objects of a kind that may be one, within their uncertainty or as near as a report
    of one is taken for that of another, the most probable has them for all.
    """
    words: dict[int, str] = {}
    groups: list[list[Fused]] = []
    for thing in sorted(objects, key=lambda thing: (-thing.probability, thing.id)):
        words[thing.id] = ""
        if settings.is_candidate(thing.kind, thing.probability):
            continue
        same = next((g for g in groups if g[0].kind == thing.kind and _may_be_one(g[0], thing, settings)), None)
        if same is None:
            groups.append([thing])
        else:
            same.append(thing)
    for group in groups:
        name = group[0].kind.replace("_", " ")
        words[group[0].id] = name if len(group) == 1 else f"{name} ×{len(group)}"
    return words


def _may_be_one(a: Fused, b: Fused, settings: ReportingSettings) -> bool:
    """Returns whether two objects are within two standard deviations of their distance, or hardly apart at all."""
    apart = math.dist(a.position[:2], b.position[:2])
    reach = 2.0 * math.hypot(sigma_of(a.covariance), sigma_of(b.covariance))
    return apart <= max(settings.same_object, reach if math.isfinite(reach) else 0.0)
