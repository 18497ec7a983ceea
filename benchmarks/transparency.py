"""The share of a pilot's commands that the safety governor changes, in open terrain.

python benchmarks/transparency.py [--planner belief] [--map lop_nur] [--limit 5] [--seconds 300]

Flies the first dev tasks of a map, each cut to --seconds, in the episode engine and counts the steps in which the
command given is not the one asked for. Steps on the ground are left out; take-off is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from page import Table, add_page, goal_table, write_page

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.suites.esarbench.suite import ESARBENCH

GOAL = 0.02
DETECTOR = "segmentation_oracle"  # what is seen is no part of the question, and costs least
ALOFT = 1.0  # m above the start, from which a second counts as flown


def main() -> int:
    """Flies and counts."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planner", default="belief")
    parser.add_argument("--map", default="lop_nur")
    parser.add_argument("--limit", type=int, default=5, help="tasks")
    parser.add_argument("--seconds", type=float, default=300.0, help="of each task")
    parser.add_argument("--preset", default="fast", choices=("fast", "paper"))
    add_page(parser)
    arguments = parser.parse_args()
    tasks = [task for task in map(load_task, choose_tasks(ESARBENCH, "dev")) if task.map == arguments.map][
        : arguments.limit
    ]
    rate = load_vehicle().rates.control
    changed: Counter[str] = Counter()
    shares, rows = [], []
    steps = contacts = 0
    for task in tasks:
        cut = task.model_copy(update={"t_max": min(task.t_max, arguments.seconds)})
        flown = fly_episode(
            ESARBENCH, cut, arguments.planner, cut.seed, RunConditions(preset=arguments.preset, detector=DETECTOR)
        )
        [track] = flown.track.values()
        aloft = round(rate * sum(z is not None and z >= track["z"][0] + ALOFT for z in track["z"]))
        own = Counter(flown.result.safety.interventions)
        changed += own
        steps += aloft
        contacts += flown.result.safety.collisions
        shares.append(own.total() / max(aloft, 1))
        rows.append((task.id, aloft, f"{shares[-1]:.2%}", ", ".join(f"{n} {why}" for why, n in own.most_common())))
        print(f"{task.id:24}{aloft:>8} steps{shares[-1]:>9.2%} changed  {dict(own.most_common())}", flush=True)
    figures = {
        "tasks": len(tasks),
        "steps": steps,
        "changed_share": round(changed.total() / max(steps, 1), 5),
        "worst_task_share": round(max(shares, default=0.0), 5),
        "contacts": contacts,
        **{f"changed_{reason}": count for reason, count in changed.most_common()},
    }
    print(f"{'all':24}{steps:>8} steps{figures['changed_share']:>9.2%} changed, {contacts} contacts")
    met = {"changed_share": bool(steps) and figures["changed_share"] <= GOAL}
    print(json.dumps({"benchmark": "transparency", "figures": figures, "goals": {"changed_share": GOAL}, "met": met}))
    if arguments.page:
        about = (
            "Steps of the control loop aloft in which the command that the governor gives is not the one that the "
            "pilot asked for, over open terrain. Episodes fly in the engine with the segmentation oracle and noisy "
            "odometry."
        )
        conditions = {key: value for key, value in vars(arguments).items() if key != "page"}
        tables = [
            Table(("task", "steps", "changed", "by reason"), rows),
            goal_table(figures, {"changed_share": GOAL}, met),
        ]
        write_page(__file__, "How often the governor changes a command", about, conditions, tables)
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
