"""The catalogue: complete, truthful, and a command."""

from __future__ import annotations

from pathlib import Path

import cv2
import pytest

from esar_ros.mission.clues import ClueKind, VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.catalogue import catalogue, families, main, variants


def test_every_variant_is_listed_once_and_truly() -> None:
    names = [entry.asset for entry in catalogue()]
    assert sorted(names) == sorted(name for name in assets() if "/" in name)
    for entry in catalogue():
        asset = assets()[entry.asset]
        assert entry.asset == f"{entry.family}/{entry.variant}" and entry.kind == asset.kind
        assert entry.held_out is asset.held_out and entry.lit is bool(asset.emitters)
        assert entry.size == pytest.approx(asset.size, abs=0.006)
        assert entry.triangles == len(asset.mesh.triangles)
        assert entry.family in families()


def test_families_cover_clues_and_poses() -> None:
    assert {kind.value for kind in ClueKind} | {f"person_{pose.value}" for pose in VictimPose} <= set(families())
    training, unseen = variants("tent", held_out=False), variants("tent", held_out=True)
    assert training and unseen and set(training) | set(unseen) == set(variants("tent"))
    assert not set(training) & set(unseen)
    with pytest.raises(UsageError, match="unknown asset family 'yurt'"):
        variants("yurt")


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--families", "tent"]) == 0
    out = capsys.readouterr().out
    assert "tent/dome_red" in out and "red dome tent" in out and "rope" not in out
    assert main(["--families", "yurt"]) == 2
    assert "unknown asset family" in capsys.readouterr().err


def test_the_sheet_shows_each_thing(tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    assert main(["--families", "tent,rope", "--per-family", "2", "--out", str(path)]) == 0
    image = cv2.imread(str(path))
    assert image is not None and image.shape[1] == 256
    orange = image[:128, :128].reshape(-1, 3).astype(int)
    assert ((orange[:, 2] > 150) & (orange[:, 0] < 90)).sum() > 400  # BGR: the tent fills its cell
    assert main(["--families", "tent", "--out", str(tmp_path / "no" / "such.png")]) == 2
