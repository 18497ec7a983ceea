"""The layout of the package: folders of a size that a person surveys, without circles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

import esar_ros

PACKAGE = Path(esar_ros.__file__).parent
MAX_MODULES = 22  # of a folder
MAX_LINES = 400  # of a module
GENERATED = {"msg", "srv", "action"}  # made of the interfaces by the build


def folders() -> list[Path]:
    found = [PACKAGE, *(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)]
    return sorted(path for path in found if not GENERATED & set(path.relative_to(PACKAGE).parts))


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Modules of the package and those that each imports, names for type checkers too."""
    graph = grimp.build_graph(PACKAGE.name)
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def circle(imported: Mapping[str, frozenset[str]]) -> list[str]:
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("folder", folders(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_folder_can_be_surveyed_and_tells_its_story(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MAX_MODULES
    assert (folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')


@pytest.mark.parametrize("folder", folders(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_can_be_read_at_one_sitting(folder: Path) -> None:
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in folder.glob("*.py")}
    assert not {name: number for name, number in lines.items() if number > MAX_LINES}


def test_modules_import_each_other_in_no_circle() -> None:
    assert not circle(imports())


def test_rooms_beside_each_other_import_each_other_in_no_circle() -> None:
    """A folder and those inside it are one room to each other."""
    rooms = {".".join((PACKAGE.name, *path.relative_to(PACKAGE).parts)) for path in folders()}

    def room(module: str) -> str:
        return module if module in rooms else module.rpartition(".")[0]

    imported: dict[str, set[str]] = {name: set() for name in rooms}
    for module, others in imports().items():
        here = room(module)
        for there in map(room, others):
            is_inside = f"{here}.".startswith(f"{there}.") or f"{there}.".startswith(f"{here}.")
            if here in rooms and there in rooms and not is_inside:
                imported[here].add(there)
    assert sum(map(len, imported.values())) > len(rooms), "something is imported at all"
    assert not circle({name: frozenset(others) for name, others in imported.items()})


def test_a_circle_is_found() -> None:
    assert circle({"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"a"}), "d": frozenset()})
