"""Pages are of four kinds and results; their links lead somewhere, and the site can be built."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from esar_ros.app.cli import VERBS
from esar_ros.app.reference_pages.page import MADE
from esar_ros.mission import names
from esar_ros.nodes.core import node_names
from helpers.blocks import ROOT, pages

DOCS = ROOT / "docs"
KINDS = ("how-to", "reference", "explanation", "results")
START = ("index.md", "tutorial.md", "own-valley.md")
RESULTS = sorted((DOCS / "results").glob("*.md"))
LONGEST = 150  # lines of a page that a person writes
# Words of a history, which git and CHANGELOG.md hold.
HISTORY = re.compile(
    r"today's|of before\b|no longer|used to be|flew again|the (first|second|third) (version|row|time)", re.I
)
COMMAND = re.compile(r"^<!-- Made by `([^`]+)`", re.M)
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


def test_pages_that_code_names_exist() -> None:
    named = re.compile(r"(?<![\w/])docs/[\w./-]+\.(?:md|jpg|png)")
    for folder in ("esar_ros", "launch", "config", "msg", "srv", "action", "benchmarks", "examples"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in (".py", ".yaml", ".msg", ".srv", ".action", ".md"):
                for page in named.findall(file.read_text(encoding="utf-8")):
                    assert (ROOT / page).exists(), f"{file.relative_to(ROOT)} names {page}"


def listed(entry: object) -> list[str]:
    """Pages of a part of the site's contents."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for part in inner for page in listed(part)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_contents_once() -> None:
    contents = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(contents) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_every_image_is_shown() -> None:
    shown = {name for page in pages() for name in re.findall(r"images/([\w.]+)\)", page.read_text(encoding="utf-8"))}
    assert shown == {image.name for image in (DOCS / "images").iterdir()}


def test_every_page_is_of_a_kind() -> None:
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS)
        assert str(name) in START or (name.parts[0] in KINDS and len(name.parts) == 2), name


def written() -> list[Path]:
    """Returns the pages that people write: neither results nor references made from code."""
    found = [page for page in sorted(DOCS.rglob("*.md")) if page not in RESULTS]
    return [ROOT / "README.md", *(page for page in found if MADE not in page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", written(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_written_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("page", sorted(set(DOCS.rglob("*.md")) - set(RESULTS)), ids=lambda page: page.stem)
def test_a_page_says_what_is(page: Path) -> None:
    told = [line for line in page.read_text(encoding="utf-8").splitlines() if HISTORY.search(line)]
    assert not told, "histories belong to git and CHANGELOG.md"


def test_the_diagram_of_a_step_shows_what_nodes_await() -> None:
    text = (DOCS / "reference" / "nodes.md").read_text(encoding="utf-8").partition("## A step")[2].split("```")[1]
    awaited = {
        names.__dict__[call.args[0].attr]
        for path in (ROOT / "esar_ros" / "nodes").glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "await_input"
        if isinstance(call.args[0], ast.Attribute)
    }
    assert len(awaited) > 10
    drawn = set(re.findall(r"[a-z_]+(?:/[a-z]+)?", text))
    assert awaited - drawn <= {names.LIDAR_POINTS}, "the mapper's, where it is told to use scans"
    assert drawn >= {*node_names.VEHICLE_PARTICIPANTS, *node_names.MISSION_PARTICIPANTS}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_angle_brackets_stand_in_code(page: Path) -> None:
    """Elsewhere they are a tag, and vanish where the page is drawn."""
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    prose = re.sub(r"(`+)[^`]*\1", "", prose)
    assert not re.findall(r"<(?!!--|https?:)/?[A-Za-z][^>\n]*>", prose)


@pytest.mark.parametrize("page", [page for page in pages() if "```python" in page.read_text(encoding="utf-8")], ids=str)
def test_python_on_a_page_can_be_pasted(page: Path) -> None:
    """It names nothing that it does not import, and what it imports of this package is there."""
    for code in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M):
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("esar_ros"):
                module = importlib.import_module(str(node.module))
                assert all(hasattr(module, alias.name) for alias in node.names)


def test_the_planner_on_its_page_is_the_example() -> None:
    page = (DOCS / "how-to" / "your-planner.md").read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)[0]
    assert (ROOT / "examples/my_planner/my_planner.py").read_text(encoding="utf-8").endswith(f"\n{code}")


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_a_result_was_made_by_the_command_that_it_names(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (command,) = COMMAND.findall(text)
    words = shlex.split(command)
    assert words[0] == "./esar"
    if words[1] != "exec":
        assert words[1] in VERBS
        return
    script = ROOT / words[3]
    assert words[2] == "python" and script.is_file() and script.parent.name == "benchmarks"
    source = script.read_text(encoding="utf-8")
    assert "--page" in words and "add_page(" in source and "write_page(" in source
    assert page.stem == script.stem or page.stem.startswith(f"{script.stem}_")
    assert re.search(r"^## Conditions$", text, re.M) and "| load average" in text and "| version |" in text


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="needs mkdocs-material")
def test_the_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "tutorial" / "index.html").is_file()
