"""The network for pictures: packages that hold no weights are refused in one line."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.train_detector import main
from esar_ros.mission.errors import UsageError
from esar_ros.training.picture_network import DEVIATION, GREY, MEAN, grey_backbone, network, read_package


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


def test_greys_have_the_features_of_three_equal_channels() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    whole = network(torch)
    weights = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in whole.below]
    grey = torch.rand(1, 1, 128, 128) * 255.0
    mean, deviation = (torch.tensor(values).view(1, 3, 1, 1) for values in (MEAN, DEVIATION))
    wanted = whole.features((grey - mean) / deviation)
    found = grey_backbone(torch, weights).features((grey - GREY[0]) / GREY[1])
    assert [tuple(part.shape) for part in found] == [tuple(part.shape) for part in wanted]
    for n in (0, 2):  # beside the edge, where zeros stand for greys that differ a little
        inside = np.s_[..., 8:-8, 8:-8]
        torch.testing.assert_close(found[n][inside], wanted[n][inside], rtol=1e-3, atol=1e-4)
