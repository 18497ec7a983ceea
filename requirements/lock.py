#!/usr/bin/env python3
"""Write the lock files from setup.py and pyproject.toml: `python requirements/lock.py` (needs uv).

lock.txt         what ./esar installs: the ROS wheels, the build tools and the package's requirements
lock-test.txt    what ./esar test adds, with the extra geo
lock-client.txt  what the official AirSim clients share with it; their own old packages are in airsim-client.txt
All hold for CPython 3.10-3.13 on x86-64 Linux, with the hash of every file.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# One numpy from Python 3.11 on: its types, which mypy checks the code against, differ from release to release.
SAME_EVERYWHERE = "numpy<2.5\n"
SHARED = ("numpy", "opencv-python-headless")  # with the official AirSim clients
HEADER = "# Made by requirements/lock.py: do not edit.\n"


def compiled(extras: list[str], build: Path, constraint: Path) -> dict[str, str]:
    """Pinned requirements with hashes by name (a name with several Python versions is one entry)."""
    command = ["uv", "pip", "compile", "--universal", "--python-version", "3.10", "--generate-hashes", "--quiet"]
    command += ["--no-annotate", "--no-header", "--upgrade", str(ROOT / "setup.py"), str(build)]
    command += [f"--extra={extra}" for extra in extras] + ["-c", str(constraint)]
    text = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    pins: dict[str, str] = {}
    for entry in re.split(r"\n(?=[a-z0-9])", text.strip()):
        name = re.split(r"[=\[ ]", entry, maxsplit=1)[0]
        pins[name] = pins.get(name, "") + entry + "\n"
    return pins


def build_requirements() -> str:
    """[build-system] requires of pyproject.toml, a line each."""
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"\[build-system\].*?requires = \[(.*?)\n\]", text, re.S)
    assert block is not None
    return "\n".join(re.findall(r'"([^"]+)"', block.group(1))) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder, "build.in")
        build.write_text(build_requirements())
        constraint = Path(folder, "constraint.txt")
        constraint.write_text(SAME_EVERYWHERE)
        everything = compiled(["jazzy", "test", "geo"], build, constraint)
        constraint.write_text("".join(everything.values()))
        base = compiled(["jazzy"], build, constraint)
    (HERE / "lock.txt").write_text(HEADER + "".join(base.values()))
    added = [pin for name, pin in everything.items() if name not in base]
    (HERE / "lock-test.txt").write_text(HEADER + "".join(added))
    (HERE / "lock-client.txt").write_text(HEADER + "".join(base[name] for name in SHARED))


if __name__ == "__main__":
    main()
