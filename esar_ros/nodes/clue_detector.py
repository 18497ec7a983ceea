"""Clue detector node: images in, 2D detections and fused 3D clues out.

In lockstep it answers every frame with all its cameras, so that nothing depends on the machine. In real time the
newest frame wins: one that waits while another comes is dropped, and of one that is late only the cameras that matter
most are looked at; both are counted in the diagnostics. An image that cannot be used, or that the network fails on,
costs that image and not the node.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticStatus

from esar_ros.faults.schedule import FRAMES
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.mission import names
from esar_ros.mission.clues import segmentation_kinds
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Clues, Detection, Detections
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.lifecycle import ManagedStepNode
from esar_ros.nodes.core.newest_frame import NewestFrame
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.crop_sheet import crop_sheet
from esar_ros.nodes.messages.frame_source import FrameSource, TopicFrames
from esar_ros.nodes.messages.image import image_message
from esar_ros.nodes.messages.markers import clue_markers
from esar_ros.nodes.messages.vision import clue_detections, image_detections
from esar_ros.perception.annotate import annotated
from esar_ros.perception.detector import ClueDetector, FrameResult, create_detector, unusable
from esar_ros.perception.detectors.backend import Detection2D, defect
from esar_ros.perception.detectors.chosen import chosen_is_eligible
from esar_ros.perception.detectors.segmentation_oracle import SegmentationOracle
from esar_ros.srv import SetPrompts

REPORTED_FOR = 5.0  # s for which diagnostics tell of an image that could not be used
BLIND_AFTER = 3.0  # periods of the cameras without a frame, after which the diagnostics say that it is blind

Found = list[Detection2D] | None  # None: the image could not be used


class ClueDetectorNode(ManagedStepNode):
    """Runs a detector backend over each frame and fuses what it sees."""

    def __init__(self, source: FrameSource | None = None, namespace: str | None = None) -> None:
        super().__init__(node_names.CLUE_DETECTOR, namespace)
        self._choice = str(declare(self, "detector", names.DEFAULT_DETECTOR, "detector backend, NAME or NAME:FILE"))
        self._detector: ClueDetector | None = None
        rig = load_vehicle()
        self._blind_after = BLIND_AFTER / rig.rates.cameras  # s
        self._frames: dict[int, FrameSet] = {}
        self._backend_lock = threading.Lock()  # prompts change between two images, not within one
        self._counts: Counter[str] = Counter()
        self._trouble = ("", -REPORTED_FOR)  # why the newest unusable image was, and when (s, steady)
        self._reasons: set[str] = set()  # for which detections were left out, that were told
        self._answers: list[float] = []  # s, wall time of each image since the last diagnostics
        self._latencies: list[float] = []  # s, from a frame's coming to its answer, since the last diagnostics
        self._diagnosed_at = self._last_frame = time.monotonic()  # s, steady
        self._cameras: tuple[str, ...] = ()  # of the newest frame
        self.exit_code: int | None = None
        for topic in (names.DETECTIONS, names.CLUES, names.CLUE_MARKERS, names.CLUE_CROPS, names.CLUE_DETECTIONS):
            self.output(topic)
        self._eyes = tuple(rig.eyes)
        for camera in self._eyes:
            self.output(names.camera_annotated(camera))
            self.output(names.camera_detections(camera))
        self.create_service(SetPrompts, "~/set_prompts", self._on_prompts)
        self._late: NewestFrame[CameraFrame, Found] | None = None
        self._source = source or TopicFrames(self, rig)
        self._source.subscribe(self.faulty(FRAMES, self._on_frame))
        self.join()

    @property
    def needs_truth(self) -> bool:
        """True where the backend reads object ids."""
        return not chosen_is_eligible(self._choice)

    @property
    def detector(self) -> ClueDetector:
        """The detector of a configured node."""
        assert self._detector is not None
        return self._detector

    def configure(self) -> None:
        """Load the backend. Raises UsageError."""
        detector = create_detector(self._choice)
        if isinstance(detector.backend, SegmentationOracle):
            detector.backend.set_objects(segmentation_kinds())
        self._detector = detector
        if not self.lockstep:
            self._late = NewestFrame(self._look, self._deliver, self._fail)

    def clean_up(self) -> None:
        """Forget the backend and every object found."""
        if self._late is not None:
            self._late.stop()
        self._late, self._detector = None, None
        self._frames = {}

    # -- frames ---------------------------------------------------------------------------------

    def _on_frame(self, frame_set: FrameSet) -> None:
        self._last_frame = time.monotonic()
        self._cameras = tuple(frame.camera for frame in frame_set.frames)
        if not self.configured or (self._late is not None and not self.active):
            return
        if self._late is not None:
            self._late.put(frame_set.ns, frame_set.frames)
            return
        self._counts["frames dropped"] += len(self._frames)
        self._frames = {frame_set.ns: frame_set}
        self.retry()

    def on_step(self, step: Step) -> bool | None:
        """Answer frames; without a camera driver, or inactive, say again what is known."""
        if not step.is_frame():
            return None
        frame_set = self._frames.pop(step.ns, None)
        if frame_set is not None and self.active:
            self._deliver(step.ns, self._last_frame, [(frame, self._look(frame)) for frame in frame_set.frames])
            return None
        if frame_set is None and node_names.CAMERA_DRIVER not in step.absent and not self._source.has_lost(step.ns):
            return False
        self._publish(step.ns, self.detector.idle())
        return None

    def _look(self, frame: CameraFrame) -> Found:
        """Returns the detections in one image. Raises UsageError when the backend cannot work at all."""
        began = time.perf_counter()
        why = defect(frame)
        found: Found = None
        if not why:
            try:
                with self._backend_lock:
                    found = self.detector.look(frame)
            except UsageError:
                raise
            except Exception as error:  # a network fails in ways of its engine's own
                why = f"{type(error).__name__}: {error}"
        self._answers.append(time.perf_counter() - began)
        if why:
            self._counts["pictures unusable"] += 1
            words = f"{frame.camera}: {why}".splitlines()[0]
            self._trouble = (words, time.monotonic())
            self.get_logger().warning(f"no detections in a picture of {words}", throttle_duration_sec=10.0)
        return found

    def _deliver(self, ns: int, came: float, seen: Sequence[tuple[CameraFrame, Found]]) -> None:
        """Fuse and publish what the images of one stamp, which came then (s, steady), showed."""
        usable = [(frame, found) for frame, found in seen if found is not None]
        self._counts["frames"] += 1
        result = self.detector.take_in([frame for frame, _ in usable], [found for _, found in usable])
        self._publish(ns, result)
        self._latencies.append(time.monotonic() - came)
        for reason in sorted(set(self.detector.left_out) - self._reasons):
            self._reasons.add(reason)
            self.get_logger().warning(f"detections are left out: {reason}")
        for frame, every in usable:
            found = [one for one in every if not unusable(one, frame)]
            frame_id = names.camera_frame(self.vehicles[0], frame.camera)
            topic = names.camera_annotated(frame.camera)
            if self.wanted(topic):
                self.send(topic, image_message(annotated(frame.rgb, found), "rgb8", to_stamp(ns), frame_id))
            topic = names.camera_detections(frame.camera)
            if self.wanted(topic):
                self.send(topic, image_detections(found, to_stamp(ns), frame_id))

    def _fail(self, error: BaseException) -> None:
        """End the process: without its thread the detector would only look as if it saw nothing."""
        self.get_logger().fatal(f"esar: {error}" if isinstance(error, UsageError) else f"detector: {error!r}")
        self.exit_code = 2 if isinstance(error, UsageError) else 1

    # -- prompts --------------------------------------------------------------------------------

    def _on_prompts(self, request: SetPrompts.Request, response: SetPrompts.Response) -> SetPrompts.Response:
        """Look for other things from the next image on, and say whether that worked."""
        if not self.configured:
            response.success, response.message = False, "the node is not configured"
            return response
        backend = self.detector.backend
        wanted = dict(zip(request.words, request.kinds, strict=False))
        response.success = True
        if len(request.words) != len(request.kinds) or len(wanted) < len(request.words):
            response.success, response.message = False, "give one kind for each word, and each word once"
        elif wanted:
            try:
                with self._backend_lock:
                    backend.set_prompts(wanted)
                self._operator_log.record(f"prompts {wanted}")
            except UsageError as error:
                response.success, response.message = False, str(error)
        response.words, response.kinds = list(backend.prompts), list(backend.prompts.values())
        self.get_logger().info(f"prompts {wanted}: {response.message or 'done'}")
        return response

    # -- out ------------------------------------------------------------------------------------

    def diagnose(self) -> list[Finding]:
        """Rate, latency, backlog, and what was dropped and why."""
        now = time.monotonic()
        answers, self._answers = self._answers, []
        latencies, self._latencies = self._latencies, []
        silent = now - self._last_frame
        detector = self._detector  # another thread may clean up
        left_out = {} if detector is None else dict(detector.left_out)
        values: dict[str, object] = {
            "backend": self._choice,
            "rate (pictures/s)": round(len(answers) / max(now - self._diagnosed_at, 1e-3), 2),
            "a picture, mean (ms)": round(1e3 * sum(answers) / len(answers), 1) if answers else 0.0,
            "a picture, longest (ms)": round(1e3 * max(answers, default=0.0), 1),
            "a frame's latency, longest (ms)": round(1e3 * max(latencies, default=0.0), 1),
            "frames": self._counts["frames"],
            "frames dropped": self._counts["frames dropped"] + (self._late.dropped if self._late else 0),
            "backlog": self._late.backlog if self._late else len(self._frames),
            "pictures skipped": self._late.skipped if self._late else 0,
            "pictures unusable": self._counts["pictures unusable"],
            **{f"left out, {reason}": count for reason, count in left_out.items()},
        }
        self._diagnosed_at = now
        lacking = [camera for camera in self._eyes if camera not in self._cameras]
        trouble, since = self._trouble
        finding = Finding("detector", values=values)
        if not self.lockstep and silent > self._blind_after:
            finding = Finding("detector", DiagnosticStatus.STALE, f"no frame for {silent:.0f} s", values)
        elif now - since < REPORTED_FOR:
            finding = Finding("detector", DiagnosticStatus.ERROR, trouble, values)
        elif self._cameras and lacking:
            finding = Finding("detector", DiagnosticStatus.WARN, f"no pictures of {', '.join(lacking)}", values)
        return [self.lifecycle_finding(), finding]

    def destroy_node(self) -> None:
        """Stop the detector's thread, then the node."""
        if self._late is not None:
            self._late.stop()
        super().destroy_node()

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
        clues.focal, clues.cameras = self.detector.focal, list(result.cameras)
        clues.header.stamp = stamp
        clues.header.frame_id = names.MAP
        clues.clues = [convert.clue_message(clue) for clue in result.clues]
        self.send(names.CLUES, clues)
        if self.wanted(names.CLUE_MARKERS):
            self.send(names.CLUE_MARKERS, clue_markers(result.clues, stamp))
        if self.wanted(names.CLUE_DETECTIONS):
            self.send(names.CLUE_DETECTIONS, clue_detections(result.clues, stamp))
        if self.wanted(names.CLUE_CROPS):
            self.send(names.CLUE_CROPS, crop_sheet(result.clues, self.detector.crop, ns * 1e-9, stamp))


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [ClueDetectorNode()])


if __name__ == "__main__":
    raise SystemExit(main())
