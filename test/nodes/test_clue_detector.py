"""The detector's node: what readers get, prompts by service, and pictures and cameras that fail."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.parameter import Parameter

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.msg import Tick
from esar_ros.nodes import clue_detector
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages.frame_source import InProcessFrames
from esar_ros.srv import SetPrompts
from helpers.tiny_onnx import bright_tent

Spin = Callable[..., bool]
SECOND = 1_000_000_000
MODEL = CameraModel.from_horizontal_fov(320, 240, np.pi / 2)
DOWN = Pose(np.array([0.0, 0.0, 40.0]), quaternion_from_rotation(optical_rotation(0.0, -np.pi / 2)))
LIT = CameraFrame("down", MODEL, DOWN, np.full((240, 320), 40, np.float32), np.full((240, 320, 3), 230, np.uint8), 0.0)


@dataclass
class Graph:
    """The node, what it has sent, and the world around it."""

    spin: Spin
    world: Node
    detector: clue_detector.ClueDetectorNode
    frames: InProcessFrames = field(default_factory=InProcessFrames)
    sent: dict[str, list[Any]] = field(default_factory=dict)

    def hear(self, name: str) -> list[Any]:
        """Records every message on a topic from now on."""
        entry, kept = BY_NAME[name], self.sent.setdefault(name, [])
        self.world.create_subscription(message_class(entry.type), name, kept.append, PROFILES[entry.quality])
        if not name.startswith("/"):
            assert self.spin([], lambda: self.detector.wanted(name))
        return kept

    def show(self, number: int, **cameras: CameraFrame) -> None:
        """A frame of all cameras, dark but for those given."""
        dark = replace(LIT, rgb=np.zeros((240, 320, 3), np.uint8))
        frames = tuple(replace(cameras.get(c, dark), camera=c, stamp=float(number)) for c in names.CAMERAS)
        self.frames.publish(FrameSet(number * SECOND, frames))

    def ask(self, words: list[str], kinds: list[str]) -> SetPrompts.Response:
        client = self.world.create_client(SetPrompts, "clue_detector/set_prompts")
        assert self.spin([], client.service_is_ready)
        future = client.call_async(SetPrompts.Request(words=words, kinds=kinds))
        assert self.spin([], future.done)
        return future.result()


Maker = Callable[..., Graph]


@pytest.fixture
def make(ros: Spin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Maker:
    model = bright_tent(tmp_path / "tiny.onnx")
    model.with_suffix(".json").write_text(
        json.dumps({"schema": "esar-detector/1", "name": "tiny", "classes": ["tent", "person"]})
    )
    init = Node.__init__

    def make_graph(**parameters: Any) -> Graph:
        given = {"pace": "realtime", "detector": f"onnx:{model}"} | parameters
        overrides = [Parameter(name, value=value) for name, value in given.items()]

        def in_namespace(self: Any, name: str, **options: Any) -> None:
            named = {key: value for key, value in options.items() if value is not None}
            init(self, name, **{"namespace": "/uav1", "parameter_overrides": overrides} | named)

        monkeypatch.setattr("rclpy.node.Node.__init__", in_namespace)
        frames = InProcessFrames()
        graph = Graph(ros, Node("world"), clue_detector.ClueDetectorNode(frames), frames)
        ros([graph.world, graph.detector], lambda: True)
        return graph

    return make_graph


def test_a_frame_gives_detections_and_clues_with_its_stamp(make: Maker) -> None:
    graph = make()
    detections, clues = graph.hear(names.DETECTIONS), graph.hear(names.CLUES)
    graph.show(7, down=LIT)
    assert graph.spin([], lambda: bool(detections and clues))
    found = detections[0]
    assert found.header.stamp == to_stamp(7 * SECOND) and found.backend == "onnx" and found.eligible
    assert [(d.kind, d.camera, d.x, d.y, d.width, d.height) for d in found.detections] == [
        ("tent", "down", 80, 50, 40, 20)
    ]
    assert found.detections[0].has_position and clues[0].clues[0].kind == "tent"


def test_annotated_pictures_are_made_while_someone_looks(make: Maker) -> None:
    graph = make()
    topic = names.camera_annotated("down")
    images, detections = graph.hear(topic), graph.hear(names.DETECTIONS)
    graph.show(3, down=LIT)
    assert graph.spin([], lambda: bool(images and detections))
    image = images[0]
    assert image.header.stamp == to_stamp(3 * SECOND) and image.header.frame_id == "uav1/camera_down_optical"
    shown = np.frombuffer(image.data, np.uint8).reshape(image.height, image.width, 3)
    assert shown.shape == (240, 320, 3) and (shown != 230).any() and (shown[200:] == 230).all()
    assert not graph.detector.wanted(names.camera_annotated("front"))


def test_prompts_change_in_flight_and_the_answer_is_true(make: Maker) -> None:
    graph = make()
    detections = graph.hear(names.DETECTIONS)
    told = graph.ask([], [])
    assert told.success and dict(zip(told.words, told.kinds, strict=True)) == {"tent": "tent", "person": "person"}
    changed = graph.ask(["tent"], ["backpack"])
    assert changed.success and list(changed.words) == ["tent"] and list(changed.kinds) == ["backpack"]
    for words, kinds, why in (
        (["yeti"], ["person"], "no class 'yeti'"),
        (["tent"], ["castle"], "known kinds"),
        (["tent", "person"], ["tent"], "one kind for each word"),
        (["tent", "tent"], ["tent", "rope"], "each word once"),
    ):
        refused = graph.ask(words, kinds)
        assert not refused.success and why in refused.message and list(refused.kinds) == ["backpack"]
    graph.show(1, down=LIT)
    assert graph.spin([], lambda: bool(detections))
    assert [d.kind for d in detections[0].detections] == ["backpack"]


def broken(**changes: Any) -> CameraFrame:
    return replace(LIT, **changes)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (broken(rgb=np.zeros((0, 0, 3), np.uint8), depth=np.zeros((0, 0), np.float32)), "0x0 pixels"),
        (broken(rgb=np.zeros((240, 320, 4), np.uint8)), "not uint8"),
        (broken(rgb=np.zeros((240, 320, 3), np.float32)), "not uint8"),
        (broken(depth=np.zeros((120, 160), np.float32)), "depth has"),
    ],
    ids=["empty", "rgba", "float", "depth"],
)
def test_a_picture_that_cannot_be_used_costs_only_itself(make: Maker, image: CameraFrame, why: str) -> None:
    graph = make()
    detections = graph.hear(names.DETECTIONS)
    graph.show(1, down=image, left=LIT)
    assert graph.spin([], lambda: bool(detections))
    assert [d.camera for d in detections[0].detections] == ["left"]
    finding = graph.detector.diagnose()[-1]
    assert finding.level == DiagnosticStatus.ERROR and why in finding.message and finding.message.startswith("down:")
    assert finding.values["pictures unusable"] == 1 and finding.values["frames"] == 1
    graph.show(2, down=LIT)
    assert graph.spin([], lambda: len(detections) == 2) and len(detections[1].detections) == 1


def test_depth_that_is_no_number_gives_a_detection_without_a_place(make: Maker) -> None:
    graph = make()
    detections, clues = graph.hear(names.DETECTIONS), graph.hear(names.CLUES)
    graph.show(1, down=broken(depth=np.full((240, 320), np.nan, np.float32)))
    assert graph.spin([], lambda: bool(detections and clues))
    assert [d.has_position for d in detections[0].detections] == [False] and not clues[0].clues


def test_a_network_that_fails_in_flight_is_counted(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make()
    detections = graph.hear(names.DETECTIONS)

    def fail(frames: object) -> Any:
        raise RuntimeError("out of memory\nin a kernel")

    monkeypatch.setattr(graph.detector.detector.backend, "detect", fail)
    graph.show(1, down=LIT)
    assert graph.spin([], lambda: bool(detections)) and not detections[0].detections
    finding = graph.detector.diagnose()[-1]
    assert finding.values["pictures unusable"] == 4 and finding.message.endswith("RuntimeError: out of memory")
    assert graph.detector.exit_code is None


def test_a_camera_that_stops_is_told_and_so_are_all(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make()
    detections = graph.hear(names.DETECTIONS)
    frames = tuple(replace(LIT, camera=c) for c in ("left", "right", "down"))
    graph.frames.publish(FrameSet(SECOND, frames))
    assert graph.spin([], lambda: bool(detections))
    finding = graph.detector.diagnose()[-1]
    assert finding.level == DiagnosticStatus.WARN and finding.message == "no pictures of front"
    monkeypatch.setattr(graph.detector, "_blind_after", 0.0)
    finding = graph.detector.diagnose()[-1]
    assert finding.level == DiagnosticStatus.STALE and "no frame for" in finding.message


def test_diagnostics_tell_how_fast_it_is(make: Maker) -> None:
    graph = make()
    heard: list[DiagnosticArray] = graph.hear(names.DIAGNOSTICS)
    graph.show(1, down=LIT)

    def told() -> dict[str, str]:
        for array in heard:
            for status in array.status:
                if status.name.endswith("clue_detector: detector"):
                    values = {value.key: value.value for value in status.values}
                    if values["frames"] == "1" and float(values["rate (pictures/s)"]) > 0.0:
                        return values
        return {}

    assert graph.spin([], lambda: bool(told()))
    values = told()
    assert float(values["a picture, longest (ms)"]) >= float(values["a picture, mean (ms)"]) > 0.0
    assert float(values["a frame's latency, longest (ms)"]) >= float(values["a picture, longest (ms)"])
    assert values["backlog"] == values["frames dropped"] == values["pictures skipped"] == "0"


def test_frames_that_come_too_fast_are_dropped_and_told(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make()
    detections = graph.hear(names.DETECTIONS)
    began, may = threading.Event(), threading.Semaphore(0)
    backend = graph.detector.detector.backend
    detect = backend.detect

    def slow(frames: Any) -> Any:
        began.set()
        assert may.acquire(timeout=10.0)
        return detect(frames)

    monkeypatch.setattr(backend, "detect", slow)
    graph.show(1, down=LIT)
    assert began.wait(10.0)
    graph.show(2, left=LIT)
    graph.show(3, front=LIT, right=LIT)
    assert graph.detector.diagnose()[-1].values["backlog"] == 1
    may.release(5)
    assert graph.spin([], lambda: len(detections) == 2)
    assert [[d.camera for d in message.detections] for message in detections] == [["down"], ["front", "right"]]
    values = graph.detector.diagnose()[-1].values
    assert [values[key] for key in ("frames", "frames dropped", "pictures skipped", "backlog")] == [2, 1, 3, 0]


def test_deactivated_it_looks_at_nothing_and_cleaned_up_it_forgets(make: Maker) -> None:
    graph = make()
    node, clues = graph.detector, graph.hear(names.CLUES)
    graph.show(1, down=LIT)
    assert graph.spin([], lambda: len(clues) == 1) and clues[0].clues
    node.trigger_deactivate()
    graph.show(2, down=LIT)
    seen = node.diagnose()[-1].values
    assert (seen["frames"], seen["backlog"]) == (1, 0)
    node.trigger_cleanup()
    graph.show(3, down=LIT)
    answer = graph.ask([], [])
    assert not answer.success and "not configured" in answer.message
    assert [finding.what for finding in node.diagnose()] == ["lifecycle", "detector"]
    node.bring_up()
    graph.show(4, down=replace(LIT, rgb=np.zeros((240, 320, 3), np.uint8)))
    assert graph.spin([], lambda: len(clues) == 2) and not clues[1].clues


def test_in_lockstep_every_camera_of_every_frame_is_answered(make: Maker) -> None:
    graph = make(pace="lockstep")
    detections = graph.hear(names.DETECTIONS)
    entry = BY_NAME[names.TICK]
    ticks = graph.world.create_publisher(Tick, names.TICK, PROFILES[entry.quality])
    assert graph.spin([], lambda: ticks.get_subscription_count() > 0)
    for number in (1, 2, 3):
        tick = Tick(seq=number, epoch=1, kinds=Tick.FRAME, period=0.05)
        tick.header.stamp = to_stamp(number * SECOND)
        ticks.publish(tick)
        graph.show(number, **dict.fromkeys(names.CAMERAS, LIT))
        assert graph.spin([], lambda n=number: len(detections) == n)
    assert [[d.camera for d in message.detections] for message in detections] == [list(names.CAMERAS)] * 3


@pytest.mark.parametrize("choice", ["eyes", "onnx:/nowhere.onnx", "onnx"])
def test_a_detector_that_cannot_be_had_is_told_at_start(make: Maker, choice: str) -> None:
    with pytest.raises(UsageError):
        make(detector=choice)


def test_the_node_is_imported_fast_and_without_torch() -> None:
    code = (
        "import sys, time; began = time.process_time(); import esar_ros.nodes.clue_detector\n"
        "print(time.process_time() - began, *sorted({'torch', 'ultralytics', 'openvino'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert told[1:] == [] and float(told[0]) <= 3.0, "s of CPU"
