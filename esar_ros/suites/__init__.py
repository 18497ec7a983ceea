"""Benchmarks, a folder a paper: tasks, their rules and how one is put into a world. `find_suite` knows them by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from esar_ros.mission.errors import UsageError, suggest

if TYPE_CHECKING:
    from esar_ros.benchmark.suite import Suite

_SUITES = {  # module and object, imported when asked for
    "esarbench": ("esar_ros.suites.esarbench.suite", "ESARBENCH"),
    "uav-on": ("esar_ros.suites.uav_on.suite", "UAV_ON"),
    "rescuebench": ("esar_ros.suites.rescuebench.suite", "RESCUEBENCH"),
}
DEFAULT = "esarbench"


def suite_names() -> tuple[str, ...]:
    """Returns the names of all suites."""
    return tuple(_SUITES)


def find_suite(name: str) -> Suite:
    """Returns the suite of a name. Raises UsageError."""
    if name not in _SUITES:
        raise UsageError(f"unknown suite '{name}'", suggest(name, _SUITES))
    module, attribute = _SUITES[name]
    suite: Suite = getattr(import_module(module), attribute)
    return suite
