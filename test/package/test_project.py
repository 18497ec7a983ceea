"""CI, forms and addresses, which a stranger meets first, agree with the package."""

from __future__ import annotations

import re
import runpy
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.suites import suite_names

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def job(workflow: str, name: str) -> Any:
    return read(ROOT / ".github" / "workflows" / f"{workflow}.yml")["jobs"][name]


def commands(steps: list[Any]) -> list[str]:
    return [line.strip() for step in steps for line in step.get("run", "").splitlines()]


def test_ci_and_releases_have_the_pythons_that_setup_py_declares() -> None:
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    found = re.search(r'python_requires=">=3\.(\d+),<3\.(\d+)"', text)
    assert found is not None
    pythons = [f"3.{minor}" for minor in range(int(found[1]), int(found[2]))]
    assert runpy.run_path(str(ROOT / "requirements" / "ranges.py"))["declared"]()["PYTHONS"] == pythons
    for workflow, name in (("ci", "test"), ("release", "wheel")):
        assert job(workflow, name)["strategy"]["matrix"]["python"] == pythons


def test_ci_runs_the_readme_s_test_command() -> None:
    assert re.search(r"^\./esar test ", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert "./esar test" in commands(job("ci", "test")["steps"])


def test_ci_builds_on_every_distribution_that_has_constraints() -> None:
    ros = job("ci", "ros")
    known = {path.stem.removeprefix("constraints-") for path in (ROOT / "config").glob("constraints-*.txt")}
    assert set(ros["strategy"]["matrix"]["distribution"]) == known
    (tests,) = (line for line in commands(ros["steps"]) if " test " in line)
    assert (ROOT / tests.split()[-1]).is_dir()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.stem))
def test_foreign_actions_are_named_by_their_content(path: Path) -> None:
    used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    assert used and all(name.startswith("./") or re.search(r"@[0-9a-f]{40}$", name) for name in used)


def test_only_the_job_that_publishes_may_do_more_than_read() -> None:
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        more = {name for name, each in workflow["jobs"].items() if "permissions" in each}
        assert more <= {"publish"}


def test_pre_commit_has_the_ruff_of_the_lock() -> None:
    revisions = {
        entry["repo"].rpartition("/")[2]: entry.get("rev") for entry in read(ROOT / ".pre-commit-config.yaml")["repos"]
    }
    locked = re.search(r"^ruff==(\S+)", (ROOT / "requirements" / "lock-test.txt").read_text(), re.M)
    assert locked is not None and revisions["ruff-pre-commit"] == f"v{locked[1]}"


def test_the_maintainers_address_has_one_home() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    manifests = [ROOT / "package.xml", *sorted((ROOT / "interfaces").glob("*/package.xml"))]
    address, *others = (ElementTree.parse(path).getroot().find("maintainer") for path in manifests)
    assert address is not None
    mail = address.attrib["email"]
    assert all(other is not None and other.attrib["email"] == mail for other in others)
    files = [ROOT / name for name in listed.stdout.splitlines()]
    naming = {path for path in files if path.is_file() and mail.encode() in path.read_bytes()}
    assert naming == set(manifests)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: str(path.stem))
def test_a_form_asks_and_labels(path: Path) -> None:
    form = read(path)
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert form["name"] and form["description"] and form["labels"]
    assert len({part["id"] for part in asked}) == len(asked) > 1
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_the_form_of_a_result_offers_every_suite() -> None:
    (suite,) = (part for part in read(FORMS[0])["body"] if part.get("id") == "suite")
    assert set(suite["attributes"]["options"]) >= set(suite_names())
