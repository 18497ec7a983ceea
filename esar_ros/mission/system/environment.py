"""The environment that processes of the graph are started with: config/graph.env and the transport profile."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource

PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
SHARED_MEMORY = Path("/dev/shm")
# bytes: two segments of config/fastdds.xml and eight of config/fastdds_small.xml, with their control blocks
SHARED_MEMORY_NEEDED = 112 << 20


def read(path: Path) -> dict[str, str]:
    """KEY=VALUE lines of an environment file; ${SHARE} becomes the folder that holds the file's folder."""
    values: dict[str, str] = {}
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"{path}:{number}: '{line}' is no KEY=VALUE line", "write KEY=VALUE or a # comment")
        values[key] = value.replace("${SHARE}", str(path.resolve().parents[1]))
    return values


def graph_environment(
    images: bool = False, inherited: Mapping[str, str] = os.environ, shared_memory_free: int | None = None
) -> dict[str, str]:
    """Returns the variables to start a process of the graph with, beside `inherited`, whose values take precedence.

    images: the process publishes images and gets the large shared-memory segment.
    shared_memory_free: bytes; None asks the system. Where too little is free the profile without shared
    memory is taken.
    """
    path = resource("config/graph.env")
    ours = read(path)
    environment = {key: inherited.get(key, value) for key, value in ours.items()}
    if shared_memory_free is None:
        shared_memory_free = shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.is_dir() else 0
    profile = "fastdds_small.xml"
    if shared_memory_free < SHARED_MEMORY_NEEDED:
        profile = "fastdds_udp.xml"
    elif images:
        profile = "fastdds.xml"
    for key in PROFILES:
        # ./esar has set the file's own value already; only another one is a person's choice.
        if environment[key] == ours[key]:
            environment[key] = str(path.parent / profile)
    return environment
