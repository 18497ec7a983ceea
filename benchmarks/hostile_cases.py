"""The conditions of hostile flights: what is promised, cases at random, and scenarios of fixed conditions.

Each case has one danger: what stands in the way, or what fails. DANGERS is the promise: a case within it must not fail.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from esar_ros.mission.weather import Weather

MAPS = ("aotai", "k2", "dapeng", "lop_nur")
SLOPES = ("k2", "aotai")  # maps with slopes to fly outward from
WEATHERS = (Weather.CLEAR, Weather.HEAVY_RAIN, Weather.BLIZZARD, Weather.DENSE_FOG, Weather.SANDSTORM)
SOUND = "sound"
FAULTS = (
    "lidar blind", "sector blind", "lidar stuck", "cameras blind", "all blind", "odometry jumps", "odometry lost",
)  # fmt: skip
SENSING = (SOUND, *FAULTS)
UNSEEN = "detector blind"  # from the start
WINDS = (0.0, 4.0, 8.0, 10.0, 12.0, 15.0, 18.0)  # m/s, mean; gusts come with it
WIND = 12.0  # m/s, most of the promise
BEAMS = (1.0, 0.85, 0.7, 0.5)  # share that returns
FEWEST_BEAMS = 0.7  # of the promise
SPEED = 5.0  # m/s, greatest of the promise
FIRST_SEED = 20_000_000  # seeds lie from here on; a seed of another governor's flights is never flown again

Size = float | str


@dataclass(frozen=True)
class Danger:
    """A danger: its sizes, those of them that are promised, the ways in which it is met, and the length of a flight."""

    sizes: tuple[Size, ...]
    promised: tuple[Size, ...]
    kinds: tuple[str, ...]
    seconds: float
    maps: tuple[str, ...] = MAPS
    sensing: tuple[str, ...] = (SOUND,)
    excused: tuple[tuple[Size, str], ...] = ()  # sizes with a sensing with which they are not promised


# A failure is a contact; of `slope` also a height above ceiling and margin, of `creep` a place outside the fence.
DANGERS = {
    # m, thickness of upright poles
    "poles": Danger(
        (0.05, 0.10, 0.15, 0.30, 1.0), (0.15, 0.30, 1.0),
        ("ram", "pole", "backwards", "dive", "leave", "climb", "shake", "wander", "not a number", "frozen", "spin",
         "bursts"),
        25.0, sensing=SENSING,
    ),
    # m, width of a level plate overhead, met climbing
    "plate": Danger((0.3, 0.6, 1.0, 2.0, 4.0), (0.3, 0.6, 1.0, 2.0, 4.0), ("straight up", "stairs", "take-off"), 15.0,
                    sensing=(SOUND, *SENSING)),
    # m, thickness, flown at from each side
    "bar": Danger((0.05, 0.15, 0.30), (0.15, 0.30), ("level", "diagonal", "from below", "from above"), 15.0,
                  sensing=(SOUND, *SENSING)),
    "wire": Danger((0.01, 0.05), (), ("level", "diagonal", "from below", "from above"), 15.0),
    # m, between the start and the deck overhead
    "bridge": Danger((8.0, 12.0), (8.0, 12.0), ("from below", "from beside"), 15.0, sensing=(SOUND, *SENSING)),
    # degrees, greatest fall of the ground that is flown out over under a ceiling of 40 m
    "slope": Danger((30.0, 45.0, 60.0), (30.0, 45.0), ("outward", "outward and up"), 30.0, SLOPES,
                    (SOUND, SOUND, "all blind", "odometry lost")),
    # posture of somebody below, whom a detector sees or not; `landing` is that of an empty battery
    "person": Danger(("standing", "sitting", "lying"), ("standing", "sitting", "lying"), ("touch-down", "landing"),
                     30.0, sensing=(SOUND, UNSEEN), excused=(("lying", UNSEEN),)),
    # whether a teammate is heard, which itself hears or not
    "teammate": Danger(("heard", "falls silent", "never heard"), ("heard", "falls silent"),
                       ("head-on", "crossing", "following", "turning back"), 20.0),
    # degrees, step of the heading on the way to a pole
    "heading": Danger((15.0, 30.0, 45.0, 60.0, 90.0, 135.0, 180.0), (90.0, 135.0, 180.0), ("behind", "ahead"), 14.0),
    # degrees, width of a sector of the LiDAR that is blind from the start, and holds a pole; `edge`: beside the way
    "sector": Danger((12.0, 24.0, 45.0), (24.0, 45.0), ("edge", "behind", "ahead"), 20.0),
    # m/s, by which position and velocity creep
    "creep": Danger((0.1, 0.2, 0.3, 0.5), (), ("leave",), 25.0),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """The conditions of one flight."""

    name: str  # its number, or its scenario and number
    seed: int
    danger: str
    size: Size
    kind: str
    map: str
    weather: Weather
    sensing: str
    wind: float  # m/s
    beams: float  # share
    height: float = 12.0  # m between the start and what is overhead

    def __str__(self) -> str:
        """Returns the conditions as a table shows them."""
        values = {one.name: getattr(self, one.name) for one in fields(self)} | {"weather": self.weather.value}
        return ", ".join(f"{name} {value}" for name, value in values.items())

    @staticmethod
    def of(number: int) -> Case:
        """Returns a case: dangers in turn, every fourth the poles, the rest at random; two of three are promised."""
        seed, within = FIRST_SEED + number, number % 3 != 2
        rng = np.random.default_rng([seed, 0])
        others = [name for name in DANGERS if name != "poles"]
        name = "poles" if number % 4 == 0 else others[(number - number // 4 - 1) % len(others)]
        danger = DANGERS[name]
        sizes = danger.promised if within and danger.promised else danger.sizes
        return Case(
            str(number), seed, name,
            sizes[rng.integers(len(sizes))],
            danger.kinds[rng.integers(len(danger.kinds))],
            danger.maps[rng.integers(len(danger.maps))],
            WEATHERS[rng.integers(len(WEATHERS))],
            danger.sensing[rng.integers(len(danger.sensing))],
            float(rng.choice([wind for wind in WINDS if not within or wind <= WIND])),
            float(rng.choice([share for share in BEAMS if not within or share >= FEWEST_BEAMS])),
            float(rng.uniform(8.0, 15.0)),
        )  # fmt: skip

    @property
    def promised(self) -> bool:
        """The case must end without a failure."""
        danger = DANGERS[self.danger]
        size = self.size in danger.promised and (self.size, self.sensing) not in danger.excused
        return size and self.wind <= WIND and self.beams >= FEWEST_BEAMS

    @property
    def seconds(self) -> float:
        """Length of the flight, s."""
        return DANGERS[self.danger].seconds


@dataclass(frozen=True)
class Scenario:
    """Fixed conditions of a danger; those with several values are taken in turn, and still, clear air is the rest."""

    danger: str
    conditions: dict[str, tuple[Any, ...]]

    def case(self, name: str, number: int) -> Case:
        """Returns the case of a number."""
        danger = DANGERS[self.danger]
        chosen = {
            "map": danger.maps, "weather": (Weather.CLEAR,), "sensing": (SOUND,), "wind": (0.0,), "beams": (1.0,),
            **self.conditions,
        }  # fmt: skip
        sizes, kinds = chosen.pop("size", danger.sizes), chosen.pop("kind", danger.kinds)
        values = {key: among[number % len(among)] for key, among in chosen.items()}
        values |= {"size": sizes[number % len(sizes)], "kind": kinds[number // len(sizes) % len(kinds)]}
        first = FIRST_SEED + 100_000 * (1 + list(SCENARIOS).index(name))
        return Case(f"{name} {number}", first + number, self.danger, **values)


SCENARIOS = {
    "plate": Scenario("plate", {"kind": ("straight up",)}),
    "plate at take-off": Scenario("plate", {"kind": ("take-off",)}),
    "bar": Scenario("bar", {"size": (0.15, 0.30), "kind": ("from below",)}),
    "bar, other ways": Scenario("bar", {"size": (0.15, 0.30), "kind": ("level", "from above", "diagonal")}),
    "wire": Scenario("wire", {}),
    "bridge": Scenario("bridge", {}),
    "ceiling": Scenario("slope", {"size": (45.0,), "kind": ("outward",), "wind": (8.0, 10.0, 12.0)}),
    "ceiling, blind": Scenario(
        "slope", {"size": (45.0,), "kind": ("outward",), "wind": (8.0, 10.0, 12.0),
                  "sensing": ("all blind", "all blind", "odometry lost", "odometry lost")},
    ),
    "person, touch-down": Scenario("person", {"kind": ("touch-down",)}),
    "person, landing": Scenario("person", {"kind": ("landing",)}),
    "person, not detected": Scenario("person", {"sensing": (UNSEEN,)}),
    "teammate heard": Scenario("teammate", {"size": ("heard",)}),
    "teammate falls silent": Scenario("teammate", {"size": ("falls silent",)}),
    "teammate never heard": Scenario("teammate", {"size": ("never heard",)}),
    "heading": Scenario("heading", {"size": (90.0, 135.0, 180.0)}),
    "heading, less": Scenario("heading", {"size": (15.0, 30.0, 45.0, 60.0)}),
    "sector": Scenario("sector", {"size": (24.0, 45.0, 12.0)}),
    "creep": Scenario("creep", {"size": (0.3,)}),
}  # fmt: skip
