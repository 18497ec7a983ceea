"""Mutants of what stands between a command and a vehicle: each condition is taken away in turn; do the tests notice?

python benchmarks/mutation.py [--modules MODULE ...] [--records FILE] [--page]

A mutant is one of `if C`, `A if C else B` (C becomes False) and `A and B`, `A or B` (one operand is left out) in a
module of esar_ros/safety or in the actuation of a bridge. The module's own tests run first, then those of its room,
flights excepted; the first that fails kills the mutant. Compiled kernels are left out: they are held by twins in plain
Python in their tests. --records keeps each verdict as a line and goes on behind those that are there.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.abc
import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numba  # noqa: F401  loaded once, for every mutant's process
import pytest
from page import ROOT, Table, add_page, write_page

SAFETY = sorted(path.stem for path in (ROOT / "esar_ros/safety").glob("[!_]*.py"))
MODULES = [f"safety.{name}" for name in SAFETY] + [
    "bridges.airsim.actuation",
    "bridges.px4.stream",
    "bridges.px4.offboard",
]
FLIGHTS = ("test_governor_flight.py", "test_slow_vehicle.py")  # minutes; they would notice more
LIMIT = 600.0  # s of CPU of a mutant: one that does not end is noticed, too


@dataclass(frozen=True)
class Mutant:
    """A place in a module's source, and the code that stands there instead."""

    module: str  # below esar_ros
    function: str
    line: int
    was: str
    number: int  # of the module's places, in the order of the tree

    @property
    def key(self) -> str:
        """Tells it from the others, whatever stands above it."""
        return f"{self.module}:{self.number}"


def source(module: str) -> Path:
    """Returns the file of a module."""
    return ROOT / "esar_ros" / (module.replace(".", "/") + ".py")


def is_compiled(function: ast.FunctionDef) -> bool:
    """Returns whether numba compiles a function."""
    return any("njit" in ast.unparse(decorator) for decorator in function.decorator_list)


class Places(ast.NodeTransformer):
    """Walks a module's conditions; replaces the one of a number, if there is one."""

    def __init__(self, replace: int | None = None) -> None:
        self.found: list[tuple[str, int, str]] = []  # function, line, source
        self._replace, self._function = replace, ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Enters functions that run as Python."""
        if is_compiled(node):
            return node
        outer, self._function = self._function, node.name
        self.generic_visit(node)
        self._function = outer
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Takes a branch away."""
        node.test = self._place(node.test, node.test, ast.Constant(False))
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Takes the first of two values away."""
        node.test = self._place(node.test, node.test, ast.Constant(False))
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Leaves each operand out."""
        neutral = isinstance(node.op, ast.And)
        node.values = [self._place(value, node, ast.Constant(neutral), value) for value in node.values]
        self.generic_visit(node)
        return node

    def _place(self, node: ast.expr, shown: ast.expr, other: ast.expr, part: ast.expr | None = None) -> ast.expr:
        if not self._function:
            return node  # a module's own `if TYPE_CHECKING`, a default
        text = ast.unparse(shown) if part is None else f"{ast.unparse(part)} in {ast.unparse(shown)}"
        self.found.append((self._function, node.lineno, text))
        return ast.copy_location(other, node) if len(self.found) - 1 == self._replace else node


def mutants(module: str) -> list[Mutant]:
    """Returns the mutants of a module."""
    places = Places()
    places.visit(ast.parse(source(module).read_text()))
    return [Mutant(module, function, line, was, n) for n, (function, line, was) in enumerate(places.found)]


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives a module with one place changed to whoever imports it."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Returns the mutant's specification."""
        if name != f"esar_ros.{self._mutant.module}":
            return None
        return importlib.util.spec_from_file_location(name, source(self._mutant.module), loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the changed source; its file name stays, so that kernels come from their cache."""
        path = source(self._mutant.module)
        tree = Places(self._mutant.number).visit(ast.parse(path.read_text()))
        exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), module.__dict__)


def tests(module: str) -> list[str]:
    """Returns the test files of a module: its own first, then its room's."""
    room = ROOT / "test" / Path(module.replace(".", "/")).parent
    name = module.rpartition(".")[2]
    files = sorted(path for path in room.glob("test_*.py") if path.name not in FLIGHTS)
    return [str(path) for path in sorted(files, key=lambda path: not path.stem.startswith(f"test_{name}"))]


def notices(mutant: Mutant) -> str:
    """Returns the test that fails with a mutant, in a process of its own; empty: none does."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        sys.meta_path.insert(0, Loader(mutant))
        first = First()
        pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests(mutant.module)], plugins=[first])
        os.write(into, first.failed.encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return said if os.WIFEXITED(status) else "it does not end"


class First:
    """A plugin that keeps the name of the first test that fails."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps it."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keeps a file that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


def verdicts(wanted: list[Mutant], records: Path | None) -> Iterator[tuple[Mutant, str]]:
    """Yields each mutant and the test that kills it."""
    known: dict[str, str] = {}
    if records is not None and records.exists():
        known = dict(json.loads(line) for line in records.read_text().splitlines())
    for mutant in wanted:
        digest = hashlib.sha256(source(mutant.module).read_bytes()).hexdigest()[:12]
        key = f"{mutant.key}:{digest}"
        if key not in known:
            known[key] = notices(mutant)
            if records is not None:
                with records.open("a") as file:
                    file.write(json.dumps((key, known[key])) + "\n")
        yield mutant, known[key]


def main() -> int:
    """Tries every mutant and lists those that live."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=MODULES, metavar="MODULE")
    parser.add_argument("--records", type=Path, help="file of verdicts, gone on with")
    add_page(parser)
    arguments = parser.parse_args()
    began, rows, alive = time.monotonic(), [], []
    for module in arguments.modules:
        tried = list(verdicts(mutants(module), arguments.records))
        living = [mutant for mutant, killer in tried if not killer]
        alive += living
        rows.append((module, len(tried), len(tried) - len(living)))
        print(f"{module:28}{len(tried):6} mutants{len(tried) - len(living):6} killed", flush=True)
        for mutant in living:
            print(f"    alive: {mutant.function}, line {mutant.line}: {mutant.was}", flush=True)
    total = sum(row[1] for row in rows)
    figures = {"mutants": total, "killed": total - len(alive), "share": round(1.0 - len(alive) / max(total, 1), 4)}
    print(json.dumps({"benchmark": "mutation", "figures": figures, "seconds": round(time.monotonic() - began)}))
    if arguments.page:
        about = (
            "Each condition between a command and a vehicle is taken away in turn (`if C`, `A if C else B`, an operand "
            "of `and` and `or`); a mutant is killed by the first test that fails, flights and kernels excepted."
        )
        lives = [(mutant.module, mutant.function, mutant.line, f"`{mutant.was}`") for mutant in alive]
        tables = [
            Table(("module", "mutants", "killed"), [*rows, ("all", total, total - len(alive))]),
            Table(("module", "function", "line", "condition"), lives, "Alive"),
        ]
        write_page(__file__, "Mutants of the safety core", about, {}, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
