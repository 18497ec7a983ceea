"""`esar brief`: what the rules understand of a brief, sentence by sentence, and the prior that it makes."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import load_task
from esar_ros.mission.task_files import read_text
from esar_ros.planning.belief.brief.facts import STATED_SPREAD, BriefFacts, Direction, Distance
from esar_ros.planning.belief.brief.form import reading_of
from esar_ros.planning.belief.brief.parser import corrected, parse_brief
from esar_ros.planning.belief.brief.telling import measure, summary, told
from esar_ros.planning.belief.brief.tokens import LONGEST
from esar_ros.planning.belief.prior import PriorSettings, half_area, sample
from esar_ros.planning.parameters import check, configured

CORRECT = 'words that override what the brief says, e.g. "two are missing", "last seen 300 m north of the hut"'
_PLANNER = "belief"
_LONGEST_NAME = 255  # characters of a file's name
_HERE = 30.0  # m: nearer than this to the drone's start, a direction says nothing
_COLOURS = {True: "green", False: "bold red", None: ""}


def main(argv: list[str]) -> int:
    """Print what is understood of a brief."""
    parser = Parser(
        prog="esar brief",
        description="What the rules understand of a brief (green), what they do not (red), and the prior it makes. "
        "Say it in other words, or correct it, until it is read right; esar mission --correct flies it so.",
    )
    parser.add_argument(
        "brief", metavar="TEXT|FILE|TASK|-", help="words, a text file, a task's id or .json file, or - for the input"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("--correct", default="", metavar="WORDS", help=CORRECT)
    arguments = parser.parse_args(argv)
    text = with_correction(_text(arguments.brief), arguments.correct)
    facts = parse_brief(text)
    prior = _prior(facts)
    if arguments.json:
        unread = [text[passage.start : passage.end] for passage in facts.passages if passage.fact is None]
        read = reading_of(facts).model_dump(exclude={"missing"}, exclude_none=True)
        print(json.dumps({"missing": facts.victims, "facts": read, "unread": unread, **prior}))
    else:
        _show(Console(highlight=False), text, facts, prior)
    return 0


def with_correction(prompt: str, words: str) -> str:
    """Returns a brief as it is flown: as it is, or corrected where there are words. Raises UsageError."""
    text = corrected(prompt, words) if words.strip() else prompt
    if len(text) > LONGEST:
        raise UsageError(f"brief and correction: longer than {LONGEST} characters", "say it in fewer words")
    return text


def _text(name: str) -> str:
    """Returns the words of a brief. Raises UsageError."""
    source = name if len(name) <= 40 else f"{name[:40]}..."
    if name == "-":
        source, text = "from the input", sys.stdin.buffer.read(4 * LONGEST + 1).decode("utf-8", errors="replace")
    elif len(name) <= _LONGEST_NAME and Path(name).is_file() and not name.endswith(".json"):
        text = read_text(Path(name))
    elif len(name.split()) != 1:
        text = name
    else:
        text = load_task(name).prompt
    if len(text) > LONGEST:
        raise UsageError(f"brief {source}: longer than {LONGEST} characters", "give the brief alone")
    if not text.strip():
        raise UsageError(f"brief {source}: empty", "give some words")
    return text


def _prior(facts: BriefFacts) -> dict[str, float]:
    """Returns the prior's middle (m east and north of the drone's start) and the area that holds half of it."""
    settings = check(PriorSettings, configured(_PLANNER, {})["prior"], _PLANNER)
    ends = sample(facts, None, np.zeros(2), settings, np.random.default_rng(0)).ends
    east, north = np.median(ends, axis=0)
    return {
        "median_east_m": round(float(east), 1),
        "median_north_m": round(float(north), 1),
        "hectares": round(half_area(ends), 1),
    }


def _show(console: Console, text: str, facts: BriefFacts, prior: dict[str, float]) -> None:
    for line in told(text, facts):
        console.print(Text.assemble(*((run.words, _COLOURS[run.is_read]) for run in line.runs)), soft_wrap=True)
        for meaning in line.meanings:
            console.print(f"  {meaning}", soft_wrap=True, markup=False)
        unread = ", ".join(run.words for run in line.runs if run.is_read is False)
        if unread:
            console.print(f"  not understood: {unread}", soft_wrap=True, markup=False)
    console.print()
    for words in summary(facts):
        console.print(words, soft_wrap=True, markup=False)
    east, north = prior["median_east_m"], prior["median_north_m"]
    way = Distance(math.hypot(east, north), STATED_SPREAD), Direction(math.atan2(north, east))
    middle = f"{measure(*way)} from" if way[0].metres >= _HERE else "at"
    area = f"its likelier half on {prior['hectares']:.1f} ha"
    console.print(f"prior: its middle lies {middle} the drone's start, {area}", soft_wrap=True)
