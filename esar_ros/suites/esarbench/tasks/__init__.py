"""The benchmark's tasks: stories, the generator that lays them out on the maps, prompts, checks and statistics."""

from esar_ros.suites.esarbench.tasks.sets import SETS, task_set

__all__ = ["SETS", "task_set"]
