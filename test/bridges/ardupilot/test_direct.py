"""The place of a vehicle, and a landing without a graph, over a real link."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from copter_link import CopterLink
from fake_copter import BRAKE, LAND, FakeCopter

from esar_ros.bridges.ardupilot import direct
from esar_ros.bridges.ardupilot.settings import ArdupilotSettings, SomeMavlinkAddress


@pytest.fixture
def vehicle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], FakeCopter]]:
    """vehicle(height): one that hovers in BRAKE at this height, or stands."""
    made: list[CopterLink] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    address = SomeMavlinkAddress(link=f"udpin:127.0.0.1:{port}", system_id=1)
    settings = ArdupilotSettings(vehicles={"uav1": address})
    monkeypatch.setattr(direct, "load_ardupilot_settings", lambda: settings)

    def hovering(height: float) -> FakeCopter:
        fake = FakeCopter()
        if height:
            fake.mode, fake.armed, fake.landed = BRAKE, True, False
            fake.place = np.array([4.0, 3.0, -height])
        made.append(CopterLink(fake, port))
        return fake

    yield hovering
    for one in made:
        one.close()


def test_one_that_hovers_is_told_and_landed(vehicle: Callable[[float], FakeCopter]) -> None:
    fake, told = vehicle(5.0), list[str]()
    assert direct.where(["uav1"], told.append) == 1
    assert told[-1].startswith("uav1 hovers at 34.00") and "5 m above where ArduPilot started, armed" in told[-1]
    assert (fake.mode, fake.armed) == (BRAKE, True), "where alone changes nothing"
    assert direct.land(["uav1"], told.append) == 0
    assert (fake.mode, fake.landed, fake.armed) == (LAND, True, False)
    assert "stands on the ground" in told[-1] and told[-1].endswith("disarmed")


def test_one_that_stands_is_left_alone(vehicle: Callable[[float], FakeCopter]) -> None:
    fake, told = vehicle(0.0), list[str]()
    assert direct.land(["uav1"], told.append) == 0
    assert "stands on the ground" in told[-1]
    assert {int(message.command) for _, message in fake.commands} <= {511}


@pytest.mark.usefixtures("vehicle")
def test_one_that_is_silent_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "PATIENCE", 0.5)
    told = list[str]()
    assert direct.land(["uav1"], told.append) == 1
    assert told == ["uav1: ArduPilot is silent, where it is is not known", "not landed: the autopilot is silent"]
