"""Conditions: everything that decides a result beside the task, the method's name and the seed, in one type a suite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeVar

from esar_ros.mission import names

C = TypeVar("C", bound="Conditions")


@dataclass(frozen=True)
class Conditions:
    """Base of a suite's conditions: named fields, compared in words.

    OF_METHOD names the fields that belong to one method alone; all others must be equal for all methods compared, or
    make rows of their own. NEVER_TOGETHER names those that no two rows may differ in.
    """

    OF_METHOD: ClassVar[tuple[str, ...]] = ()
    NEVER_TOGETHER: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse(cls: type[C], document: Mapping[str, Any]) -> C:
        """Returns conditions as `asdict` wrote them. Raises TypeError on a field that there is not."""
        return cls(**document)

    @property
    def as_text(self) -> dict[str, str]:
        """Each field in words."""
        return {name: str(value) for name, value in asdict(self).items()}

    def differing(self, other: Conditions) -> tuple[str, ...]:
        """Names of the fields in which another's conditions are not these."""
        there = other.as_text
        return tuple(name for name, value in self.as_text.items() if value != there[name])

    def difference(self, other: Conditions) -> str:
        """First of these fields with both values, in words; empty when there is none."""
        name = next(iter(self.differing(other)), "")
        return name and f"{name.replace('_', ' ')}: {self.as_text[name]} here, {other.as_text[name]} there"


@dataclass(frozen=True)
class RunConditions(Conditions):
    """Conditions under which a mission of one method is flown and scored.

    The first fields are chosen by the user. The others identify, by content digest (`digest`), what is read from files
    and the environment; empty until they have been read.
    """

    OF_METHOD: ClassVar[tuple[str, ...]] = ("tasks", "model", "planner_settings")

    preset: str = "paper"  # size of the images
    governor: bool = True
    odometry: Literal["true", "noisy", "autopilot"] = "noisy"  # autopilot: its own estimate
    detector: str = names.DEFAULT_DETECTOR  # NAME[:FILE]
    pace: Literal["lockstep", "realtime"] = "lockstep"
    world: str = "embedded"
    quality: str = names.DEFAULT_QUALITY  # of the embedded simulator's images
    judge: str = ""  # its name with its version
    faults: bool = False  # some are injected
    version: str = ""  # of esar_ros
    detector_settings: str = ""  # its files, its parameters, localisation and fusion
    judge_settings: str = ""
    thresholds: str = ""
    vehicle: str = ""
    pilot: str = ""
    safety: str = ""
    tasks: str = ""  # all that the run flies: how many, and their content
    model: str = ""  # whom the method asks, with which prompts and clock; empty: nobody
    planner_settings: str = ""

    @property
    def as_text(self) -> dict[str, str]:
        """Each field in words; a detector by its name, since its file is in its settings."""
        fields = super().as_text
        fields["governor"] = "on" if self.governor else "off"
        fields["faults"] = "injected" if self.faults else "none"
        fields["model"] = self.model or "none"
        fields["detector"] = self.detector.partition(":")[0]
        return fields


def digest(content: Any) -> str:
    """Twelve hexadecimal digits of a JSON document's SHA-256: comments and order of keys do not count."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
