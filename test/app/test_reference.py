"""Generated pages are up to date."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from esar_ros.app.reference import DOCS, PAGES


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: ./esar exec python -m esar_ros.app.reference"


def test_what_the_python_page_names_can_be_imported_and_is_described() -> None:
    text = PAGES["python.md"]()
    imports = re.findall(r"^`from ([\w.]+) import ([\w, ]+)`$", text, re.M)
    assert len(imports) > 5
    for module, names in imports:
        if module == "esar_ros.suites.gym":
            pytest.importorskip("gymnasium")
        for name in names.split(", "):
            assert hasattr(import_module(module), name), f"{module} has no {name}"
            assert re.search(rf"^### `{name}`.*\n\n\S", text, re.M), f"{name} has no words"


def test_the_python_page_says_units_and_defaults() -> None:
    text = PAGES["python.md"]()
    assert "| `height` | `float \\| None` | m above ground, None when unknown |" in text
    assert "| `sigma` | `float` | m, largest standard deviation of its position; default `3.0` |" in text
    assert "| `act(observation: Observation) -> Decision` | " in text
