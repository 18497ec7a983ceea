"""Things that other packages bring by entry points: methods, agents, detectors, suites."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from esar_ros.mission.errors import UsageError, first_line


def plugins(group: str) -> dict[str, EntryPoint]:
    """Returns the entry points of a group by name."""
    return {point.name: point for point in entry_points(group=group)}


def refuse_taken(name: str, group: str, own: Collection[str], what: str) -> None:
    """Raises UsageError where another package has taken a name of this one's: neither is used for the other in silence.

    own: this package's names. what: the kind of thing, in one word.
    """
    point = plugins(group).get(name)
    if point is not None and name in own:
        raise UsageError(
            f"two {what}s are named '{name}': one of this package, and {point.value}",
            "give yours another name in its entry point",
        )


def load_plugin(point: EntryPoint, what: str, told: Callable[[Exception], str] | None = None) -> Any:
    """Returns the object of an entry point. Raises UsageError where it does not load; told: its failure in words."""
    try:
        return point.load()
    except Exception as error:  # whatever another package's import raises
        said = told(error) if told is not None else f"{type(error).__name__}: {first_line(error)}"
        raise UsageError(f"{what} '{point.name}' ({point.value}) does not load: {said}", "mend that package") from error
