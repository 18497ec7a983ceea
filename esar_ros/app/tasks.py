"""`esar tasks`: list and show tasks."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from esar_ros.app.arguments import Parser
from esar_ros.mission.resources import resource
from esar_ros.mission.task import TASK_DIRECTORY, load_task


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar tasks", description="List tasks, or show one (it tells the truth).")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="all tasks")
    show = verbs.add_parser("show", help="one task, with where everything lies")
    show.add_argument("task")
    validate = verbs.add_parser("validate", help="check task files")
    validate.add_argument("files", nargs="+")
    arguments = parser.parse_args(argv)
    if arguments.verb == "validate":
        for name in arguments.files:
            print(f"{name}: task {load_task(name).id} is valid")
        return 0
    console = Console()
    if arguments.verb == "show":
        task = load_task(arguments.task)
        console.print(f"[bold]{task.id}[/bold] on {task.map}, {task.weather.value}, {task.local_time:%Y-%m-%d %H:%M}")
        console.print(f"{task.tier}, difficulty {task.difficulty}, at most {task.t_max:.0f} s\n\n{task.prompt}\n")
        table = Table("id", "what", "east (m)", "north (m)")
        for victim in task.victims:
            table.add_row(victim.id, f"{victim.name}, {victim.pose.value}", *(f"{v:.1f}" for v in victim.position))
        for clue in task.clues:
            table.add_row(clue.id, clue.description, *(f"{v:.1f}" for v in clue.position))
        console.print(table)
        return 0
    table = Table("task", "map", "tier", "weather", "victims", "clues", "t_max (s)")
    for path in sorted(resource(TASK_DIRECTORY).glob("*.json")):
        task = load_task(str(path))
        table.add_row(
            task.id, task.map, task.tier, task.weather.value, str(len(task.victims)), str(len(task.clues)),
            f"{task.t_max:.0f}",
        )  # fmt: skip
    console.print(table)
    return 0
