"""Names of topics by release, and what a mismatch is called."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from esar_ros.bridges.px4.versions import (
    DEFAULT,
    IN,
    OUT,
    RELEASES,
    explain,
    missing,
    release_of,
    snake_case,
    topic,
    version_of,
)


def needed(release: str) -> list[tuple[str, int, bool]]:
    versions = RELEASES[release]
    return [(n, versions.get(n, 0), True) for n in OUT] + [(n, versions.get(n, 0), False) for n in IN]


def topics(release: str, namespace: str = "") -> list[str]:
    return [topic(name, version, namespace, outgoing) for name, version, outgoing in needed(release)]


@pytest.mark.parametrize(
    ("name", "snake"),
    [("VehicleStatus", "vehicle_status"), ("OffboardControlMode", "offboard_control_mode"),
     ("TrajectorySetpoint6dof", "trajectory_setpoint6dof"), ("BatteryStatus", "battery_status")],
)  # fmt: skip
def test_snake_case(name: str, snake: str) -> None:
    assert snake_case(name) == snake


def test_names_as_px4_1_17_has_them() -> None:
    assert topics("1.17") == [
        "/fmu/out/vehicle_status_v1", "/fmu/out/vehicle_local_position_v1", "/fmu/out/vehicle_odometry",
        "/fmu/out/vehicle_land_detected", "/fmu/out/battery_status_v1", "/fmu/out/failsafe_flags",
        "/fmu/out/vehicle_command_ack", "/fmu/in/offboard_control_mode", "/fmu/in/trajectory_setpoint",
        "/fmu/in/vehicle_command",
    ]  # fmt: skip


def test_names_as_the_other_releases_have_them() -> None:
    assert "/fmu/out/vehicle_local_position" in topics("1.16")
    assert {"/fmu/out/vehicle_status_v4", "/fmu/out/vehicle_command_ack_v1"} <= set(topics("1.18"))


@pytest.mark.parametrize("namespace", ["px4_2", "/px4_2", "px4_2/", "/team/px4_2/"])
def test_a_vehicle_s_namespace_comes_first(namespace: str) -> None:
    assert topic("VehicleStatus", 1, namespace, True) == f"/{namespace.strip('/')}/fmu/out/vehicle_status_v1"


def test_the_version_is_the_class_s_own() -> None:
    assert version_of(SimpleNamespace(MESSAGE_VERSION=4)) == 4
    assert version_of(SimpleNamespace()) == 0


def test_releases_are_told_apart_by_their_versions() -> None:
    for release in RELEASES:
        versions = {name: version for name, version, _ in needed(release)}
        assert release_of(versions) == release
    assert DEFAULT in RELEASES
    assert release_of({"VehicleStatus": 9}) is None


@pytest.mark.parametrize("release", list(RELEASES))
def test_nothing_lacks_where_the_firmware_is_the_same(release: str) -> None:
    assert missing(needed(release), "px4_1", topics(release, "px4_1")) == []


def test_every_topic_that_lacks_is_named() -> None:
    lacks = missing(needed("1.17"), "", [])
    assert [lack.topic for lack in lacks] == topics("1.17")
    assert all(name in explain(lacks, {}) for name in topics("1.17"))


@pytest.mark.parametrize(("firmware", "ours"), [("1.18", "1.17"), ("1.16", "1.17"), ("1.17", "1.18")])
def test_a_mismatch_names_both_releases_and_what_is_there_instead(firmware: str, ours: str) -> None:
    lacks = missing(needed(ours), "", topics(firmware))
    text = explain(lacks, {name: version for name, version, _ in needed(ours)})
    assert f"its firmware is {firmware}, px4_msgs is {ours}" in text
    assert all(lack.topic in text and lack.instead in text for lack in lacks)


def test_another_topic_that_begins_the_same_is_no_other_version() -> None:
    lacks = missing([("VehicleStatus", 1, True)], "", ["/fmu/out/vehicle_status_flags", "/fmu/out/vehicle_status_vx"])
    assert lacks[0].instead == ""
