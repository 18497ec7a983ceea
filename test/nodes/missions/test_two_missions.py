"""A second mission in one ROS domain is refused in a line, and the first is not harmed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from helpers.flight import Flight, write_short_task


@pytest.mark.timeout(600)
@pytest.mark.parametrize("namespace", ["", "/other"])
def test_a_second_mission_is_refused_and_the_first_goes_on(tmp_path: Path, domain: int, namespace: str) -> None:
    """In a namespace of its own, too: clock and frames are one for the domain."""
    first = Flight(tmp_path / "first", write_short_task(tmp_path, 300.0), planner="zigzag")
    second = None
    try:
        first.wait_until(4.0, 240.0)
        second = Flight(
            tmp_path / "second", write_short_task(tmp_path, 300.0, "other"), planner="zigzag", namespace=namespace
        )
        limit = time.monotonic() + 120.0
        while second.error is None and time.monotonic() < limit:
            time.sleep(0.1)
        assert isinstance(second.error, UsageError), second.tail()
        assert f"on ROS domain {domain}" in str(second.error) and "\n" not in str(second.error)
        assert not (tmp_path / "second" / "result.json").exists()
        stood = first.progress()["elapsed"]
        first.wait_until(stood + 5.0, 120.0)
        assert first.error is None and not first.supervisor.restarted
    finally:
        first.abort()
        if second is not None:
            second.abort()
