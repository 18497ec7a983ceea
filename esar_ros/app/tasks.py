"""`esar tasks`: make, list, show, validate and count tasks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from esar_ros.app.arguments import Parser
from esar_ros.mission.briefing import brief_words
from esar_ros.mission.errors import UsageError, UsageErrors, seed_number
from esar_ros.mission.resources import resource
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.task_files import BENCHMARK_DIRECTORY, INDEX, benchmark_event, benchmark_index
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.suites.esarbench.tasks import SETS, task_set
from esar_ros.suites.esarbench.tasks.validation import ground_of, load_valid_task


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar tasks", description="Make, list, show, validate and count tasks; it tells the truth.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("make", help="make the benchmark's tasks from the stories: the same bytes every time")
    make.add_argument("--out", type=Path, help=f"folder to write to (default: {BENCHMARK_DIRECTORY})")
    make.add_argument(
        "--check", action="store_true", help="compare with the folder and prove the briefs, write nothing"
    )
    make.add_argument("--seed", type=seed_number, help="default: the benchmark's own")
    lists = verbs.add_parser("list", help="tasks of a set, in the order in which they run")
    lists.add_argument("--set", default="", choices=SETS, help="all of them and the demo tasks when left out")
    lists.add_argument("--ids", action="store_true", help="ids alone, one a line")
    show = verbs.add_parser("show", help="one task: its words, where everything lies, and an image of it")
    show.add_argument("task", help="id, or a .json file")
    show.add_argument("--png", type=Path, help="image (default: out/tasks/ID.png)")
    validate = verbs.add_parser("validate", help="check task files, or all shipped tasks, with their maps")
    validate.add_argument("files", nargs="*", metavar="FILE", help="files or ids; none: all shipped tasks")
    stats = verbs.add_parser("stats", help="tiers, clues and distances beside the paper's, as table and image")
    stats.add_argument("--set", default="all", choices=SETS)
    stats.add_argument("--json", type=Path, help="write the numbers to this file")
    stats.add_argument("--png", type=Path, default=Path("out/tasks/statistics.png"), help="image (%(default)s)")
    stats.add_argument("--sight", action="store_true", help="also ray-cast what is seen from the air (some seconds)")
    arguments = parser.parse_args(argv)
    return {"make": _make, "list": _list, "show": _show, "validate": _validate, "stats": _stats}[arguments.verb](
        arguments
    )


def _make(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.esarbench.tasks.generator import SEED, make
    from esar_ros.suites.esarbench.tasks.proof import unproved

    folder = arguments.out or resource(BENCHMARK_DIRECTORY)
    made = make(SEED if arguments.seed is None else arguments.seed)
    wrong = unproved(made)
    for line in wrong:
        print(line)
    if arguments.check:
        differing = [name for name, text in made.files.items() if _text(folder / name) != text]
        print("\n".join(f"{folder / name}: differs from what the stories make" for name in differing) or "as made")
        return 1 if differing or wrong else 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error}", "choose another folder with --out") from None
    print(f"{len(made.claims)} tasks in {len(made.files) - 1} events written to {folder}; {len(wrong)} briefs unproved")
    return 1 if wrong else 0


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _list(arguments: argparse.Namespace) -> int:
    ids = task_set(arguments.set) if arguments.set else (*task_set("demo"), *task_set("all"))
    if arguments.ids:
        print("\n".join(ids))
        return 0
    # One line a task whatever the window's width: it is read by people and by grep.
    line = "{:<20} {:<8} {:<5} {:<8} {:<13} {:>5} {:>7} {:>5} {:>6}"
    print(line.format("task", "map", "split", "tier", "weather", "time", "victims", "clues", "t_max"))
    for id in ids:
        task = load_task(id)
        cells = task.id, task.map, task.split, task.tier, task.weather.value, f"{task.local_time:%H:%M}"
        print(line.format(*cells, len(task.victims), len(task.clues), f"{task.t_max:.0f}"))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.esarbench.tasks.figures import draw_task

    task = load_valid_task(arguments.task)
    console = Console()
    console.print(f"[bold]{task.id}[/bold] on {task.map}, {task.weather.value}, {task.local_time:%Y-%m-%d %H:%M}")
    console.print(f"{task.tier}, difficulty {task.difficulty}, at most {task.t_max:.0f} s\n")
    console.print(f"{escape(brief_words(task))}\n")
    for change in task.changes:
        what = [] if change.weather is None else [change.weather.value]
        what += [] if change.wind is None else [f"wind {change.wind.speed:g} m/s"]
        told = "foretold" if change.forecast else "unannounced"
        console.print(f"{change.at:.0f} to {change.end:.0f} s: {', '.join(what)} ({told})")
    table = Table("id", "what", "east (m)", "north (m)")
    for victim in task.victims:
        person = escape(f"{victim.name}, {victim.pose.value}")
        table.add_row(escape(victim.id), person, *(f"{v:.1f}" for v in victim.position))
    for clue in task.clues:
        table.add_row(escape(clue.id), escape(clue.description), *(f"{v:.1f}" for v in clue.position))
    for thing in task.distractors:
        table.add_row("", escape(thing.asset), *(f"{v:.1f}" for v in thing.position))
    console.print(table)
    image = arguments.png or Path("out/tasks") / f"{task.id}.png"
    try:
        draw_task(task, ground_of(task.map), _lines(task), image)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {image}: {error}", "choose another --png, ending in .png") from None
    print(f"Picture: {image}")
    return 0


def _lines(task: Task) -> dict[str, np.ndarray]:
    """The lines that the party of a benchmark task walked."""
    if task.event not in benchmark_index()["events"]:
        return {}
    return {name: np.array(points) for name, points in benchmark_event(task.event)["lines"].items()}


def _validate(arguments: argparse.Namespace) -> int:
    faults: list[UsageError] = []
    for name in arguments.files:
        try:
            print(f"{name}: task {load_valid_task(name).id} is valid")
        except UsageErrors as error:
            faults += error.faults
        except UsageError as error:
            faults.append(error)
    if faults:
        raise UsageErrors(faults)
    if not arguments.files:
        ids = (*task_set("demo"), *task_set("all"))
        for id in ids:
            load_valid_task(id)
        for event, entry in benchmark_index()["events"].items():
            if benchmark_event(event)["map_digest"] != ground_of(entry["map"]).digest:
                raise UsageError(f"event {event} was made for another ground of map {entry['map']}", "esar tasks make")
        print(f"{len(ids)} tasks are valid; files and maps are those of {INDEX}")
    return 0


def _stats(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.esarbench.tasks.figures import draw_statistics
    from esar_ros.suites.esarbench.tasks.statistics import PAPER_TIERS, TIERS, sight, statistics

    ids = task_set(arguments.set)
    if not ids:
        raise UsageError(f"set {arguments.set} is empty", "esar tasks make")
    stats = statistics(ids)
    numbers = stats.as_json()
    table = Table("set " + arguments.set, "here", "paper")
    paper_size = {"tasks": "600", "events": "12", "snapshots": "60"}
    for name, paper in paper_size.items():
        table.add_row(name, str(numbers[name]), paper)
    table.add_row("different briefs", str(stats.prompts), "")
    for name, share in zip(TIERS, PAPER_TIERS, strict=True):
        table.add_row(f"{name} (%)", f"{100.0 * stats.tiers[name] / stats.tasks:.1f}", f"{share:.1f}")
    for name, mine, paper_value in zip(("25", "50", "75"), stats.quartiles, DISTANCE_QUARTILES, strict=True):
        table.add_row(f"distance, {name} % (m)", f"{mine:.1f}", f"{paper_value:.1f}")
    for kind, count in stats.weathers.items():
        table.add_row(kind, str(count), "")
    Console().print(table)
    if arguments.sight:
        seen = sight(ids)
        numbers["sight"] = {
            "things": seen.things,
            "unseen": seen.unseen,
            "hidden_share": round(seen.hidden, 4),
            "not_from_above": seen.not_from_above,
        }
        print(
            f"{seen.things} victims and clues: {seen.unseen} seen from nowhere, {100 * seen.hidden:.1f} % of views "
            f"hidden, {seen.not_from_above} not seen from straight above"
        )
    try:
        if arguments.json:
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            arguments.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
        draw_statistics(stats, arguments.png)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write: {error}", "check --json and --png, which ends in .png") from None
    print(f"Picture: {arguments.png}")
    return 0
