"""The numbers that decide a score: the paper's, all needed, none unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.thresholds import Thresholds, load_thresholds


def shipped() -> dict[str, Any]:
    return yaml.safe_load(resource("config/thresholds.yaml").read_text(encoding="utf-8"))


def write(folder: Path, content: Any) -> Path:
    file = folder / "thresholds.yaml"
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return file


def test_the_shipped_ones_are_the_paper_s() -> None:
    t = load_thresholds()
    assert t.error_threshold == 10.0
    assert t.sensitivity_thresholds == (5.0, 20.0)
    assert t.report_cap == 100
    assert (t.weight_safety, t.weight_success, t.weight_efficiency, t.weight_clues) == (0.1, 0.3, 0.3, 0.3)
    assert (t.weight_clue_located, t.weight_clue_exact) == (0.5, 0.5)


def test_the_rescue_score_and_the_clue_score_reach_one() -> None:
    t = load_thresholds()
    assert t.weight_safety + t.weight_success + t.weight_efficiency + t.weight_clues == pytest.approx(1.0)
    assert t.weight_clue_located + t.weight_clue_exact == pytest.approx(1.0)


@pytest.mark.parametrize("name", Thresholds.model_fields)
def test_every_number_is_needed_and_has_a_type(tmp_path: Path, name: str) -> None:
    content = shipped()
    file = write(tmp_path, {key: value for key, value in content.items() if key != name})
    with pytest.raises(UsageError, match=f"key {name}: Field required"):
        load_thresholds(file)
    file = write(tmp_path, content | {name: "many"})
    with pytest.raises(UsageError, match=f"key {name}"):
        load_thresholds(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("error_threshold", 0.0),
        ("report_cap", 0),
        ("weight_clues", 1.1),
        ("reserve_battery", -0.1),
        ("coverage_range", -1),
        ("take_off_height", -1),
        ("path_spacing", 0),
    ],
)
def test_ranges_are_held(tmp_path: Path, name: str, value: float) -> None:
    file = write(tmp_path, shipped() | {name: value})
    with pytest.raises(UsageError) as refusal:
        load_thresholds(file)
    assert str(refusal.value).startswith(f"{file}, key {name}")


def test_an_unknown_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="key error_treshold"):
        load_thresholds(write(tmp_path, shipped() | {"error_treshold": 3.0}))


@pytest.mark.parametrize("text", ["error_threshold: [", "", "- 1", "a: b: c"])
def test_broken_files_are_one_line(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(UsageError) as refusal:
        load_thresholds(file)
    assert str(file) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml"):
        load_thresholds(tmp_path / "none.yaml")
