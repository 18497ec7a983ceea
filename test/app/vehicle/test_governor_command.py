"""`esar governor`: what of its arguments is refused. That it flies: test/nodes/alone/test_governor_flight.py."""

from __future__ import annotations

import pytest

from esar_ros.app import cli


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
