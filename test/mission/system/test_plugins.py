"""Names that other packages take: none of this package's, for whatever kind of thing it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from esar_ros import suites
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system import plugins
from esar_ros.perception.detectors import backend
from esar_ros.planning import registry as methods
from esar_ros.planning.steps import registry as steps
from esar_ros.planning.walk import registry as walks


@pytest.mark.parametrize(
    ("group", "name", "make"),
    [
        (methods.GROUP, "spiral", methods.create),
        (steps.GROUP, "random", lambda name: steps.create(name, {})),
        (walks.GROUP, "random_walk", walks.create),
        (backend.GROUP, "onnx", backend.create),
        (suites.GROUP, "esarbench", suites.find_suite),
    ],
)
def test_a_name_of_this_package_is_not_anothers(
    monkeypatch: pytest.MonkeyPatch, group: str, name: str, make: Callable[[str], Any]
) -> None:
    """Neither is used in place of the other in silence."""
    known = {steps.GROUP: [*steps._OWN], walks.GROUP: [*walks._OWN]}.get(group, [name])
    taken = EntryPoint(known[0], "theirs:Thing", group)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [taken] if group == taken.group else [])
    with pytest.raises(UsageError, match=rf"two \w+s are named '{known[0]}': .*theirs:Thing: give yours another name"):
        make(known[0])
