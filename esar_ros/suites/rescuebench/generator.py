"""Makes the files of the suite's own sets from a seed, the same bytes every time, and checks other people's points.

python -m esar_ros.suites.rescuebench.generator                 # write config/tasks/rescuebench/
python -m esar_ros.suites.rescuebench.generator --check         # exit code 1 where a file differs
python -m esar_ros.suites.rescuebench.generator --check FILE    # ... where a point in FILE breaks its level's rules
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint
from esar_ros.scoring.result import write_atomically
from esar_ros.sim.terrain.rescue_places.makers import rescue_site
from esar_ros.suites.rescuebench.files.lines import dumped
from esar_ros.suites.rescuebench.files.points import point_document, read_points
from esar_ros.suites.rescuebench.own_points import flaws, own_points
from esar_ros.suites.rescuebench.sets import set_file

SEED = 23
EACH = 5  # points in a place of the test split


@dataclass(frozen=True)
class Places:
    """Places of a kind in a set, by their seeds, and the points in each."""

    level: int  # from 0, as in files
    kind: str
    seeds: range
    points: int = EACH


# The harbour's hill and the suburb's houses are for the levels above. No place of mini (dev) is in another set.
PLACES: dict[str, tuple[Places, ...]] = {
    "mini": (
        Places(0, "room", range(6, 8), 2),
        Places(1, "street", range(2, 3), 2),
        Places(2, "desert", range(1, 2), 2),
        Places(3, "suburb", range(5, 6), 2),
        Places(4, "suburb", range(7, 8), 2),
    ),
    "L1": (Places(0, "room", range(5)),),
    "L2": tuple(
        Places(1, kind, range(2 if kind == "street" else 1)) for kind in ("street", "suburb", "desert", "harbour")
    ),
    "L3": tuple(
        Places(2, kind, range(2 if kind == "harbour" else 1)) for kind in ("street", "suburb", "desert", "harbour")
    ),
    "L4": (Places(3, "suburb", range(5)),),
    "L5": (Places(4, "suburb", range(5)),),
}
_CENTIMETRES = 1  # decimals of a file's cm and degrees


def points_of(name: str) -> list[RescuePoint]:
    """Returns the points of a set, numbered through. Raises UsageError where a place has none."""
    found = [
        point
        for places in PLACES[name]
        for seed in places.seeds
        for point in own_points(places.level, places.points, SEED, rescue_site(places.kind, seed))
    ]
    return [replace(point, number=number) for number, point in enumerate(found)]


def text_of(name: str) -> str:
    """Returns the content of a set's file."""
    return "".join(dumped(_rounded(point_document(point))) for point in points_of(name))


def _rounded(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a line whose poses have no more digits than mean something."""
    poses = {key: [round(number, _CENTIMETRES) + 0.0 for number in document[key]] for key in document if "_loc" in key}
    return document | poses


def check(path: Path) -> bool:
    """Prints what is wrong with the points of a file; returns whether none is. Raises UsageError."""
    points = [entry.point for entry in read_points(path)]
    found = [f"{path}: point {point.number}: {flaw}" for point in points for flaw in flaws(point)]
    print("\n".join(found) or f"{path}: {len(points)} points by the rules of their levels")
    return not found


def main(argv: Sequence[str]) -> int:
    """Write the files, compare them with what is there, or check the points of a file."""
    if argv[:1] == ["--check"] and argv[1:]:
        try:
            return 0 if all([check(Path(name)) for name in argv[1:]]) else 1
        except UsageError as error:
            print(error, file=sys.stderr)
            return 2
    for name in PLACES:
        path, text = set_file(name), text_of(name)
        if "--check" not in argv:
            write_atomically(path, text)
            print(path)
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path} differs")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
