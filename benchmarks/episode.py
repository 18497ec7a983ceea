"""The cost of an episode of the benchmark: CPU-seconds per simulated second, two workers beside one, and memory.

`python benchmarks/episode.py [--preset fast] [--task ID] [--planner fbe] [--detector NAME] [--seconds 900]`. An episode
runs in a worker process as in `esar bench`; CPU time is of that process with all its threads, its start included where
that is said. Both picture sizes and two detectors are flown unless one is named. The last line is JSON. `--beside TREE`
flies the same in another checkout of esar_ros too. `--gym STEPS` steps the mission's gymnasium environment instead,
alone and as a vector of one and of two worker processes, and compares what a step costs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from esar_ros.benchmark.runner.worker import worker_environment

ORACLE = "segmentation_oracle"
NETWORK = "esar_yolo"
NAMES = {ORACLE: "ideal", NETWORK: "network"}
GOALS: dict[str, float | tuple[float, str]] = {
    "network_fast_ms": 100.0,
    "ideal_fast_ms": 60.0,
    "network_fast_scaling": (1.9, ">="),
    "peak_gb": 1.2,
}


def episode(task: str, planner: str, detector: str, preset: str, seconds: float) -> dict[str, float]:
    """Flies here; returns CPU (s) of the flight with its set-up and of the imports, and peak memory (bytes)."""
    from esar_ros.benchmark.engine.episode import fly_episode
    from esar_ros.mission.run_conditions import RunConditions
    from esar_ros.mission.task import load_task
    from esar_ros.suites.esarbench.suite import ESARBENCH

    loaded = load_task(task).model_copy(update={"t_max": seconds})
    imports = time.process_time()
    wall = time.perf_counter()
    flown = fly_episode(ESARBENCH, loaded, planner, loaded.seed, RunConditions(preset=preset, detector=detector))
    cpu, wall = time.process_time() - imports, time.perf_counter() - wall
    if flown.error is not None:
        raise RuntimeError(flown.error)
    return {
        "imports_cpu": imports,
        "cpu": cpu,
        "wall": wall,
        "simulated": flown.simulated,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
        "path": flown.result.metrics.path_length,
    }


def _serve(pipe: Any, arguments: tuple[str, str, str, str, float]) -> None:
    episode(*arguments[:4], 3.0)  # load every compiled kernel, as a worker's first episode does
    pipe.send("ready")
    pipe.recv()
    pipe.send(episode(*arguments))


def in_workers(
    count: int, arguments: tuple[str, str, str, str, float], tree: str = ""
) -> tuple[list[dict[str, float]], float]:
    """Returns figures of episodes side by side, each in a process of its own, and the wall time (s) of all.

    tree: of another esar_ros than this one's.
    """
    os.environ.update({key: value for key, value in worker_environment().items() if key not in os.environ})
    context = multiprocessing.get_context("spawn")
    pipes = []
    sys.path[:0] = [tree] if tree else []  # which a spawned process takes over
    for _ in range(count):
        ours, theirs = context.Pipe()
        context.Process(target=_serve, args=(theirs, arguments), daemon=True).start()
        theirs.close()  # so that its end is noticed
        pipes.append(ours)
    del sys.path[: bool(tree)]
    for pipe in pipes:
        pipe.recv()
    began = time.perf_counter()
    for pipe in pipes:
        pipe.send("go")
    return [pipe.recv() for pipe in pipes], time.perf_counter() - began


def cpu_of(pids: list[int]) -> float:
    """Returns the CPU time (s) that processes have taken with all their threads."""
    stats = [Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split() for pid in pids]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


def stepped(task: str, workers: int, steps: int) -> tuple[float, float]:
    """Returns CPU time and wall time (s) of a step of one environment; workers: processes of a vector, 0: no vector."""
    import gymnasium

    name = "esar_ros.suites.gym:esar/esarbench-v0"
    made: Any = gymnasium.make(name, task=task)
    if workers:
        made.close()
        how = {"context": "spawn"}  # what draws cannot be forked
        made = gymnasium.make_vec(name, num_envs=workers, vectorization_mode="async", vector_kwargs=how, task=task)
    pids = [os.getpid(), *(process.pid for process in getattr(made.unwrapped, "processes", ()))]
    made.reset(seed=1)
    made.action_space.seed(1)
    for counted in (3, steps):  # the first load every compiled kernel
        cpu, wall = cpu_of(pids), time.perf_counter()
        for _ in range(counted):
            action = made.action_space.sample()
            action["stop"] = action["stop"] * 0
            over = made.step(action)[2:4]
            if not workers and any(over):
                made.reset()
        cpu, wall = cpu_of(pids) - cpu, time.perf_counter() - wall
    made.close()
    return cpu / (counted * max(workers, 1)), wall / (counted * max(workers, 1))


def on_gym(task: str, steps: int) -> None:
    """Prints what a step costs alone, in a worker, and in each of two; the last line is JSON."""
    figures: dict[str, float] = {}
    print(f"{'gymnasium':<14}{'CPU s a step':>14}{'against alone':>16}{'steps a s':>12}")
    for name, workers in (("alone", 0), ("one_worker", 1), ("two_workers", 2)):
        cpu, wall = stepped(task, workers, steps)
        figures |= {f"{name}_cpu_per_step": round(cpu, 4), f"{name}_steps_per_second": round(1.0 / wall, 2)}
        print(f"{name:<14}{cpu:>14.3f}{cpu / figures['alone_cpu_per_step']:>16.2f}{1.0 / wall:>12.2f}", flush=True)
    print(json.dumps({"benchmark": "episode, gymnasium", "figures": figures}))


def main() -> None:
    """Measures and prints."""
    from page import add_page, goal_table, write_page  # not by the processes of another tree, whose esar_ros it is not

    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--planner", default="fbe")
    parser.add_argument("--detector", help="only this one (default: the embedded network, and ideal detection)")
    parser.add_argument("--preset", choices=("fast", "paper"), help="only this picture size")
    parser.add_argument("--seconds", type=float, default=900.0, help="simulated seconds an episode, t_max on 2 km")
    parser.add_argument("--beside", type=Path, metavar="TREE", help="another checkout, whose episodes are flown too")
    parser.add_argument("--gym", type=int, metavar="STEPS", help="steps of the gymnasium environment instead")
    add_page(parser)
    arguments = parser.parse_args()
    if arguments.gym:
        return on_gym(arguments.task, arguments.gym)
    print(f"{'':<22}{'workers':>8}{'CPU ms / s':>12}{'without set-up':>16}{'faster than real':>18}{'peak GB':>9}")
    figures: dict[str, float] = {}
    for detector in [arguments.detector] if arguments.detector else [NETWORK, ORACLE]:
        for preset in [arguments.preset] if arguments.preset else ["fast", "paper"]:
            base = (arguments.task, arguments.planner, detector, preset)
            name = f"{NAMES.get(detector, detector)}_{preset}"
            if arguments.beside:
                figures |= measured(f"{name}_beside", 1, base, arguments.seconds, str(arguments.beside.resolve()))
            for workers, told in ((1, name), (2, f"{name}_two_workers")):
                figures |= measured(told, workers, base, arguments.seconds)
            figures[f"{name}_scaling"] = figures[f"{name}_two_workers_times_real"] / figures[f"{name}_times_real"]
    figures["peak_gb"] = max(value for name, value in figures.items() if name.endswith("_gb"))
    figures = {name: round(value, 3) for name, value in figures.items() if name == "peak_gb" or name[-3:] != "_gb"}
    goals = {key: goal for key, goal in GOALS.items() if key in figures}
    met = {key: is_met(figures[key], goal) for key, goal in goals.items()}
    print(json.dumps({"benchmark": "episode", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "CPU-milliseconds a simulated second of one episode in a worker process, as `esar bench` flies it, with "
            "all its threads and its start (*steady*: without), by one worker and by each of two; how many times "
            "faster than real time all of them are together, and two workers against one (*scaling*); and the memory "
            "of one. *Network*: the embedded detector; *ideal*: segmentation oracle."
        )
        if arguments.beside:
            about += f" *Beside*: the same in another state of the project, {version_of(arguments.beside)}."
        conditions = {key: getattr(arguments, key) for key in ("task", "planner", "seconds")}
        write_page(__file__, "What an episode costs", about, conditions, [goal_table(figures, goals, met)])


def measured(
    name: str, workers: int, base: tuple[str, str, str, str], seconds: float, tree: str = ""
) -> dict[str, float]:
    """Flies, prints a row and returns its figures, each under the given name."""
    [short], _ = in_workers(1, (*base, 10.0), tree)
    flown, wall = in_workers(workers, (*base, seconds), tree)
    simulated = sum(one["simulated"] for one in flown)
    extra = simulated - workers * short["simulated"]
    steady = (sum(one["cpu"] for one in flown) - workers * short["cpu"]) / extra
    each, speed = sum(one["cpu"] for one in flown) / simulated, simulated / wall
    peak = max(one["peak"] for one in flown) / 1e9
    print(f"{name:<22}{workers:>8}{1e3 * each:>12.1f}{1e3 * steady:>16.1f}{speed:>18.1f}{peak:>9.2f}", flush=True)
    return {
        f"{name}_ms": 1e3 * each,
        f"{name}_steady_ms": 1e3 * steady,
        f"{name}_times_real": speed,
        f"{name}_gb": peak,
    }


def is_met(figure: float, goal: float | tuple[float, str]) -> bool:
    """Returns whether a figure reaches its goal: a bound that it does not exceed, or one with its sign."""
    return figure >= goal[0] if isinstance(goal, tuple) else figure <= goal


def version_of(tree: Path) -> str:
    """Returns the short name and the day of the commit that is checked out in a tree."""
    asked = ["git", "-C", str(tree), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
