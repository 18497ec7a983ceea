"""esar calibrate: of a bag and of the embedded simulator's vehicle; what is printed and what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from esar_ros.app import cli
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.benchmark.engine import step_flight
from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.nodes.graph.parameter_file import read_parameter_file
from esar_ros.safety.calibration import Flight
from esar_ros.safety.limits import Limits
from helpers.built_messages import SECOND, START, build, header, point
from helpers.stops import first_order, flown

TYPES = {
    "odometry": "nav_msgs/msg/Odometry",
    "cmd_vel_safe": "geometry_msgs/msg/TwistStamped",
    "safety/limits": "rcl_interfaces/msg/ParameterEvent",
}
AGE = 0.15  # s, of ranges and step (config/vehicle.yaml)


def twist(velocity: Any) -> Any:
    x, y, z = (float(v) for v in velocity)
    return build("geometry_msgs/msg/Twist", linear=build("geometry_msgs/msg/Vector3", x=x, y=y, z=z))


def parameters(limits: dict[str, float]) -> Any:
    kind = "rcl_interfaces/msg/Parameter"
    set_to = lambda value: build(f"{kind}Value", type=3, double_value=value)  # noqa: E731
    told = [build(kind, name=f"limits.{key}", value=set_to(value)) for key, value in limits.items()]
    return build(f"{kind}Event", node="/uav1/safety_governor", new_parameters=told)


def write_bag(path: Path, flights: dict[str, Flight], limits: dict[str, float] | None = None) -> Path:
    """The flights of vehicles as the graph records them: the twist in the body, which is turned and leans."""
    writer = BagWriter(path)
    turned = Pose(quaternion=quaternion_from_rpy(0.1, -0.2, 2.0))
    w, x, y, z = (float(value) for value in turned.quaternion)
    attitude = build("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)
    rows: list[tuple[float, str, str, Any]] = []
    for name, flight in flights.items():
        for topic in TYPES:
            writer.add_topic(f"/{name}/{topic}", TYPES[topic])
        if limits is not None:
            rows.append((0.0, name, "safety/limits", parameters(limits)))
        for t, position, velocity in zip(flight.time, flight.position, flight.velocity, strict=True):
            pose = build("geometry_msgs/msg/Pose", position=point(*position), orientation=attitude)
            message = build(
                "nav_msgs/msg/Odometry",
                header=header(t, f"{name}/odom"),
                pose=build("geometry_msgs/msg/PoseWithCovariance", pose=pose),
                twist=build("geometry_msgs/msg/TwistWithCovariance", twist=twist(turned.rotation.T @ velocity)),
            )
            rows.append((t, name, "odometry", message))
        for t, velocity in zip(flight.command_time, flight.command, strict=True):
            asked = build("geometry_msgs/msg/TwistStamped", header=header(t), twist=twist(velocity))
            rows.append((t, name, "cmd_vel_safe", asked))
    for t, name, topic, message in sorted(rows, key=lambda row: row[0]):
        raw = bytes(typestore().serialize_cdr(message, TYPES[topic]))
        writer.write(f"/{name}/{topic}", START + round(t * SECOND), raw)
    writer.close()
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(list(arguments)) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def test_a_bag_gives_the_limits_that_hold_its_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flight = flown(first_order(1.2, 2.0), 0.2, noise=0.03)
    bag, out = write_bag(tmp_path / "bag", {"uav1": flight}), tmp_path / "limits.yaml"
    assert cli.main(["calibrate", str(bag), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "tau 1.2" in shown and "OUTSIDE" in shown and out.read_text() in shown
    model = read_parameter_file(out)["/**"]["ros__parameters"]["limits"]
    assert set(model) == {"deceleration", "latency", "tau"}
    limits = Limits().model_copy(update=model)
    assert limits.tau == pytest.approx(1.2, rel=0.15) and limits.latency == pytest.approx(0.2 + AGE, abs=0.06)
    for speed in (1.0, 2.0, 3.0, 4.0, 5.0):
        assert (
            limits.stopping_distance(speed)
            >= Limits(tau=1.2, latency=0.2 + AGE, deceleration=2.0).stopping_distance(speed) - 0.1
        )


def test_limits_in_force_in_the_flight_are_those_it_is_held_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flight = flown(first_order(1.0, 50.0), 0.1)
    bag = write_bag(tmp_path / "bag", {"uav1": flight}, {"tau": 1.3})
    assert cli.main(["calibrate", str(bag)]) == 0
    shown = capsys.readouterr().out
    assert "OUTSIDE" not in shown and "tau 1.3\n0 of 5 stops exceed them\n" in shown


def test_of_several_vehicles_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flights = {name: flown(first_order(tau, 50.0), 0.1, (3.0,)) for name, tau in (("uav1", 1.0), ("uav2", 0.5))}
    bag = write_bag(tmp_path / "bag", flights)
    assert "uav1, uav2" in refused(capsys, "calibrate", str(bag))
    assert "uav3" in refused(capsys, "calibrate", str(bag), "--vehicle", "uav3")
    assert cli.main(["calibrate", str(bag), "--vehicle", "uav2"]) == 0
    shown = capsys.readouterr().out
    assert "tau 0.5" in shown and "few stops: 1;" in shown and "no stop faster than 3.0 m/s" in shown


def test_what_cannot_be_calibrated_from_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = flown(first_order(1.0, 50.0), 0.1, (3.0,))
    end = np.searchsorted(whole.time, 58.0)
    moving = replace(whole, time=whole.time[:end], position=whole.position[:end], velocity=whole.velocity[:end])
    assert "no stop of uav1" in refused(capsys, "calibrate", str(write_bag(tmp_path / "a", {"uav1": moving})))
    assert "key tau" in refused(capsys, "calibrate", str(write_bag(tmp_path / "c", {"uav1": whole}, {"tau": 99.0})))
    assert "check the path" in refused(capsys, "calibrate", str(tmp_path / "none"))
    empty = BagWriter(tmp_path / "b")
    empty.add_topic("/uav1/odometry", TYPES["odometry"])
    empty.close()
    assert "cmd_vel_safe" in refused(capsys, "calibrate", str(tmp_path / "b"))


def test_the_embedded_vehicle_is_flown_and_lies_within_its_limits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, speeds in (("_LEVEL", (2.0,)), ("_UP", (2.0,)), ("_DOWN", ())):
        monkeypatch.setattr(step_flight, name, speeds)
    out = tmp_path / "limits.yaml"
    assert cli.main(["calibrate", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("level") == 4 and shown.count(" up ") == 1 and "OUTSIDE" not in shown
    model = yaml.safe_load(out.read_text())["/**"]["ros__parameters"]["limits"]
    assert 0.2 <= model["tau"] <= 0.5 and model["latency"] <= 0.4
