"""Docstrings are plain sentences: functions say what they return or do, modules and classes what they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import esar_ros

PACKAGE = Path(esar_ros.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
QUESTION = re.compile(r"\s*(What|Whether|How|Who|Whose|Where|When|Which|Why)\b")
ROOMS = sorted(path for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").is_file())
FOLDERS = [*ROOMS, ROOT / "test", ROOT / "benchmarks"]


def documented(path: Path) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@cache
def forms() -> set[str]:
    """Names of the forms of a model's answer, whose docstrings are part of prompts."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in (PACKAGE / "planning").rglob("*.py")
        for node in documented(path)
        if isinstance(node, ast.ClassDef)
    }
    found = {"Form"}
    while more := {name for name, own in bases.items() if own & found} - found:
        found |= more
    return found - {"Form"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_docstring_begins_with_a_question_word(folder: Path) -> None:
    found = [
        f"{path.relative_to(folder.parent)}: {getattr(node, 'name', '')}: {text.splitlines()[0]}"
        for path in sorted(folder.rglob("*.py"))
        for node in documented(path)
        if (text := ast.get_docstring(node)) and QUESTION.match(text) and getattr(node, "name", "") not in forms()
    ]
    assert not found, "\n".join(found)


def test_forms_are_found() -> None:
    assert {"BriefReading", "FixedStep", "VariableStep"} <= forms()
