"""The pilot's limits: described, ranged, in the file, refused when bad."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from esar_ros.flight.limits import PilotLimits, load_pilot_limits
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource


def test_file_and_defaults_agree() -> None:
    assert load_pilot_limits() == PilotLimits()


@pytest.mark.parametrize("name", list(PilotLimits.model_fields))
def test_each_is_described_ranged_and_in_the_file(name: str) -> None:
    info = PilotLimits.model_fields[name]
    assert info.description
    assert name in yaml.safe_load(resource("config/pilot.yaml").read_text(encoding="utf-8"))
    if name != "mission_end":
        kinds = {type(m).__name__ for m in info.metadata}
        assert "Le" in kinds and kinds & {"Ge", "Gt"}


@pytest.mark.parametrize("text", ["speed: -1", "speed: fast", "mission_end: crash", "wings: 2", "[]", "a: ["])
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pilot.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        load_pilot_limits(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)
