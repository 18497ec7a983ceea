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
QUESTION = re.compile(r"\s*(What|Whether|How|Who|Whose|Where|When|Which|Why)\b")
FOLDERS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").is_file())


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


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_begins_with_a_question_word(folder: str) -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {getattr(node, 'name', '')}: {text.splitlines()[0]}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for node in documented(path)
        if (text := ast.get_docstring(node)) and QUESTION.match(text) and getattr(node, "name", "") not in forms()
    ]
    assert not found, "\n".join(found)


def test_forms_are_found() -> None:
    assert {"BriefReading", "FixedStep", "VariableStep"} <= forms()
