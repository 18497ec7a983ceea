"""The end of a mission of PX4 vehicles, for a person."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from esar_ros.app import parting

Say = Callable[[int, str], tuple[Any, list[str]]]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Say:
    """say(code, words): what PX4 answers."""

    def made(code: int, words: str) -> tuple[Any, list[str]]:
        script = f"import sys; print({words!r}); sys.exit({code})"
        monkeypatch.setattr(parting, "WHERE", (sys.executable, "-c", script))
        told: list[str] = []
        return parting.Parting(("uav1", "uav2"), told.append), told

    return made


def test_a_vehicle_in_the_air_is_left_at_the_second_ctrl_c(say: Say) -> None:
    end, told = say(1, "uav1 hovers at 34.0, 107.3, 12 m above where PX4 started, armed")
    assert not end.may_end()
    assert told[0].startswith("uav1 hovers") and told[1].startswith("Ctrl-C again ends the mission")
    assert end.may_end()
    told.clear()
    end.tell()
    assert told[0].startswith("uav1 hovers") and told[1].startswith("./esar px4 land --vehicles uav1,uav2")


def test_one_on_the_ground_is_not_asked_about(say: Say) -> None:
    end, told = say(0, "uav1 stands on the ground at 34.0, 107.3, disarmed")
    assert end.may_end()
    told.clear()
    end.tell()
    assert told == ["uav1 stands on the ground at 34.0, 107.3, disarmed"]


def test_an_autopilot_that_cannot_be_asked_counts_as_in_the_air(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    end, told = say(0, "")
    monkeypatch.setattr(parting, "WHERE", (sys.executable, "-c", "import time; time.sleep(9)"))
    monkeypatch.setattr(parting, "PATIENCE", 0.2)
    assert not end.may_end() and "does not say" in told[0]


def test_of_another_autopilot_that_one_is_asked_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import sys; print(*sys.argv[1:]); sys.exit(1)"
    monkeypatch.setattr(parting, "WHERE", (sys.executable, "-c", script))
    told: list[str] = []
    parting.Parting(("uav1",), told.append, "ardupilot").tell()
    assert told[0] == "uav1 --autopilot ardupilot"
    assert told[1].startswith("./esar px4 land --vehicles uav1 --autopilot ardupilot lands it")
