"""Writes briefs: the facts of a story and the measures of a situation in one of eight voices, with their claims.

Phrasings in stories hold marks, filled in from the situation: <dir A B> compass word, <far A B> distance, <way LINE>
walking time, <rise A B> uphill or downhill, <ago DATE>, <since DATE>, <wear ID> "a red", <colour ID>, <thing KIND>
"an orange tent", <my KIND> "orange tent", <kit> what was carried; and {words|cover POINT COVER METRES}, {words|item
KIND} or {words|story} for words that the author chose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.errors import UsageError
from esar_ros.sim.weather.sky import sun_direction
from esar_ros.suites.esarbench.tasks import wording
from esar_ros.suites.esarbench.tasks.claims import Claim, Situation
from esar_ros.suites.esarbench.tasks.ground import Site, arc_length
from esar_ros.suites.esarbench.tasks.stories import Moment, Story
from esar_ros.suites.esarbench.tasks.things import CARRIED, colour_of, with_article
from esar_ros.suites.esarbench.tasks.voices import VOICES, Voice

_MARK = re.compile(r"<([a-z]+)((?: [\w-]+)*)>|\{([^{}|]+)\|([^{}]+)\}")
_BESIDE = 35.0  # m from a place that count as beside it
_MAX_ITEMS = 4  # of the kit that a brief names
_MIN_ITEMS = 2


@dataclass(frozen=True)
class Brief:
    """A brief's text and what it claims."""

    text: str
    claims: tuple[Claim, ...]


def write_brief(story: Story, moment: Moment, situation: Situation, site: Site, number: int, seed: int) -> Brief:
    """The brief of a snapshot's task. number: of the task, which turns through the voices; seed draws the wordings."""
    rng = np.random.default_rng([seed, 7])
    voice = VOICES[(number + seed % 3) % len(VOICES)]
    writer = _Writer(story, situation, site, rng)
    order = wording.pick(voice.order, rng)
    parts = {
        "C": lambda: writer.conditions(voice),
        "W": lambda: writer.fill(wording.pick(moment.who or story.who, rng)),
        "T": lambda: " ".join(writer.fill(wording.pick(fact, rng)) for fact in moment.tell),
        "K": lambda: writer.fill(wording.pick(moment.kit or story.kit, rng)),
        "B": lambda: writer.base(voice, moment.base),
        "E": lambda: wording.pick(voice.endings, rng),
    }
    text = " ".join(_sentence(parts[part]()) for part in order)
    text = re.sub(r"\s+", " ", text).strip()
    return Brief(text, tuple(_cased(claim, text) for claim in writer.claims))


class _Writer:
    """Fills marks and keeps the claims that this makes."""

    def __init__(self, story: Story, situation: Situation, site: Site, rng: np.random.Generator) -> None:
        self.claims: list[Claim] = []
        self._story, self._situation, self._site, self._rng = story, situation, site, rng

    def claim(self, kind: str, words: str, *about: str) -> str:
        """Note a claim; answers its words."""
        self.claims.append(Claim(kind, words, about))
        return words

    def fill(self, text: str) -> str:
        """Returns a phrasing with its marks replaced. Raises UsageError on an unknown mark."""

        def replace(match: re.Match[str]) -> str:
            if match[3] is not None:
                kind, *about = match[4].split()
                return self.claim(kind, match[3], *about)
            return self._mark(match[1], match[2].split(), match[0])

        return _MARK.sub(replace, text)

    def conditions(self, voice: Voice) -> str:
        """Hour, weather, wind and light as a voice puts them."""
        situation = self._situation
        origin = self._site.place.origin
        sun = sun_direction(origin.latitude, origin.longitude, self._site.place.utc_offset, situation.local_time)
        light = wording.light(math.asin(float(sun[2])), situation.local_time.hour < 12, self._rng)
        parts = {
            "clock": self.claim("clock", wording.clock(situation.local_time, voice.clock)),
            "weather": self.claim("weather", wording.pick(wording.WEATHER[situation.weather], self._rng)),
            "wind": self.claim("wind", wording.wind(situation.wind_speed, situation.wind_direction, self._rng)),
            "light": f"{self.claim('light', light)}." if light else "",
        }
        return wording.pick(voice.conditions, self._rng).format(**parts)

    def base(self, voice: Voice, place: str) -> str:
        """Returns the drone's take-off point in words, seen from a place of the story."""
        label, at, start = self._story.labels[place], self._situation.places[place], self._situation.start
        away = math.dist(at, start)
        if away < _BESIDE:
            near = self.claim("distance", wording.pick(("right beside", "close to"), self._rng), place, "start")
            where = f"{near} {label}"
        else:
            far = self.claim("distance", wording.distance(away, self._rng), place, "start")
            where = f"{far} {self.claim('direction', wording.direction(at, start), place, 'start')} of {label}"
        return wording.pick(voice.base, self._rng).format(where=where)

    def _mark(self, mark: str, names: list[str], whole: str) -> str:
        situation, rng = self._situation, self._rng
        try:
            match mark, names:
                case "dir", [a, b]:
                    return self.claim("direction", wording.direction(situation.point(a), situation.point(b)), a, b)
                case "far", [a, b]:
                    away = math.dist(situation.point(a), situation.point(b))
                    return self.claim("distance", wording.distance(away, rng), a, b)
                case "rise", [a, b]:
                    up = self._height(b) >= self._height(a)
                    return self.claim("uphill" if up else "downhill", "uphill" if up else "downhill", a, b)
                case "way", [line]:
                    points = situation.lines[line]
                    climb = float(np.clip(np.diff(self._site.place.ground_height(points)), 0.0, None).sum())
                    words = wording.walking_time(float(arc_length(points)[-1]), climb, rng)
                    return self.claim("walk", words, line)
                case "ago", [day]:
                    words = wording.days_ago(date.fromisoformat(day), situation.day, rng)
                    return self.claim("days", words, day)
                case "since", [day]:
                    return self.claim("days", wording.for_days(date.fromisoformat(day), situation.day), day)
                case "wear", [id]:
                    return self.claim("wears", with_article(self._outfit(id)), id)
                case "colour", [id]:
                    return self.claim("wears", self._outfit(id), id)
                case "thing", [kind]:
                    return self.claim("item", with_article(self._item(kind)), kind)
                case "my", [kind]:
                    return self.claim("item", self._item(kind), kind)
                case "kit", []:
                    return self._kit()
        except (KeyError, StopIteration):
            pass
        raise UsageError(f"story {self._story.id}: {whole} says nothing here", "see the marks in prompts.py")

    def _height(self, name: str) -> float:
        return float(self._site.stand(self._situation.point(name))[2])

    def _outfit(self, id: str) -> str:
        return next(colour_of(str(victim["variant"])) for victim in self._situation.victims if victim["id"] == id)

    def _item(self, kind: str) -> str:
        return next(str(clue["description"]) for clue in self._situation.clues if clue["kind"] == kind)

    def _kit(self) -> str:
        """Some of what was carried, in a drawn order."""
        carried = [clue for clue in self._situation.clues if ClueKind(clue["kind"]) in CARRIED]
        order = list(self._rng.permutation(len(carried)))
        count = int(self._rng.integers(_MIN_ITEMS, _MAX_ITEMS + 1))
        items = []
        for index in order[:count]:
            clue = carried[index]
            kind = ClueKind(clue["kind"])
            plain = kind in (ClueKind.SIGNAL_FLARE,) or not colour_of(str(clue["variant"]))
            words = f"a {kind.value.replace('_', ' ')}" if plain else with_article(str(clue["description"]))
            items.append(self.claim("item", words, kind.value))
        return _listed(items) if items else "hardly anything"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _sentence(text: str) -> str:
    """Sentences of a part, each beginning with a capital, the last closed."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(^|[.!?] )([a-z])", lambda match: match[1] + match[2].upper(), text)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _cased(claim: Claim, text: str) -> Claim:
    """The claim with its words as they stand in the text, where they may begin a sentence."""
    if claim.words in text:
        return claim
    return Claim(claim.kind, claim.words[:1].upper() + claim.words[1:], claim.about)
