"""A stand-in for the language model: answers the methods' own questions by stated rules, offline and deterministic.

It is asked in the place of a server, with the same messages, and its words are checked against the same forms. It reads
nothing but the text of the question in hand (no image, no memory). A method that asks it is another row in every
table: it is named `<method>@scripted` (planning/registry.py). Its rules, by the form that is asked for:

- an action or a point without knowledge of the way (NextAction, Point): straight on and level, as far as may be, with a
  left turn 20 s, 80 s, 180 s ... after the start, which makes an opening square;
- an action among sectors (Turn, FixedStep, VariableStep): towards the best thing detected in front or beside, by its
  score times what the brief's words make of its kind; else the opening square where the time is told, else first along
  the brief's last way, then straight on; where a way is not free the next one that is;
- scores of kinds, goal graph (Attractions, GoalGraph): a person 1, kinds that the brief names 0.8, others 0.5;
- objects in pictures (SceneObjects): what the detector has found, in the boxes that the question tells, by the scale
  that it tells: a person 1, kinds that the brief names 0.9, others 0.6; and at 0.7 the ground some 40 m away in the
  picture that looks along the brief's last way, from 300 m on in the one that looks back to the start;
- groups of found objects (Correlations): the best of a group's kinds by the brief's words, as above; what it was taken
  for is never wrong (Correction);
- moves on foot (WalkPlan): round once, then to the best person in view, else to one seen before, and the hands when
  there; with the victim back to the start, and round it; else ahead while depth is free, turning left where it is not;
- candidates (Strategy): by probability of the belief or score of the find, over the distance and 100 m;
- what the brief says (BriefReading): as the rules read it (planning/belief/brief/parser.py);
- landmarks in pictures (Landmarks): none, as it does not look;
- a plan, a summary, a caption (Plan, Summary, Caption): the brief's sentences; what was detected; that it does not
  look.

It never says that the search is over. Who changes a rule counts its name up (PRESETS in settings.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.chat import Completion, NoAnswer
from esar_ros.mission.clues import KINDS, PERSON, kinds_named
from esar_ros.planning.belief.brief.form import reading_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.tokens import SENTENCE
from esar_ros.planning.exchange import SCHEMA_WORDS
from esar_ros.planning.image_text import relevance

_SQUARE = 20.0  # s before the first left turn; the nth comes n^2 as late
_WINDOW = 4.0  # s in which a turn is due: about one step
_FREE = 12.0  # m of depth ahead that make a way free
_ROUND = 10  # poses at one place after which it climbs
_REASON = "by the scripted model's rules"
_STEPS = {"front": "forward", "left": "left", "right": "right"}

_BRIEF = re.compile(r'Mission brief of the rescue team: "(.*)"\nWeather: ', re.DOTALL)
_ELAPSED = re.compile(r"Elapsed: (\d+) s")
_SAFE = re.compile(r"^Safe actions: (.*)\.$", re.MULTILINE)
_SECTOR = re.compile(r"^(front|left|right): .*?(?:Detected: (.*?)\.)?(?: Depth: (\[.*\]|unknown))?$", re.MULTILINE)
_FIND = re.compile(r"([^;]*?) \(score ([\d.]+)\) \d+ m")
_FOUND = re.compile(r"^(front|left|right|down) camera: (.*)\.$", re.MULTILINE)
_BOXED = re.compile(r"([^;]*?) \(score [\d.]+\) (\[[\d, ]+\])")
_PEOPLE = re.compile(r"\b(?:person|people|man|woman|boy|girl|child|hiker|climber)\b", re.IGNORECASE)
_POSE = re.compile(r"\[(-?\d+), (-?\d+), -?\d+, (-?\d+)\]")
_CANDIDATE = re.compile(r"^(\d+): (\d+) m [NESW]+, (.*)$", re.MULTILINE)
_PEAK = re.compile(r"belief peak, ([\d.]+) %")
_CLUE = re.compile(r"around a clue: .*\(score ([\d.]+)\)")
_HEADING = re.compile(r"Heading: (\d+) deg")
_PLACE = re.compile(r"Position: (?:(\d+) m (east|west)(?: and )?)?(?:(\d+) m (north|south))? ?of the start")
_AWAY = 300.0  # m from the start from which it looks back
_NEAR_GROUND = [100, 620, 900, 780]  # box in a picture taken 30 m above flat ground
_WALKED = re.compile(r"([\d.]+) m, (\d+) degrees to the (left|right)")
_PERSON = re.compile(r"person \(score ([\d.]+)\)[^;\n]*?" + _WALKED.pattern)
_AHEAD = re.compile(r"^Depth ahead .*: \[(.*)\]$", re.MULTILINE)
_LOOKED = 4  # turns that look round
_AT_HAND = 0.9  # m
_WAY = 1.5  # m of depth ahead that a walker needs
_EDGE_WORTH = 0.01  # probability that an edge of the mapped ground stands for


class ScriptedModel:
    """Takes what a chat server takes (mission.chat.ChatServer)."""

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Answer a request. Raises NoAnswer for a form that it has no rule for."""
        content = body["messages"][1]["content"]
        prompt: str = content if isinstance(content, str) else content[0]["text"]
        text, _, schema = prompt.rpartition(SCHEMA_WORDS)
        form = json.loads(schema)["title"]
        if form not in _RULES:
            raise NoAnswer("the scripted model has no rule for such a question", again=False)
        return Completion(json.dumps(_RULES[form](text)))


class _Sector(NamedTuple):
    """One camera in a question: worth of the best object found there, minimum depth (m) by row and column."""

    worth: float
    depth: list[list[float]]

    @property
    def is_free(self) -> bool:
        """True where nothing is near in the middle column, or where no depth is given."""
        return all(row[1] >= _FREE for row in self.depth)


def _brief(text: str) -> str:
    match = _BRIEF.search(text)
    return match[1] if match else ""


def _turns(text: str) -> bool:
    """Returns whether the opening square turns left now."""
    match = _ELAPSED.search(text)
    elapsed = float(match[1]) if match else 0.0
    corner = math.floor(math.sqrt(elapsed / _SQUARE))
    return corner >= 1 and elapsed - _SQUARE * corner**2 < _WINDOW


def _sectors(text: str) -> dict[str, _Sector]:
    words = _brief(text).casefold()
    out = {}
    for name, found, depth in _SECTOR.findall(text):
        worth = max((float(score) * _weight(what, words) for what, score in _FIND.findall(found)), default=0.0)
        rows = [] if depth in ("", "unknown") else [row.split(",") for row in depth[1:-1].split(";")]
        out[name] = _Sector(worth, [[math.inf if "free" in cell else float(cell) for cell in row] for row in rows])
    return out


def _weight(found: str, brief: str) -> float:
    """Returns the relevance of an object, given the detector's words for it and the brief's (casefolded)."""
    kinds = [PERSON] if _PEOPLE.search(found) else kinds_named(found)
    return max((relevance(kind, brief) for kind in kinds), default=0.5)


def _best_step(sectors: Mapping[str, _Sector], allowed: Callable[[str], bool]) -> str | None:
    """The step towards the sector with the best find, among those that are allowed."""
    found = [name for name in sectors if sectors[name].worth > 0.0 and allowed(name)]
    return _STEPS[max(found, key=lambda name: sectors[name].worth)] if found else None


def _next_action(text: str) -> dict[str, Any]:
    return {"reason": _REASON, "action": "turn_left" if _turns(text) else "forward"}


def _point(text: str) -> dict[str, Any]:
    # Row 250 of 1000 lies on the horizon of the front camera, which looks 20 degrees down.
    return {"label": _REASON, "point": [100 if _turns(text) else 500, 250], "distance": 10}


def _turn(text: str) -> dict[str, Any]:
    match = _SAFE.search(text)
    safe = match[1].split(", ") if match else []
    step = _best_step(_sectors(text), lambda name: _STEPS[name] in safe)
    if step is None:
        order = ("turn_left",) if _turns(text) else ("forward", "left", "right", "turn_left")
        step = next((action for action in order if action in safe), "turn_right")
    return {"thought": _REASON, "action": step}


def _fixed_step(text: str) -> dict[str, Any]:
    return {"reason": _REASON, "action": _step(text)[0]}


def _variable_step(text: str) -> dict[str, Any]:
    action, magnitude = _step(text)
    return {"reason": _REASON, "action": action, "magnitude": magnitude}


def _step(text: str) -> tuple[str, float]:
    """An action with its magnitude (m, degrees)."""
    sectors = _sectors(text)
    poses = [[float(part) for part in pose] for pose in _POSE.findall(text.rpartition("Poses, oldest first:")[2])]
    if len(poses) >= 2 and poses[-1] == poses[-2]:
        return "turn_left", 90.0  # the last step was not flown
    step = _best_step(sectors, lambda name: sectors[name].is_free)
    if step is not None:
        return step, 10.0
    bearings = [move.direction.angle for move in parse_brief(_brief(text)).moves if move.direction is not None]
    if bearings and 1 <= len(poses) < 10:  # the first steps
        off = math.degrees(wrap_angle(bearings[-1] - math.radians(poses[-1][2])))
        if abs(off) > 10.0:
            return ("turn_left" if off > 0.0 else "turn_right"), abs(off)
    free = [name for name in _STEPS if name in sectors and sectors[name].is_free]
    if not free and len(poses) >= _ROUND and len({(x, y) for x, y, _ in poses}) == 1:
        return "up", 5.0  # nowhere is free at this height
    return (_STEPS[free[0]], 20.0) if free else ("turn_left", 90.0)


def _attractions(text: str) -> dict[str, Any]:
    words = _brief(text).casefold()
    return {"objects": [{"kind": kind, "score": relevance(kind, words)} for kind in KINDS]}


def _scene_objects(text: str) -> dict[str, Any]:
    words = _brief(text).casefold()
    objects = [
        {"name": what.strip(), "score": min(_weight(what, words) + 0.1, 1.0), "camera": camera, "box": json.loads(box)}
        for camera, found in _FOUND.findall(text)
        for what, box in _BOXED.findall(found)
    ]
    return {"objects": [*_ground(text), *objects][:40]}


def _ground(text: str) -> list[dict[str, Any]]:
    """The ground where the brief's last way leads, or back to the start."""
    heading, place = _HEADING.search(text), _PLACE.search(text)
    bearings = [move.direction.angle for move in parse_brief(_brief(text)).moves if move.direction is not None]
    if heading is None or not bearings:
        return []
    bearing = bearings[-1]
    if place is not None:
        east = float(place[1] or 0.0) * (1.0 if place[2] == "east" else -1.0)
        north = float(place[3] or 0.0) * (1.0 if place[4] == "north" else -1.0)
        if math.hypot(east, north) > _AWAY:
            bearing = math.atan2(-north, -east)
    left = wrap_angle(bearing - math.radians(90.0 - float(heading[1])))
    camera = "front" if abs(left) <= math.pi / 4.0 else "left" if left > 0.0 else "right"
    return [{"name": "open ground", "score": 0.7, "camera": camera, "box": _NEAR_GROUND}]


def _goal_graph(text: str) -> dict[str, Any]:
    kinds = [PERSON, *(kind for kind in kinds_named(_brief(text)) if kind != PERSON)][:5]
    return {"nodes": [{"kind": kind} for kind in kinds], "edges": [[0, n] for n in range(1, len(kinds))]}


def _correlations(text: str) -> dict[str, Any]:
    words = _brief(text).casefold()
    groups = [line.partition(": ")[2].split(", ") for line in text.rpartition("Groups:\n")[2].splitlines()]
    return {"scores": [max(_weight(found, words) for found in group) for group in groups]}


def _correction(text: str) -> dict[str, Any]:
    return {"wrong": []}


def _landmarks(text: str) -> dict[str, Any]:
    return {"landmarks": []}


def _strategy(text: str) -> dict[str, Any]:
    def worth(distance: str, what: str) -> float:
        peak, clue = _PEAK.match(what), _CLUE.match(what)
        probability = float(peak[1]) / 100.0 if peak else 0.1 * float(clue[1]) if clue else _EDGE_WORTH
        return probability / (float(distance) + 100.0)

    rated = [(worth(distance, what), int(number)) for number, distance, what in _CANDIDATE.findall(text)]
    ranking = [number for _, number in sorted(rated, key=lambda one: (-one[0], one[1]))]
    return {"ranking": ranking[:20], "reason": _REASON}


def _brief_reading(text: str) -> dict[str, Any]:
    return reading_of(parse_brief(_brief(text))).model_dump()


def _plan(text: str) -> dict[str, Any]:
    return {"steps": SENTENCE.split(_brief(text).strip())[:12]}


def _summary(text: str) -> dict[str, Any]:
    found = [what for _, what, _ in _SECTOR.findall(text) if what and what != "nothing"]
    return {"summary": "; ".join(found) or "Nothing was detected."}


def _caption(text: str) -> dict[str, Any]:
    return {"caption": "The scripted model does not look at pictures."}


def _walk_plan(text: str) -> dict[str, Any]:
    """Moves of somebody on foot (planning/walk/llm_yolo.py)."""
    before = text.rpartition("Last moves, oldest first: ")[2].partition("\n")[0].split("; ")
    searching = "Now: find" in text
    goals = [line for name in ("In view", "Persons seen before") for line in re.findall(rf"^{name}.*$", text, re.M)]
    goal = next((best for line in goals if (best := _best_person(line)) is not None), None) if searching else None
    if goal is None and not searching:
        goal = _WALKED.search(text.partition("Start: ")[2].partition("\n")[0])
    blocked = "blocked" in before[-1]
    if blocked or goal is None:
        looking = searching and len(before) < _LOOKED
        depth = _AHEAD.search(text)
        free = depth is not None and all(_free_metres(row) > _WAY for row in depth[1].split(";"))
        moves = [("turn_left", 90.0)] if blocked or looking or not free else [("forward", 2.0)]
        return _moves(*moves, *([("forward", 1.0)] if blocked else []))
    distance, off, side = float(goal[1]), float(goal[2]), goal[3]
    turn = [(f"turn_{side}", off)] if off > 10.0 else []
    if distance > _AT_HAND:
        return _moves(*turn, ("forward", min(max(distance - 0.6, 0.3), 3.0)))
    return (
        _moves(("pick_up", 0.0), ("turn_left", 90.0)) if searching else _moves(("turn_left", 100.0), ("forward", 2.0))
    )


def _best_person(line: str) -> re.Match[str] | None:
    """Returns distance, angle and side of the surest person of a line, as _WALKED has them."""
    found = max(_PERSON.finditer(line), key=lambda one: float(one[1]), default=None)
    return None if found is None else _WALKED.search(found[0])


def _free_metres(row: str) -> float:
    """Returns the depth (m) in the middle of a row of three."""
    cell = row.split(",")[1]
    return math.inf if "free" in cell else float(cell)


def _moves(*moves: tuple[str, float]) -> dict[str, Any]:
    return {"reason": _REASON, "moves": [{"action": action, "amount": amount} for action, amount in moves]}


_RULES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "NextAction": _next_action,
    "Point": _point,
    "Turn": _turn,
    "FixedStep": _fixed_step,
    "VariableStep": _variable_step,
    "Attractions": _attractions,
    "SceneObjects": _scene_objects,
    "GoalGraph": _goal_graph,
    "Correlations": _correlations,
    "Correction": _correction,
    "Landmarks": _landmarks,
    "Strategy": _strategy,
    "BriefReading": _brief_reading,
    "Plan": _plan,
    "Summary": _summary,
    "Caption": _caption,
    "WalkPlan": _walk_plan,
}
