"""The limits: every one is described, ranged, in the file, and refused when bad."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from pydantic import ValidationError

from esar_ros.flight.limits import load_pilot_limits
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.safety.limits import GROUP, Limits, changed_text, load_limits

UNITS = ("m/s^3", "m/s^2", "m/s", "m/m", "m", "s", "rad/s", "0..1")


@pytest.mark.parametrize("name", list(Limits.model_fields))
def test_each_has_unit_range_and_place_in_the_file(name: str) -> None:
    info = Limits.model_fields[name]
    assert info.description is not None
    assert info.description.split(",")[0].split(" ")[0] in UNITS, info.description
    bounds = {type(m).__name__ for m in info.metadata}
    assert bounds & {"Ge", "Gt"} and "Le" in bounds
    assert name in yaml.safe_load(resource("config/safety.yaml").read_text(encoding="utf-8"))


def test_file_and_defaults_agree() -> None:
    assert load_limits() == Limits()


def test_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load_limits().speed_up = 9.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("speed_up: 99", "speed_up"),
        ("speed_up: .nan", "speed_up"),
        ("speed_sideways: 1", "speed_sideways"),
        ("[1, 2]", "the file"),
        ("a: [", "cannot read"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "safety.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        load_limits(path)
    assert part in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml"):
        load_limits(tmp_path / "none.yaml")


def test_layers_lie_farther_apart_than_vehicles_have_to_be() -> None:
    with pytest.raises(ValidationError, match="must be greater than separation, 5 m"):
        Limits(layer_spacing=5.0)
    assert Limits(layer_spacing=5.1).layer_spacing == 5.1


def test_the_packages_own_hold_the_whole_airframe(monkeypatch: pytest.MonkeyPatch) -> None:
    own = resource("config/safety.yaml")
    radius = load_limits().body_radius
    monkeypatch.setattr(
        "esar_ros.safety.limits.load_vehicle", lambda: SimpleNamespace(body=SimpleNamespace(radius=radius))
    )
    assert load_limits().body_radius == radius
    monkeypatch.setattr(
        "esar_ros.safety.limits.load_vehicle", lambda: SimpleNamespace(body=SimpleNamespace(radius=radius + 0.1))
    )
    with pytest.raises(UsageError, match=r"body_radius: 0.5 m, the vehicle's body.radius is 0.6 m"):
        load_limits()
    assert load_limits(own).body_radius == radius, "a file of one's own is for a vehicle of one's own"


def test_the_pilot_flies_within_them() -> None:
    """The governor therefore normally passes the pilot's commands unchanged."""
    pilot, safety = load_pilot_limits(), load_limits()
    assert pilot.speed <= safety.speed_horizontal
    assert pilot.speed_up <= safety.speed_up
    assert max(pilot.speed_down, pilot.land_speed) <= safety.speed_down
    assert max(pilot.speed_unknown, pilot.take_off_speed) <= safety.speed_without_map
    assert pilot.acceleration <= safety.acceleration and pilot.deceleration <= safety.deceleration
    assert pilot.latency >= safety.latency and pilot.yaw_rate <= safety.yaw_rate
    assert pilot.clearance > safety.clearance and pilot.touch_down_height > safety.floor


def test_limits_that_were_changed_are_told_as_json() -> None:
    told = '{"floor": 3.0, "speed_up": 2.5}'
    values = {f"{GROUP}.speed_up": 2.5, f"{GROUP}.floor": 3.0}
    new = [SimpleNamespace(name=name, value=SimpleNamespace(double_value=value)) for name, value in values.items()]
    assert changed_text(SimpleNamespace(new_parameters=new)) == told
