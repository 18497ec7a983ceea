"""Packages that import torchvision load beside one whose compiled part is of another torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# A torch that knows operators by name, and a torchvision without its compiled part, as they meet in an installation.
TORCH = """
class Operators:
    def __init__(self):
        self.torchvision = {}

ops = Operators()

class library:
    class Library:
        def __init__(self, name, kind):
            assert (name, kind) == ("torchvision", "FRAGMENT")
        def define(self, schema):
            ops.torchvision[schema.partition("(")[0]] = None
        def impl(self, name, function, key):
            ops.torchvision[name] = function
    @staticmethod
    def register_fake(name):
        if name.partition("::")[2] not in ops.torchvision:
            raise RuntimeError(f"operator {name} does not exist")

def set_num_threads(count): pass
"""
VISION = {
    "__init__": "from torchvision import extension, registrations, ops\n",
    "extension": "def _has_ops(): return {loaded}\n",
    "registrations": "import torch\nfor name in ('nms', 'qnms'): torch.library.register_fake(f'torchvision::{name}')\n",
    "ops/__init__": "from torchvision.ops.boxes import nms\n",
    "ops/boxes": "def nms(boxes, scores, limit): raise RuntimeError('could not load custom operators')\n",
}
USERS = {
    "ultralytics": "import torchvision\n",
    "open_clip": """
import torchvision
class Network:
    def eval(self): return self
def list_models(): return ["small"]
def create_model_and_transforms(model, pretrained): return Network(), None, len
def get_tokenizer(model): return len
""",
    "sentence_transformers": "import torchvision\nclass SentenceTransformer:\n    def __init__(self, *_, **__): pass\n",
    "transformers/__init__": "",
    "transformers/utils/__init__": "",
    "transformers/utils/logging": "def disable_progress_bar(): pass\n",
    "onnx": "",
}
LOADERS = {
    "YOLO-World": "from esar_ros.perception.detectors.yolo_world import import_ultralytics; import_ultralytics()",
    "CLIP": "from esar_ros.perception.text.clip_encoder import load_clip; load_clip('small', 'modules.json')",
    "sentences": "from esar_ros.perception.text.sentence_encoder import SentenceEncoder; SentenceEncoder('.')",
    "training": "from esar_ros.training.train import torch_with; torch_with(1)\nimport ultralytics",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of the packages, in front of any that are installed."""
    vision = {f"torchvision/{name}": text.replace("{loaded}", "False") for name, text in VISION.items()}
    for name, text in {"torch": TORCH, **vision, **USERS}.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "modules.json").write_text("[]")
    return tmp_path


def python(packages: Path, code: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(packages)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", code], cwd=packages, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("user", LOADERS)
def test_what_imports_torchvision_loads_beside_one_for_another_torch(packages: Path, user: str) -> None:
    done = python(packages, f"{LOADERS[user]}\nprint(sys.modules['torchvision'].ops.nms.__module__)")
    assert (done.returncode, done.stdout) == (0, "esar_ros.perception.vision_operators\n"), done.stderr


def test_without_what_is_lent_it_does_not(packages: Path) -> None:
    done = python(packages, "import ultralytics")
    assert "RuntimeError: operator torchvision::nms does not exist" in done.stderr, "or the tests above show nothing"


def test_lent_once_for_all(packages: Path) -> None:
    done = python(
        packages, "\n".join(LOADERS.values()) + "\nimport torchvision.ops.boxes as b; print(b.nms.__module__)"
    )
    assert (done.returncode, done.stdout) == (0, "esar_ros.perception.vision_operators\n"), done.stderr


def test_a_torchvision_that_matches_is_left_alone(packages: Path) -> None:
    (packages / "torchvision" / "extension.py").write_text("def _has_ops(): return True\n")
    (packages / "torchvision" / "registrations.py").write_text("")
    done = python(packages, f"{LOADERS['CLIP']}\nprint(sys.modules['torchvision'].ops.nms.__module__)")
    assert (done.returncode, done.stdout) == (0, "torchvision.ops.boxes\n"), done.stderr


@pytest.mark.parametrize("absent", ["torch", "torchvision"])
def test_nothing_is_lent_where_there_is_nobody_to_lend_to(packages: Path, absent: str) -> None:
    lent = "from esar_ros.perception import vision_operators as v; v.lend_operators(); print(v._KEPT)"
    done = python(packages, f"sys.modules['{absent}'] = None\n{lent}")
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_another_fault_of_torchvision_is_told_in_a_line(packages: Path) -> None:
    (packages / "torchvision" / "registrations.py").write_text("raise RuntimeError('no room')\n")
    code = "from esar_ros.mission.errors import UsageError\ntry:\n    {}\nexcept UsageError as error: print(error)"
    for user, words in (("YOLO-World", "ultralytics"), ("CLIP", "open_clip"), ("sentences", "sentence-transformers")):
        done = python(packages, code.format(LOADERS[user].replace("; ", "\n    ")))
        assert f"{words} cannot be imported: no room" in done.stdout, done.stderr


def test_the_boxes_that_stay_are_those_of_a_plain_calculation() -> None:
    torch = pytest.importorskip("torch", reason="extra train is not installed")
    from esar_ros.perception.vision_operators import nms

    def overlap(a: Any, b: Any) -> float:
        wide, high = (min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
        common = max(wide, 0.0) * max(high, 0.0)
        return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)

    torch.manual_seed(1)
    for count in (0, 1, 2, 60):
        corners = 10.0 * torch.rand(count, 2)
        boxes = torch.cat([corners, corners + 1.0 + 5.0 * torch.rand(count, 2)], 1)
        scores = torch.rand(count).mul(10).round()  # with equal ones
        kept: list[int] = []
        for place in sorted(range(count), key=lambda place: -float(scores[place])):
            if all(overlap(boxes[place].tolist(), boxes[one].tolist()) <= 0.3 for one in kept):
                kept.append(place)
        assert nms(boxes, scores, 0.3).tolist() == kept
