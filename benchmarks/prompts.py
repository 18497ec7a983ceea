"""Questions to a model: those of all methods with their pictures, as sent, from the frames of one short flight.

`python benchmarks/prompts.py [--task ID] [--seconds 40] [--page]`. `fbe` flies, and each method gets the flight's
frames every ten seconds as if it had flown there, and asks the scripted model (docs/reference/models.md). Of each of
its questions the last is shown, without the schema of the answer; with --page also the pictures, under docs/images/.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from page import RESULTS, Table, add_page, write_page

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.mission.chat import estimated_tokens
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.planning import registry
from esar_ros.planning.method import GRID, VIEWS
from esar_ros.planning.methods.maps.fbe import FrontierExploration
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.suites.esarbench.suite import ESARBENCH

EVERY = 10  # frames between two that are given to the methods
RECORDER = "prompts_recorder"
PICTURES = RESULTS.parent / "images"


class Recorder(FrontierExploration):
    """`fbe` with eyes, that keeps what it saw."""

    name = RECORDER
    needs = frozenset({GRID, VIEWS})
    brief: Brief
    frames: list[Observation]

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        super().reset(brief, seed)
        Recorder.brief, Recorder.frames = brief, []

    def act(self, observation: Observation) -> Any:
        """Decides as fbe does, and keeps the frame."""
        Recorder.frames.append(observation)
        return super().act(observation)


def questions(name: str) -> tuple[list[Mapping[str, Any]], dict[str, bytes]]:
    """Returns the questions of a method in their order, and their pictures by hash."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"model": {"preset": SCRIPTED, "log": folder}}
        method = registry.create(f"{name}@{SCRIPTED}", given)
        method.reset(Recorder.brief, 0)
        for number, frame in enumerate(Recorder.frames[::EVERY]):
            method.act(replace(frame, goal_reached=number > 0))
        [log] = Path(folder).glob("*.jsonl")
        asked = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
        pictures = {file.stem: file.read_bytes() for file in (Path(folder) / "pictures").glob("*.jpg")}
    return asked, pictures


def tokens(question: Mapping[str, Any]) -> int:
    """Returns the estimated tokens of a question, without the schema of the answer."""
    words = [{"text": question["system"]}, {"text": question["text"]}]
    return estimated_tokens([*words, *({"image_url": {}} for _ in question["pictures"])])


def main() -> int:
    """Flies, asks, prints and writes the page."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--seconds", type=float, default=40.0, help="simulated seconds of the flight")
    add_page(parser)
    arguments = parser.parse_args()
    registry.register(RECORDER)(Recorder)
    task = load_task(arguments.task).model_copy(update={"t_max": arguments.seconds})
    flight = fly_episode(ESARBENCH, task, RECORDER, task.seed, RunConditions(detector="segmentation_oracle"))
    if flight.error is not None:
        raise UsageError(f"{RECORDER}: {flight.error}", "mend the method")
    Recorder.brief = replace(Recorder.brief, t_max=load_task(arguments.task).t_max)
    rows, numbers, sections = [], dict[str, int](), dict[tuple[str, str], list[str]]()
    for name in (one for one in registry.names() if registry.asks_model(one)):
        asked, pictures = questions(name)
        last = {one["purpose"]: one for one in asked}
        rows.append((f"`{name}`", len(asked), sum(map(tokens, asked)), ", ".join(last)))
        for one in last.values():
            shown = [(picture["label"], picture["sha256"]) for picture in one["pictures"]]
            for _, sha in shown:
                numbers.setdefault(sha, len(numbers) + 1)
                if arguments.page:
                    (PICTURES / f"prompt_{numbers[sha]}.jpg").write_bytes(pictures[sha])
            links = " ".join(f"![{label}](../images/prompt_{numbers[sha]}.jpg)" for label, sha in shown)
            words = f"```text\n{one['system']}\n\n{one['text']}\n```" + (f"\n\n{links}" if links else "")
            sections.setdefault((one["purpose"], words), []).append(f"`{name}`")
    parts = [f"## {', '.join(names)}: {purpose}\n\n{words}" for (purpose, words), names in sections.items()]
    print("\n\n".join(parts))
    if arguments.page:
        about = (
            "The last question of each kind that a method asked, given the frames of a short flight every ten seconds "
            "as if it had flown there, without [the caution and the schema](../reference/models.md) of the answer that "
            "follow each. Detection is ideal; answers to earlier questions are the scripted model's. Tokens are "
            "estimated: one for three bytes of text, 1000 for a picture."
        )
        heads = ("method", f"questions in {len(Recorder.frames[::EVERY])} frames", "tokens read", "kinds")
        table = Table(heads, rows)
        conditions = {"task": arguments.task, "seconds": arguments.seconds, "preset": "paper"}
        write_page(__file__, "What a model is asked", about, conditions, [table, *parts])
    return 0


if __name__ == "__main__":
    sys.exit(main())
