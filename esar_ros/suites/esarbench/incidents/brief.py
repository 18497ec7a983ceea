"""Accounts of an incident by a ranger, a relative or a companion, as briefs: true where they know it, else fallible.

They know who set out, the plan, the kit and who saw whom last. Nobody knows how the route was lost. Hearsay is marked
as such; two in five of such reports are mistaken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.weather import Weather
from esar_ros.sim.catalogue import variants
from esar_ros.suites.esarbench.incidents.course import Country, Incident, State
from esar_ros.suites.esarbench.incidents.things import Kit
from esar_ros.suites.esarbench.incidents.voices import ANY_HOST, ANY_POST, CONDITIONS, HOSTS, POSTS, VOICES, Voice
from esar_ros.suites.esarbench.incidents.walk import Points, Stage
from esar_ros.suites.esarbench.incidents.wording import (
    HE,
    NAMES,
    SHE,
    THEY,
    Pronouns,
    among,
    clock,
    compass,
    day,
    ground,
    landmark,
    listed,
    sky,
    track,
    where,
    with_article,
)

_MISTAKEN = 0.4  # share of what others report that is wrong
_MISREMEMBERED = 0.12  # share of plans that are told wrong
_VERBS = ("know", "run", "carry", "leave", "go", "forget", "walk")
_CARRIED = {  # that a person tells of, and how
    ClueKind.BACKPACK: "rucksack", ClueKind.TENT: "tent", ClueKind.SLEEPING_BAG: "sleeping bag",
    ClueKind.ROPE: "rope", ClueKind.TREKKING_POLE: "walking poles", ClueKind.WATER_BOTTLE: "bottle",
    ClueKind.LIGHT: "lamp", ClueKind.SIGNAL_FLARE: "flare", ClueKind.CLOTHING: "spare jacket",
}  # fmt: skip
_KINDS = {
    "hiker": "walker", "runner": "trail runner", "forager": "herb gatherer", "elder": "old walker",
    "driver": "motorist", "climber": "climber",
}  # fmt: skip
_AGES = {"elder": (71, 88), "runner": (22, 45), "climber": (26, 52)}


class Person(NamedTuple):
    """Somebody missing, as others describe them."""

    name: str
    age: int
    woman: bool
    colour: str  # of the jacket that they set out in


class Known(NamedTuple):
    """Facts from which an account is made."""

    incident: Incident
    kit: Kit
    people: tuple[Person, ...]
    start: Points  # (2,) m, of the drone
    set_out: datetime
    now: datetime
    weather_then: Weather
    weather_now: Weather


def name_people(incident: Incident, colours: list[str], random: np.random.Generator) -> tuple[Person, ...]:
    """A name, an age and the jacket of each."""
    women, men = NAMES[among(incident.country)]
    pool = [(name, True) for name in women] + [(name, False) for name in men]
    low, high = _AGES.get(incident.kind, (19, 66))
    chosen = random.choice(len(pool), size=len(colours), replace=False)
    return tuple(
        Person(pool[i][0], int(random.integers(low, high)), pool[i][1], colour)
        for i, colour in zip(chosen, colours, strict=True)
    )


def tell(known: Known, random: np.random.Generator) -> str:
    """The brief: free text in one of several voices."""
    people = known.people
    who = THEY if len(people) > 1 else SHE if people[0].woman else HE
    names = listed([person.name for person in people])
    voice = VOICES[int(random.integers(len(VOICES)))]
    words = _words(known, names, who, random)
    parts = [_pick(random, *voice.opening).format(**words), _described(known, who, random), _plan(known, who, random)]
    parts += [_last_seen(known, voice, words, random), _kit(known, who, random), _weather(known, who, random)]
    if random.random() < 0.5:
        parts.append(_pick(random, *CONDITIONS[known.incident.kind]).format(**words))
    if random.random() < 0.45:
        parts.append(_message(known, who, random))
    reports = random.permutation(len(_REPORTS))[: int(random.integers(1, 3))]
    parts += [_REPORTS[i](known, who, random) for i in reports]
    middle = parts[2:]
    if random.random() < 0.5:  # people seldom tell in order
        middle = [middle[i] for i in random.permutation(len(middle))]
    return " ".join([*parts[:2], *middle, _pick(random, *voice.asking).format(**words)])


def _words(known: Known, names: str, who: Pronouns, random: np.random.Generator) -> dict[str, str]:
    """Returns the words that fill the voices' sentences, by name."""
    country, several = known.incident.country, who is THEY
    host = HOSTS.get(country, ANY_HOST)
    words = {**who._asdict(), "names": names, "count": _count(known), "kin": f"{_kin(known, random)} {names}"}
    words |= {"post": POSTS.get(country, ANY_POST), "host": host, "host_capital": host[0].upper() + host[1:]}
    words |= {"now": clock(known.now), "since": _since(known), "They": who.they.capitalize()}
    words |= {"are": "are" if several else "is", "theirs": "theirs" if several else "hers" if who is SHE else "his"}
    return words | {verb: verb if several else _third(verb) for verb in _VERBS}


def _third(verb: str) -> str:
    """Third person singular."""
    return verb + ("es" if verb.endswith("o") else "s") if not verb.endswith("y") else verb[:-1] + "ies"


def _kin(known: Known, random: np.random.Generator) -> str:
    first = known.people[0]
    if len(known.people) > 1:
        return "My friends"
    if known.incident.kind == "elder":
        return "My mother" if first.woman else "My father"
    return _pick(random, "My sister", "My wife") if first.woman else _pick(random, "My brother", "My husband")


def _pick(random: np.random.Generator, *choices: str) -> str:
    return choices[int(random.integers(len(choices)))]


def _count(known: Known) -> str:
    n, kind = len(known.people), _KINDS[known.incident.kind]
    return f"one {kind}" if n == 1 else f"{('two', 'three')[n - 2]} {kind}s"


def _since(known: Known) -> str:
    return f"{clock(known.set_out)} {day(known.set_out, known.now)}"


def _described(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    if len(known.people) == 1:
        person = known.people[0]
        jacket = with_article(f"{person.colour} jacket")
        doubt = _pick(random, "", "", ", as far as anybody remembers", ", or so the neighbours say")
        return f"{who.they.capitalize()} is {person.age} and set out in {jacket}{doubt}."
    each = [f"{person.name} ({person.age}) in {person.colour}" for person in known.people]
    return f"{listed(each)}{_pick(random, '.', ', if the photograph is of that day.')}"


def _plan(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    route, place = known.incident.route, known.incident.walks[0].place
    first, last = route.line[0], route.line[-1]
    tracks, heading = " and then ".join(track(name) for name in route.tracks), compass(last - first)
    if random.random() < _MISREMEMBERED:
        other = track(list(place.tracks)[int(random.integers(len(place.tracks)))])
        heading = compass(first - last) if other == tracks else heading
        return f"If I remember rightly it was {other}, going {heading}, from {_since(known)}; I may mix that up."
    goal = landmark(last, place)
    aim = f"to end {goal}" if goal.startswith("at ") else f"to keep {heading}"
    text = _pick(
        random,
        f"The plan was to follow {tracks}, going {heading}; {who.they} set out at {_since(known)}.",
        f"{who.they.capitalize()} left at {_since(known)} and meant to take {tracks}, {aim}.",
        f"As we know it {who.they} meant to go along {tracks} towards the {heading}, leaving at {_since(known)}.",
        f"The note left behind says: {tracks}, {heading}, back the same day. It was written at {_since(known)}.",
    )
    if known.incident.kind == "driver":
        text += f" The car stands {where(first, known.start, place, random)}, empty."
    return text


def _last_seen(known: Known, voice: Voice, words: dict[str, str], random: np.random.Generator) -> str:
    incident = known.incident
    spot = where(incident.seen.at, known.start, incident.walks[0].place, random)
    at = known.set_out + timedelta(seconds=incident.seen.time)
    when = f"around {clock(at)} {day(at, known.now)}"
    return _pick(random, *voice.seen).format(**words, spot=spot, when=when, When=when.capitalize())


def _kit(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    items = []
    for kind, look in known.kit.looks.items():
        if kind in _CARRIED and random.random() < 0.75:
            colour = next(entry.colour for entry in variants(kind.value) if entry.variant == look)
            noun = _CARRIED[kind]
            plain = kind in (ClueKind.SIGNAL_FLARE, ClueKind.LIGHT)
            items.append(noun if noun.endswith("s") else with_article(noun if plain else f"{colour} {noun}"))
    if not items:
        return f"{who.they.capitalize()} took next to nothing along."
    return _pick(
        random,
        f"{who.they.capitalize()} carried {listed(items)}.",
        f"With {who.them}, according to the list at home: {listed(items)}.",
        f"I believe {who.they} had {listed(items)}; I may have forgotten something.",
    )


def _weather(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    then, now = sky(known.weather_then), sky(known.weather_now)
    if then == now:
        return _pick(
            random,
            f"It was {then} when {who.they} {who.were} out, and it still is.",
            f"The weather has not changed since: it is {then}.",
        )
    return _pick(
        random,
        f"At the time it was {then}; now it is {now}.",
        f"It is {now} now. Back then it was {then}.",
        f"You will have it {now}; for {who.them} it was {then}.",
    )


def _message(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    """Words from somebody who is lost: what they see, not where they are."""
    incident = known.incident
    walk, state = incident.walks[-1], incident.states[-1]
    marks = [mark for mark in walk.marks if mark.stage is not Stage.ROUTE] or walk.marks[-1:]
    mark = marks[-1] if state is State.HURT else marks[int(random.integers(len(marks) // 2, len(marks)))]
    at = known.set_out + timedelta(seconds=mark.time)
    line = incident.route.line
    path = line[int(np.argmin(np.linalg.norm(line - mark.at, axis=1)))]
    rise = float(walk.place.ground_height(mark.at) - walk.place.ground_height(path))
    height = "well below the way" if rise < -20.0 else "above the way" if rise > 20.0 else "not far off the way"
    if state is State.HURT:
        plight = _pick(random, "a leg is hurt", "cannot walk", "fell, cannot get up")
    else:
        plight = _pick(random, "very tired", "no idea where", "battery nearly empty", "going to stay put soon")
    when, spot = f"{clock(at)} {day(at, known.now)}", ground(mark.at, walk.place)
    return _pick(
        random,
        f"A broken call at about {when}: {spot}, thinks {height}, {plight}.",
        f'One text came through, sent {when}: "{spot}, {height} I think, {plight}".',
        f"The phone was on once more, at {when}. What we understood: {spot}, {height}, {plight}. The line was bad.",
    )


def _sighting(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    walk = known.incident.walks[0]
    if random.random() < _MISTAKEN:
        spot = _elsewhere(known, random)
    else:
        spot = walk.marks[int(random.integers(len(walk.marks) // 2, len(walk.marks)))].at
        spot = spot + random.normal(0.0, 30.0, 2)
    colour = known.people[0].colour
    return _pick(
        random,
        f"Other walkers say they noticed someone in {colour} {where(spot, known.start, walk.place, random)}; "
        "they would not swear to it.",
        f"Somebody claims to have seen {who.them} {where(spot, known.start, walk.place, random)}, at a time that does "
        "not quite fit.",
    )


def _sign(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    """A call or a light in the distance."""
    end = known.incident.walks[0].at if random.random() > _MISTAKEN else _elsewhere(known, random)
    offset = end - known.start
    turn = float(random.normal(0.0, 0.35))
    direction = np.array([math.cos(turn) * offset[0] - math.sin(turn) * offset[1],
                      math.sin(turn) * offset[0] + math.cos(turn) * offset[1]])  # fmt: skip
    what = _pick(random, "a light", "a glint") if random.random() < 0.5 else _pick(random, "shouting", "a whistle")
    return (
        f"Someone near your take-off reports {what} to the {compass(direction)}, "
        f"{_pick(random, 'though sound and light play tricks here', 'unconfirmed', 'but it may have been anything')}."
    )


def _opinion(known: Known, who: Pronouns, random: np.random.Generator) -> str:
    water = "towards the shore" if known.incident.country is Country.COAST else "down the nearest gully"
    habits = {
        "short-cut": "takes short cuts rather than go round",
        "down-the-water": f"would go {water} when in doubt",
        "for-a-view": "would climb up for a view or a signal",
        "turned-round": "mixes up the way out and the way back",
        "to-shelter": "would look for shelter first",
        "straight-on": "walks with the head down and misses turnings",
    }
    mechanism = known.incident.mechanism
    if mechanism not in habits or random.random() < _MISTAKEN:
        mechanism = list(habits)[int(random.integers(len(habits)))]
    whom = known.people[0].name
    return f"{_pick(random, 'A friend thinks', 'A colleague is sure', 'They say')} that {whom} {habits[mechanism]}."


_REPORTS: tuple[Callable[[Known, Pronouns, np.random.Generator], str], ...] = (_sighting, _sign, _opinion)


def _elsewhere(known: Known, random: np.random.Generator) -> Points:
    angle, reach = random.uniform(0.0, 2.0 * math.pi), random.uniform(100.0, 450.0)
    return known.start + reach * np.array([math.cos(angle), math.sin(angle)])
