"""`esar governor`: what of its arguments is refused. That it flies: test/nodes/alone/test_governor_flight.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.app import cli
from esar_ros.nodes.px4 import messages


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ranges", "eyes"], "unknown choice 'eyes'"),
        (["--fence", "wide"], "fence 'wide' is no number"),
        (["--keep-out", "/nowhere.yaml"], "keep_out /nowhere.yaml is no file"),
        (["--cmd-vel", "/uav1/cmd_vel"], "let the planner use another topic"),
        (["--point", "/velodyne"], "did you mean --points?"),
    ],
)
def test_bad_arguments_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["governor", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("flag", "content"), [("--keep-out", "zones: all of it"), ("--params-file", "/**: {ros__parameters: [")]
)
def test_its_files_are_read_before_anything_is_built(
    flag: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(messages, "is_built", lambda: pytest.fail("built before its file was read"))
    (tmp_path / "file.yaml").write_text(content)
    assert cli.main(["governor", flag, str(tmp_path / "file.yaml")]) == 2
    told = capsys.readouterr().err
    assert "file.yaml" in told and told.count("\n") == 1
