"""`esar scenarios`, as a person calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main
from esar_ros.mission.resources import resource
from esar_ros.suites.uavbench.scenarios.flights.outcome import SCHEMA
from helpers.scenarios import example, patched

EXAMPLES = str(resource("config/scenarios/examples"))


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(patched(example(), {"/uav/mass_kg": -5.2})))
    return str(path)


def test_an_error_is_one_line_that_says_where_and_exit_code_2(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "validate", wrong]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert f"{wrong}, /uav/mass_kg: must be above 0, is -5.2 [S3]" in lines
    assert lines[-1] == "1 scenarios: 1 with errors, 0 with warnings, 0 without either"


SOUND = json.dumps(example()).encode()
BAD: dict[str, bytes | Callable[[Path], object]] = {
    "empty.json": b"",
    "mark.json": b"\xef\xbb\xbf" + SOUND,
    "utf_16.json": SOUND.decode().encode("utf-16"),
    "large.json": lambda path: _large(path),
    "nan.json": SOUND.replace(b'"mass_kg": 5.0', b'"mass_kg": NaN'),
    "1e400.json": SOUND.replace(b'"mass_kg": 5.0', b'"mass_kg": 1e400'),
    "twice.json": b'{"seed": 1, ' + SOUND[1:],
    "deep.json": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "list.json": b"[" + SOUND + b"]",
    "binary.json": bytes(range(256)),
    "folder": Path.mkdir,
    "outside.zip": lambda path: _zip(path, "../a.json"),
    "bomb.zip": lambda path: _zip(path, "a.json", unpacked=3 << 30),
    "broken.zip": b"PK nothing",
    "pointer.zip": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "pointer.json": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "link.json": lambda path: path.symlink_to(path.with_name("gone")),
    "missing.json": lambda path: None,
}


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 << 20)


def _zip(path: Path, name: str, unpacked: int = 0) -> None:
    """Writes an archive of one scenario; unpacked: the size that its directory states."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, SOUND)
        archive.filelist[0].file_size = unpacked or len(SOUND)


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_code_2(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, content = tmp_path / name, BAD[name]
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    assert main(["scenarios", "validate", str(path)]) == 2
    shown = capsys.readouterr()
    [line] = [*shown.out.splitlines()[:-1], *shown.err.splitlines()]  # the last line of the output counts
    assert str(path) in line


def test_profiles_and_workers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("esar_ros.app.suites.scenarios._CHUNK", 2)
    assert main(["scenarios", "validate", EXAMPLES, "--json"]) == 2
    one = capsys.readouterr().out
    assert main(["scenarios", "validate", EXAMPLES, "--json", "--workers", "2"]) == 2
    assert capsys.readouterr().out == one
    assert main(["scenarios", "validate", EXAMPLES, "--profile", "public"]) == 0
    assert all(set(json.loads(line)) == {"source", "findings"} for line in one.splitlines())


@pytest.mark.parametrize("flags", [["--workers", "0"], ["nowhere.json"], [EXAMPLES, "--profile", "lax"]])
def test_bad_usage_is_one_line(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "validate", *(flags if flags[0] != "--workers" else [EXAMPLES, *flags])]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_labels_and_their_agreement(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "label", EXAMPLES]) == 0
    labels = [json.loads(line)["label"] for line in capsys.readouterr().out.splitlines()]
    assert {found["risk_level"] for found in labels} == {1, 2, 3}
    assert main(["scenarios", "label", EXAMPLES, "--against"]) == 0
    assert f"{len(labels)} labels: accuracy 1.000" in capsys.readouterr().out
    data = json.loads(next(Path(EXAMPLES).glob("*.json")).read_text())
    (tmp_path / "float.json").write_text(json.dumps(data | {"label": {**data.get("label", {}), "risk_level": 2.0}}))
    assert main(["scenarios", "label", "--against", str(tmp_path / "float.json")]) == 0
    assert "1 labels" in capsys.readouterr().out
    bare = tmp_path / "bare.json"
    bare.write_text("{}")
    assert main(["scenarios", "label", "--against", str(bare)]) == 2
    assert "no file has a label" in capsys.readouterr().err


def test_descriptions_statistics_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "describe", EXAMPLES]) == 0
    assert "hexacopter" in capsys.readouterr().out
    assert main(["scenarios", "stats", EXAMPLES, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "esar-scenario-statistics/1"
    assert main(["scenarios", "stats", EXAMPLES]) == 0
    assert "risk level: " in capsys.readouterr().out
    assert main(["scenarios", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "seed" in schema["required"] and schema["$defs"]["Uav"]["properties"]["mass_kg"]["maximum"] == 2000


@pytest.mark.parametrize(
    ("vehicle", "payload", "pattern", "words"),
    [
        (
            "amphibious",
            "infrared_camera",
            "orbit",
            ("An amphibious flies", "carries an infrared camera of 2 kg", "leads as an orbit"),
        ),
        (
            "octocopter",
            "rgb_camera",
            "spiral",
            ("An octocopter flies", "carries an rgb camera of 2 kg", "leads as a spiral"),
        ),
        (
            "heavy_lift",
            "utility_winch",
            "corridor",
            ("A heavy lift flies", "carries a utility winch of 2 kg", "leads as a corridor"),
        ),
    ],
)
def test_descriptions_have_the_right_articles(
    vehicle: str, payload: str, pattern: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads((Path(EXAMPLES) / "bridge_inspection_rain.json").read_text())
    data["uav"] |= {"type": vehicle, "payloads": [{**data["uav"]["payloads"][0], "type": payload, "mass_kg": 2.0}]}
    data["mission"]["pattern"] = pattern
    path = tmp_path / "one.json"
    path.write_text(json.dumps(data))
    assert main(["scenarios", "describe", str(path)]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in words), shown


def test_statistics_of_nothing_that_can_be_read_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("")
    assert main(["scenarios", "stats", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "is empty [J2]" in told.err and told.err.count("\n") == 1 and not told.out
    (tmp_path / "b.json").write_text("{}")
    assert main(["scenarios", "stats", str(tmp_path)]) == 0, "one that can be read is counted, with its errors"
    assert capsys.readouterr().out.startswith("2 scenarios, 2 with errors")


def test_a_document_that_cannot_be_read_has_no_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("[]")
    assert main(["scenarios", "label", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_generated_scenarios_are_valid_and_equal_with_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert main(["scenarios", "generate", "--count", "7", "--seed", "5", "--out", one]) == 0
    assert main(["scenarios", "generate", "--count", "7", "--seed", "5", "--out", two, "--workers", "2"]) == 0
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert files[0] == files[1] and len(files[0]) == 7
    assert main(["scenarios", "validate", one]) == 0
    assert main(["scenarios", "generate", "--count", "0", "--out", one]) == 2
    (tmp_path / "file").write_text("")
    assert main(["scenarios", "generate", "--count", "1", "--out", str(tmp_path / "file")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_flights_go_on_where_they_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flown: list[str] = []

    def instead(scene: Any, options: Any) -> dict[str, Any]:
        flown.append(scene["/name"])
        return {"schema": SCHEMA, "status": "not_flown", "why": "a stand-in"}

    monkeypatch.setattr("esar_ros.app.suites.scenario_flights.try_to_fly", instead)
    one = f"{EXAMPLES}/bridge_inspection_rain.json"
    two = f"{EXAMPLES}/coastal_patrol_crosswind.json"
    out = str(tmp_path / "out")
    assert main(["scenarios", "fly", one, "--out", out]) == 0
    assert main(["scenarios", "fly", one, two, "--out", out]) == 0
    assert flown == ["bridge_inspection_rain", "coastal_patrol_crosswind"]
    assert "2 not_flown" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "agreement.json").read_text())["flights"] == {"not_flown": 2}
    assert main(["scenarios", "fly", one, "--out", out, "--governor", "off"]) == 2
    assert "other settings" in capsys.readouterr().err
    flight = min((tmp_path / "out" / "flights").iterdir())
    for content, told in ((flight.read_text().replace("stand", "band"), "was changed"), ("{}", SCHEMA), ("x", "")):
        flight.write_text(content)
        assert main(["scenarios", "fly", one, two, "--out", out]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert flight.name in line and told in line
    assert main(["scenarios", "fly", f"{EXAMPLES}/battery_emergency_platform_fog.json"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


WAITER = """
import sys, time
from pathlib import Path
from esar_ros.app.suites.pool import interruptible_pool

def fly(seconds):
    Path(sys.argv[1], str(seconds)).touch()
    time.sleep(seconds)
    Path(sys.argv[1], "flown").touch()

def flights():
    with interruptible_pool(2) as pool:
        for flight in [pool.submit(fly, 40.0 + n) for n in range(4)]:
            yield flight.result()

list(flights())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_flights_in_processes_end_at_once_when_they_are_told_to(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", WAITER, str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while len(list(tmp_path.iterdir())) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(timeout=20.0) != 0
    assert {path.name for path in tmp_path.iterdir()} == {"40.0", "41.0"}
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_making_many_ends_when_it_is_told_to_and_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "esar_ros.app.cli", "scenarios", "generate", "--count", "100000"]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--out", str(tmp_path)], stderr=subprocess.PIPE, start_new_session=True
    )
    while len(list(tmp_path.iterdir())) < 5:
        assert process.poll() is None
        time.sleep(0.05)
    if number is signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, words = process.communicate(timeout=60.0)
    assert process.returncode == 130 and b"Traceback" not in words
    assert len(list(tmp_path.iterdir())) < 50_000
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
