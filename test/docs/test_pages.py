"""Links between pages lead somewhere, every page is in the site's contents, and the site can be built."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from helpers.blocks import ROOT, pages

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#([^)\s]+))?\)|\]\(#([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and Python-Markdown make them for plain words."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor, here in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} does not exist"
        wanted = anchor or here
        if wanted and target.suffix == ".md":
            assert wanted in anchors(target), f"{path or page.name} has no heading #{wanted}"


def listed(entry: object) -> list[str]:
    """Pages of a part of the site's contents."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for part in inner for page in listed(part)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_contents_once() -> None:
    contents = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    docs = ROOT / "docs"
    assert sorted(contents) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="needs mkdocs-material")
def test_the_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "tutorial" / "index.html").is_file()
