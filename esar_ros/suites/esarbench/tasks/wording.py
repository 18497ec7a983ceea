"""Measures as people say them: distances, directions, walking times, days, clocks, wind and weather."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np

from esar_ros.mission.weather import Weather

WINDS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_ROUGHLY = ("about", "roughly", "some", "around")

# Each goes after "we have".
WEATHER: dict[Weather, tuple[str, ...]] = {
    Weather.CLEAR: ("a clear sky", "a cloudless sky", "clear, dry air", "clear weather"),
    Weather.PARTLY_CLOUDY: ("broken cloud", "a few clouds", "a partly cloudy sky", "scattered clouds"),
    Weather.OVERCAST: ("an overcast sky", "a grey sky without a gap", "a closed grey cloud cover", "overcast, but dry"),
    Weather.LIGHT_RAIN: ("light rain", "drizzle", "a thin, steady drizzle", "light rain on and off"),
    Weather.HEAVY_RAIN: (
        "heavy rain",
        "pouring rain",
        "rain coming down hard",
        "heavy rain, with everything running wet",
    ),
    Weather.THUNDERSTORM: ("a thunderstorm", "a thunderstorm overhead", "thunder and lightning with hard rain"),
    Weather.LIGHT_SNOW: ("light snow", "a little snow falling", "light snowfall", "a few flakes in the air"),
    Weather.HEAVY_SNOW: ("heavy snow", "hard snowfall", "heavy snowfall", "thick snow coming down"),
    Weather.BLIZZARD: ("a blizzard", "a full blizzard", "a blizzard, snow flying level", "blizzard conditions"),
    Weather.FOG: ("fog", "fog on the ground", "fog, though one can still see a little way", "fog all about"),
    Weather.DENSE_FOG: (
        "dense fog",
        "fog so thick that one loses sight of one's boots",
        "thick fog",
        "dense fog all over",
    ),
    Weather.SANDSTORM: (
        "a sandstorm",
        "a sandstorm blowing",
        "a sandstorm, the sun gone behind it",
        "a full sandstorm",
    ),
    Weather.DUST: ("dust in the air", "blowing dust", "dust haze", "a veil of dust"),
}


def pick(options: Sequence[str], rng: np.random.Generator) -> str:
    """One of several wordings."""
    return options[int(rng.integers(len(options)))]


def direction(a: Sequence[float], b: Sequence[float]) -> str:
    """Compass word of the way from a to b."""
    turn = math.atan2(b[1] - a[1], b[0] - a[0]) / (math.pi / 4)
    return WINDS[round(turn) % 8]


def distance(metres: float, rng: np.random.Generator) -> str:
    """Returns a distance in words, e.g. "some three hundred metres"."""
    about = pick(_ROUGHLY, rng)
    if metres < 30.0:
        return pick(("a stone's throw", "a few steps"), rng)
    if metres < 75.0:
        return f"{about} fifty metres"
    if metres < 125.0:
        return f"{about} a hundred metres" if about != "some" else "about a hundred metres"
    if metres < 175.0:
        return pick(("a hundred and fifty metres or so", "about a hundred and fifty metres"), rng)
    if metres < 250.0:
        return pick(("a couple of hundred metres", f"{about} two hundred metres"), rng)
    if 450.0 <= metres < 550.0:
        return pick(("half a kilometre", f"{about} five hundred metres"), rng)
    if metres < 950.0:
        return f"{about} {NUMBERS[round(metres / 100.0)]} hundred metres"
    if metres < 1300.0:
        return pick(("about a kilometre", "a good kilometre"), rng)
    if metres < 1700.0:
        return "about a kilometre and a half"
    if metres < 2400.0:
        return f"{about} two kilometres"
    return f"{about} {NUMBERS[min(12, round(metres / 1000.0))]} kilometres"


def walking_time(metres: float, climb: float, rng: np.random.Generator) -> str:
    """Returns a walking time on rough ground in words: 3 km/h and ten minutes per 100 m climbed (after Naismith)."""
    minutes = metres / 50.0 + max(0.0, climb) / 10.0
    for limit, words in (
        (6.0, ("a few minutes", "a couple of minutes")),
        (12.5, ("ten minutes", "about ten minutes")),
        (17.5, ("a quarter of an hour", "about fifteen minutes")),
        (25.0, ("twenty minutes", "some twenty minutes")),
        (37.5, ("half an hour", "about half an hour")),
        (52.5, ("three quarters of an hour",)),
        (80.0, ("an hour", "about an hour")),
        (math.inf, ("well over an hour",)),
    ):
        if minutes < limit:
            return pick(words, rng)
    raise ValueError(f"a way of {metres} m and {climb} m up")


def days_ago(then: date, today: date, rng: np.random.Generator) -> str:
    """A day counted back from today, e.g. "two days ago"."""
    days = (today - then).days
    if days <= 0:
        return pick(("today", "earlier today"), rng)
    if days == 1:
        return "yesterday"
    if days == 2:
        return pick(("two days ago", "the day before yesterday"), rng)
    if days == 7:
        return pick(("a week ago", "seven days ago"), rng)
    return f"{NUMBERS[days]} days ago" if days <= 12 else f"on {then.day} {then:%B}"


def for_days(then: date, today: date) -> str:
    """Returns the time since a day in words."""
    days = (today - then).days
    return (
        "since earlier today" if days <= 0 else "since yesterday" if days == 1 else f"for {NUMBERS[min(days, 12)]} days"
    )


def clock(moment: datetime, style: str) -> str:
    """The hour: "digits" 14:20, "half" 2:20 pm, "words" twenty past two in the afternoon; minutes are fives."""
    hour, minute = moment.hour, moment.minute
    if style == "digits":
        return f"{hour:02d}:{minute:02d}"
    if style == "half":
        return f"{(hour - 1) % 12 + 1}:{minute:02d} {'am' if hour < 12 else 'pm'}"
    part = "at night" if hour < 5 or hour >= 21 else "in the morning" if hour < 12 else "in the afternoon"
    if 18 <= hour < 21:
        part = "in the evening"
    names = {5: "five", 10: "ten", 15: "a quarter", 20: "twenty", 25: "twenty-five"}
    past = NUMBERS[(hour - 1) % 12 + 1]
    after = NUMBERS[hour % 12 + 1]
    if minute == 0:
        return f"{past} o'clock {part}"
    if minute == 30:
        return f"half past {past} {part}"
    if minute < 30:
        return f"{names[minute]} past {past} {part}"
    return f"{names[60 - minute]} to {after} {part}"


def light(elevation: float, morning: bool, rng: np.random.Generator) -> str:
    """Returns the light at a sun's elevation (rad) in a searcher's words; empty by plain day."""
    degrees = math.degrees(elevation)
    if degrees < -6.0:
        return pick(("it is dark", "it is full night", "there is no daylight"), rng)
    if degrees < 4.0:
        return pick(("the light is only just coming", "dawn is breaking"), rng) if morning else pick(
            ("the light is going", "dusk is coming on"), rng
        )  # fmt: skip
    return ""


def wind(speed: float, blows_to: float, rng: np.random.Generator) -> str:
    """Wind (m/s) and where it comes from."""
    if speed < 1.0:
        return pick(("no wind to speak of", "hardly a breath of wind"), rng)
    origin = direction((0.0, 0.0), (-math.cos(blows_to), -math.sin(blows_to)))
    strength = (
        ("a light wind", "a light breeze") if speed < 4.0
        else ("a fresh wind", "a moderate wind") if speed < 7.5
        else ("a strong wind", "a hard wind")
    )  # fmt: skip
    return f"{pick(strength, rng)} from the {origin}"
