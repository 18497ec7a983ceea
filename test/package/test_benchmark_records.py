"""Records of a long benchmark: kept, gone on with, and refused where other code, limits or options made them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import records
import uavbench

import esar_ros
from esar_ros.mission.errors import UsageError


@pytest.fixture
def flown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Factory: calls for flights of a seed, none of which is really flown; returns the numbers of the new ones."""

    def run(count: int, seed: int = 7) -> list[int]:
        new: list[int] = []

        class Pool:
            def __init__(self, workers: int) -> None: ...
            def __enter__(self) -> Pool:
                return self

            def __exit__(self, *_: Any) -> None: ...
            def map(self, _: Any, numbers: list[int]) -> list[dict[str, Any]]:
                new.extend(numbers)
                return [{"number": number, "result": {"status": "error", "why": "none"}} for number in numbers]

        monkeypatch.setattr(uavbench, "ProcessPoolExecutor", Pool)
        monkeypatch.setattr(uavbench, "to_fly", lambda _: iter(range(0, 100, 10)))
        given = argparse.Namespace(records=tmp_path / "flights.jsonl", seed=seed, flights=count, workers=1)
        assert [one["number"] for one in uavbench.flights(given)] == list(range(0, 10 * count, 10))
        return new

    return run


def test_flights_go_on_behind_those_that_are_there(flown: Callable[..., list[int]], tmp_path: Path) -> None:
    assert flown(2) == [0, 10]
    assert flown(3) == [20]
    assert flown(1) == [], "more than are asked for are kept, and not told"
    header, *lines = (tmp_path / "flights.jsonl").read_text().splitlines()
    assert len(lines) == 3 and json.loads(header) == {"seed": 7, **records.code_digests(uavbench.FLOWN)}


def test_flights_of_other_code_or_seed_are_refused(
    flown: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flown(1)
    before = (tmp_path / "flights.jsonl").read_bytes()
    with pytest.raises(UsageError, match=r"flights\.jsonl: made with another seed; name another file, or remove it$"):
        flown(1, seed=8)
    safety = {**uavbench.FLOWN, "governor": ("esar_ros/safety/governor.py",)}
    monkeypatch.setattr(uavbench, "FLOWN", safety)
    with pytest.raises(UsageError, match="another governor; name"):
        flown(1)
    assert (tmp_path / "flights.jsonl").read_bytes() == before


def test_what_decides_a_flight_is_in_its_digest() -> None:
    root = Path(esar_ros.__path__[0]).parent
    digests = records.code_digests(uavbench.FLOWN)
    assert len(set(digests.values())) == len(uavbench.FLOWN)
    held = [path for paths in uavbench.FLOWN.values() for path in paths]
    for source in ("esar_ros/safety/governor.py", "esar_ros/flight/pilot.py", "config/safety.yaml",
                   "esar_ros/suites/uavbench/scenarios/flights/flight.py"):  # fmt: skip
        assert (root / source).is_file() and any(source.startswith(path) for path in held), source


def test_a_digest_follows_content_and_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(esar_ros, "__path__", [str(tmp_path / "esar_ros")])
    (tmp_path / "esar_ros" / "inner").mkdir(parents=True)
    source = tmp_path / "esar_ros" / "inner" / "one.py"
    found = []
    for content in (b"a = 1\n", b"a = 2\n"):
        source.write_bytes(content)
        found.append(records.code_digests({"all": ["esar_ros"]})["all"])
    (tmp_path / "esar_ros" / "notes.txt").write_text("no code")
    assert records.code_digests({"all": ["esar_ros"]})["all"] == found[-1]
    source.rename(source.with_name("two.py"))
    found.append(records.code_digests({"all": ["esar_ros"]})["all"])
    assert len(set(found)) == 3


def test_a_line_that_a_kill_left_unfinished_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "flights.jsonl"
    records.Records(path, {"seed": 7}).add([1])
    with path.open("a") as file:
        file.write('["to')
    again = records.Records(path, {"seed": 7})
    assert again.lines == [[1]]
    again.add([2])
    assert records.Records(path, {"seed": 7}).lines == [[1], [2]]


@pytest.mark.parametrize("content", [b"{", b"no JSON\n", b"\xff\xfe\n", b"{}\nno JSON\n"])
def test_a_file_without_records_is_refused_and_kept(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="no file of records; name another file"):
        records.Records(path, {})
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "flights.jsonl"):
        with pytest.raises(UsageError, match="name a file that can be written"):
            records.Records(path, {})


def test_without_a_file_records_are_of_this_run_alone() -> None:
    kept = records.Records(None, {})
    kept.add(3)
    assert kept.lines == [3]
