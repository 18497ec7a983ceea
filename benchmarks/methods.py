"""The search methods on whole missions, flown as `esar bench` flies them, compared as `esar report` compares them.

    python benchmarks/methods.py RUN [--workers K] [--out FOLDER] [--page]

The runs are those that the docs state, from a few episodes to a day of them; what is left of a run is told before it is
flown, and the same command goes on where it was ended. FOLDER (default out/methods/RUN) holds a folder of `esar bench`
for each part of a run, and the hard tasks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from page import add_page, end_with, write_page

from esar_ros.app.bench import INTERRUPTED
from esar_ros.app.bench import main as bench
from esar_ros.benchmark.report.bench_results import Bench, read_bench
from esar_ros.benchmark.report.comparison import make_report
from esar_ros.benchmark.report.table import Table, markdown
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.benchmark.runner.records import read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.suites.esarbench.incidents import generator
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks import adversarial
from esar_ros.suites.esarbench.tasks.files import write_tasks
from esar_ros.suites.esarbench.tasks.sets import task_set

ORACLE, NETWORK = "segmentation_oracle", "esar_yolo"
CPU = {ORACLE: 0.10, NETWORK: 0.24}  # CPU-seconds a simulated second (benchmarks/episode.py), until one is flown
# Tokens that a method's model reads in a simulated second, by docs/reference/methods.md.
TOKENS = {"pure_mllm": 530, "spf": 340, "navgpt": 1900, "unigoal": 150, "apex": 160}


@dataclass(frozen=True)
class Run:
    """A run: planners and tasks, at 320x240, with the governor on, noisy odometry and one seed a task."""

    title: str
    about: str
    detector: str
    parts: tuple[tuple[str, int, str], ...]  # set or file of tasks, how many of its first, methods by commas
    against: str | None = None  # every other method is compared with this one alone
    prepare: Callable[[Path], None] | None = None  # writes the files of tasks into the run's folder
    also: str = ""  # a detector that all parts are flown with once more


def make_hard_tasks(folder: Path) -> None:
    """Writes the tasks in which a method's expectations do not hold, and their list."""
    made = [folder / "adversarial", folder / "incidents"]
    adversarial.write(task_set("dev")[:12], made[0])
    write_tasks(generator.make_tasks(24, 1, shipped_maps()), made[1])
    lists = [(part / "tasks.txt").read_text(encoding="utf-8") for part in made]
    (folder / "hard.txt").write_text("".join(lists), encoding="utf-8")


def name_unseen_tasks(folder: Path) -> None:
    """Writes the list of forty test tasks beyond those that were looked at, in the split's stratified order."""
    (folder / "unseen.txt").write_text("\n".join(choose_tasks(ESARBENCH, "test", 52)[12:]) + "\n", encoding="utf-8")


ASKING = ("pure_mllm", "navgpt", "unigoal", "spf", "apex")
RUNS = {
    "reference": Run(
        "Reference rows",
        "What the extremes give, so that a row of one's own can be placed. Detection is ideal, so no row is eligible: "
        "they say how methods search, not how well anything is seen.",
        ORACLE,
        (("mini", 5, "belief,zigzag,fbe,random,flooder,stay"),),
    ),
    "nine": Run(
        "The nine methods of ESARBench",
        "ESARBench's methods on the first dev tasks, with the model that is configured and CLIP weights of one's own.",
        NETWORK,
        (("dev", 8, ",".join(["random,fbe,semexp,vlfm", *ASKING])),),
    ),
    "stand_ins": Run(
        "The nine methods of ESARBench, by stand-ins",
        "The same with `vlfm_labels` in the place of VLFM and the scripted model in the place of a language model, "
        "neither of which says anything about the real ones.",
        NETWORK,
        (("dev", 8, ",".join(["random,fbe,semexp,vlfm_labels", *(f"{method}@{SCRIPTED}" for method in ASKING)])),),
    ),
    "table": Run(
        "Methods on forty test tasks",
        "Tasks that nobody looked at, ten a map, in the split's stratified order: ESARBench's nine methods, of which "
        "`vlfm_labels` stands for VLFM and the scripted model for a language model, beside `belief`, walks over the "
        "prior that it reads, and `oracle`, which knows where people are.",
        NETWORK,
        (
            ("unseen.txt", 40, "belief,greedy@brief,hedac@brief,tigris@brief,oracle,random,fbe,semexp,vlfm_labels"),
            ("unseen.txt", 40, ",".join(f"{method}@{SCRIPTED}" for method in ASKING)),
        ),
        "belief",
        name_unseen_tasks,
    ),
    "dev": Run(
        "`belief` on the dev split",
        "The tasks that the method was tuned on.",
        NETWORK,
        (("dev", 16, "belief"),),
    ),
    "ceiling": Run(
        "What `belief` could gain",
        "The dev tasks by `belief` as it is, with a prior that knows where people are (`oracle_prior`), and both again "
        "with ideal detection: what is left below the last is search, localisation and time.",
        NETWORK,
        (("dev", 16, "belief,oracle_prior,oracle"),),
        "belief",
        also=ORACLE,
    ),
    "test": Run(
        "Methods on the test split",
        "The first tasks of the split in its stratified order; some methods flew half of them.",
        NETWORK,
        (("test", 12, "belief,greedy,random"), ("test", 6, "vlfm_labels,zigzag,fbe")),
        "belief",
    ),
    "parts": Run(
        "`belief` with parts switched off",
        "With ideal detection, so that what a part is worth is not hidden by what the detector misses.",
        ORACLE,
        (("dev", 6, "belief,belief@no_prior,belief@no_clues,belief@no_looks,belief@no_stop"),),
        "belief",
    ),
    "hard": Run(
        "Tasks in which the method's expectations do not hold",
        "People and clues anywhere with a brief that is wrong, every clue on the other side of the start, and tasks "
        "of a second generator.",
        NETWORK,
        (("hard.txt", 48, "belief,greedy"),),
        "belief",
        make_hard_tasks,
    ),
    "oracle": Run(
        "All tasks by a method that knows them",
        "Whether every task can be solved: `oracle` flies to where people are.",
        ORACLE,
        (("all", 600, "oracle"),),
    ),
}


def parts(name: str, root: Path) -> Iterator[tuple[str, int, str, str, Path]]:
    """Yields tasks, how many of them, methods, detector and folder of each part of a run."""
    run = RUNS[name]
    for detector in filter(None, (run.detector, run.also)):
        for number, (tasks, limit, methods) in enumerate(run.parts, 1):
            folder = root / (f"{name}-{number}" if detector == run.detector else f"{name}-{number}-{detector}")
            yield str(root / tasks) if tasks.endswith(".txt") else tasks, limit, methods, detector, folder


def cost(name: str, root: Path) -> str:
    """Returns in words what is left to be flown: episodes, and mission time, CPU time and a model's tokens at most."""
    episodes = left = tokens = 0
    seconds, flown, cpu = 0.0, 0.0, 0.0
    for tasks, limit, methods, _, folder in parts(name, root):
        records = read_episodes(folder, dict) if (folder / EPISODES).is_file() else []
        flown += sum(record.timing.simulated for record in records)
        cpu += sum(record.timing.cpu for record in records)
        done = {(record.job.task, record.planner) for record in records}
        for task in choose_tasks(ESARBENCH, tasks, limit):
            jobs = [(task, method) for method in methods.split(",")]
            wanted = [method for task, method in jobs if (task, method) not in done]
            episodes, left = episodes + len(jobs), left + len(wanted)
            limit_s = load_task(task).t_max
            seconds += len(wanted) * limit_s
            tokens += round(limit_s * sum(TOKENS.get(method, 0) for method in wanted))
    rate = cpu / flown if flown else CPU[RUNS[name].detector]
    hours = seconds / 3600.0
    words = f"{left} of {episodes} episodes left: at most {hours:.1f} h flown, {rate * hours:.1f} h CPU"
    return f"{words}, some {tokens / 1e6:.1f} million tokens read by the model" if tokens else words


def spent(name: str, root: Path) -> str:
    """Returns in words what a flown run took."""
    timings = [record.timing for *_, folder in parts(name, root) for record in read_episodes(folder, dict)]
    flown, cpu, wall = (sum(getattr(one, what) for one in timings) / 3600.0 for what in ("simulated", "cpu", "wall"))
    return f"{flown:.1f} h of flight in {cpu:.1f} h of CPU time, {wall:.1f} h of one worker"


def together(bench: Bench) -> Bench:
    """Returns the episodes with the tasks that a method flew in several parts of a run as one list of tasks.

    A report refuses a method whose tasks differ from folder to folder, since it cannot know why; here the run says so.
    """
    lists: dict[str, dict[str, None]] = {}
    for one in bench.episodes:
        lists.setdefault(one.planner, {})[one.conditions.as_text["tasks"]] = None
    return replace(
        bench,
        episodes=tuple(
            replace(one, conditions=replace(one.conditions, tasks=" and ".join(lists[one.planner])))
            if isinstance(one.conditions, RunConditions)
            else one
            for one in bench.episodes
        ),
    )


def main() -> int:
    """Flies what is missing, prints the tables and writes the page."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", choices=tuple(RUNS), metavar="RUN", help=", ".join(RUNS))
    parser.add_argument("--workers", type=int, default=0, help="episodes at a time (default: one a CPU)")
    parser.add_argument("--out", type=Path, help="folder of the run")
    add_page(parser)
    arguments = parser.parse_args()
    name, run = arguments.run, RUNS[arguments.run]
    root: Path = arguments.out or Path("out", "methods", arguments.run)
    root.mkdir(parents=True, exist_ok=True)
    if run.prepare is not None:
        run.prepare(root)
    print(cost(name, root), flush=True)
    folders: dict[str, list[Path]] = {}
    for tasks, limit, methods, detector, folder in parts(name, root):
        folders.setdefault(detector, []).append(folder)
        flags = ["--tasks", tasks, "--limit", str(limit), "--planners", methods, "--detector", detector]
        flags += ["--preset", "fast", "--workers", str(arguments.workers), "--out", str(folder)]
        if bench(flags) == INTERRUPTED:  # episodes with errors are in the tables, with their zeros
            return INTERRUPTED
    sections: list[str] = []
    for detector, flown in folders.items():  # what was flown with another detector does not share a table
        report = make_report(together(read_bench(flown, ESARBENCH.reader())), ESARBENCH.layout(), run.against)
        sections += [f"**With `{detector}`**"] if run.also else []
        sections += [markdown(table) for table in report.layout.sections(report) if isinstance(table, Table)]
        sections += [f"- {note}" for note in report.notes]
    print("\n\n".join(sections))
    if arguments.page:
        conditions = {
            f"part {number}": f"{limit} of {tasks}: {methods}"
            for number, (tasks, limit, methods) in enumerate(run.parts, 1)
        }
        conditions |= {
            "detector": " and ".join(folders),
            "flown with": "governor, noisy odometry, 320x240, one seed a task",
            "took": spent(name, root),
        }
        write_page(__file__, run.title, run.about, conditions, sections, name)
    return 0


if __name__ == "__main__":
    end_with(main)
