"""Schedules are refused in one line; a channel gives what its fault says, by stamps alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.faults.schedule import MODEL_KINDS, PROCESS_KINDS, Channel, Schedule, load_schedule
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource

GOOD = {"kind": "drop", "node": "safety_governor", "topic": "ranges", "at": 10.0, "for": 5.0}
EXAMPLES = sorted(resource("config/faults").glob("*.yaml"))


@dataclass(frozen=True)
class Note:
    """Stands for a message; done lists the changes made to it."""

    time: float
    done: tuple[Any, ...] = ()


class NoteTamper:
    def shifted(self, note: Note, seconds: float) -> Note:
        return Note(round(note.time + seconds, 6), (*note.done, "shifted"))

    def spoiled(self, note: Note) -> Note:
        return replace(note, done=(*note.done, "spoiled"))

    def flipped(self, note: Note) -> Note:
        return replace(note, done=(*note.done, "flipped"))

    def turned(self, note: Note, degrees: float) -> Note:
        return replace(note, done=(*note.done, degrees))

    def in_millimetres(self, note: Note) -> Note:
        return replace(note, done=(*note.done, "millimetres"))

    def without_camera(self, note: Note, camera: str) -> Note:
        return replace(note, done=(*note.done, camera))

    def charged(self, note: Note, share: float) -> Note:
        return replace(note, done=(*note.done, share))


def schedule(*faults: dict[str, Any], seed: int = 0) -> Schedule:
    return Schedule.model_validate({"faults": [{**GOOD, **fault} for fault in faults], "seed": seed})


def channel(*faults: dict[str, Any], seed: int = 0) -> Channel[Note]:
    made = schedule(*faults, seed=seed)
    fault = made.faults[0]
    assert hasattr(fault, "topic")
    return Channel(made.messages("safety_governor", "uav1", fault.topic), NoteTamper(), seed)


def heard(passes: Channel[Note], times: list[float]) -> list[list[Note]]:
    return [passes.receive(time, Note(time)) for time in times]


def times(*faults: dict[str, Any]) -> list[list[float]]:
    """Returns, for each of the messages 8, 9 .. 18 s, the times of the messages that come in at it."""
    return [[note.time for note in notes] for notes in heard(channel(*faults), [float(t) for t in range(8, 19)])]


def single(value: list[list[float]]) -> list[float | None]:
    return [one[0] if one else None for one in value]


def test_a_drop_takes_its_messages_and_no_others() -> None:
    assert single(times({})) == [8, 9, None, None, None, None, None, 15, 16, 17, 18]


def test_without_an_end_it_lasts() -> None:
    made = Schedule.model_validate({"faults": [{k: v for k, v in GOOD.items() if k != "for"}]})
    passes = Channel(made.messages("safety_governor", "uav1", "ranges"), NoteTamper())
    assert heard(passes, [9.0, 10.0, 1e6]) == [[Note(9.0)], [], []]


def test_delayed_messages_come_when_due_and_late_ones_after_the_end() -> None:
    got = times({"kind": "delay", "delay": 1.5, "for": 3.0})
    assert got == [[8], [9], [], [], [10], [11, 13], [12, 14], [15], [16], [17], [18]]


def test_frozen_messages_are_the_last_one_before() -> None:
    assert single(times({"kind": "freeze"})) == [8, 9, 9, 9, 9, 9, 9, 15, 16, 17, 18]
    renewed = heard(channel({"kind": "freeze", "stamps": "renewed"}), [8.0, 9.0, 10.0, 11.0])
    assert [note.time for (note,) in renewed] == [8.0, 9.0, 10.0, 11.0]
    assert [note.done for (note,) in renewed] == [(), (), ("shifted",), ("shifted",)]


def test_nothing_is_frozen_before_anything_came() -> None:
    assert heard(channel({"kind": "freeze"}), [10.0, 11.0]) == [[], []]


def test_pairs_are_reordered_and_the_odd_one_is_not_lost() -> None:
    assert times({"kind": "reorder"}) == [[8], [9], [], [11, 10], [], [13, 12], [], [15, 14], [16], [17], [18]]


def test_copies_are_beyond_the_message_itself() -> None:
    assert times({"kind": "duplicate", "copies": 2, "for": 1.0})[1:4] == [[9], [10, 10, 10], [11]]


@pytest.mark.parametrize(
    ("fault", "done"),
    [
        ({"kind": "skew", "offset": 2.0}, "shifted"),
        ({"kind": "nan"}, "spoiled"),
        ({"kind": "ned", "topic": "odometry"}, "flipped"),
        ({"kind": "turned", "topic": "odometry", "by": -90.0}, -90.0),
        ({"kind": "millimetres"}, "millimetres"),
        ({"kind": "camera_lost", "topic": "frames", "camera": "left"}, "left"),
        ({"kind": "battery_step", "topic": "battery", "to": 0.1}, 0.1),
    ],
)
def test_changed_messages_are_changed_while_it_lasts(fault: dict[str, Any], done: Any) -> None:
    got = heard(channel(fault), [9.95, 10.0, 14.95, 15.0])
    assert [note.done for (note,) in got] == [(), (done,), (done,), ()]


def test_a_skew_moves_the_stamp_by_its_sign() -> None:
    for offset in (2.5, -2.5):
        ((note,),) = heard(channel({"kind": "skew", "offset": offset}), [10.0])
        assert note.time == 10.0 + offset


def test_a_clock_reset_touches_every_topic_of_its_node() -> None:
    made = Schedule.model_validate(
        {"faults": [{"kind": "clock_reset", "node": "pilot", "at": 5.0, "for": 1.0, "by": 4}]}
    )
    for topic in ("odometry", "map/local"):
        passes = Channel(made.messages("pilot", "uav1", topic), NoteTamper())
        assert passes.receive(5.0, Note(5.0)) == [Note(1.0, ("shifted",))]
    assert made.messages("planner", "uav1", "odometry") == ()


def test_one_fault_hears_what_another_leaves() -> None:
    both = channel({"kind": "duplicate", "for": 2.0}, {"kind": "nan", "at": 11.0, "for": 1.0})
    got = heard(both, [10.0, 11.0, 12.0])
    assert got == [[Note(10.0)] * 2, [Note(11.0, ("spoiled",))] * 2, [Note(12.0)]]


def test_faults_reach_only_their_node_vehicle_and_topic() -> None:
    made = schedule({"vehicle": "uav2"})
    assert len(made.messages("safety_governor", "uav2", "ranges")) == 1
    for other in (
        ("pilot", "uav2", "ranges"),
        ("safety_governor", "uav1", "ranges"),
        ("safety_governor", "uav2", "battery"),
    ):
        assert made.messages(*other) == ()


def test_a_share_is_about_that_share_and_hangs_on_seed_and_stamp_alone() -> None:
    stamps = [10.0 + 0.001 * n for n in range(4000)]
    dropped = [not notes for notes in heard(channel({"share": 0.3}), stamps)]
    assert abs(sum(dropped) / len(dropped) - 0.3) < 0.03
    backwards = [not notes for notes in heard(channel({"share": 0.3}), stamps[::-1])][::-1]
    assert dropped == backwards
    assert dropped != [not notes for notes in heard(channel({"share": 0.3}, seed=1), stamps)]


@given(st.lists(st.floats(0.0, 40.0), max_size=60, unique=True), st.sampled_from(["delay", "reorder", "duplicate"]))
@settings(deadline=None)
def test_what_is_only_moved_in_time_is_neither_lost_nor_made_up(stamps: list[float], kind: str) -> None:
    extra: dict[str, dict[str, float]] = {"delay": {"delay": 3.0}, "reorder": {}, "duplicate": {"copies": 1}}
    stamps = sorted(stamps)
    passes = channel({"kind": kind, **extra[kind]})
    got = [note.time for notes in heard(passes, [*stamps, 100.0, 200.0]) for note in notes]
    assert set(got) == {*stamps, 100.0, 200.0}
    if kind != "duplicate":
        assert len(got) == len(stamps) + 2


@given(st.floats(-1e3, 1e3), st.floats(1.0, 100.0), st.floats(0.01, 100.0))
@settings(deadline=None)
def test_outside_its_time_a_fault_changes_nothing(time: float, at: float, lasts: float) -> None:
    passes = channel({"kind": "nan", "at": at, "for": lasts})
    inside = at - 1e-6 <= time < at + lasts - 1e-6
    assert (passes.receive(time, Note(time)) == [Note(time)]) is not inside
    assert (passes.touched(time) is not None) is inside


# -- files --------------------------------------------------------------------------------------


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    def to_file(document: Any) -> Path:
        path = tmp_path / "faults.yaml"
        path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
        return path

    return to_file


def test_a_schedule_is_read(write: Callable[[Any], Path]) -> None:
    made = load_schedule(write({"faults": [GOOD, {"kind": "kill", "process": "pilot", "at": 30.0}], "seed": 3}))
    assert made.seed == 3
    assert [fault.kind for fault in made.faults] == ["drop", "kill"]
    assert [fault.process for fault in made.signals()] == ["pilot"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("faults: [", ("cannot read",)),
        ("just words", ("the file",)),
        ({"faults": []}, ("faults", "at least 1")),
        ({"faults": [GOOD], "more": 1}, ("more",)),
        ({"faults": [{**GOOD, "kind": "storm"}]}, ("faults.0", "storm", "camera_lost")),
        ({"faults": [{**GOOD, "at": 0.5}]}, ("faults.0.drop.at", "greater than or equal to 1")),
        ({"faults": [{**GOOD, "at": float("nan")}]}, ("faults.0.drop.at",)),
        ({"faults": [{**GOOD, "for": -1.0}]}, ("faults.0.drop.for",)),
        ({"faults": [{**GOOD, "share": 0.0}]}, ("share",)),
        ({"faults": [GOOD, {**GOOD, "colour": "red"}]}, ("faults.1.drop.colour",)),
        ({"faults": [{**GOOD, "kind": "ned"}]}, ("faults.0.ned.topic", "odometry")),
        ({"faults": [{"kind": "stop", "process": "pilot", "at": 5.0}]}, ("faults.0.stop.for",)),
        ({"faults": [{"kind": "camera_lost", "node": "n", "camera": "rear", "at": 5.0}]}, ("camera", "front")),
        *(({"faults": [{"kind": kind, "at": 5.0}]}, ("faults.0", kind, "model")) for kind in MODEL_KINDS),
    ],
)
def test_what_is_wrong_is_said_in_one_line(write: Callable[[Any], Path], document: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refused:
        load_schedule(write(document))
    text = str(refused.value)
    assert "\n" not in text
    assert "faults.yaml" in text
    assert all(word in text for word in words), text


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.yaml"):
        load_schedule(tmp_path / "absent.yaml")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_hold_one_fault_each(path: Path) -> None:
    assert len(load_schedule(path).faults) == 1


def test_every_kind_has_an_example() -> None:
    shown = {load_schedule(path).faults[0].kind for path in EXAMPLES}
    tags = set(Schedule.model_json_schema()["properties"]["faults"]["items"]["discriminator"]["mapping"])
    assert shown == tags
    assert set(PROCESS_KINDS) <= tags
