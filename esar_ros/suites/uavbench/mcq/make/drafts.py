"""A computed question, and its seven options: one right number and six that mistakes or chance lead to.

The options are numbers of one form, three digits each. The right one's rank among them is drawn evenly and so is how
evenly it stands between its neighbours: neither words nor order nor spacing point to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from esar_ros.suites.uavbench.mcq.item import OPTIONS

RATIO = (1.33, 1.55)  # between neighbouring options before the jitter
JITTER = 0.3  # of a step, either way; neighbours differ by a factor of 1.33^0.4 = 1.12 at least
LADDERS = 5  # fitting draws of which the one with most named mistakes is taken
DRAWS = 60  # at most, for them
CHANCE = "no step of the calculation gives this number"
GIVEN = "question"  # pointer of a number that stands in the question alone


@dataclass(frozen=True)
class Draft:
    """A question before its options. value > 0, in unit; mistakes: what each would give; inputs: numbers by pointer.

    about: the part of the scenario that it asks about, where a template can ask about several.
    """

    style: int
    question: str
    unit: str
    value: float
    formula: str
    inputs: Mapping[str, float | list[float]]
    mistakes: Mapping[str, float] = field(default_factory=dict)
    about: str = ""


def options_of(draft: Draft, rank: int, rng: Random) -> list[tuple[float, str]]:
    """Returns seven values in rising order with why each is wrong; '' for the right one, which has this rank."""
    wanted = rng.randrange(OPTIONS - 2)  # how many inner options stand more evenly between their neighbours
    fitting: list[list[tuple[float, str]]] = []
    for _ in range(DRAWS):
        options = _ladder(draft, rank, rng)
        if not 0 < rank < OPTIONS - 1 or _more_even(options, rank) == wanted:
            fitting.append(options)
            if len(fitting) == LADDERS:
                break
    return max(fitting or [options], key=_named)


def _more_even(options: list[tuple[float, str]], rank: int) -> int:
    """Returns how many inner options are nearer to the geometric mean of their neighbours than the one of this rank.

    Mistakes stand at fixed ratios to the right value, which would make it the most even one too often.
    """
    logs = [math.log(value) for value, _ in options]
    off = [abs(a + c - 2.0 * b) for a, b, c in zip(logs, logs[1:], logs[2:], strict=False)]
    return sum(other < off[rank - 1] for other in off)


def _named(options: list[tuple[float, str]]) -> int:
    """Returns how many options are wrong for a named reason."""
    return sum(why not in ("", CHANCE) for _, why in options)


def _ladder(draft: Draft, rank: int, rng: Random) -> list[tuple[float, str]]:
    """One draw: places in even steps, each jittered, the right one's too; a mistake stands where it falls into one."""
    ratio = rng.uniform(*RATIO)
    steps = [i + rng.uniform(-JITTER, JITTER) for i in range(OPTIONS)]
    why = ["" if i == rank else CHANCE for i in range(OPTIONS)]
    names = sorted(draft.mistakes)
    rng.shuffle(names)
    for name in names:
        wrong = draft.mistakes[name]
        if math.isfinite(wrong) and wrong > 0.0:
            step = math.log(wrong / draft.value, ratio) + steps[rank]
            place = round(step)
            if 0 <= place < OPTIONS and why[place] == CHANCE and abs(step - place) <= JITTER:
                steps[place], why[place] = step, name
    return [(draft.value * ratio ** (step - steps[rank]), reason) for step, reason in zip(steps, why, strict=True)]


def three_digits(value: float) -> str:
    """Returns a positive number to three significant digits, without an exponent."""
    decimals = 2 - math.floor(math.log10(value))
    rounded = round(value, decimals)
    decimals = 2 - math.floor(math.log10(rounded))  # 9.996 becomes 10.0
    return f"{rounded:.{max(0, decimals)}f}"


def drawn(rng: Random, low: float, high: float) -> float:
    """Returns a number between two others, to two significant digits, as a question can state it."""
    value = rng.uniform(low, high)
    return float(f"{value:.2g}")
