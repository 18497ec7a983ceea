"""Generated pages are up to date."""

from __future__ import annotations

import pytest

from esar_ros.app.reference import DOCS, PAGES


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: ./esar exec python -m esar_ros.app.reference"
