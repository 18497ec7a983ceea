"""Pages from templates: what is filled in is escaped, what lacks is told, the style sheet is within."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from esar_ros.benchmark.report.page import PAGES, fill


def test_values_are_escaped_and_the_style_sheet_is_within(tmp_path: Path) -> None:
    template = tmp_path / "one.html"
    template.write_text('<style>{% include "style.css" %}</style><p>{{ word }}</p>', encoding="utf-8")
    made = fill(template, word="<b>")
    assert "<p>&lt;b&gt;</p>" in made
    assert (PAGES / "style.css").read_text(encoding="utf-8").strip() in made


def test_a_value_that_lacks_is_an_error_and_no_gap(tmp_path: Path) -> None:
    template = tmp_path / "one.html"
    template.write_text("{{ word }}", encoding="utf-8")
    with pytest.raises(UndefinedError):
        fill(template)
