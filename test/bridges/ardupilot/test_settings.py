"""config/ardupilot.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.bridges.ardupilot.settings import ArdupilotSettings, load_ardupilot_settings
from esar_ros.mission.errors import UsageError


def test_the_packages_own_has_the_defaults_and_sitls_addresses() -> None:
    settings = load_ardupilot_settings()
    assert settings == ArdupilotSettings()
    assert [settings.address(f"uav{k + 1}", k).link for k in range(2)] == ["tcp:127.0.0.1:5762", "tcp:127.0.0.1:5772"]
    assert [settings.address(f"uav{k + 1}", k).system_id for k in range(2)] == [1, 2]
    assert settings.timing.stream == settings.timing.window, "GUIDED wants no proof of life"


def test_a_vehicle_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ardupilot.yaml"
    path.write_text("vehicles: {red: {link: 'tcp:127.0.0.1:5762', system_id: 9}}\n")
    address = load_ardupilot_settings(path).address("red", 0)
    assert (address.link, address.system_id) == ("tcp:127.0.0.1:5762", 9)
    path.write_text("vehicles: {uav2: {link: /dev/ttyUSB1}}\n")
    assert load_ardupilot_settings(path).address("uav2", 1).system_id == 2, "as PX4's"


def test_a_link_that_is_another_vehicles_default_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ardupilot.yaml"
    path.write_text("vehicles: {uav1: {link: 'tcp:127.0.0.1:5772', system_id: 2}}\n")
    settings = load_ardupilot_settings(path)
    assert settings.address("uav1", 0).system_id == 2
    with pytest.raises(UsageError, match="uav2 and uav1 have one autopilot"):
        settings.address("uav2", 1)


@pytest.mark.parametrize(
    "text",
    [
        "fresh: 9\n", "vehicles: {red: {link: ''}}\n", "heartbeat: 0.1\n", "baud: 7\n",
        "vehicles: {red: {link: 'udp:1'}, blue: {link: 'udp:1', system_id: 2}}\n",
    ],
)  # fmt: skip
def test_what_is_out_of_range_or_unknown_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ardupilot.yaml"
    path.write_text(text)
    with pytest.raises(UsageError):
        load_ardupilot_settings(path)
