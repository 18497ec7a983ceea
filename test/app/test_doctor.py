"""The doctor finds what is there, names what is not, and how to mend it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.app import doctor
from esar_ros.mission.errors import UsageError


@pytest.fixture(scope="module")
def findings() -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.doctor()}


def test_a_machine_that_runs_this_test_can_fly(findings: dict[str, doctor.Check]) -> None:
    assert list(findings) == list(doctor.CHECKS)
    broken = [check for check in findings.values() if check.needed and not check.ok]
    assert not broken


def test_every_finding_is_one_line_with_a_cure_when_bad(findings: dict[str, doctor.Check]) -> None:
    for check in findings.values():
        assert check.detail and "\n" not in check.detail
        assert check.ok != bool(check.cure)


def test_the_renderer_is_named(findings: dict[str, doctor.Check]) -> None:
    assert "OpenGL" in findings["renderer (EGL)"].detail


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.compiler()
    assert not check.ok and "cc and c++" in check.detail and "build-essential" in check.cure


def test_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "version_info", (3, 9, 0))
    check = doctor.python()
    assert not check.ok and check.needed and "3.10 to 3.13" in check.cure


def test_other_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(doctor, "_ros_install", lambda: None)
    check = doctor.machine()
    assert not check.ok and "--system-ros" in check.cure


def test_no_egl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_RENDERER", "raise SystemExit('libEGL.so.1: cannot open shared object file')")
    check = doctor.renderer()
    assert not check.ok and check.needed
    assert "libEGL" in check.detail and "libegl1" in check.cure


def test_a_driver_that_crashes_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_RENDERER", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    check = doctor.renderer()
    assert not check.ok and check.detail == "ended with -11"


def test_a_check_that_hangs_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TIMEOUT", 0.2)
    monkeypatch.setattr(doctor, "_RENDERER", "import time; time.sleep(60)")
    check = doctor.renderer()
    assert not check.ok and "no answer" in check.detail


def test_a_check_that_breaks_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> doctor.Check:
        raise RuntimeError("odd")

    monkeypatch.setattr(doctor, "CHECKS", {"odd": broken, "python": doctor.python})
    odd, python = doctor.doctor()
    assert not odd.ok and "RuntimeError: odd" in odd.detail
    assert python.ok


def test_little_shared_memory_is_said_but_does_not_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.environment, "SHARED_MEMORY_NEEDED", 1 << 60)
    check = doctor.shared_memory()
    assert not check.ok and not check.needed and "UDP" in check.cure


def test_kernel_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    check = doctor.kernel_cache()
    assert not check.ok and "NUMBA_CACHE_DIR" in check.cure


def test_who_would_fly_px4_is_told_what_the_detector_is_worth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "doctor", lambda: [doctor.Check("good", True, "there")])
    monkeypatch.setattr(doctor, "outside", lambda *_: [])
    assert doctor.main(["--world", "px4"]) == 0
    told = capsys.readouterr().out
    assert "not for real flights: esar_yolo found" in told and "in simulation" in told.splitlines()[-1]
    assert doctor.main(["--world", "px4", "--detector", "segmentation_oracle"]) == 0
    assert "segmentation_oracle: what it finds on real photographs has not been measured" in capsys.readouterr().out
    assert doctor.main(["--world", "embedded"]) == 0
    assert "real" not in capsys.readouterr().out


def test_a_world_whose_server_does_not_run_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "doctor", lambda: [doctor.Check("good", True, "there")])
    assert doctor.main(["--world", "airsim", "--port", "1"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert "AirSim server not reached on 127.0.0.1:1" in told[1] and told[-1] == "missing: AirSim server"
    assert doctor.main(["--world", "embedded", "--port", "1"]) == 0


def test_a_world_that_cannot_be_checked_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def deaf(*_: object) -> None:
        raise UsageError("cannot listen: no answer within 63 s", "see esar doctor")

    monkeypatch.setattr(doctor, "doctor", lambda: [doctor.Check("good", True, "there")])
    monkeypatch.setattr(doctor, "outside", deaf)
    assert doctor.main(["--world", "px4", "--json", str(tmp_path / "doctor.json")]) == 1
    good, world, _ = json.loads((tmp_path / "doctor.json").read_text())["checks"]
    assert good["ok"] and not world["ok"] and "cannot listen" in world["detail"]


@pytest.mark.parametrize("world", [(), ("--world", "px4")])
def test_a_detector_s_file_that_is_not_there_is_refused(world: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"there is no model nofile\.onnx"):
        doctor.main([*world, "--detector", "onnx:nofile.onnx"])


def test_exit_code_and_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = doctor.Check("good", True, "there")
    bad = doctor.Check("bad", False, "not there", "get it")
    unwanted = doctor.Check("unwanted", False, "not there", "get it", needed=False)
    path = tmp_path / "doctor.json"
    for checks, code, last in (([good, unwanted], 0, "ready to fly"), ([good, bad, unwanted], 1, "missing: bad")):
        monkeypatch.setattr(doctor, "doctor", lambda checks=checks: checks)
        assert doctor.main(["--json", str(path)]) == code
        assert capsys.readouterr().out.splitlines()[-1] == last
        content = json.loads(path.read_text())
        assert content["ready"] == (code == 0)
        assert [check["name"] for check in content["checks"]] == [check.name for check in checks]
    with pytest.raises(UsageError, match="--json"):
        doctor.main(["--json", str(tmp_path / "no" / "folder.json")])
