"""Templates about the vehicle: hover power and wind (style 1), energy and endurance (style 7).

A template asks for what varies much between vehicles. Stall speeds, for one, are so much alike that their size alone
tells the right option from the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from esar_ros.suites.uavbench.mcq.make.drafts import GIVEN, Draft, drawn
from esar_ros.suites.uavbench.scenarios.describe import plain as g
from esar_ros.suites.uavbench.scenarios.scene import Scene

_MASS, _POWER, _DRAG = "/uav/mass_kg", "/uav/battery_model/hover_power_W", "/uav/battery_model/k_drag"
_BATTERY, _RESERVE = "/uav/battery_Wh", "/uav/reserve_fraction"
_WIND, _GUST = "/environment/weather/wind_mps", "/environment/weather/gust_mps"


def hover_power(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Hover power with a further payload: momentum theory, P ~ m^1.5 at the same rotors and air."""
    if not scene.family.hovers:
        return
    mass, power = scene[_MASS], scene[_POWER]
    more = drawn(rng, 0.15 * mass, 0.6 * mass)
    ratio = (mass + more) / mass
    yield Draft(
        1,
        f"The vehicle hovers on {g(power)} W at the mass described. By momentum theory, with rotors, their efficiency "
        f"and air density unchanged, what hover power does it need with a further payload of {g(more)} kg?",
        "W",
        power * ratio**1.5,
        "P ((m + dm) / m)^1.5",
        {_MASS: mass, _POWER: power, f"{GIVEN}/payload_kg": more},
        {
            "power taken as proportional to mass": power * ratio,
            "power taken as the square of mass": power * ratio**2,
            "power taken as the root of mass": power * math.sqrt(ratio),
            "power taken as the cube of mass": power * ratio**3,
            "payload taken off instead of added": power * max(0.0, (mass - more) / mass) ** 1.5,
            "mass left unchanged": power,
        },
    )


def headwind(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Time to cover a distance straight against mean wind and gust."""
    top, wind, gust = scene.max_speed, scene[_WIND], scene[_GUST]
    slow = top - wind - gust
    if wind < 1.0 or slow < 0.2 * top:
        return
    way = drawn(rng, 200.0, 3000.0)
    yield Draft(
        1,
        f"Flying level at its top speed through the air, straight against the mean wind with the gust on top of it all "
        f"the way, how long does the vehicle take for {g(way)} m over the ground?",
        "s",
        way / slow,
        "d / (v - wind - gust)",
        {"/uav/max_speed_mps": top, _WIND: wind, _GUST: gust, f"{GIVEN}/distance_m": way},
        {
            "wind forgotten": way / top,
            "gust forgotten": way / (top - wind),
            "gust taken for the whole wind": way / (top - gust),
            "wind taken from behind": way / (top + wind + gust),
            "mean wind from behind": way / (top + wind),
        },
    )


def hover_time(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Endurance in hover down to the reserve, with a further consumer."""
    if not scene.family.hovers or scene["/uav/energy_source"] != "battery":
        return
    power, battery, reserve = scene[_POWER], scene[_BATTERY], scene[_RESERVE]
    more = drawn(rng, 0.15 * power, 0.5 * power)
    usable = battery * (1.0 - reserve)
    yield Draft(
        7,
        f"The vehicle hovers on {g(power)} W, all its consumers included, and another one of {g(more)} W is switched "
        "on. From a full battery, how many minutes can it hover until only the reserve is left?",
        "min",
        60.0 * usable / (power + more),
        "60 E (1 - r) / (P + dP)",
        {_POWER: power, _BATTERY: battery, _RESERVE: reserve, f"{GIVEN}/power_W": more},
        {
            "reserve forgotten": 60.0 * battery / (power + more),
            "new consumer forgotten": 60.0 * usable / power,
            "reserve and consumer forgotten": 60.0 * battery / power,
            "reserve taken for what may be used": 60.0 * battery * reserve / (power + more),
            "reserve taken off twice": 60.0 * usable * (1.0 - reserve) / (power + more),
            "new consumer taken off": 60.0 * usable / (power - more),
        },
    )


def energy_left(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Energy left after the first legs of the route at one speed."""
    if not scene.family.hovers or scene["/uav/energy_source"] != "battery" or len(scene.waypoints) < 2:
        return
    legs = rng.randint(2, len(scene.waypoints))
    speed = drawn(rng, 0.4 * scene.max_speed, 0.9 * scene.max_speed)
    power, drag, battery = scene[_POWER], scene[_DRAG], scene[_BATTERY]
    points = scene.route[: legs + 1]
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    way = sum(lengths)

    def left(flown: float, watts: float) -> float:
        return float(battery - watts * flown / speed / 3600.0)

    total = power + drag * speed**3
    rest = left(way, total)
    if not 0.1 * battery < rest < 0.9 * battery:
        return
    yield Draft(
        7,
        f"Flight takes {g(power)} W + {g(drag)} v^3 (W, v in m/s), climbs included. The vehicle leaves its start with "
        f"a full battery and flies straight from point to point at {g(speed)} m/s. With coordinates in metres (east, "
        f"north, up), how many Wh are left at waypoint {legs}?",
        "Wh",
        rest,
        "E - (P + k v^3) sum(d) / v / 3600",
        {
            _POWER: power, _DRAG: drag, _BATTERY: battery, f"{GIVEN}/speed_mps": speed,
            **{f"/mission/waypoints/{i}": list(point) for i, point in enumerate(scene.waypoints[:legs])},
            "/spawn/xyz": list(scene.spawn),
        },
        {
            "last leg forgotten": left(way - lengths[-1], total),
            "drag forgotten": left(way, power),
            "square in place of cube": left(way, power + drag * speed**2),
            "reserve taken off": rest - battery * scene[_RESERVE],
            "straight line in place of the route": left(math.dist(points[0], points[-1]), total),
            "energy used in place of what is left": battery - rest,
        },
        f"waypoint {legs}",
    )  # fmt: skip


def radius(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Distance out and back that a battery is enough for, down to the reserve."""
    if not scene.family.hovers or scene["/uav/energy_source"] != "battery":
        return
    speed = drawn(rng, 0.4 * scene.max_speed, 0.9 * scene.max_speed)
    power, drag, battery, reserve = scene[_POWER], scene[_DRAG], scene[_BATTERY], scene[_RESERVE]
    total = power + drag * speed**3
    way = 3.6 * battery * speed / total  # km
    usable = 1.0 - reserve
    yield Draft(
        7,
        f"Level flight takes {g(power)} W + {g(drag)} v^3 (W, v in m/s). In still air at {g(speed)} m/s, how far out "
        "(km) can the vehicle fly on a full battery and still return to its start with the reserve untouched?",
        "km",
        0.5 * way * usable,
        "E (1 - r) 3.6 v / (P + k v^3) / 2",
        {_POWER: power, _DRAG: drag, _BATTERY: battery, _RESERVE: reserve, f"{GIVEN}/speed_mps": speed},
        {
            "way back forgotten": way * usable,
            "reserve forgotten": 0.5 * way,
            "way back and reserve forgotten": way,
            "drag forgotten": 0.5 * 3.6 * battery * speed / power * usable,
            "square in place of cube": 0.5 * 3.6 * battery * speed / (power + drag * speed**2) * usable,
            "reserve kept on each way": 0.5 * way * usable**2,
        },
    )
