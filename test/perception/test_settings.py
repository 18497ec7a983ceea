"""config/detector.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import DEFAULT_DETECTOR
from esar_ros.perception.detectors.backend import names
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.perception.settings import FusionSettings, LocalisationSettings, load_detector_settings


def test_the_shipped_file_states_the_defaults() -> None:
    settings = load_detector_settings()
    assert settings.localisation == LocalisationSettings()
    assert settings.fusion == FusionSettings()
    assert set(settings.backends) <= set(names())
    default = create_chosen(DEFAULT_DETECTOR, settings)
    assert default.name == DEFAULT_DETECTOR
    assert default.eligible, "what is flown when nothing is asked for reads no truth"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fusion: {gate: -1}", "key fusion.gate"),
        ("fusoin: {}", "key fusoin"),
        ("a: [", "cannot read"),
        ("- 1", "not a table"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, message: Any) -> None:
    path = tmp_path / "detector.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        load_detector_settings(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_detector_settings(tmp_path / "none.yaml")
