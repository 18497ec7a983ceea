"""The network for pictures: packages that hold no weights are refused in one line."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from esar_ros.app.train_detector import main
from esar_ros.mission.errors import UsageError
from esar_ros.training.picture_network import read_package


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as package:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/models/{name}")
            entry.size = len(content)
            package.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"nanodet.json": b"{", "nanodet.bin": b""},
        {"nanodet.json": json.dumps({"weightsManifest": []}).encode(), "nanodet.bin": b""},
    ],
)
def test_a_package_without_the_weights_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(UsageError, match="no package with NanoDet") as caught:
        read_package(packed(tmp_path / "a.tgz", files))
    assert "\n" not in str(caught.value)


def test_training_asks_for_the_package(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no weights to begin with"):
        main(["--pictures", str(tmp_path)])
