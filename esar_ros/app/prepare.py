"""`esar prepare`: compile the kernels and draw a map's ground before anybody depends on them.

A kernel is compiled when it is first called, and a map's ground is drawn when it is first opened; both are kept in the
cache. Done silently by the processes of a mission they look like a graph that hangs. So set-up, `esar mission`,
`esar sim`, `esar bench` and the launch file do it first, as stages with names and counts. Where it has been done, a
stamp in the cache says so and nothing is imported.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from esar_ros.app.arguments import Parser
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.map_files import known_maps
from esar_ros.mission.resources import cache_directory
from esar_ros.mission.system.processes import die_with_parent, how_it_ended
from esar_ros.mission.system.processor import processor_name
from esar_ros.mission.weather import Weather
from esar_ros.nodes.graph.mission import MissionOptions
from esar_ros.perception.detectors.chosen import about_chosen, create_chosen
from esar_ros.perception.detectors.real_pictures import real_flight_warning
from esar_ros.planning.registry import create as create_planner
from esar_ros.scoring.result import write_atomically
from esar_ros.sim.render.tiles.store import load_tile, missing_tiles
from esar_ros.sim.terrain.maps import GROUND_MODULES, ground_is_drawn, load_map
from esar_ros.suites.esarbench.own_search import own_task

TASK = "aotai-first"  # what is flown for a few seconds, so that every kernel meets the arrays that it gets in flight
WEATHER = Weather.HEAVY_RAIN  # it puts drops on the lenses
DETECTOR = "esar_yolo"  # it looks at colours, so that they are drawn
DECISIONS = 4
PREFIX = "preparing: "  # of the lines that tell a stage
Say = Callable[[str], None]

_PACKAGE = Path(__file__).resolve().parents[1]


def is_prepared(map_id: str, quality: str) -> bool:
    """Returns whether kernels, a map's ground and what images of a quality need are in the cache, judged by a stamp."""
    return _kernel_stamp().is_file() and ground_is_drawn(map_id) and not _missing_tiles(quality)


def ensure(map_id: str, say: Say, log: Path | None = None, quality: str = names.DEFAULT_QUALITY) -> None:
    """Prepares in a process of its own whose stages go to `say` and whose output goes to `log`.

    Raises UsageError with the process's last words when it fails.
    """
    if is_prepared(map_id, quality):
        return
    command = [sys.executable, "-m", "esar_ros.app.prepare", map_id, "--quality", quality]
    lines: list[str] = []
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        preexec_fn=die_with_parent,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line.startswith(PREFIX):
                say(line[len(PREFIX) :].rstrip())
        code = process.wait()
    finally:
        process.kill()
        process.wait()
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("".join(lines), encoding="utf-8")
    if code:
        words = [line.strip() for line in lines if line.strip() and not line.startswith(PREFIX)]
        last = words[-1].removeprefix("esar: ") if words else f"it {how_it_ended(code)}"
        raise UsageError(f"preparing failed: {last}", f"see {log}" if log is not None else "run esar prepare")


def main(argv: list[str]) -> int:
    """Runs the command."""
    parser = Parser(prog="esar prepare", description="Compile the kernels and draw the grounds of maps, once.")
    parser.add_argument("maps", nargs="*", default=["aotai"], metavar="MAP", help="map id (default: the demo's)")
    about = "of the images: high also makes the tiles of ground (default: %(default)s)"
    parser.add_argument("--quality", default=names.DEFAULT_QUALITY, choices=names.QUALITIES, help=about)
    parser.add_argument("--planner", metavar="NAME", help="also check that this method can be made")
    parser.add_argument("--detector", metavar="NAME[:FILE]", help="also check that this detector can be made")
    about = "of an autopilot: also say what the detector finds on real photographs"
    parser.add_argument("--world", metavar="NAME", help=about)
    parser.add_argument("--brief", default="", help="also write the task of a search of one's own on the map")
    parser.add_argument("--start", default="", help="of that search")
    parser.add_argument("--t-max", type=float, default=MissionOptions.t_max, help="of that search")
    parser.add_argument("--out", metavar="FILE", help="of that task")
    arguments = parser.parse_args(argv)
    if arguments.brief:
        if not arguments.out:
            raise UsageError("--brief without --out", "say which file to write the task to")
        world = arguments.world or "embedded"
        own = own_task(arguments.brief, arguments.maps[0], arguments.start, arguments.t_max, world)
        write_atomically(Path(arguments.out), own.model_dump_json(by_alias=True, indent=1))
    if arguments.planner:
        create_planner(arguments.planner)
    if arguments.detector:
        create_chosen(arguments.detector)
        if arguments.world in names.AUTOPILOTS:
            print(f"! {real_flight_warning(about_chosen(arguments.detector))}", flush=True)
    maps = arguments.maps
    for map_id in maps:
        if map_id not in known_maps():
            raise UsageError(f"unknown map '{map_id}'", suggest(map_id, known_maps()))
    for map_id in maps:
        _draw(map_id)
    _make_tiles(arguments.quality)
    if not _kernel_stamp().is_file():
        _compile()
    return 0


def _say(text: str) -> None:
    print(f"{PREFIX}{text}", flush=True)


def _draw(map_id: str) -> None:
    if not ground_is_drawn(map_id):
        began = time.monotonic()
        _say(f"drawing the ground of {map_id}")
        load_map(map_id)
        _say(f"drew the ground of {map_id} in {time.monotonic() - began:.0f} s")


def _missing_tiles(quality: str) -> list[str]:
    return missing_tiles() if quality == names.HIGH else []


def _make_tiles(quality: str) -> None:
    began, missing = time.monotonic(), _missing_tiles(quality)
    for index, name in enumerate(missing):
        _say(f"making the tiles of ground, {index + 1} of {len(missing)} ({time.monotonic() - began:.0f} s)")
        load_tile(name)


def _compile() -> None:
    """Compiles every kernel that a mission calls, by calling it as a mission does."""
    from numba.core import event

    began = time.monotonic()
    _say("loading what is to be compiled")
    kernels = flown_kernels()
    reported = 0

    class CompileListener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: object) -> None:
            """Prints nothing."""

        def on_end(self, event: object) -> None:
            """Says how many are ready, when there are more."""
            nonlocal reported
            ready = sum(bool(kernel.signatures) for kernel in kernels.values())
            if ready > reported:
                reported = ready
                _say(f"compiling kernels {ready} of {len(kernels)} ({time.monotonic() - began:.0f} s)")

    listener = CompileListener()
    event.register("numba:compile", listener)
    try:
        call_kernels()
    finally:
        event.unregister("numba:compile", listener)
    _kernel_stamp().parent.mkdir(parents=True, exist_ok=True)
    _kernel_stamp().touch()
    _say(f"compiled {len(kernels)} kernels in {time.monotonic() - began:.0f} s")


def flown_kernels() -> dict[str, Any]:
    """Returns the compiled functions that a mission calls, by module and name.

    Left out are those that only draw a map's ground, which are called by drawing it, and those of image types that only
    other programs ask for.
    """
    from numba.core.registry import CPUDispatcher

    import_module("esar_ros.benchmark.engine.episode")
    create_planner("belief")
    create_planner("fbe")
    others = {f"esar_ros.sim.terrain.{name}" for name in GROUND_MODULES}
    others |= {"esar_ros.sim.render.infrared", "esar_ros.sim.render.process.normals_image"}
    return {
        f"{name}.{kernel}": value
        for name, module in sorted(sys.modules.items())
        if name.startswith("esar_ros.") and name not in others
        for kernel, value in vars(module).items()
        if isinstance(value, CPUDispatcher)
        and value.py_func.__module__ == name
        and value.targetoptions.get("inline") != "always"
    }


def call_kernels() -> None:
    """Calls every kernel of a mission with arrays of the kinds that it gets in flight."""
    from esar_ros.benchmark.engine.episode import fly_episode
    from esar_ros.mapping.mapper import Mapper
    from esar_ros.mission.run_conditions import RunConditions
    from esar_ros.mission.task import load_task
    from esar_ros.planning.warm_up import warm_up as warm_up_planning
    from esar_ros.safety.limits import load_limits
    from esar_ros.safety.warm_up import warm_up as warm_up_safety
    from esar_ros.suites.esarbench.suite import ESARBENCH

    warm_up_safety(load_limits())
    Mapper(1.0, 60.0, 60.0).warm_up()
    warm_up_planning()
    # Simulator, renderer, detector, planner, pilot and governor by a few decisions of a flight.
    task = load_task(TASK).model_copy(update={"weather": WEATHER})
    for planner in ("fbe", names.DEFAULT_PLANNER):
        with suppress(_Enough):
            fly_episode(
                ESARBENCH, task, planner, task.seed, RunConditions(detector=DETECTOR), in_agent=_Until(DECISIONS)
            )


class _Enough(Exception):
    """Ends the flight: all kernels have been compiled."""


class _Until:
    """Ends a flight when its method is asked the given number of times."""

    def __init__(self, times: int) -> None:
        self._left = times

    def __call__(self, inside: bool) -> None:
        self._left -= inside
        if self._left < 0:
            raise _Enough


def _kernel_stamp() -> Path:
    """Path of the file that says that this package's kernels are in the cache that this process would use.

    As numba's own index it depends on the sources' times and sizes, on numba and on the processor.
    """
    total = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if b"njit" in path.read_bytes() or "mapping" in path.parts:
            status = path.stat()
            total.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    total.update(f"{sys.version} {version('numba')} {version('llvmlite')} {processor_name()}".encode())
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_directory())
    return folder / f"kernels-{total.hexdigest()[:16]}"


if __name__ == "__main__":
    from esar_ros.app.cli import main as command

    raise SystemExit(command(["prepare", *sys.argv[1:]]))
