"""Missions scored from their bags alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import odometry_frames, vehicle_messages
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.flight_truth import load_truth
from esar_ros.scoring.judge import Judge, OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import TOPICS
from esar_ros.scoring.result import Result
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import Truth, parse_truth

MAX_ERROR = 1000.0
"""m, widest error threshold that can be asked for."""


def read_bag(path: Path, topics: Iterable[str] = TOPICS) -> EpisodeRecord:
    """Everything scoring and viewing need from a bag, images left out. Raises UsageError.

    topics: those of TOPICS that are read. Of a bag that was cut everything before the cut is read, and the record says
    so (`cut`).
    """
    record = EpisodeRecord()
    with open_bag(path) as bag:
        for vehicle, topic, message in vehicle_messages(bag, topics):
            try:
                record.add(vehicle, topic, message)
            except (AttributeError, TypeError, ValueError):
                kind = type(message).__name__.replace("__", "/")
                raise UsageError(f"bag {path}, topic {vehicle}/{topic}: {kind} is not the type it has here") from None
        record.cut, record.damaged = bag.cut, bag.damaged
        record.topics = tuple(sorted({connection.topic for connection in bag.connections}))
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
