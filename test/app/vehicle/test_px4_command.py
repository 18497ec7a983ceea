"""esar px4: the home of a task, and a vehicle's parameters from a file and over MAVLink."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safe_parameters import SAFE

from esar_ros.app import cli
from esar_ros.mission.task import load_task
from esar_ros.sim.terrain.maps import load_map
from helpers.flight import free_port

HEAD = "# Onboard parameters for Vehicle 1\n#\n# Vehicle-Id Component-Id Name Value Type\n"


def params(path: Path, values: dict[str, float]) -> Path:
    """Writes them as QGroundControl does."""
    rows = [f"1\t1\t{name}\t{value:.18f}\t{6 if isinstance(value, int) else 9}" for name, value in values.items()]
    path.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_home_is_the_task_s_start_on_its_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["px4", "home", "aotai-first"]) == 0
    words = capsys.readouterr().out.removeprefix("export ").split()
    home = {name: float(value) for name, _, value in (word.partition("=") for word in words)}
    assert list(home) == ["PX4_HOME_LAT", "PX4_HOME_LON", "PX4_HOME_ALT"]
    task = load_task("aotai-first")
    place = load_map(task.map)
    back = place.origin.to_enu(*home.values())
    np.testing.assert_allclose(back[:2], task.start.position, atol=0.02)
    np.testing.assert_allclose(back[2], place.ground_height(task.start.position), atol=0.02)


@pytest.mark.parametrize(("task", "falls"), [("aotai-first", True), ("lop-yu-2-05", False)])
def test_ground_that_falls_is_told_to_who_flies_over_a_plane(
    capsys: pytest.CaptureFixture[str], task: str, falls: bool
) -> None:
    assert cli.main(["px4", "home", task]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("export ") and ("below the start" in said.err) == falls


def test_vehicles_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    task, places = load_task("aotai-first"), []
    origin = load_map(task.map).origin
    for vehicle in ("1", "2"):
        assert cli.main(["px4", "home", "aotai-first", "--vehicle", vehicle, "--of", "2"]) == 0
        told = capsys.readouterr().out.removeprefix("export ").split()
        places.append(origin.to_enu(*(float(word.partition("=")[2]) for word in told))[:2])
    np.testing.assert_allclose(np.mean(places, axis=0), task.start.position, atol=0.02)
    apart = (places[1] - places[0]) @ [np.cos(task.start.yaw), np.sin(task.start.yaw)]
    assert np.linalg.norm(places[1] - places[0]) == pytest.approx(4.0, abs=0.05) and abs(apart) < 0.05
    assert cli.main(["px4", "home", "aotai-first", "--vehicle", "3", "--of", "2"]) == 2
    assert "vehicle 3 of 2" in capsys.readouterr().err


def test_the_mirror_follows_the_mission_s_vehicles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from esar_ros.nodes import px4_mirror

    asked: list[object] = []

    def mirror(*arguments: object) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(px4_mirror, "mirror", mirror)
    assert cli.main(["px4", "mirror"]) == 0
    assert cli.main(["px4", "mirror", "--vehicles", "2", "--namespace", "/team/", "--port", "41999"]) == 0
    assert asked == [(["/uav1"], "127.0.0.1", 41451), (["/team/uav1", "/team/uav2"], "127.0.0.1", 41999)]
    assert cli.main(["px4", "mirror", "--vehicles", "uav 1"]) == 2
    assert "'uav 1' is no ROS name" in capsys.readouterr().err


def test_a_safe_vehicle_ends_well_and_an_unsafe_one_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["px4", "check", str(params(tmp_path / "a.params", SAFE))]) == 0
    assert "16 parameters, 0 unsafe, 0 to look at" in capsys.readouterr().out
    assert cli.main(["px4", "check", str(params(tmp_path / "b.params", SAFE | {"COM_RC_OVERRIDE": 0}))]) == 0
    assert "0 unsafe, 1 to look at" in capsys.readouterr().out
    unsafe = str(params(tmp_path / "c.params", SAFE | {"GF_ACTION": 4}))
    assert cli.main(["px4", "check", unsafe]) == 1
    told = capsys.readouterr().out
    assert "GF_ACTION" in told and "stops the" in told and "1 unsafe" in told
    assert cli.main(["px4", "check", "--system-id", "2", str(params(tmp_path / "d.params", SAFE | {"MAV_SYS_ID": 1}))])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "the file is empty: give a file of parameters as a ground station saves it"),
        (b"# nothing\n", "no parameter in it"),
        (b"1 1 GF_ACTION\n", "line 1: '1 1 GF_ACTION' is no parameter: "),
        (b"# x\n1 1 GF_ACTION many 6\n", "line 2: '1 1 GF_ACTION many 6' is no parameter: "),
        (b"1 1 GF_ACTION nan 6\n", "line 1: GF_ACTION is nan"),
        (b"1 1 GF_ACTION 2 6\n2 1 GF_ACTION 3 6\n", "line 2: GF_ACTION twice"),
        (b"\xff\xfe\x00", "not a text"),
        (b"#" * 1_000_001, "larger than a file of parameters"),
    ],
)
def test_what_is_no_file_of_parameters_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes, words: str
) -> None:
    path = tmp_path / "a.params"
    path.write_bytes(text)
    assert cli.main(["px4", "check", str(path)]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


@pytest.mark.parametrize("argv", [[], ["a.params", "--connect", "udpin:127.0.0.1:1"], ["missing.params"]])
def test_whose_parameters_must_be_said(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["px4", "check", *argv]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def integer(value: int) -> float:
    """As PX4 sends an integer: its bytes in a float's place."""
    return float(struct.unpack("<f", struct.pack("<i", value))[0])


@pytest.fixture
def vehicle() -> Iterator[str]:
    """A vehicle that speaks MAVLink by the protocol's own library; every third parameter is lost the first time."""
    mavutil = pytest.importorskip("pymavlink.mavutil")
    port = free_port()
    link = mavutil.mavlink_connection(f"udpout:127.0.0.1:{port}", source_system=3)
    over, names = threading.Event(), list(SAFE)

    def send(index: int) -> None:
        value = SAFE[names[index]]
        whole = isinstance(value, int)
        link.mav.param_value_send(
            names[index].encode(), integer(int(value)) if whole else value, 6 if whole else 9, len(names), index
        )

    def speak() -> None:
        while not over.is_set():
            link.mav.heartbeat_send(2, 12, 0, 0, 4)
            message = link.recv_match(blocking=True, timeout=0.2)
            if message is None:
                continue
            if message.get_type() == "PARAM_REQUEST_LIST":
                for index in range(len(names)):
                    if index % 3:
                        send(index)
            elif message.get_type() == "PARAM_REQUEST_READ":
                send(int(message.param_index))

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    yield f"udpin:127.0.0.1:{port}"
    over.set()
    thread.join()
    link.close()


def test_a_vehicle_is_asked_over_mavlink(vehicle: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["px4", "check", "--connect", vehicle]) == 0
    assert "16 parameters, 0 unsafe, 0 to look at" in capsys.readouterr().out


def test_ardupilots_parameters_are_judged_by_its_own_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from safe_copter import SAFE as COPTER

    path = tmp_path / "copter.param"
    told_why = " # was 1 before"  # as ArduPilot's Methodic Configurator writes: five words, the fourth a number
    rows = [f"{name},{value:g}{told_why}" for name, value in {**COPTER, "GUID_TIMEOUT": 3.0}.items()]
    path.write_text("#NOTE: 28.11.2026\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert cli.main(["px4", "check", str(path), "--autopilot", "ardupilot"]) == 1
    told = capsys.readouterr().out
    assert "17 parameters, 1 unsafe, 0 to look at" in told and "GUID_TIMEOUT" in told


def test_ardupilot_sends_an_integers_value_and_px4_its_bytes() -> None:
    from types import SimpleNamespace

    from esar_ros.app.vehicle.px4 import _value

    assert _value(SimpleNamespace(param_value=2.0, param_type=6), "ardupilot") == 2.0
    assert _value(SimpleNamespace(param_value=integer(2), param_type=6), "px4") == 2.0


def test_nobody_at_the_address_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pymavlink.mavutil")
    monkeypatch.setattr("esar_ros.app.vehicle.px4.HEARD_WITHIN", 0.2)
    assert cli.main(["px4", "check", "--connect", f"udpin:127.0.0.1:{free_port()}"]) == 2
    assert "nobody speaks MAVLink" in capsys.readouterr().err
