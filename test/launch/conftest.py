"""Launch tests run `ros2 launch` on the mission's launch file, each on a domain of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.launched import Launch, Launched, StandIns
from helpers.ros_domain import free_domain


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """launch(arguments, environment={}, terminal=False, file="mission") -> Launched, on a ROS domain of its own."""
    domain = {"ROS_DOMAIN_ID": str(free_domain())}
    # What sourcing a ROS setup file does, for an environment that nobody sourced.
    domain["AMENT_PREFIX_PATH"] = os.environ.get("AMENT_PREFIX_PATH") or sys.prefix
    domain["PATH"] = search_path()
    launched: list[Launched] = []

    def start(
        arguments: dict[str, str],
        environment: dict[str, str] | None = None,
        terminal: bool = False,
        file: str = "mission",
    ) -> Launched:
        launched.append(Launched(tmp_path, arguments, {**domain, **(environment or {})}, terminal, file))
        return launched[-1]

    yield start
    for each in launched:
        each.clear()


@pytest.fixture
def stand_ins(tmp_path: Path) -> StandIns:
    return StandIns(tmp_path / "prefix")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip with the reason where ROS's launch is not installed."""
    reason = missing()
    if reason:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


def missing() -> str:
    """Returns the missing part of ROS's launch; empty when all is there."""
    for module in ("launch", "launch_ros"):
        try:
            __import__(f"{module}.actions")
        except ImportError as error:
            return f"{module} does not import ({error}): ROS's launch is not among the ROS wheels"
    if shutil.which("ros2", path=search_path()) is None:
        return "no ros2 command"
    return ""


def search_path() -> str:
    """Returns the search path of programs: beside this Python first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
