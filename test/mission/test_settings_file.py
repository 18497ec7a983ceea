"""Settings files: read as their model, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings, parse_yaml, read_yaml, validated


class Inner(BaseModel):
    speed: float


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    inner: Inner


def test_a_good_file_is_its_model(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text("name: a\ninner: {speed: 2}\n", encoding="utf-8")
    assert load_settings(Shape, path, "shapes") == Shape(name="a", inner=Inner(speed=2.0))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"name: a\ninner: {speed: fast}\n", "key inner.speed"),
        (b"name: a\ninner: {speed: 1}\nmore: 1\n", "key more"),
        (b"- 1\n", "key the file"),
        (b"", "key the file"),
        (b"name: a\nname: b\ninner: {speed: 2}\n", "line 2: the key name is there twice"),
        (b"name: a\ninner: {speed: 2, 'speed': 3}\n", "line 2: the key speed is there twice"),
        (b"name: [", "cannot read shapes"),
        (b"\xff\xfe\x00", "cannot read shapes"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as refusal:
        load_settings(Shape, path, "shapes")
    line = str(refusal.value)
    assert told in line
    assert str(path) in line
    assert "\n" not in line


def test_a_mapping_may_take_over_another_and_change_it() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b\n  <<: *a\n  x: 3\nc:\n  <<: *b\n  y: 4\nd: *b\n1: one\n'1': text\n"
    both = {"x": 3, "y": 2}
    assert parse_yaml(text, "this") == {
        "a": {"x": 1, "y": 2}, "b": both, "c": {"x": 3, "y": 4}, "d": both, 1: "one", "1": "text",
    }  # fmt: skip


def test_every_shipped_file_says_each_thing_once() -> None:
    files = sorted(resource("config").rglob("*.yaml"))
    assert len(files) > 20
    for file in files:
        read_yaml(file, "settings")


def test_no_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read shapes .*nowhere\.yaml"):
        load_settings(Shape, tmp_path / "nowhere.yaml", "shapes")


def test_the_cure_is_the_callers() -> None:
    with pytest.raises(UsageError, match="buy a new one"):
        validated(Shape, {}, "this", cure="buy a new one")


def test_a_misspelt_key_is_answered_with_the_one_that_is_meant() -> None:
    class Inner(StrictModel):
        probability: float = 0.5

    class Outer(StrictModel):
        clue: Inner = Inner()

    with pytest.raises(UsageError, match=r"key clue.probabilty: .* did you mean probability\? mend the file"):
        validated(Outer, {"clue": {"probabilty": 0.4}}, "settings")
    with pytest.raises(UsageError, match="not permitted: mend the file"):
        validated(Outer, {"clue": {"xyzzy": 0.4}}, "settings")
