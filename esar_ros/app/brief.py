"""`esar brief`: what the rules understand of a brief, sentence by sentence, and the prior that it makes."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from esar_ros.app.arguments import Parser
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.briefing import AREA_MARGIN
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.task_files import is_text_file, read_text
from esar_ros.planning.belief.brief.coordinates import Ground
from esar_ros.planning.belief.brief.facts import STATED_SPREAD, BriefFacts, Direction, Distance
from esar_ros.planning.belief.brief.form import reading_of
from esar_ros.planning.belief.brief.parser import corrected, parse_brief
from esar_ros.planning.belief.brief.telling import measure, questions, summary, told
from esar_ros.planning.belief.brief.tokens import LONGEST
from esar_ros.planning.belief.prior import PriorSettings, half_area, sample
from esar_ros.planning.parameters import check, configured
from esar_ros.sim.terrain.maps import load_map, load_spec
from esar_ros.suites.esarbench.own_search import degrees

CORRECT = 'words that override what the brief says, e.g. "two are missing", "last seen 300 m north of the hut"'
_PLANNER = "belief"
_FIRST = 2  # sentences that were not used, which a mission shows
_HERE = 30.0  # m: nearer than this to the drone's start, a direction says nothing
_DOUBTFUL = 0.5  # of a prior that does not follow the words, from which on its middle says nothing
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
    about = "where the drone starts, degrees WGS 84: coordinates of the brief are placed by it (default: a task's own)"
    parser.add_argument(
        "--score", nargs="?", const="", metavar="LAT,LON", help="also the prior's MapScore of where somebody was found "
        "(1: no cell is likelier, 0: chance), beside that of distance rings; of a task: where its victims are",
    )  # fmt: skip
    parser.add_argument("--start", default="", metavar="LAT,LON", help=about)
    arguments = parser.parse_args(argv)
    name, ground = _text(arguments.brief)
    if arguments.start:
        if ground is not None:
            raise UsageError(f"--start of task {arguments.brief}", "a task has its own start")
        ground = Ground(Origin(*degrees(arguments.start), 0.0), np.zeros(2))
    text = with_correction(name, arguments.correct)
    facts = parse_brief(text, ground)
    prior = _prior(facts, ground)
    scores = {} if arguments.score is None else _map_scores(arguments.brief, text, arguments.start, arguments.score)
    idle = idle_correction(name, text, ground)
    if arguments.json:
        print(json.dumps(_as_json(text, facts, prior, idle) | ({"map_score": scores} if scores else {})))
    else:
        _show(Console(highlight=False), text, facts, prior, idle, arguments.start)
        for name, kinds in scores.items():
            told_of = ", ".join(f"{kind} {score:.3f}" for kind, score in kinds.items())
            print(f"MapScore of {name}: {told_of}  (1: no cell of the search area is likelier, 0: chance)")
    return 0


def _map_scores(name: str, text: str, start: str, found: str) -> dict[str, dict[str, float]]:
    """Returns of each who was found the MapScores of rings about the start, of the words, and of what an incident lays
    of both. Raises UsageError."""
    from esar_ros.incident.prior.scores import level, scores, searched, without_terrain
    from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons

    rings = load_lost_persons().category("hiker")
    is_task = not (name == "-" or (is_text_file(name) and not name.endswith(".json")) or len(name.split()) != 1)
    if is_task:
        if found:
            raise UsageError(f"--score {found} of task {name}", "a task knows where its victims are: --score alone")
        task = load_task(name)
        on, home = searched(load_map(task.map)), np.array(task.start.position, dtype=np.float64)
        places = {victim.name: np.array(victim.position, dtype=np.float64) for victim in task.victims}
    else:
        if not found or not start:
            raise UsageError(
                "--score of words", "say where they start and where somebody was found: --start LAT,LON --score LAT,LON"
            )
        origin = Origin(*degrees(start), 0.0)
        place = origin.to_enu(*degrees(found), 0.0)[:2]
        on, home, places = level(origin, float(np.abs(place).max())), np.zeros(2), {"the find": place}
    return {who: scores(text, home, on, place, rings, without_terrain()) for who, place in places.items()}


def idle_correction(prompt: str, text: str, ground: Ground | None) -> list[str]:
    """Returns the warning, if there is one, that a brief is read alike without the correction that it ends with."""
    if text == prompt:
        return []
    one, other = (replace(parse_brief(words, ground), passages=(), kinds=frozenset()) for words in (prompt, text))
    return ["the correction changes nothing of who or where is read: say it in other words"] if one == other else []


def _as_json(text: str, facts: BriefFacts, prior: dict[str, float], idle: list[str]) -> dict[str, Any]:
    lines = told(text, facts)
    return {
        "missing": facts.victims,
        "facts": reading_of(facts).model_dump(exclude={"missing"}, exclude_none=True),
        "unread": [text[passage.start : passage.end] for passage in facts.left],
        "warnings": [words for line in lines for words in line.warnings] + idle,
        "not_used": [line.unused for line in lines if line.unused],
        "aside": [words for line in lines for words in line.aside],
        "questions": list(questions(text, facts)),
        **prior,
    }


def unread_in(task: Task, prompt: str) -> list[str]:
    """Returns what the rules leave unread or unused of a task's brief, and which orders nothing obeys, a line each.

    prompt: the brief before it was corrected; a correction that changes nothing is said, too.
    """
    ground = _ground(task)
    facts = parse_brief(task.prompt, ground)
    lines = told(task.prompt, facts)
    unused = [line.unused for line in lines if line.unused]
    count = f"{len(unused)} of its sentences used for neither where nor who: {' | '.join(unused[:_FIRST])}"
    more = " | ..." if len(unused) > _FIRST else ""
    left = [words for line in lines for words in line.warnings] + ([count + more] if unused else [])
    return left + idle_correction(prompt, task.prompt, ground)


def _ground(task: Task) -> Ground:
    """Returns what coordinates in a task's brief are placed by."""
    spec, _ = load_spec(task.map)
    half = spec.size / 2.0 - AREA_MARGIN
    area = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    origin = Origin(spec.origin.latitude, spec.origin.longitude, spec.origin.altitude)
    return Ground(origin, np.array(task.start.position, dtype=np.float64), area)


def with_correction(prompt: str, words: str) -> str:
    """Returns a brief as it is flown: as it is, or corrected where there are words. Raises UsageError."""
    text = corrected(prompt, words) if words.strip() else prompt
    if len(text) > LONGEST:
        raise UsageError(f"brief and correction: longer than {LONGEST} characters", "say it in fewer words")
    return text


def _text(name: str) -> tuple[str, Ground | None]:
    """Returns the words of a brief, and by what its coordinates are placed, where it is a task's. Raises UsageError."""
    ground = None
    source = name if len(name) <= 40 else f"{name[:40]}..."
    if name == "-":
        source, text = "from the input", sys.stdin.buffer.read(4 * LONGEST + 1).decode("utf-8", errors="replace")
    elif is_text_file(name) and not name.endswith(".json"):
        text = read_text(Path(name), what="brief")
    elif len(name.split()) != 1:
        text = name
    else:
        task = load_task(name)
        text, ground = task.prompt, _ground(task)
    if len(text) > LONGEST:
        raise UsageError(f"brief {source}: longer than {LONGEST} characters", "give the brief alone")
    if not text.strip():
        raise UsageError(f"brief {source}: empty", "give some words")
    return text, ground


def _prior(facts: BriefFacts, ground: Ground | None) -> dict[str, float]:
    """Returns the prior's middle (m east and north of the drone's start), the area that holds half of it, its doubt."""
    settings = check(PriorSettings, configured(_PLANNER, {})["prior"], _PLANNER)
    area = None if ground is None or ground.area is None else ground.area - ground.home
    lines = sample(facts, None, np.zeros(2), settings, np.random.default_rng(0), area)
    east, north = np.median(lines.ends, axis=0)
    return {
        "median_east_m": round(float(east), 1),
        "median_north_m": round(float(north), 1),
        "hectares": round(half_area(lines.ends), 1),
        "doubt": 0.0 if lines.doubted is None else round(float(lines.doubted.mean()), 2),
    }


def _show(console: Console, text: str, facts: BriefFacts, prior: dict[str, float], idle: list[str], start: str) -> None:
    for line in told(text, facts):
        console.print(Text.assemble(*((run.words, _COLOURS[run.is_read]) for run in line.runs)), soft_wrap=True)
        for meaning in line.meanings:
            console.print(f"  {meaning}", soft_wrap=True, markup=False)
        for warning in line.warnings:
            console.print(f"  {warning}", style="red", soft_wrap=True, markup=False)
        if line.unused:
            console.print(f"  used for neither where nor who: {line.unused}", style="red", soft_wrap=True, markup=False)
        if line.aside:
            console.print(f"  left aside: {', '.join(line.aside)}", style="dim", soft_wrap=True, markup=False)
    for words in idle:
        console.print(f"  {words}", style="red", soft_wrap=True)
    console.print()
    who, whence, *rest = summary(facts)
    if facts.start is None and start:
        whence = f"the drone starts at {start}, as --start says"
    for words in (who, whence, *rest):
        console.print(words, soft_wrap=True, markup=False)
    east, north = prior["median_east_m"], prior["median_north_m"]
    way = Distance(math.hypot(east, north), STATED_SPREAD), Direction(math.atan2(north, east))
    middle = f"{measure(*way)} from" if way[0].metres >= _HERE else "at"
    where = f"its middle lies {middle} the drone's start"
    if prior["doubt"] > _DOUBTFUL:
        where = "these words hardly tell where to search"
    area = f"its likelier half on {prior['hectares']:.1f} ha"
    doubt = f"; {prior['doubt']:.0%} of it does not follow these words" if facts.left or not facts.moves else ""
    for question in questions(text, facts):
        console.print(f"to decide: {question}", style="yellow", soft_wrap=True, markup=False)
    console.print(f"prior: {where}, {area}{doubt}", soft_wrap=True)
