"""The graph's environment file and the choice of a transport profile."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import PROFILES, SHARED_MEMORY_NEEDED, graph_environment, read

PLENTY = 1 << 30

# Sizes of the shared-memory segments that a participant of its own has mapped.
SEGMENTS = """
import os, rclpy
rclpy.init()
node = rclpy.create_node("segments")
with open("/proc/self/maps") as maps:
    names = {line.split()[-1] for line in maps if "/dev/shm/fastrtps_" in line and "port" not in line}
print(max([os.stat(name).st_size for name in names if os.path.exists(name)], default=0))
node.destroy_node()
rclpy.shutdown()
"""


def profile(**kwargs: object) -> str:
    values = graph_environment(inherited=kwargs.pop("inherited", {}), **kwargs)  # type: ignore[arg-type]
    names = {Path(values[key]).name for key in PROFILES}
    assert len(names) == 1, "both names of the variable must say the same"
    return names.pop()


def test_processes_with_images_get_the_large_segment() -> None:
    assert profile(images=True, shared_memory_free=PLENTY) == "fastdds.xml"
    assert profile(images=False, shared_memory_free=PLENTY) == "fastdds_small.xml"


def test_without_room_in_shared_memory_images_go_over_udp() -> None:
    assert profile(images=True, shared_memory_free=64 << 20) == "fastdds_udp.xml"
    assert profile(images=False, shared_memory_free=SHARED_MEMORY_NEEDED - 1) == "fastdds_udp.xml"
    assert profile(images=True, shared_memory_free=SHARED_MEMORY_NEEDED) == "fastdds.xml"


def test_what_a_person_set_wins() -> None:
    own = {"FASTDDS_DEFAULT_PROFILES_FILE": "/mine.xml", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    values = graph_environment(images=True, inherited=own, shared_memory_free=PLENTY)
    assert values["FASTDDS_DEFAULT_PROFILES_FILE"] == "/mine.xml"
    assert values["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    assert values["RMW_IMPLEMENTATION"] == "rmw_fastrtps_cpp"


def test_what_the_launcher_set_does_not_hide_the_large_segment() -> None:
    launcher = graph_environment(inherited={}, shared_memory_free=PLENTY)
    assert profile(images=True, inherited=launcher, shared_memory_free=PLENTY) == "fastdds.xml"


def test_every_profile_exists_and_parses() -> None:
    for name in ("fastdds.xml", "fastdds_small.xml", "fastdds_udp.xml"):
        ElementTree.parse(resource(f"config/{name}"))


def test_a_line_that_is_no_assignment_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.env"
    path.write_text("# fine\nA=1\nno assignment\n")
    with pytest.raises(UsageError, match=r"graph\.env:3: 'no assignment'"):
        read(path)


def test_values_keep_equal_signs_and_share_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    path = tmp_path / "config" / "graph.env"
    path.write_text("A=b=c\nB=${SHARE}/config/x\n\n")
    assert read(path) == {"A": "b=c", "B": f"{tmp_path}/config/x"}


@pytest.mark.parametrize(("file", "least", "most"), [("fastdds.xml", 32, 40), ("fastdds_small.xml", 4, 8)])
def test_fast_dds_really_loads_the_profile(file: str, least: int, most: int) -> None:
    environ = {k: v for k, v in os.environ.items() if k not in PROFILES}
    # Fast DDS 2 reads this name; config/graph.env sets both.
    environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(resource(f"config/{file}"))
    done = subprocess.run([sys.executable, "-c", SEGMENTS], env=environ, capture_output=True, text=True, check=True)
    assert least << 20 <= int(done.stdout.split()[-1]) <= most << 20, done.stderr
