"""The conditions of a run by the content of its files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from esar_ros.benchmark.engine.conditions import with_files
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.perception.detectors.model_card import digest
from esar_ros.perception.detectors.second_stage import OWN_FEATURES
from helpers.tiny_onnx import bright_tent, write_second_stage


def test_another_second_stage_is_another_detector_whether_its_card_states_a_digest_or_not(tmp_path: Path) -> None:
    model, second = bright_tent(tmp_path / "tiny.onnx"), tmp_path / "tiny-second.onnx"
    choice = f"onnx:{model}"

    def settings(offset: float, stated: bool) -> str:
        write_second_stage(second, np.zeros((OWN_FEATURES + 2, 3), np.float32), np.full(3, offset, np.float32))
        about = {"file": second.name, "proposal": 0.1, "overlap": 0.6, "merge": 0.5, "no_depth": 0.5}
        card = {
            "schema": "esar-detector/1",
            "name": "tiny",
            "classes": ["tent", "person"],
            "second_stage": about | ({"sha256": digest(second)} if stated else {}),
        }
        model.with_suffix(".json").write_text(json.dumps(card))
        return with_files(RunConditions(detector=choice), "random").detector_settings

    for stated in (False, True):
        assert settings(0.0, stated) == settings(0.0, stated)
        assert settings(0.0, stated) != settings(1.0, stated)
        assert ("second_stage_unchecked" in about_chosen(choice)) != stated


def test_no_network_of_the_package_lacks_its_digest_in_a_card() -> None:
    assert not [key for key in about_chosen("esar_yolo") if key.endswith("_unchecked")]
