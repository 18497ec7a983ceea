"""Clue detector node: pictures in, 2D detections and fused 3D clues out."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from esar_ros.benchmark.deployer import segmentation_kinds
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Clues, Detection, Detections
from esar_ros.nodes import convert, interface
from esar_ros.nodes.frames import FrameSet, FrameSource, TopicFrames
from esar_ros.nodes.parameters import declare
from esar_ros.nodes.runtime import run
from esar_ros.nodes.steps import Step, StepNode, to_stamp
from esar_ros.perception.detector import FrameResult, create_detector
from esar_ros.perception.segmentation_oracle import SegmentationOracle
from esar_ros.safety.faults import FRAMES


class ClueDetectorNode(StepNode):
    """Runs a detector backend over each frame and fuses what it sees."""

    def __init__(self, source: FrameSource | None = None) -> None:
        super().__init__(interface.CLUE_DETECTOR)
        name = str(declare(self, "detector", "segmentation_oracle", "detector backend"))
        self.detector = create_detector(name)
        if isinstance(self.detector.backend, SegmentationOracle):
            self.detector.backend.set_objects(segmentation_kinds())
        self._frames: dict[int, FrameSet] = {}
        self._dropped = 0
        (source or TopicFrames(self, load_vehicle())).subscribe(self.faulty(FRAMES, self._on_frame))
        for topic in (names.DETECTIONS, names.CLUES, names.CLUE_MARKERS):
            self.output(topic)
        self.join()

    @property
    def needs_truth(self) -> bool:
        """Whether the backend reads object ids."""
        return not self.detector.backend.eligible

    def _on_frame(self, frame_set: FrameSet) -> None:
        if not self.lockstep:
            self._publish(frame_set.ns, self.detector.process(frame_set.frames))
            return
        self._dropped += len(self._frames)
        self._frames = {frame_set.ns: frame_set}
        self.retry()

    def on_step(self, step: Step) -> bool | None:
        """Answer frames; without a camera driver, say again what is known."""
        if not step.is_frame():
            return None
        frame_set = self._frames.pop(step.ns, None)
        if frame_set is None:
            if interface.CAMERA_DRIVER not in step.absent:
                return False
            self._publish(step.ns, self.detector.idle())
            return None
        self._publish(step.ns, self.detector.process(frame_set.frames))
        return None

    def _publish(self, ns: int, result: FrameResult) -> None:
        stamp = to_stamp(ns)
        detections = Detections(backend=self.detector.backend.name, eligible=self.detector.backend.eligible)
        detections.header.stamp = stamp
        detections.header.frame_id = names.MAP
        for seen in result.sightings:
            x, y, width, height = seen.detection.box
            message = Detection(
                kind=seen.detection.kind,
                score=float(seen.detection.score),
                camera=seen.camera,
                x=int(x),
                y=int(y),
                width=int(width),
                height=int(height),
                pixels=seen.detection.pixels,
            )
            if seen.position is not None and seen.covariance is not None:
                message.has_position = True
                message.position = convert.point(seen.position)
                message.covariance = seen.covariance.reshape(9)
            detections.detections.append(message)
        self.send(names.DETECTIONS, detections)
        clues = Clues(backend=self.detector.backend.name, eligible=self.detector.backend.eligible)
        clues.header.stamp = stamp
        clues.header.frame_id = names.MAP
        clues.clues = [convert.clue_message(clue) for clue in result.clues]
        self.send(names.CLUES, clues)
        if self.wanted(names.CLUE_MARKERS):
            self.send(names.CLUE_MARKERS, clue_markers(result.clues, stamp))


def clue_markers(clues: tuple[SeenClue, ...], stamp: Time) -> MarkerArray:
    """Spheres of two standard deviations with labels, for RViz."""
    array = MarkerArray()
    for clue in clues:
        spread = [max(0.5, 2.0 * float(clue.covariance[i, i]) ** 0.5) for i in range(3)]
        red = 1.0 if clue.kind == PERSON else 0.1
        for number, kind in enumerate((Marker.SPHERE, Marker.TEXT_VIEW_FACING)):
            marker = Marker(type=kind, action=Marker.ADD, id=2 * clue.id + number, ns="clues")
            marker.header.stamp = stamp
            marker.header.frame_id = names.MAP
            marker.pose.position = convert.point(clue.position + [0.0, 0.0, 3.0 * number])
            marker.pose.orientation.w = 1.0
            marker.color = ColorRGBA(r=red, g=0.6, b=1.0 - red, a=0.6 if number == 0 else 1.0)
            marker.scale = Vector3(x=spread[0], y=spread[1], z=spread[2]) if number == 0 else Vector3(z=2.0)
            marker.text = f"{clue.kind} {clue.score:.2f}" if number else ""
            array.markers.append(marker)
    return array


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [ClueDetectorNode()])


if __name__ == "__main__":
    raise SystemExit(main())
