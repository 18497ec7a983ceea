"""Generated pages are up to date."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from esar_ros.app.reference import DOCS, PAGES
from esar_ros.app.suites import suite as suite_command
from esar_ros.suites import DEFAULT, find_suite, suite_names


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: ./esar exec python -m esar_ros.app.reference"


@pytest.mark.parametrize("name", suite_names())
def test_the_commands_page_has_every_flag_of_every_suite(name: str) -> None:
    text = PAGES["commands.md"]()
    title = "## esar bench" if name == DEFAULT else f"### esar bench --suite {name}"
    section = text.partition(f"\n{title}\n")[2].partition("\n#")[0]
    flags = set(re.findall(r"^\| `--([\w-]+)", section, re.M))
    assert flags >= {option.name for option in find_suite(name).options}


def test_the_topics_page_has_every_action_and_who_takes_whose_place() -> None:
    text = PAGES["topics.md"]()
    for action in (path.stem for path in (DOCS.parents[1] / "action").glob("*.action")):
        (served,) = re.findall(rf"^\| `\w+` \| `esar_ros/action/{action}` \| (.+) \|$", text, re.M)
        assert ("airsim_bridge" in served) is (action != "Manoeuvre") and "px4_bridge, ardupilot_bridge" in served
    for node in ("px4_bridge", "ardupilot_bridge", "mission_control", "range_driver"):
        assert f"`{node}`" in text.partition("| topic |")[0]


def test_the_commands_page_has_the_launchers_of_both_suites(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGES["commands.md"]()
    for suite in ("uav-on", "rescuebench"):
        assert f"### esar suite {suite}\n" in text
        with pytest.raises(SystemExit) as ended:
            suite_command.main([suite, "--help"])
        assert ended.value.code == 0 and "--out" in capsys.readouterr().out
    assert "### esar serve --suite rescuebench\n" in text


def test_an_action_without_a_goal_has_its_result_and_its_feedback_under_their_names() -> None:
    part = PAGES["messages.md"]().partition("## TouchDown")[2].partition("\n## ")[0]
    goal, result = part.partition("*Result*")[::2]
    assert goal.endswith("*Goal*\n\nNothing.\n\n")
    result, feedback = result.partition("*Feedback*")[::2]
    assert "`REFUSED_SAFETY=200`" in result and "`height`" in feedback and "`height`" not in result


def test_the_parameters_page_says_what_can_be_changed_in_flight_and_names_nodes() -> None:
    text = PAGES["parameters.md"]()
    changed = re.findall(r"^\| `(\w+)` .*; can be changed in flight \|$", text, re.M)
    assert changed == ["paused", "speed", "map_file"]
    assert "| `speed` | `0.0` | 0.0 to 100.0 | fastest that the simulator's time goes" in text
    assert (
        "| `px4_namespace` | from `config/px4.yaml` |" in text and "| `baud` | from `config/ardupilot.yaml` |" in text
    )
    assert not re.search(r"^\| `\w+` \| `'(settings|address)\.", text, re.M)
    assert "| degrees, down to which a LiDAR sees; beyond it is unknown |" in text
    assert not re.search("^## `(site|command_relay|server|clock)`$", text, re.M)


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
