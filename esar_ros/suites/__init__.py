"""Benchmarks, a folder a paper: tasks, their rules and how one is put into a world. `find_suite` knows them by name.

Another package adds one by naming its object (benchmark.suite.Suite) in the entry-point group `esar_ros.suites`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from esar_ros.mission.errors import UsageError, first_line, suggest
from esar_ros.mission.system.plugins import load_plugin, plugins, refuse_taken

if TYPE_CHECKING:
    from esar_ros.benchmark.suite import Suite

_SUITES = {  # module and object, imported when asked for
    "esarbench": ("esar_ros.suites.esarbench.suite", "ESARBENCH"),
    "uav-on": ("esar_ros.suites.uav_on.suite", "UAV_ON"),
    "rescuebench": ("esar_ros.suites.rescuebench.suite", "RESCUEBENCH"),
}
DEFAULT = "esarbench"
GROUP = "esar_ros.suites"


def suite_names() -> tuple[str, ...]:
    """Returns the names of all suites, the package's own first."""
    return (*_SUITES, *sorted(plugins(GROUP).keys() - _SUITES.keys()))


def find_suite(name: str) -> Suite:
    """Returns the suite of a name. Raises UsageError."""
    refuse_taken(name, GROUP, _SUITES, "suite")
    if name in _SUITES:
        module, attribute = _SUITES[name]
        own: Suite = getattr(import_module(module), attribute)
        return own
    point = plugins(GROUP).get(name)
    if point is None:
        raise UsageError(f"unknown suite '{name}'", suggest(name, suite_names()))
    suite: Suite = load_plugin(point, "suite", first_line)
    if getattr(suite, "name", None) != name:
        raise UsageError(f"suite '{name}' ({point.value}) has another name", f"its object is to have name = {name!r}")
    return suite
