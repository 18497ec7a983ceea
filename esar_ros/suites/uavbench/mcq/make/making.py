"""Draws a set of computed questions from scenarios, the same for a seed, and lets none pass that fails the gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.mcq.check import gate
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, STYLES, Item
from esar_ros.suites.uavbench.mcq.make.drafts import Draft, options_of, three_digits
from esar_ros.suites.uavbench.mcq.make.flown import STYLE as FLOWN
from esar_ros.suites.uavbench.mcq.make.flown import Flight, Template, flown_templates
from esar_ros.suites.uavbench.mcq.make.space import closest_approach, leg_with_wind, route_length
from esar_ros.suites.uavbench.mcq.make.vehicle import (
    energy_left,
    headwind,
    hover_power,
    hover_time,
    radius,
)
from esar_ros.suites.uavbench.scenarios.describe import describe
from esar_ros.suites.uavbench.scenarios.findings import ERROR
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.sources import documents
from esar_ros.suites.uavbench.scenarios.validate import validate

TEMPLATES: dict[int, tuple[Template, ...]] = {
    1: (hover_power, headwind),
    2: (route_length, leg_with_wind),
    5: (closest_approach,),
    7: (energy_left, hover_time, radius),
}
NO_FLIGHTS: Mapping[str, Flight] = MappingProxyType({})
ROUNDS = 10  # draws of a template from one scenario


def read_scenes(paths: Sequence[Path]) -> tuple[list[tuple[str, Scene]], int]:
    """Returns the scenarios of some sources with their digests, and how many with errors were left out.

    Errors are those of profile `public`.

    Raises:
        UsageError: where a source cannot be read, or all of its scenarios have errors.
    """
    scenes = {}
    wrong: list[str] = []
    for document in documents(paths):
        checked = validate(document.content, "public")
        if checked.scene is None or checked.has_error:
            worst = next(finding for finding in checked.findings if finding.severity == ERROR)
            wrong.append(worst.line(document.source))
        else:
            scenes[digest(checked.scene.data)] = checked.scene
    if not scenes and wrong:
        raise UsageError(wrong[0], "see ./esar scenarios validate --profile public")
    return list(scenes.items()), len(wrong)


def styles_of(flights: Mapping[str, Flight]) -> dict[int, tuple[Template, ...]]:
    """Returns the templates by style, with those about flights where there are any."""
    return TEMPLATES | ({FLOWN: flown_templates(flights)} if flights else {})


def make_items(
    scenes: Sequence[tuple[str, Scene]], count: int, seed: int, flights: Mapping[str, Flight] = NO_FLIGHTS
) -> list[Item]:
    """Returns as many questions of each style as scenarios and flights give, `count` together at most."""
    styles = styles_of(flights)
    items = []
    for style, templates in styles.items():
        share = count // len(styles)
        drafts = _drafts(scenes, templates, share, seed)
        places, ranks = (_even(len(drafts), Random(f"{seed}/{style}/{what}")) for what in ("place", "rank"))
        for (name, scene, draft), place, rank in zip(drafts, places, ranks, strict=True):
            items.append(_item(name, scene, draft, place, rank, Random(f"{seed}/{name}/options")))
    return items


def checked_items(
    scenes: Sequence[tuple[str, Scene]], count: int, seed: int, flights: Mapping[str, Flight] = NO_FLIGHTS
) -> list[Item]:
    """Returns questions that pass the gate. Raises UsageError where there are none, or they give answers away."""
    items = make_items(scenes, count, seed, flights)
    if not items:
        raise UsageError("no question can be made of these scenarios", "give more of them, or a --count of 4 at least")
    wrong = [finding for finding in gate(items)[0] if finding.is_error]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise UsageError(f"{wrong[0].where}: {wrong[0].text}{more}", "give more scenarios, or another --seed")
    return items


def _drafts(
    scenes: Sequence[tuple[str, Scene]], templates: Sequence[Template], count: int, seed: int
) -> list[tuple[str, Scene, Draft]]:
    """Up to so many drafts with their ids: each scenario and template in turn, again about other parts of the scenario.

    Questions that differ in the numbers alone that they give would be one question asked twice.
    """
    found: list[tuple[str, Scene, Draft]] = []
    seen: set[str] = set()
    for number in range(ROUNDS):
        for key, scene in scenes:
            for template in templates:
                if len(found) == count:
                    return found
                name = f"{scene['/name']}-{key}-{template.__name__}-{number}"
                try:
                    made = list(template(scene, Random(f"{seed}/{name}")))
                except Broken:
                    continue  # the scenario does not hold what the template asks about
                for draft in made:
                    mark = f"{key} {template.__name__} {draft.unit} {draft.about}"
                    if mark not in seen:
                        seen.add(mark)
                        found.append((name, scene, draft))
    return found


def _item(name: str, scene: Scene, draft: Draft, place: int, rank: int, rng: Random) -> Item:
    """The question with its right option at a place; rank: of its value among the seven."""
    options = options_of(draft, rank, rng)
    right = options.pop(rank)
    rng.shuffle(options)
    options.insert(place, right)
    letters = {letter: why for letter, (_, why) in zip(LETTERS, options, strict=True) if why}
    return Item(
        id=name,
        scenario=str(scene["/name"]),
        description=describe(scene),
        question=draft.question,
        options=tuple(f"{three_digits(value)} {draft.unit}" for value, _ in options),
        key=place,
        reason=f"{draft.formula} = {three_digits(draft.value)} {draft.unit}.",
        style=draft.style,
        solution={
            "formula": draft.formula,
            "inputs": dict(draft.inputs),
            "value": draft.value,
            "unit": draft.unit,
            "why_not": letters,
        },
    )


def _even(count: int, rng: Random) -> list[int]:
    """Places from 0 to 6 in random order, each as often as any other, or once more."""
    places = [i % OPTIONS for i in range(count)]
    rng.shuffle(places)
    return places


def shortfall(items: Sequence[Item], count: int, styles: Collection[int]) -> dict[str, int]:
    """Returns by style how many questions were made where fewer could be than the share of `count`."""
    made = {style: sum(item.style == style for item in items) for style in styles}
    return {STYLES[style]: n for style, n in made.items() if n < count // len(styles)}
