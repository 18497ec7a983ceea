"""The worth of a detector on real photographs, told to whoever flies a real vehicle with it.

The figures of the shipped network lie beside it, in models/esar-clues-real.json, which `benchmarks/real_pictures.py`
writes: not in its card, whose content is a condition of benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings

FILE = "models/esar-clues-real.json"
PAGE = "docs/results/real_pictures.md"


class RealPictures(StrictModel):
    """Figures of a detector on real photographs with people."""

    schema_: Literal["esar-real-pictures/1"] = Field(default="esar-real-pictures/1", alias="schema")
    sha256: str = Field(description="of the network that was measured")
    pictures_sha256: str = Field(default="", description="of its network for pictures; empty: without one")
    pictures: int = Field(gt=0)
    people: int = Field(gt=0)
    recall: float = Field(ge=0, le=1, description="share of people that a detection at the shipped threshold points at")
    recall_interval: tuple[float, float] = Field(description="95 %, by clips")
    ap50: float = Field(ge=0, le=1)
    ap_pointing: float = Field(ge=0, le=1)
    false_per_picture: float = Field(ge=0, description="detections of people that point at nobody")

    def is_of(self, details: Mapping[str, str]) -> bool:
        """Returns whether a detector is the one that was measured, by its entries in a result."""
        return (details.get("digest"), details.get("pictures", "")) == (self.sha256, self.pictures_sha256)


def load_real_pictures(path: Path | None = None) -> RealPictures:
    """Returns the shipped network's figures. Raises UsageError."""
    return load_settings(RealPictures, path or resource(FILE), "figures on real photographs")


def real_flight_warning(details: Mapping[str, str]) -> str:
    """Returns a line on what a detector is worth on real pictures.

    details: its entries in a result (`chosen.about_chosen`): backend, of a network its SHA-256 as digest, and that of
    its network for pictures as pictures.
    """
    name = details.get("backend", "not recorded")
    known = load_real_pictures()
    if not known.is_of(details):
        return f"detector {name}: what it finds on real photographs has not been measured here"
    low, high = known.recall_interval
    return (
        f"not for real flights: {name} found {100 * known.recall:.0f} % of {known.people} people on {known.pictures} "
        f"real photographs (95 %: {100 * low:.0f} to {100 * high:.0f} %), AP50 {known.ap50:.3f} ({PAGE})"
    )
