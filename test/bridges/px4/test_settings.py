"""Addresses of PX4's vehicles: as its simulator's instances, as the settings say, and never one for two."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.mission.errors import UsageError


def addresses(folder: Path, text: str, first: int = 0) -> list[tuple[str, int]]:
    path = folder / "px4.yaml"
    path.write_text(text, encoding="utf-8")
    settings = load_px4_settings(path)
    told = [settings.address(f"uav{index + 1}", index) for index in range(first, 3)]
    return [(address.namespace, address.system_id) for address in told]


def test_what_is_not_said_of_a_vehicle_is_as_its_instance_has_it(tmp_path: Path) -> None:
    assert addresses(tmp_path, "") == [("", 1), ("px4_1", 2), ("px4_2", 3)]
    assert addresses(tmp_path, "vehicles: {uav2: {}, uav3: {system_id: 9}}") == [("", 1), ("px4_1", 2), ("px4_2", 9)]
    assert addresses(tmp_path, "vehicles: {uav2: {namespace: ''}}", 1)[0] == ("", 2), "uav1 does not fly"


def test_two_vehicles_of_one_address_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one autopilot would obey two governors"):
        addresses(tmp_path, "vehicles: {uav1: {namespace: a}, uav2: {namespace: a}}")
    with pytest.raises(UsageError, match="uav2 and uav1 have one autopilot"):
        addresses(tmp_path, "vehicles: {uav1: {namespace: px4_1}}")  # a name, and another's default
    assert addresses(tmp_path, "vehicles: {uav1: {system_id: 4}, uav2: {system_id: 4}}")[1] == ("px4_1", 4)
