"""px4_msgs: the sourced workspace's where there is one, else interfaces/px4_msgs, built once on first need.

Only a PX4 vehicle needs these messages, and they take a minute to compile, so neither pip nor colcon builds
them with the package. `python -m esar_ros.nodes.px4.messages` does, and so does a mission in world px4.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import PACKAGE, cache_directory, resource

PX4_MSGS = "px4_msgs"
COMMAND = "python -m esar_ros.nodes.px4.messages"


def is_built() -> bool:
    """Returns whether px4_msgs can be imported, from any location."""
    importlib.invalidate_caches()
    return importlib.util.find_spec(PX4_MSGS) is not None


@cache
def message_class(name: str) -> Any:
    """Class of a PX4 message, e.g. VehicleStatus. Raises UsageError where px4_msgs is not built or lacks it."""
    if not is_built():
        raise UsageError(f"{PX4_MSGS} is not here", f"source a workspace that has it, or run ./esar exec {COMMAND}")
    found = getattr(importlib.import_module(f"{PX4_MSGS}.msg"), name, None)
    if found is None:
        raise UsageError(f"{PX4_MSGS} has no message {name}", "use a release that bridges/px4/versions.py names")
    return found


def lacking_fields(name: str) -> list[str]:
    """Returns the fields of a message as of PX4 1.17 that the class in use does not have, in order.

    The agent announces no type hashes, so that a message of other fields under the same name is found only here.
    """
    known = message_class(name).get_fields_and_field_types()
    text = resource(f"interfaces/{PX4_MSGS}/msg/{name}.msg").read_text(encoding="utf-8")
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return [words[1] for words in lines if len(words) == 2 and "=" not in words[1] and words[1] not in known]


def is_outdated() -> bool:
    """Returns whether they were built here by an earlier version of this package, from other definitions."""
    spec, target = importlib.util.find_spec(PX4_MSGS), prefix()
    ours = spec is not None and spec.origin is not None and Path(spec.origin).is_relative_to(target)
    mark = _mark(target)
    return ours and mark.is_file() and mark.read_text(encoding="utf-8") != _built_from()


def is_current() -> bool:
    """Returns whether they are there, and need not be built again."""
    return is_built() and not is_outdated()


def ensure() -> bool:
    """Build px4_msgs into the environment unless it is there. True when it was built now. Raises UsageError."""
    if is_current():
        return False
    with (cache_directory() / f"{PX4_MSGS}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be building it
        if is_current():
            return False
        _build(prefix())
    if not is_built():
        raise UsageError(f"{PX4_MSGS} was built into {prefix()} but cannot be imported", "source its setup file")
    return True


def prefix() -> Path:
    """Returns the prefix in which this package is installed, where Python, ament and the linker find files."""
    from ament_index_python.packages import get_package_prefix

    try:
        return Path(get_package_prefix(PACKAGE))
    except (LookupError, OSError):  # not in the index, or no index: ROS from wheels sets no variables
        return Path(sys.prefix)


def _mark(target: Path) -> Path:
    """A file by which a later build of the package knows that these messages are its own."""
    return target / "share" / PACKAGE / "built" / PX4_MSGS


def _built_from() -> str:
    """Returns the content of the mark: a digest of the definitions."""
    total = hashlib.sha256()
    for path in sorted(resource(f"interfaces/{PX4_MSGS}").rglob("*.msg")):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"Built from {PACKAGE}/interfaces, {total.hexdigest()}.\n"


def _build(target: Path) -> None:
    source = resource(f"interfaces/{PX4_MSGS}")
    if not os.access(target, os.W_OK):
        raise UsageError(f"cannot write {target}", f"source a workspace that has {PX4_MSGS}")
    folder = cache_directory() / f"{PX4_MSGS}-{sys.implementation.cache_tag}"
    log = cache_directory() / f"{PX4_MSGS}.log"
    prefixes = list(dict.fromkeys([*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), str(target)]))
    prefixes = [path for path in prefixes if path]
    environment = dict(os.environ, AMENT_PREFIX_PATH=os.pathsep.join(prefixes))
    # The environment's own cmake and ninja, if it has them.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", "")])
    commands = [
        [
            *("cmake", "-S", str(source), "-B", str(folder), "-G", "Ninja", "-Wno-dev"),
            *("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF"),
            f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}",
            f"-DCMAKE_INSTALL_PREFIX={target}",
            f"-DCMAKE_PROJECT_INCLUDE={resource('cmake') / 'wheels.cmake'}",
            f"-DPython3_EXECUTABLE={sys.executable}",
        ],
        ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
        ["cmake", "--install", str(folder)],
    ]
    with log.open("wb") as output:
        for command in commands:
            try:
                subprocess.run(command, check=True, env=environment, stdout=output, stderr=subprocess.STDOUT)
            except FileNotFoundError as error:
                raise UsageError(f"{error.filename} is not installed", "install cmake and ninja") from None
            except subprocess.CalledProcessError:
                raise UsageError(f"{PX4_MSGS} cannot be built, see {log}", "source a workspace that has it") from None
    shutil.rmtree(folder, ignore_errors=True)
    mark = _mark(target)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(_built_from(), encoding="utf-8")


def main() -> int:
    """Build them, and say from where they come."""
    try:
        here = is_current()
        print("px4_msgs is here" if here else "Building px4_msgs, once, which takes a minute or two")
        ensure()
    except UsageError as error:
        print(f"esar: {error}", file=sys.stderr)
        return 2
    spec = importlib.util.find_spec(PX4_MSGS)
    print(f"px4_msgs: {spec.origin if spec is not None else 'nowhere'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
