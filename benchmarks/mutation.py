"""Mutants of what stands between a command and a vehicle: each condition is taken away in turn; do the tests notice?

python benchmarks/mutation.py [--modules MODULE ...] [--records FILE] [--page]

A mutant is one of `if C`, `A if C else B` (C becomes False) and `A and B`, `A or B` (one operand is left out) in a
module of esar_ros/safety or in the actuation of a bridge. The tests of the module's room run once, flights excepted,
to learn which of them come to which line; then those that come to a mutant's line, the quickest first, for at most
40 s: the first that fails kills the mutant. Compiled kernels are left out: they are held by twins in plain Python in
their tests. --records keeps each verdict as a line and goes on behind those that are there.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from page import ROOT, Table, add_page, write_page

PACKAGE = ROOT / "esar_ros"
SAFETY = sorted(path.relative_to(PACKAGE).with_suffix("") for path in (PACKAGE / "safety").rglob("[!_]*.py"))
MODULES = [".".join(path.parts) for path in SAFETY] + [
    "bridges.airsim.actuation",
    "bridges.px4.stream",
    "bridges.px4.offboard",
]
ROOMS = ("safety", "bridges/airsim", "bridges/px4")  # of the modules and of their tests
FLIGHTS = ("test_governor_flight.py", "test_slow_vehicle.py")  # minutes; they would notice more
TRIED = 40.0  # s of tests that a mutant has to live through
LIMIT = 600.0  # s of CPU of a mutant: one that does not end is noticed, too

# A function or method as its module knows it: its class ("": none), its name, its first line.
Owner = tuple[str, str, int]


@dataclass(frozen=True)
class Mutant:
    """A place in a module's source, and the code that stands there instead."""

    module: str  # below esar_ros
    owner: Owner
    function: str  # the innermost around the place
    line: int
    was: str
    number: int  # of the module's places, in the order of the tree


def source(module: str) -> Path:
    """Returns the file of a module."""
    return PACKAGE / (module.replace(".", "/") + ".py")


def is_compiled(function: ast.FunctionDef) -> bool:
    """Returns whether numba compiles a function."""
    return any("njit" in ast.unparse(decorator) for decorator in function.decorator_list)


class Places(ast.NodeTransformer):
    """Walks a module's conditions; replaces the one of a number, if there is one."""

    def __init__(self, replace: int | None = None) -> None:
        self.found: list[tuple[Owner, str, int, str]] = []  # owner, function, line, source
        self._replace, self._class, self._function = replace, "", ""
        self._owner: Owner | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Enters a module's class."""
        self._class = node.name
        self.generic_visit(node)
        self._class = ""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Enters functions that run as Python."""
        if is_compiled(node):
            return node
        outer, self._function = (self._owner, self._function), node.name
        if self._owner is None:  # as Python counts: from the first decorator
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            self._owner = (self._class, node.name, first)
        self.generic_visit(node)
        self._owner, self._function = outer
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Takes a branch away."""
        node.test = self._never(node.test)
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Takes the first of two values away."""
        node.test = self._never(node.test)
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Leaves each operand out."""
        whole = ast.unparse(node)
        node.values = [
            value for value in node.values if not self._is_replaced(value, f"{ast.unparse(value)} in {whole}")
        ]
        self.generic_visit(node)
        return node if len(node.values) > 1 else node.values[0]

    def _never(self, test: ast.expr) -> ast.expr:
        """Returns a condition, or False where it is the one to be replaced."""
        return ast.copy_location(ast.Constant(False), test) if self._is_replaced(test, ast.unparse(test)) else test

    def _is_replaced(self, node: ast.expr, text: str) -> bool:
        """Notes a place; returns whether it is the one of the number."""
        if self._owner is None:
            return False  # a module's own `if TYPE_CHECKING`, a default
        self.found.append((self._owner, self._function, node.lineno, text))
        return len(self.found) - 1 == self._replace


def mutants(module: str) -> list[Mutant]:
    """Returns the mutants of a module."""
    places = Places()
    places.visit(ast.parse(source(module).read_text()))
    return [Mutant(module, *found, n) for n, found in enumerate(places.found)]


def constants(code: CodeType) -> dict[str, CodeType]:
    """Returns the code of what is defined in a module's or a class's code, by name."""
    return {part.co_name: part for part in code.co_consts if isinstance(part, CodeType)}


def put_in(mutant: Mutant) -> None:
    """Gives the function that a mutant is in its changed code: every importer of the module has it."""
    path = source(mutant.module)
    tree = ast.fix_missing_locations(Places(mutant.number).visit(ast.parse(path.read_text())))
    code = compile(tree, str(path), "exec", flags=0, dont_inherit=True)
    within, name, _ = mutant.owner
    home: Any = importlib.import_module(f"esar_ros.{mutant.module}")
    if within:
        code, home = constants(code)[within], getattr(home, within)
    function = vars(home)[name]
    while not hasattr(function, "__code__"):
        if isinstance(function, property):
            function = function.fget
        elif isinstance(function, cached_property):
            function = function.func
        else:  # a static or class method, a cache
            function = getattr(function, "__wrapped__", None) or function.__func__
    changed = constants(code)[name]
    if changed.co_firstlineno != mutant.owner[2]:
        raise LookupError(f"{mutant.module}: two definitions of {name}")
    function.__code__ = changed


class Lines:
    """Notes, while a test runs, which lines of the modules any thread comes to."""

    def __init__(self, modules: list[str]) -> None:
        self._files = {str(source(module)): module for module in modules}
        self.seen: set[tuple[str, int]] = set()  # module, line

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Lines | None:
        """Notes a line; Python's own hook."""
        module = self._files.get(frame.f_code.co_filename)
        if module is None:
            return None
        if event == "line":
            self.seen.add((module, frame.f_lineno))
        return self

    def __enter__(self) -> Lines:
        self.seen = set()
        threading.settrace(self)
        sys.settrace(self)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


class Trial:
    """A plugin that in place of running the tests tries mutants with those that concern them."""

    def __init__(self, wanted: list[Mutant], verdict: Callable[[Mutant, str], None]) -> None:
        self._wanted = wanted
        self._verdict = verdict  # is told what became of a mutant
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps the name of the first test that fails."""
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """Runs a test."""
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def visitors(self, items: list[pytest.Item]) -> dict[tuple[str, int], list[tuple[float, int]]]:
        """Runs the tests; returns who comes to a line (module, number): seconds and number, the quickest first."""
        lines = Lines(sorted({mutant.module for mutant in self._wanted}))
        found: dict[tuple[str, int], list[tuple[float, int]]] = {}
        for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
            began = time.process_time()
            with lines:
                self.run(item, following)
            if self._failed:
                raise SystemExit(f"mutation: {self._failed} fails without any mutant")
            for line in lines.seen:
                found.setdefault(line, []).append((time.process_time() - began, number))
        return {line: sorted(tests) for line, tests in found.items()}

    def notices(self, mutant: Mutant, items: list[pytest.Item]) -> str:
        """Returns the test that fails with a mutant, in a process of its own; empty: none does."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            put_in(mutant)
            for item, following in zip(items, [*items[1:], None], strict=True):
                self.run(item, following)
                if self._failed:
                    break
            os.write(into, (self._failed or "-").encode())
            os._exit(0)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            said = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "it does not end"
        if not said:
            raise SystemExit(f"mutation: {mutant} could not be tried")
        return said.removeprefix("-")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Tries the mutants."""
        visitors = self.visitors(session.items)
        for mutant in self._wanted:
            tests: list[pytest.Item] = []
            seconds = 0.0
            for spent, number in visitors.get((mutant.module, mutant.line), []):
                seconds += spent
                if tests and seconds > TRIED:
                    break
                tests.append(session.items[number])
            self._verdict(mutant, self.notices(mutant, tests) if tests else "")
        return True


def room(module: str) -> Path:
    """Returns the folder of a module's tests."""
    return next(ROOT / "test" / name for name in ROOMS if module.startswith(name.replace("/", ".")))


def verdicts(modules: list[str], records: Path | None) -> dict[Mutant, str]:
    """Returns the test that kills each mutant of some modules; empty: none does."""
    known: dict[str, str] = {}
    if records is not None and records.exists():
        known = dict(json.loads(line) for line in records.read_text().splitlines())
    found: dict[Mutant, str] = {}

    def key(mutant: Mutant) -> str:
        digest = hashlib.sha256(source(mutant.module).read_bytes()).hexdigest()[:12]
        return f"{mutant.module}:{mutant.number}:{digest}"

    def verdict(mutant: Mutant, killer: str) -> None:
        found[mutant] = killer
        if records is not None:
            with records.open("a") as file:
                file.write(json.dumps((key(mutant), killer)) + "\n")

    wanted = [mutant for module in modules for mutant in mutants(module)]
    found |= {mutant: known[key(mutant)] for mutant in wanted if key(mutant) in known}
    for folder in sorted({room(module) for module in modules}):
        here = [mutant for mutant in wanted if room(mutant.module) == folder and mutant not in found]
        files = [str(path) for path in sorted(folder.rglob("test_*.py")) if path.name not in FLIGHTS]
        if (
            here
            and pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files], [Trial(here, verdict)]) != 0
        ):
            raise SystemExit(f"mutation: the tests in {folder} do not run")
    return found


def main() -> int:
    """Tries every mutant and lists those that live."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=MODULES, metavar="MODULE")
    parser.add_argument("--records", type=Path, help="file of verdicts, gone on with")
    add_page(parser)
    arguments = parser.parse_args()
    began, rows, alive = time.monotonic(), [], []
    found = verdicts(arguments.modules, arguments.records)
    for module in arguments.modules:
        tried = [(mutant, killer) for mutant, killer in found.items() if mutant.module == module]
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
            "of `and` and `or`). The tests of its room that come to its line run, flights excepted, the quickest "
            f"first, for at most {TRIED:.0f} s: a mutant is killed by the first that fails. Compiled kernels have no "
            "mutants here."
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
