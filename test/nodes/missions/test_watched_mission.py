"""A whole mission with its page: time stopped, stepped and slowed, the vehicle held, a person's report scored."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esar_ros.nodes.graph.progress import SERVING
from helpers.flight import Flight, write_short_task

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]
STATE_LAG = 1.5  # s wall for what is asked to take effect


class Page:
    """The page, as a browser talks to it."""

    def __init__(self, line: str) -> None:
        self.address, token = line.removeprefix(SERVING).strip().split("#token=")
        self._token = token

    def state(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.address + "state", timeout=10) as answer:
            return dict(json.loads(answer.read()))

    def ask(self, **words: Any) -> None:
        request = urllib.request.Request(
            self.address + "command", json.dumps(words).encode(), {"X-Token": self._token}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200

    def elapsed(self) -> float:
        return float(self.state()["mission"]["elapsed"])

    def wait(self, until: Callable[[dict[str, Any]], bool], seconds: float = 240.0) -> dict[str, Any]:
        """The state, once something holds of it; a reader of events keeps the viewer subscribed."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with urllib.request.urlopen(self.address + "events?vehicle=uav1", timeout=30) as answer:
                answer.readline()
            state = self.state()
            if until(state):
                return state
            time.sleep(0.1)
        raise AssertionError(f"did not come: {self.state().get('mission')}")


def test_a_person_stops_time_holds_the_vehicle_and_reports(tmp_path: Path, domain: int) -> None:
    flight = Flight(tmp_path / "out", write_short_task(tmp_path, 60.0), planner="zigzag", view=0)
    try:
        flight.wait_until(14.0, 240.0)
        page = Page(next(line for _, line in flight.lines if line.startswith(SERVING)))
        page.ask(do="pause")
        time.sleep(STATE_LAG)
        stood = page.elapsed()
        time.sleep(2 * STATE_LAG)
        assert page.elapsed() == stood
        assert page.state()["clock"] == {"paused": True, "speed": 0.0}
        page.ask(do="step")
        page.wait(lambda state: state["mission"]["elapsed"] == stood + 1.0)
        time.sleep(STATE_LAG)
        assert page.elapsed() == stood + 1.0, "one frame and no more"
        page.ask(do="speed", speed=4.0)
        page.ask(do="hold", vehicle="uav1")
        page.ask(do="report", vehicle="uav1", kind="person", text="red jacket by the stream", x=5.0, y=6.0, z=7.0)
        page.ask(do="go")
        page.wait(lambda state: state["mission"]["elapsed"] >= stood + 9.0 and "craft/uav1" in state)
        held = page.state()["craft/uav1"]["position"]
        later = page.wait(lambda state: state["mission"]["elapsed"] >= stood + 14.0)
        assert max(abs(a - b) for a, b in zip(held, later["craft/uav1"]["position"], strict=True)) < 2.0
        assert later["order/uav1"] == "hold"
        (report,) = [r for r in later["reports"]["items"] if r["text"] == "red jacket by the stream"]
        assert report["position"] == [5.0, 6.0, 7.0]
        assert "truth" not in later and "score" not in later
        page.ask(do="search", vehicle="uav1")
        page.ask(do="speed", speed=0)
        result = flight.finish()
    finally:
        flight.abort()
    assert "a person took part" in result["ineligible_reasons"]
    assert "red jacket by the stream" in [report["text"] for report in result["reports"]]
