"""Registry of search methods, and their parameters."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.system import plugins
from esar_ros.planning import registry
from esar_ros.planning.method import NEEDS, Method
from esar_ros.planning.methods.maps.exploration import ExplorationSettings
from esar_ros.planning.methods.patterns.random_walk import RandomSettings
from esar_ros.planning.methods.patterns.report_spam import ReportSpamSettings
from esar_ros.planning.methods.patterns.stay import Stay, StaySettings
from esar_ros.planning.methods.patterns.tigris import TigrisSettings
from esar_ros.planning.methods.patterns.zigzag import ZigzagSettings
from esar_ros.planning.parameters import configured
from esar_ros.planning.reporting import ReportingSettings
from esar_ros.planning.walk.llm_yolo import LlmYolo
from esar_ros.suites.esarbench.oracle import Oracle
from esar_ros.suites.esarbench.oracle_prior import OraclePrior
from esar_ros.suites.uavbench.mcq.asking import _NAME

OWN: dict[str, type[BaseModel]] = {
    "random": RandomSettings, "zigzag": ZigzagSettings, "fbe": ExplorationSettings, "stay": StaySettings,
    "flooder": ReportSpamSettings, "tigris": TigrisSettings,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OWN))
def test_own_methods_are_methods(name: str) -> None:
    assert name in registry.names()
    method = registry.create(name)
    assert isinstance(method, Method)
    assert method.name == name and method.eligible and method.needs <= NEEDS


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_shipped_file_states_the_defaults(name: str) -> None:
    data = yaml.safe_load(resource("config/planners.yaml").read_text(encoding="utf-8"))
    settings = OWN[name]
    assert settings.model_validate(data[name]) == settings()
    assert ReportingSettings.model_validate(data["reporting"]) == ReportingSettings()


@pytest.mark.parametrize("module", [*registry._OWN, "oracle"])
def test_a_method_s_file_opens_with_its_source_and_what_needs_a_model(module: Any) -> None:
    home = "esar_ros.suites.esarbench" if module == "oracle" else "esar_ros.planning"
    opening = import_module(f"{home}.{module}").__doc__ or ""
    assert "\nSource: " in opening
    assert re.search(r"([Nn]eed|without)[^.]*\bmodel\b", opening)


def test_the_reference_rows_are_known() -> None:
    assert registry.references() == {"stay", "flooder"}


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"unknown planner 'magic': known: .*fbe.*random.*zigzag"):
        registry.create("magic")


@pytest.mark.parametrize(
    ("parameters", "key"),
    [({"heihgt": 3}, "heihgt"), ({"height": -1}, "height"), ({"reporting": {"clue": {"views": 0}}}, "clue.views")],
)
def test_bad_parameters_name_method_and_key(parameters: Any, key: Any) -> None:
    with pytest.raises(UsageError, match=f"planner zigzag, parameter .*{key}"):
        registry.create("zigzag", parameters)


def test_parameters_overlay_the_file(tmp_path: Path) -> None:
    path = tmp_path / "planners.yaml"
    path.write_text(
        "reporting: {same_object: 1.0}\nzigzag: {height: 20.0, speed: 3.0, reporting: {kept_for_victims: 2}}"
    )
    merged = configured("zigzag", {"speed": 4.0}, path)
    assert merged == {"height": 20.0, "speed": 4.0, "reporting": {"same_object": 1.0, "kept_for_victims": 2}}
    assert configured("other", {}, path) == {"reporting": {"same_object": 1.0}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cannot read"),
        ("zigzag: 3", "not a table"),
        ("- 1", "not a table"),
        ("zigzag:\n  reporting:\n", "planner zigzag, parameter reporting: empty, not a table"),
        ("zigzag: {reporting: often}", "parameter reporting: 'often', not a table"),
        ("zigzga: {height: 12.0}", "key zigzga: a section of no planner: did you mean zigzag"),
        ("reportings: {same_object: 1.0}", "key reportings: .*did you mean reporting"),
        ("zigzag: {height: 12.0}\nzigzag: {speed: 3.0}", "line 2: the key zigzag is there twice"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, message: Any) -> None:
    path = tmp_path / "planners.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        registry.create("zigzag", path=path)


def test_a_model_in_one_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "planners.yaml"
    path.write_text("apex: {model: qwen3-max}")
    with pytest.raises(UsageError, match="planner apex, parameter model: 'qwen3-max', not a table"):
        registry.create("apex@scripted", path=path)


def test_sections_may_be_of_everything_that_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    sections = set(yaml.safe_load(resource("config/planners.yaml").read_text(encoding="utf-8")))
    assert sections <= {*registry.names(), *registry._SECTIONS, "reporting", "model"}
    path = tmp_path / "planners.yaml"
    path.write_text(
        "".join(f"{name}: {{}}\n" for name in (LlmYolo.name, _NAME, OraclePrior.name, Oracle.name, "theirs"))
    )
    with pytest.raises(UsageError, match="key theirs: a section of no planner"):
        registry.create("zigzag", path=path)
    points = [EntryPoint("theirs", f"{__name__}:Theirs", registry.GROUP)]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == registry.GROUP else [])
    assert registry.create("zigzag", path=path).name == "zigzag"


class Theirs(Stay):
    def __init__(self, parameters: Any) -> None:
        super().__init__({})
        self.parameters = parameters


def test_other_packages_bring_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group is a method; it gets its parameters with the shared ones inside."""
    points = {
        "theirs": EntryPoint("theirs", f"{__name__}:Theirs", registry.GROUP),
        "words": EntryPoint("words", "builtins:dict", registry.GROUP),
        "broken": EntryPoint("broken", "esar_no_such_package:Thing", registry.GROUP),
        "number": EntryPoint("number", "math:pi", registry.GROUP),
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: list(points.values()) if group == registry.GROUP else [])
    assert set(points) <= set(registry.names())
    made = registry.create("theirs", {"wind": 2})
    assert isinstance(made, Theirs)
    assert made.parameters["wind"] == 2 and made.parameters["reporting"]["clue"]["views"] == 1
    with pytest.raises(UsageError, match=r"planner 'words' \(builtins:dict\) is no method: .*act"):
        registry.create("words")
    with pytest.raises(UsageError, match=r"'broken' .* does not load: ModuleNotFoundError: No module"):
        registry.create("broken")
    with pytest.raises(UsageError, match=r"'number' .* is not callable"):
        registry.create("number")


def test_a_name_of_this_package_is_not_anothers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is flown in place of the other in silence."""
    monkeypatch.setattr(
        plugins, "entry_points", lambda group: [EntryPoint("spiral", f"{__name__}:Theirs", registry.GROUP)]
    )
    with pytest.raises(
        UsageError, match=r"two planners are named 'spiral': .*test_registry:Theirs: give yours another"
    ):
        registry.create("spiral")


def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    registry.names()
    with pytest.raises(ValueError, match="two planners are named 'zigzag'"):
        registry.register("zigzag")(lambda parameters: parameters)
