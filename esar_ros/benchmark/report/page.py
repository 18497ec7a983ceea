"""Pages made from templates: each is one file with the one style sheet (pages/style.css) within."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

PAGES = Path(__file__).with_name("pages")


def fill(template: Path, **values: Any) -> str:
    """Returns the page of a template (Jinja's), with these values escaped where they are not marked as markup.

    What the template includes is looked for beside it, then in pages/.
    """
    loader = FileSystemLoader([template.parent, PAGES])
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return pages.get_template(template.name).render(**values)
