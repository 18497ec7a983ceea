"""A description of a scenario in plain sentences, from its fields alone: every number in it is one of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from esar_ros.suites.uavbench.scenarios.geometry import Cylinder
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene

_AN = ("a", "e", "i", "o", "rgb")  # not u: a uv lamp, a utility winch


def describe(scene: Scene) -> str:
    """Returns some ten sentences; what is missing or broken is left out."""
    found = []
    for sentence in _SENTENCES:
        try:
            found.append(sentence(scene))
        except Broken:
            continue
    return " ".join(text for text in found if text)


def _mission(s: Scene) -> str:
    what, where = s["/mission/type"].replace("_", " "), s["/environment/airspace"].replace("_", " ")
    vehicle = _a(s["/uav/type"])
    return f"{vehicle[0].upper()}{vehicle[1:]} flies the mission {what} in the airspace {where}."


def _vehicle(s: Scene) -> str:
    source = s["/uav/energy_source"]
    tank = [] if source == "fuel" else [f"{plain(s['/uav/battery_Wh'])} Wh of battery"]
    tank += [] if source == "battery" else [f"{plain(s['/uav/fuel_L'])} litres of fuel"]
    text = f"It weighs {plain(s['/uav/mass_kg'])} kg, flies up to {plain(s.max_speed)} m/s and has {' and '.join(tank)}"
    return f"{text}, of which the share {plain(s['/uav/reserve_fraction'])} is a reserve."


def _payloads(s: Scene) -> str:
    carried = [
        f"{_a(p['type'])} of {plain(p['mass_kg'])} kg and {plain(p['power_W'])} W" for p in s.get("/uav/payloads", ())
    ]
    return f"It carries {_list(carried)}." if carried else ""


def _weather(s: Scene) -> str:
    wind = "/environment/weather"
    text = f"The wind is {plain(s[f'{wind}/wind_mps'])} m/s from {plain(s[f'{wind}/wind_dir_deg'])} degrees"
    text += f" with gusts of {plain(s[f'{wind}/gust_mps'])} m/s on top, visibility is {s[f'{wind}/visibility']}"
    phenomena = [token.replace("_", " ") for token in s.phenomena]
    return f"{text}, and there is {_list(phenomena)}." if phenomena else f"{text}."


def _radio(s: Scene) -> str:
    jam = s.get("/environment/gnss_jam_dbm")
    found = [f"a jammer of {plain(jam)} dBm at the antenna"] if jam is not None else []
    found += ["reflected satellite signals"] if s.get("/environment/gnss_multipath", False) else []
    found += ["electromagnetic interference"] if s.get("/environment/em_interference", False) else []
    return f"Navigation has to live with {_list(found)}." if found else ""


def _bounds(s: Scene) -> str:
    low, high = s.band
    text = f"It must stay between {plain(low)} and {plain(high)} metres above ground, inside a fence"
    zones, moving = ([_zone(zone) for zone in zones] for zones in (s.zones, s.moving_zones))
    text += f", and out of the no-fly zones at {_list(zones)}" if zones else ""
    return f"{text}, and of those that move from {_list(moving)}." if moving else f"{text}."


def _zone(zone: Cylinder) -> str:
    return f"({plain(zone.center[0])}, {plain(zone.center[1])}) with a radius of {plain(zone.radius)} metres"


def _route(s: Scene) -> str:
    points = [f"({', '.join(plain(c) for c in point)})" for point in s.waypoints]
    start = f"({', '.join(plain(c) for c in s.spawn)})"
    budget = plain(s["/mission/time_budget_s"])
    return f"From {start} the route leads as {_a(s['/mission/pattern'])} over {_list(points)} within {budget} seconds."


def _others(s: Scene) -> str:
    found = [
        f"a vehicle from ({', '.join(plain(c) for c in o['spawn'])}) at {plain(o['speed_mps'])} m/s"
        f" towards {plain(o['heading_deg'])} degrees"
        for o in s.get("/traffic", ())
    ]
    found += [f"an obstacle from ({', '.join(plain(c) for c in ball.center)})" for ball in s.obstacles]
    text = f"In the air, too, are {_list(found)}. " if found else ""
    if s.get("/swarm/enabled", False) and s["/swarm/size"] > 1:
        text += f"A swarm flies with it, {plain(s['/swarm/inter_uav_sep_min_m'])} metres apart at least. "
    return f"{text}Others must be kept {plain(s.separation)} metres away."


def _events(s: Scene) -> str:
    found = [
        f"{f['type'].replace('_', ' ')} of severity {plain(f['severity'])} after {plain(f['t_s'])} seconds"
        for f in s.get("/faults", ())
    ]
    return f"What fails: {_list(found)}." if found else "Nothing fails."


def _link(s: Scene) -> str:
    found = [f"from {plain(a)} to {plain(b)} seconds" for a, b in s.get("/comms/loss_windows", ())]
    down = [name for name in ("uplink", "downlink") if not s.get(f"/comms/{name}_ok", True)]
    text = f"The {' and the '.join(down)} cannot be used. " if down else ""
    return f"{text}The link is lost {_list(found)}." if found else text.strip()


_SENTENCES: tuple[Callable[[Scene], str], ...] = (
    _mission, _vehicle, _payloads, _weather, _radio, _bounds, _route, _others, _events, _link,
)  # fmt: skip


def _a(token: str) -> str:
    """Returns a token as words behind the article that its first sound asks for."""
    return f"{'an' if token.lower().startswith(_AN) else 'a'} {token.replace('_', ' ')}"


def plain(number: float) -> str:
    """Returns a number with all digits that its field has."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _list(items: Sequence[str]) -> str:
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else items[0]
