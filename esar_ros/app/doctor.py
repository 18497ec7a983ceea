"""Checks of this machine: what it has and lacks for flying missions, with the command that corrects it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.app.checks.files import examine_path
from esar_ros.app.checks.finding import UNCHECKED, Check
from esar_ros.app.checks.outside import outside, running_graph
from esar_ros.app.checks.symptoms import examine
from esar_ros.bridges.airsim.client import DEFAULT_PORT
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import cache_directory, resource
from esar_ros.mission.settings_file import read_yaml
from esar_ros.mission.system import environment
from esar_ros.nodes.graph.mission import WORLDS, MissionOptions, vehicle_names
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.perception.detectors.real_pictures import real_flight_warning

TIMEOUT = 60.0  # s a check in a process of its own may take
PYTHONS = ((3, 10), (3, 13))  # first and last supported
LISTEN = 10.0  # s to listen to a running graph
SLOW_IMAGE = 10.0  # ms to fill an Image message: rclpy's slow way takes 50 and more
DISK_NEEDED = 2 << 30  # bytes, for the environment, maps and a bag
PACKAGES = ("ros-jazzy-rclpy", "numpy", "numba", "opencv-python-headless", "moderngl", "pydantic", "rosbags")
APT = "sudo apt-get install -y --no-install-recommends"

_RENDERER = """
from esar_ros.sim.render.graphics import headless_context
context = headless_context()
print(context.info["GL_RENDERER"], "| OpenGL", context.version_code)
"""


def doctor() -> list[Check]:
    """Every check, in the order of what depends on what."""
    return [_guarded(name, check) for name, check in CHECKS.items()]


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:  # a check that breaks is a finding too, the others must still run
        return Check(name, False, f"could not be checked: {type(error).__name__}: {error}", "report this")


def _in_subprocess(code: str, environ: dict[str, str] | None = None) -> tuple[bool, str]:
    """Run code in a process of its own (drivers may crash); whether it ended well, and its last line."""
    return _run_python(["-c", code], environ)


def _run_python(arguments: Sequence[str], environ: dict[str, str] | None = None) -> tuple[bool, str]:
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(environ or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {TIMEOUT:.0f} s"
    lines = ((done.stdout if done.returncode == 0 else done.stderr) or done.stdout).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else f"ended with {done.returncode}"


def python() -> Check:
    first, last = PYTHONS
    ok = first <= sys.version_info[:2] <= last
    cure = "" if ok else f"install Python {first[0]}.{first[1]} to {last[0]}.{last[1]} and set ESAR_PYTHON to it"
    return Check("python", ok, f"{platform.python_version()} at {sys.executable}", cure)


def machine() -> Check:
    system = f"{platform.system()} {platform.machine()}"
    ok = (platform.system(), platform.machine()) == ("Linux", "x86_64") or _ros_install() is not None
    return Check("machine", ok, system, "" if ok else "source a ROS 2 install and use ./esar --system-ros")


def cores() -> Check:
    count = len(os.sched_getaffinity(0))
    cure = "" if count >= 2 else "a mission in lockstep flies on one core too, but slowly"
    return Check("cores", count >= 2, f"{count} usable", cure, needed=False)


def compiler() -> Check:
    missing = [name for name in ("cc", "c++") if shutil.which(name) is None]
    ok = not missing
    detail = str(shutil.which("cc")) if ok else f"{' and '.join(missing)} not found"
    return Check("compiler", ok, detail, "" if ok else f"{APT} build-essential", needed=False)


def headers() -> Check:
    header = Path(sysconfig.get_paths()["include"], "Python.h")
    ok = header.is_file()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return Check("Python headers", ok, str(header), "" if ok else f"{APT} {version}-dev", needed=False)


def packages() -> Check:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if _ros_install() is not None:
        missing = [name for name in missing if not name.startswith("ros-")]
    detail = ", ".join(found) + (f"; missing: {', '.join(missing)}" if missing else "")
    return Check("packages", not missing, detail, "rm -r .esar, then run ./esar again" if missing else "")


def messages() -> Check:
    types = "esar_ros.msg, esar_ros.action, tf2_msgs.msg, vision_msgs.msg"
    ok, line = _in_subprocess(f"import {types}; print(esar_ros.msg.__file__)")
    return Check("message types", ok, line, "" if ok else "run ./esar (or: pip install -e . / colcon build)")


def renderer() -> Check:
    ok, line = _in_subprocess(_RENDERER)
    return Check("renderer (EGL)", ok, line, "" if ok else f"{APT} libegl1 libgl1 libgl1-mesa-dri")


def loopback() -> Check:
    ok, line = _run_python(["-m", "esar_ros.nodes.tools.loopback_check"], environment.graph_environment())
    profile = Path(environment.graph_environment()[environment.PROFILES[0]]).name
    detail = f"a message went round ({profile})" if ok else line
    return Check("DDS loopback", ok, detail, "" if ok else "see that the loopback interface is up: ip link set lo up")


def images() -> Check:
    ok, line = _run_python(["-m", "esar_ros.nodes.tools.image_check"])
    if not ok:
        return Check("image messages", False, line, "run ./esar (or: pip install -e . / colcon build)")
    ok = float(line) <= SLOW_IMAGE
    cure = "" if ok else "fill Image.data by its own buffer (nodes/messages/image.py); never assign an array to it"
    return Check("image messages", ok, f"640x480 colour filled in {float(line):.2f} ms", cure, needed=False)


def px4_messages() -> Check:
    from esar_ros.bridges.px4.versions import IN, OUT, RELEASES, release_of, version_of
    from esar_ros.nodes.px4.messages import COMMAND, is_built, message_class

    if not is_built():
        cure = f"only for world px4: esar mission builds it at its start, and so does ./esar exec {COMMAND}"
        return Check("px4_msgs", False, "not built yet", cure, False)
    wanted = str(read_yaml(resource("config/px4.yaml"), "settings")["release"])
    versions = {name: version_of(message_class(name)) for name in (*OUT, *IN)}
    expected = {name: RELEASES.get(wanted, {}).get(name, 0) for name in versions}
    wrong = [
        f"{name} is version {versions[name]}, not {expected[name]}"
        for name in versions
        if versions[name] != expected[name]
    ]
    if not wrong:
        return Check("px4_msgs", True, f"those of PX4 {wanted}", needed=False)
    release = release_of(versions) or "no known release"
    cure = f"set release in config/px4.yaml to the firmware's, and source px4_msgs of it (these are of {release})"
    return Check("px4_msgs", False, f"not those of PX4 {wanted}: {'; '.join(wrong[:2])}", cure, needed=False)


def detectors() -> Check:
    """Networks lie on the disk before they are loaded: nothing is fetched in flight."""
    ready, lacking = [], []
    for name in backend.names():
        try:
            backend.about(name)
        except UsageError as error:
            lacking.append(f"{name}: {error}")
        else:
            ready.append(name)
    ok = not lacking
    detail = f"ready: {', '.join(ready)}" + ("" if ok else f"; {lacking[0]}")
    return Check("detectors", ok, detail, "" if ok else "./esar models list names what is missing", needed=False)


def real_photographs(detector: str) -> Check:
    """Says how few people a detector finds on real photographs; that is never a reason not to fly in simulation."""
    warning = real_flight_warning(about_chosen(detector))
    cure = "measure your own on real pictures, and let people look: --detector onnx:FILE, or yolo_world"
    return Check("real photographs", False, warning, cure, needed=False)


def shared_memory() -> Check:
    needed = environment.SHARED_MEMORY_NEEDED
    if not environment.SHARED_MEMORY.is_dir():
        return Check("shared memory", False, "no /dev/shm: images go over UDP", "mount a tmpfs at /dev/shm", False)
    free = shutil.disk_usage(environment.SHARED_MEMORY).free
    ok = free >= needed
    detail = f"{_size(free)} free in /dev/shm, {_size(needed)} wanted"
    cure = "" if ok else "images go over UDP, slower; in a container: --shm-size=256m"
    return Check("shared memory", ok, detail, cure, needed=False)


def kernel_cache() -> Check:
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ok = os.access(folder, os.W_OK)
    except OSError:
        ok = False
    cure = "" if ok else "set NUMBA_CACHE_DIR to a writable folder: without it every start compiles for a minute"
    return Check("kernel cache", ok, str(folder), cure, needed=False)


def disk() -> Check:
    folder = cache_directory()
    free = shutil.disk_usage(folder).free
    ok = free >= DISK_NEEDED
    cure = "" if ok else f"free {_size(DISK_NEEDED - free)}, or set ESAR_CACHE and ESAR_HOME to another disk"
    return Check("disk", ok, f"{_size(free)} free at {folder}", cure)


def ros_install() -> Check:
    prefix = _ros_install()
    if prefix is None:
        detail = "none found; the ROS wheels are used"
        return Check("ROS install", False, detail, "only for ros2 launch, RViz and rosbag2: install ROS 2", False)
    sourced = "sourced" if str(prefix) in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) else "not sourced"
    return Check("ROS install", True, f"{prefix} ({sourced})", needed=False)


def airsim_client() -> Check:
    client = os.environ.get("ESAR_AIRSIM_PYTHON", "")
    if client and Path(client).is_file():
        return Check("airsim client", True, client, needed=False)
    return Check("airsim client", False, "not made yet", "only for the conformance tests: ./esar test makes it", False)


def _ros_install() -> Path | None:
    """The ROS 2 install to be used: the sourced one, else the newest under /opt/ros."""
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    installed = sorted(Path("/opt/ros").glob("*/share/ament_index"), reverse=True)
    for prefix in [*prefixes, *(path.parents[1] for path in installed)]:
        if (prefix / "share" / "launch_ros").is_dir():
            return prefix
    return None


def _size(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"


CHECKS: dict[str, Callable[[], Check]] = {
    "machine": machine,
    "cores": cores,
    "python": python,
    "compiler": compiler,
    "Python headers": headers,
    "packages": packages,
    "message types": messages,
    "renderer (EGL)": renderer,
    "DDS loopback": loopback,
    "image messages": images,
    "shared memory": shared_memory,
    "kernel cache": kernel_cache,
    "disk": disk,
    "detectors": detectors,
    "px4_msgs": px4_messages,
    "ROS install": ros_install,
    "airsim client": airsim_client,
}


def report(checks: Sequence[Check], verdict: tuple[str, str] = ("missing", "ready to fly")) -> str:
    """The findings for people, a line each, the cure below what is wrong; the last line says it all in one."""
    lines = []
    for check in checks:
        mark = "ok  " if check.ok else "FAIL" if check.needed else "-   "
        lines.append(f"{mark}  {check.name:<20} {check.detail}")
        if check.cure:
            lines.append(f"{'':<26} {check.cure}")
    broken = [check.name for check in checks if check.needed and not check.ok]
    lines.append(f"{verdict[0]}: {', '.join(broken)}" if broken else verdict[1])
    if unchecked := [check.name for check in checks if check.detail.startswith(UNCHECKED)]:
        lines[-1] += f"; {UNCHECKED}: {', '.join(unchecked)}"
    return "\n".join(lines)


def live(seconds: float) -> list[Check]:
    """Examines the graph that runs in this ROS domain. Raises UsageError where nothing runs."""
    if not 1.0 <= seconds <= 600.0:
        raise UsageError(f"--live {seconds:g}", "give 1 to 600 seconds")
    facts = running_graph(seconds)
    if not facts.endpoints:
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        raise UsageError(f"no graph runs in ROS domain {domain}", "set the mission's ROS_DOMAIN_ID")
    return examine(facts)


def main(argv: list[str] | None = None) -> int:
    """`esar doctor [PATH ...] [--live [S]] [--json FILE]`: 0 when nothing needed is wrong, else 1."""
    parser = Parser(
        prog="esar doctor",
        description="What this machine has and lacks for flying missions, with the command that mends it; or what is "
        "wrong with a running graph, a bag, results or a parameter file.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="bag, mission's or benchmark's folder, result, parameter file"
    )
    parser.add_argument(
        "--live",
        nargs="?",
        type=float,
        const=LISTEN,
        metavar="S",
        help=f"listen to the running graph (default: {LISTEN:g} s)",
    )
    parser.add_argument(
        "--world",
        choices=WORLDS,
        help="that is to be flown in: whether what it needs runs; of an autopilot also what the detector is worth",
    )
    parser.add_argument("--host", default="127.0.0.1", help="of the AirSim server (default: %(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="of the AirSim server (default: %(default)s)")
    parser.add_argument("--vehicles", default="uav1", help="as the mission's (default: uav1)")
    parser.add_argument(
        "--detector", default=names.DEFAULT_DETECTOR, help="that is to be flown with (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the findings there for a machine")
    arguments = parser.parse_args(argv)
    if arguments.detector != names.DEFAULT_DETECTOR:  # which comes with the package: a finding, where it lacks
        about_chosen(arguments.detector)
    world = MissionOptions(
        world=arguments.world or WORLDS[0], pace="realtime", vehicles=vehicle_names(arguments.vehicles),
        host=arguments.host, port=arguments.port,
    )  # fmt: skip
    world.check()
    checks: list[Check] = [] if arguments.live is None else live(arguments.live)
    for path in arguments.paths:
        checks += examine_path(Path(path))
    machine_only = not arguments.paths and arguments.live is None
    if machine_only:
        checks = doctor()
    try:
        checks += outside(world.world, world.host, world.port, world.vehicles)
    except UsageError as error:
        checks.append(Check(f"world {world.world}", False, f"could not be checked: {error}"))
    if arguments.world in names.AUTOPILOTS:
        checks.append(_guarded("real photographs", lambda: real_photographs(arguments.detector)))
    ready = all(check.ok or not check.needed for check in checks)
    real = arguments.world in names.AUTOPILOTS
    fit = "ready to fly in simulation; not by this alone in the air" if real else "ready to fly"
    print(report(checks, ("missing", fit) if machine_only else ("wrong", "nothing wrong was found")))
    if arguments.json:
        content = {"schema": "esar-doctor/1", "ready": ready, "checks": [asdict(check) for check in checks]}
        try:
            Path(arguments.json).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {arguments.json}: {error.strerror}", "choose another --json FILE") from None
    return 0 if ready else 1
