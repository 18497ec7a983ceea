"""Flights scored against a ground truth from a file: what it states, what the bag fills in, what a cut leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.flight_truth import load_truth
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import BriefRow, MissionRow
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Truth

DOCS = Path(__file__).resolve().parents[2] / "docs"  # not installed: of the checkout

SECOND = 1_000_000_000
START = 10 * SECOND
FILE: dict[str, Any] = {
    "schema": "esar-flight-truth/1",
    "victims": [{"id": "v1", "name": "Wu", "position": [100.0, 0.0, 0.0]}],
    "clues": [{"id": "c1", "kind": "tent", "description": "orange tent", "position": [40.0, 0.0, 0.0]}],
}
FRAMES = {"uav1": (0.0, 0.0, 0.0)}


@pytest.fixture
def load(tmp_path: Path, flown: EpisodeRecord) -> Callable[..., Truth]:
    def make(frames: Any = FRAMES, record: EpisodeRecord = flown, **more: Any) -> Truth:
        path = tmp_path / "truth.yaml"
        path.write_text(yaml.safe_dump(FILE | more))
        return load_truth(path, record, frames)

    return make


def refused(load: Callable[..., Truth], **more: Any) -> str:
    with pytest.raises(UsageError) as caught:
        load(**more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_flight_without_brief_or_referee_is_scored(load: Any, flown: EpisodeRecord, fakes: Any) -> None:
    flown.add("uav1", names.REPORTS, fakes.report(60.0, 1, "tent", (41.0, 0.0, 0.0), "orange tent"))
    flown.add("uav1", names.REPORTS, fakes.report(110.0, 2, "person", (101.0, 0.0, 0.0)))
    truth = load()
    assert (truth.start, truth.end, truth.end_reason) == (START, START + 300 * SECOND, End.ABORTED)
    result = score(flown, truth, OfflineJudge())
    assert (result.metrics.sr, result.metrics.clues_exact, result.truncated) == (1.0, 1, None)
    assert not result.eligible and "ground truth from a file" in result.ineligible_reasons
    assert result.task.map == "unknown"


def test_the_brief_fills_in_what_the_file_leaves_out(load: Any, flown: EpisodeRecord) -> None:
    story = "A hiker went missing on the ridge two days ago; look for him."
    brief = BriefRow(
        START, "m", "aotai", story, "fog", "2021-10-01T06:30:00", 120.0, (), (0.0, 0.0, 0.0), (33.9, 107.8, 3000.0)
    )
    flown.take("uav1", names.BRIEF, brief)
    truth = load()
    assert (truth.task.map, truth.task.prompt, truth.task.weather.value) == ("aotai", story, "fog")
    assert (truth.task.t_max, truth.end, truth.end_reason) == (120.0, START + 120 * SECOND, End.TIMEOUT)
    assert load(t_max=60.0, weather="clear").end == START + 60 * SECOND


def test_a_brief_whose_time_is_no_date_is_told_and_the_file_mends_it(load: Any, flown: EpisodeRecord) -> None:
    brief = BriefRow(START, "m", "aotai", "x" * 60, "clear", "14:20", 120.0, (), (0.0, 0.0, 0.0))
    flown.take("uav1", names.BRIEF, brief)
    assert "the local time '14:20', which is no date with a time: state local_time" in refused(load)
    assert load(local_time="2026-01-31T14:20:00").task.local_time.hour == 14


def test_the_clock_starts_when_the_referee_said_or_the_file_does(load: Any, flown: EpisodeRecord) -> None:
    flown.take("uav1", names.MISSION_STATE, MissionRow(START + 5 * SECOND, 2, 0, 0.0, ""))
    assert load().start == START + 5 * SECOND
    assert load(start=20.0, end=50.0).start == 20 * SECOND
    assert load(start=20.0, end=50.0).end == 50 * SECOND


def test_places_on_earth(load: Any) -> None:
    origin = {"latitude": 33.9, "longitude": 107.8, "altitude": 3000.0}
    victims = [{"id": "v1", "geodetic": [33.9009, 107.8, 3001.0]}]
    x, y, z = load(origin=origin, victims=victims).victims[0].position
    assert (x, y, z) == (pytest.approx(0.0, abs=0.01), pytest.approx(99.9, abs=0.2), pytest.approx(1.0, abs=0.01))
    assert "origin" in refused(load, victims=victims)
    both = [victims[0] | {"position": [0.0, 0.0, 0.0]}]
    assert "either position or geodetic" in refused(load, victims=both, origin=origin)


def test_where_the_odometry_lies_must_be_known(load: Any) -> None:
    assert "vehicles.uav1.odom_in_map" in refused(load, frames={})
    truth = load(frames={}, vehicles={"uav1": {"odom_in_map": [1.0, 2.0, 3.0]}})
    assert truth.vehicles["uav1"].odom_in_map == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"schema": "esar-flight-truth/9"}, "key schema"),
        ({"victims": []}, "key victims"),
        ({"clues": [{"id": "c", "kind": "spoon", "description": "spoon", "position": [0, 0, 0]}]}, "key clues.0.kind"),
        ({"colour": "red"}, "key colour"),
        ({"t_max": -1.0}, "key t_max"),
    ],
    ids=str,
)
def test_a_bad_file_is_told_by_its_key(load: Any, wrong: dict[str, Any], words: str) -> None:
    assert words in refused(load, **wrong)


def test_a_bag_without_a_flight(load: Any) -> None:
    assert "it has no topic" in refused(load, record=EpisodeRecord())
    foreign = EpisodeRecord()
    foreign.topics = ("/drone/imu", "/drone/pose")
    told = refused(load, record=foreign)
    assert "it lacks /<vehicle>/odometry or /<vehicle>/reports; it has /drone/imu, /drone/pose" in told


def test_the_examples_of_the_docs_are_valid(flown: EpisodeRecord, tmp_path: Path) -> None:
    examples = (DOCS / "how-to" / "bags.md").read_text(encoding="utf-8").split("```yaml")[1:]
    assert len(examples) == 1
    for text in examples:
        path = tmp_path / "example.yaml"
        path.write_text(text.split("```", 1)[0])
        assert load_truth(path, flown, {}).victims


def test_a_referee_s_truth_serves_for_a_cut_bag(flown: EpisodeRecord, make_truth: Any, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text(make_truth(end=300.0).dump())
    assert load_truth(path, flown, {}) == make_truth(end=300.0)


@pytest.mark.parametrize("schema", ["esar-flight-truth/1", "esar-truth/1"])
def test_the_score_of_a_cut_bag_says_truncated_at(
    load: Any, make_truth: Any, fakes: Any, tmp_path: Path, schema: str
) -> None:
    record = EpisodeRecord()
    for t in range(101):
        record.add("uav1", "odometry", fakes.odometry(t, float(t), 0.0))
    record.add("uav1", names.REPORTS, fakes.report(60.0, 1, "tent", (41.0, 0.0, 0.0), "orange tent"))
    record.cut = True
    if schema == "esar-truth/1":
        path = tmp_path / "referee.json"
        path.write_text(json.dumps(json.loads(make_truth(end=300.0).dump())))
        truth = load_truth(path, record, {})
    else:
        truth = load(record=record, t_max=300.0)
    result = score(record, truth, OfflineJudge())
    assert result.truncated == 100.0
    assert result.metrics.elapsed == 100.0
    assert result.metrics.clues_exact == 1
    assert "the bag is truncated at 100.0 s" in result.ineligible_reasons
    assert "a person ended the mission" not in result.ineligible_reasons
    record.cut = False
    assert score(record, truth, OfflineJudge()).truncated is None
