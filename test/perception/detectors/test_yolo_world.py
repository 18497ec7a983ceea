"""The whole YOLO-World path, on a network of random weights with stored embeddings of random words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.text.prompt_table import TABLE, load_table, save_table

WORDS = ("person", "tent", "climbing rope", "flare")


def table(words: tuple[str, ...] = WORDS, width: int = 512) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {word: rng.standard_normal(width).astype(np.float32) for word in words}


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("ultralytics", reason="extra train is not installed")
    from esar_ros.perception.detectors.yolo_world import import_ultralytics

    ultralytics = import_ultralytics()
    import torch

    torch.manual_seed(5)
    path = tmp_path_factory.mktemp("world") / "yolov8s-worldv2.pt"
    ultralytics.YOLOWorld("yolov8s-worldv2.yaml").save(str(path))
    return path


@pytest.fixture
def folder(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models' folder with the weights and a table of embeddings."""
    (tmp_path / weights.name).symlink_to(weights)
    save_table(tmp_path / TABLE, table(), "random")
    monkeypatch.setenv("ESAR_MODELS", str(tmp_path))
    return tmp_path


def noise(frame: CameraFrame) -> CameraFrame:
    rgb = np.random.default_rng(1).integers(0, 256, frame.rgb.shape, dtype=np.uint8)
    return CameraFrame(frame.camera, frame.model, frame.pose, frame.depth, rgb, frame.stamp)


PROMPTS = {"person": "person", "climbing rope": "rope"}


def test_it_detects_by_stored_words_and_they_change_in_flight(folder: Path, down_frame: CameraFrame) -> None:
    parameters = {"prompts": PROMPTS, "threshold": 1e-6}
    detector = backend.create("yolo_world", parameters)
    assert isinstance(detector, DetectorBackend) and detector.eligible and detector.prompts == PROMPTS
    frame = noise(down_frame)
    (found,) = detector.detect([frame])
    assert {d.kind for d in found} <= {"person", "rope"} and found
    assert all(0.0 <= d.score <= 1.0 and d.box[2] > 0 and d.box[3] > 0 for d in found)
    assert detector.detect([frame]) == [found], "the same picture gives the same"

    detector.set_prompts({"flare": "signal_flare", "tent": "tent", "person": "person"})
    assert {d.kind for d in detector.detect([frame])[0]} <= {"signal_flare", "tent", "person"}
    with pytest.raises(UsageError, match=r"no stored embedding of 'yak'.*esar models embed"):
        detector.set_prompts({"yak": "person"})
    for bad, words in (({"flare": "castle"}, "known kinds"), ({}, "nothing to look for")):
        with pytest.raises(UsageError, match=words):
            detector.set_prompts(bad)
    assert set(detector.prompts) == {"flare", "tent", "person"}, "it goes on as before"
    detector.set_prompts(PROMPTS)
    assert detector.detect([frame]) == [found], "and back again"


def test_what_a_result_says_of_it(folder: Path) -> None:
    about = backend.about("yolo_world")
    assert about["model"] == "yolov8s-worldv2.pt" and len(about["digest"]) == len(about["embeddings"]) == 64
    assert about["engine"].startswith("ultralytics ")


def test_its_export_flies_without_torch_and_sees_the_same(folder: Path, down_frame: CameraFrame) -> None:
    pytest.importorskip("onnx", reason="extra train is not installed")
    pytest.importorskip("onnxruntime", reason="the default engine is not installed here")
    from esar_ros.perception.detectors.model_export import export_weights

    words = tuple(PROMPTS)
    card = export_weights(folder / "yolov8s-worldv2.pt", folder / "mine.onnx", words, load_table(folder / TABLE))
    assert card == folder / "mine.json"
    low = dict.fromkeys(words, 1e-6)
    flown = backend.create("onnx", {"model": "mine.onnx", "prompts": PROMPTS, "thresholds": low})
    torch = backend.create("yolo_world", {"prompts": PROMPTS, "thresholds": low})
    frame = noise(down_frame)
    mine, its = flown.detect([frame])[0], torch.detect([frame])[0]
    # Random weights give hundreds of equal boxes, of which suppression keeps a few more or less.
    assert len(mine) > 50 and abs(len(mine) - len(its)) <= 0.1 * len(its)
    assert [d.score for d in mine[:50]] == pytest.approx([d.score for d in its[:50]], rel=0.01)
    assert {d.box for d in mine[:20]} & {d.box for d in its[:20]}
    with pytest.raises(UsageError, match=r"no embedding of 'yak'.*esar models embed"):
        export_weights(folder / "yolov8s-worldv2.pt", folder / "other.onnx", ("yak",), {})


def test_an_embedding_of_another_size_is_told(folder: Path) -> None:
    save_table(folder / TABLE, table(width=640), "random")
    with pytest.raises(UsageError, match=r"640 numbers.*wants 512"):
        backend.create("yolo_world", {"prompts": PROMPTS})


def test_wrong_weights_are_told_in_one_line(folder: Path, tmp_path: Path) -> None:
    from esar_ros.perception.detectors.yolo_world import import_ultralytics

    plain = tmp_path / "plain.pt"
    import_ultralytics().YOLO("yolo11n.yaml").save(str(plain))
    broken = tmp_path / "broken.pt"
    broken.write_bytes((folder / "yolov8s-worldv2.pt").read_bytes()[:5000])
    for path, words in ((plain, "not YOLO-World"), (broken, "cannot be loaded")):
        with pytest.raises(UsageError, match=words) as told:
            backend.create("yolo_world", {"model": str(path)})
        assert "\n" not in str(told.value)


def test_without_weights_it_says_where_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_MODELS", str(tmp_path))
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    with pytest.raises(UsageError, match=r"no model yolov8s-worldv2.pt.*docs\.ultralytics\.com"):
        backend.create("yolo_world")


def test_without_ultralytics_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    (tmp_path / "some.pt").write_bytes(b"weights")
    with pytest.raises(UsageError, match=r"pip install 'esar_ros\[train\]'"):
        backend.create("yolo_world", {"model": str(tmp_path / "some.pt")})


def test_nothing_is_fetched_or_written_at_home(folder: Path, tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise SystemExit('it calls out')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from esar_ros.perception.detectors import backend\n"
        f"print(backend.create('yolo_world', {{'prompts': {PROMPTS!r}}}).prompts)"
    )
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "ESAR_MODELS": str(folder), "ESAR_CACHE": str(tmp_path / "cache"), "PATH": ""}
    root = str(Path(backend.__file__).parents[3])
    ran = subprocess.run([sys.executable, "-c", code], env=env | {"PYTHONPATH": root}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_tables_of_embeddings(tmp_path: Path) -> None:
    path = tmp_path / TABLE
    save_table(path, table(), "clip")
    loaded = load_table(path)
    assert tuple(loaded) == WORDS
    assert all(np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6) for vector in loaded.values())
    for damage in (b"", path.read_bytes()[:100], b"not a table"):
        path.write_bytes(damage)
        with pytest.raises(UsageError, match="no table of text embeddings"):
            load_table(path)
    save_table(path, {"word": np.zeros(4, np.float32)}, "clip")
    with pytest.raises(UsageError, match="length 0"):
        load_table(path)
