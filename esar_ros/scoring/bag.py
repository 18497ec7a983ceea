"""Bags of missions: read back for scoring and viewing. No ROS install needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag_files import Bag, open_bag
from esar_ros.scoring.flight_truth import load_truth
from esar_ros.scoring.judge import Judge, OfflineJudge
from esar_ros.scoring.record import TOPICS, EpisodeRecord, stamp_ns
from esar_ros.scoring.result import Result
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import Point, Truth, parse_truth

MAX_ERROR = 1000.0
"""m, widest error threshold that can be asked for."""


def read_bag(path: Path) -> EpisodeRecord:
    """Everything scoring and viewing need from a bag, pictures left out. Raises UsageError.

    Of a bag that was cut everything before the cut is read, and the record says so (`cut`).
    """
    record = EpisodeRecord()
    with open_bag(path) as bag:
        for vehicle, topic, message in _messages(bag, TOPICS):
            try:
                record.add(vehicle, topic, message)
            except (AttributeError, TypeError, ValueError):
                kind = type(message).__name__.replace("__", "/")
                raise UsageError(f"bag {path}, topic {vehicle}/{topic}: {kind} is not the type it has here") from None
        record.cut = bag.cut
    return record


def score_bag(
    path: Path, judge: Judge | None = None, truth: Path | None = None, error_threshold: float | None = None
) -> Result:
    """Score a mission from its bag alone, by default with the offline judge. Raises UsageError.

    truth: file to take the ground truth from instead. error_threshold: m, instead of the recorded one.
    """
    record = read_bag(path)
    known = load_truth(truth, record, odometry_frames(path)) if truth else bag_truth(record, path)
    if error_threshold is not None:
        if not 0.0 < error_threshold <= MAX_ERROR:
            raise UsageError(f"error threshold {error_threshold:g} m", f"give more than 0 and at most {MAX_ERROR:g} m")
        thresholds = known.thresholds.model_copy(update={"error_threshold": error_threshold})
        known = known.model_copy(update={"thresholds": thresholds})
    return score(record, known, judge or OfflineJudge())


def bag_truth(record: EpisodeRecord, path: Path) -> Truth:
    """Ground truth that the bag got when its mission ended. Raises UsageError when it did not."""
    text = record.truth_text
    if text is not None:
        return parse_truth(text, f"bag {path}")
    if record.cut:
        raise UsageError(
            f"bag {path} is truncated at {record.last_stamp * 1e-9:.1f} s of its clock, before the ground truth",
            "give the truth with --truth FILE",
        )
    raise UsageError(
        f"bag {path} holds no ground truth: its mission did not end",
        "score a bag that was finished, or give the truth with --truth FILE",
    )


def read_pictures(path: Path, wanted: Mapping[str, Iterable[int]], slack: int) -> dict[tuple[str, int], bytes]:
    """JPEG pictures nearest to some stamps.

    wanted: stamps (ns) per relative topic with its vehicle, e.g. {"uav1/camera/front/image/compressed": [..]}.
    Returns (topic, wanted stamp) -> JPEG bytes, without those that have no picture within slack (ns).
    """
    best: dict[tuple[str, int], tuple[int, bytes]] = {}
    targets = {topic: sorted(set(stamps)) for topic, stamps in wanted.items()}
    suffixes = sorted({topic.split("/", 1)[1] for topic in targets})
    with open_bag(path) as bag:
        for vehicle, topic, message in _messages(bag, suffixes):
            stamp = stamp_ns(message.header.stamp)
            for target in targets.get(f"{vehicle}/{topic}", ()):
                away = abs(stamp - target)
                key = (f"{vehicle}/{topic}", target)
                if away <= slack and (key not in best or away < best[key][0]):
                    best[key] = (away, bytes(message.data))
    return {key: data for key, (_, data) in best.items()}


def read_last(path: Path, topic: str) -> dict[str, Any]:
    """The message with the newest stamp on a relative topic, by vehicle. Raises UsageError."""
    last: dict[str, Any] = {}
    with open_bag(path) as bag:
        for vehicle, _, message in _messages(bag, (topic,)):
            if vehicle not in last or stamp_ns(message.header.stamp) >= stamp_ns(last[vehicle].header.stamp):
                last[vehicle] = message
    return last


def odometry_frames(path: Path) -> dict[str, Point]:
    """Origin of each vehicle's odom frame in the map (m), as far as the bag's static transforms tell. UsageError."""
    found: dict[str, Point] = {}
    with open_bag(path) as bag:
        for _, _, message in _messages(bag, (names.TF_STATIC.strip("/"),)):
            for transform in message.transforms:
                vehicle, _, frame = transform.child_frame_id.partition("/")
                if transform.header.frame_id == names.MAP and frame == names.ODOM:
                    at = transform.transform.translation
                    found[vehicle] = (float(at.x), float(at.y), float(at.z))
    return found


def split_topic(name: str, topics: Iterable[str]) -> tuple[str, str] | None:
    """Vehicle and relative topic of a full topic name, e.g. ("uav1", "map/status"); None for other topics."""
    matches = [topic for topic in topics if name == f"/{topic}" or name.endswith(f"/{topic}")]
    if not matches:
        return None
    topic = max(matches, key=len)
    return name[: -len(topic)].strip("/").rsplit("/", 1)[-1], topic


def _messages(bag: Bag, topics: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """(vehicle, relative topic, message) of the given topics."""
    chosen = tuple(topics)
    owners = {
        (connection.topic, connection.msgtype): place
        for connection in bag.connections
        if (place := split_topic(connection.topic, chosen))
    }
    wanted = [c for c in bag.connections if (c.topic, c.msgtype) in owners]
    for connection, _, raw in bag.messages(wanted):
        vehicle, topic = owners[connection.topic, connection.msgtype]
        yield vehicle, topic, bag.deserialize(raw, connection.msgtype)
