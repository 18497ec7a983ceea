"""Conditions of a run, told and compared."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

import pytest

from esar_ros.mission.run_conditions import RunConditions, digest


def test_the_first_difference_is_named_with_both_values() -> None:
    one = RunConditions(vehicle="ab", model="")
    assert one.difference(one) == "" and one.differing(RunConditions(vehicle="ab", model="")) == ()
    other = replace(one, vehicle="cd", model="qwen3")
    assert one.differing(other) == ("vehicle", "model")
    assert one.difference(other) == "vehicle: ab here, cd there"
    assert one.difference(replace(one, model="qwen3")) == "model: none here, qwen3 there"


def test_a_detector_is_its_name_and_content_not_its_path() -> None:
    one = RunConditions(detector="onnx:/here/a.onnx", detector_settings="1")
    assert one.differing(replace(one, detector="onnx:/there/a.onnx")) == ()
    assert one.differing(replace(one, detector_settings="2")) == ("detector_settings",)
    assert one.differing(replace(one, detector="openvino:/here/a.onnx")) == ("detector",)


def test_every_field_is_told_and_read_again() -> None:
    conditions = RunConditions(governor=False, faults=True, odometry="autopilot")
    assert set(conditions.as_text) == {field.name for field in fields(RunConditions)} > set(RunConditions.OF_METHOD)
    assert RunConditions.parse(asdict(conditions)) == conditions
    with pytest.raises(TypeError):
        RunConditions.parse({"moon": "full"})


def test_content_counts_and_not_its_order() -> None:
    assert digest({"a": 1, "b": [1.0, 2.0]}) == digest({"b": [1.0, 2.0], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert len(digest({})) == 12
