"""A suite of one task: ESARBench's rules on a story of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from esar_ros.suites.esarbench.suite import EsarBench

TASK = Path(__file__).with_name("lost_dog_walker.json")


class MySuite(EsarBench):
    """What differs from ESARBench: the name, and which tasks there are."""

    name = "my-suite"
    sets = ("mini",)

    def task_set(self, name: str) -> Sequence[str]:
        """Returns the files of a set's tasks in the order in which they are flown."""
        return (str(TASK),)


SUITE = MySuite()
