"""The vehicle's file: values, what follows from them, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS, PRESETS, THERMAL
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle, overridden
from esar_ros.safety.limits import load_limits


def shipped() -> dict[str, Any]:
    return yaml.safe_load(resource("config/vehicle.yaml").read_text(encoding="utf-8"))


def changed(folder: Path, path: tuple[str, ...], value: Any) -> Path:
    """The shipped file with one value changed; None removes it."""
    content = shipped()
    place = content
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    file = folder / "vehicle.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


def test_the_shipped_vehicle_is_what_the_benchmark_says() -> None:
    vehicle = load_vehicle()
    assert (vehicle.image.width, vehicle.image.height) == (640, 480)
    assert (vehicle.rates.control, vehicle.rates.ranges, vehicle.rates.cameras) == (20.0, 10.0, 1.0)
    assert tuple(vehicle.cameras) == CAMERAS


def test_where_the_cameras_look() -> None:
    cameras = load_vehicle().cameras
    forward = {name: mount.pose.rotation[:, 2] for name, mount in cameras.items()}
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    np.testing.assert_allclose(forward["front"], [c, 0, -s], atol=1e-12)
    np.testing.assert_allclose(forward["left"], [0, c, -s], atol=1e-12)
    np.testing.assert_allclose(forward["right"], [0, -c, -s], atol=1e-12)
    np.testing.assert_allclose(forward["down"], [0, 0, -1], atol=1e-12)
    for mount in cameras.values():
        np.testing.assert_array_equal(mount.pose.position, mount.position)


def test_pictures_of_one_s_own_that_a_preset_replaces_are_told() -> None:
    vehicle = load_vehicle()
    assert overridden(vehicle, "paper") == overridden(vehicle, "fast") == ""
    own = vehicle.with_image_size(1280, 960)
    assert (
        overridden(own, "fast") == "config/vehicle.yaml's pictures of 1280x960 are not drawn: preset fast has 320x240"
    )
    assert "has 640x480" in overridden(vehicle.with_image_size(*PRESETS["fast"]), "paper")
    assert (vehicle.image.width, vehicle.image.height) == PRESETS["paper"]


def test_a_body_that_the_governor_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    vehicle = load_vehicle()
    assert load_limits().body_radius == vehicle.body.radius
    wide = vehicle.model_copy(update={"body": vehicle.body.model_copy(update={"radius": 1.5})})
    monkeypatch.setattr("esar_ros.safety.limits.load_vehicle", lambda: wide)
    with pytest.raises(UsageError, match=r"key body_radius: 0\.5 m, the vehicle's body\.radius is 1\.5 m: raise it"):
        load_limits()


def test_intrinsics_follow_from_the_field_of_view() -> None:
    model = load_vehicle().image.model
    assert (model.width, model.height) == (640, 480)
    assert model.fx == pytest.approx(320.0)


def test_a_preset_changes_the_pictures_alone() -> None:
    vehicle = load_vehicle()
    small = vehicle.with_image_size(320, 240)
    assert (small.image.width, small.image.height, small.image.fov_deg) == (320, 240, vehicle.image.fov_deg)
    assert small.image.model.fx == pytest.approx(160.0)
    assert small.cameras == vehicle.cameras
    assert small.rates == vehicle.rates
    assert vehicle.image.width == 640


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("image", "width"), 0, "image.width"),
        (("image", "width"), "wide", "image.width"),
        (("image", "fov_deg"), 170.0, "image.fov_deg"),
        (("image", "depth"), 5.0, "image.depth"),
        (("lidar", "channels"), 1, "lidar.channels"),
        (("lidar", "elevation_min_deg"), 90.0, "lidar: "),
        (("lidar", "elevation_max_deg"), -90.0, "lidar: "),
        (("rates", "cameras"), 0.0, "rates.cameras"),
        (("body", "mass"), -2.0, "body.mass"),
        (("body", "velocity_tau"), 0.0, "body.velocity_tau"),
        (("body",), None, "body"),
        (("cameras", "down"), None, "cameras"),
        (("cameras", "front", "position"), [0.0, 0.0], "cameras.front.position"),
        (("cameras", "rear"), {"position": [0, 0, 0], "yaw_deg": 180.0, "pitch_deg": 0.0}, "cameras"),
        (("rates", "ranges"), 7.0, "rates.ranges"),
        (("rates", "cameras"), 3.0, "rates.cameras"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(tmp_path: Path, path: tuple[str, ...], value: Any, key: str) -> None:
    file = changed(tmp_path, path, value)
    with pytest.raises(UsageError) as refusal:
        load_vehicle(file)
    assert str(refusal.value).startswith(f"{file}, key {key}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["cameras: [", "a: b: c", "\tx: 1"])
def test_broken_yaml_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "vehicle.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot read vehicle") as refusal:
        load_vehicle(file)
    assert str(file) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "- 1", "hello"])
def test_yaml_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "vehicle.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=str(file)):
        load_vehicle(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml"):
        load_vehicle(tmp_path / "none.yaml")


def test_a_thermal_camera_is_carried_only_where_it_is_mounted(tmp_path: Path) -> None:
    without = load_vehicle()
    assert tuple(without.eyes) == CAMERAS
    assert "thermal" not in without.content, "digests of runs without one stay what they were"
    carried = load_vehicle(changed(tmp_path, ("thermal", "mounted"), True))
    assert tuple(carried.eyes) == (*CAMERAS, THERMAL)
    assert carried.content["thermal"]["mounted"]
    model = carried.model_of(THERMAL)
    assert (model.width, model.height) == (640, 512)
    assert model.fx == pytest.approx(320 / math.tan(math.radians(25.0)))
    assert carried.model_of("down") == without.image.model
