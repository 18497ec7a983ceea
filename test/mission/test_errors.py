"""The command that installs an extra is one that the install which runs can obey."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from esar_ros.mission.errors import install

ROOT = Path(__file__).parents[2]


def installed(folder: Path, *lines: str) -> Path:
    """Returns a folder of site-packages that holds metadata of this package as ament writes it, and these lines."""
    info = folder / "esar_ros-0.1.0-py3.12.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text("\n".join(["Metadata-Version: 2.1", "Name: esar_ros", "Version: 0.1.0", *lines, ""]))
    return folder


def test_an_extra_that_the_installed_package_declares_is_installed_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed(tmp_path, "Provides-Extra: geo", "Provides-Extra: mavlink"))
    assert install("mavlink") == "./esar exec pip install 'esar_ros[mavlink]'"


@pytest.mark.parametrize("how", ["colcon", "PYTHONPATH"])
def test_without_extras_in_the_metadata_the_ranges_of_the_checkout_are_installed(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "colcon":
        monkeypatch.syspath_prepend(installed(tmp_path))
    else:
        monkeypatch.setattr(sys, "path", [str(tmp_path)])
    cure = install("mavlink")
    assert "esar_ros[" not in cure
    assert f"&& {sys.executable} -m pip install -r mavlink.txt -c config/constraints-$ROS_DISTRO.txt" in cure
    ranges = cure.removeprefix("in the checkout of esar_ros, ").partition(" > mavlink.txt")[0]
    printed = subprocess.run(shlex.split(ranges), cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert printed.startswith("pymavlink>=")
