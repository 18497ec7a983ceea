"""Reference rows of every table: trivial policies that show each metric's floor and are not ranked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from pydantic import Field

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings


class ReferenceSettings(StrictModel):
    """Every method is given the report policy; these do not look, so they have no use for it."""

    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


_Settings = TypeVar("_Settings", bound=ReferenceSettings)


class ReferenceRow(ABC, Generic[_Settings]):
    """Base: asks for no input beyond the brief."""

    name: ClassVar[str]
    eligible = True
    reference = True
    needs: frozenset[str] = frozenset()
    settings_type: ClassVar[type[ReferenceSettings]]

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = cast(_Settings, check(self.settings_type, parameters, self.name))

    @abstractmethod
    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission."""

    @abstractmethod
    def act(self, observation: Observation) -> Decision:
        """Decide without looking."""
