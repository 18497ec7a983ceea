"""Checks of a running graph or a bag for the most frequent complaints about flying software; and the remedies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from esar_ros.app.checks.finding import UNCHECKED, Check
from esar_ros.bags.facts import CLOCK, IMU, ODOMETRY, TF, TWIST, Facts, Stream
from esar_ros.mission import names
from esar_ros.mission.vehicle import load_vehicle

FIX = "sensor_msgs/msg/NavSatFix"
IMAGES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
SENSORS = (*IMAGES, IMU, "sensor_msgs/msg/PointCloud2", "esar_ros/msg/RangeImage")
APART = 0.5  # s that stamps of two sensors may differ when they arrive together
SHARE = 0.6  # of the wanted rate that a camera must reach
STANDS = 0.3  # m moved by a vehicle that does not obey
OBEYS = 3.0  # s that a command must last before its effect is asked for
COMMANDED = 0.5  # m/s
ORPHAN = 0.5  # s after the last command at which a vehicle must brake
_TOLD = 6  # topics that are named
_COMMANDS = f"no {names.CMD_VEL_SAFE} with the odometry of its vehicle"


def placed(facts: Facts) -> Check:
    """Finds nothing that places a vehicle, and names what there is instead."""
    found = [topic for topic, stream in facts.of(ODOMETRY, FIX) if stream.stamps]
    if found:
        return Check("a flight", True, ", ".join(sorted(found)[:_TOLD]))
    has = sorted({topic.split(" ")[0] for topic in facts.streams})
    more = f" and {len(has) - _TOLD} more" * (len(has) > _TOLD)
    lacks = f"neither {ODOMETRY} nor {FIX}; there is {', '.join(has[:_TOLD]) or 'no topic'}{more}"
    return _unchecked("a flight", lacks)


def slow_cameras(facts: Facts) -> Check:
    """Images come rarer than the vehicle's cameras should give them."""
    wanted = load_vehicle().rates.cameras
    slow, cameras = [], 0
    for topic, stream in facts.of(*IMAGES):
        stamps = sorted(set(stream.stamps))
        cameras += len(stamps) >= 3
        if len(stamps) >= 3 and (rate := (len(stamps) - 1) / (stamps[-1] - stamps[0])) < SHARE * wanted:
            slow.append(f"{topic} at {rate:.2f} Hz")
    if not cameras:
        return _unchecked("camera rate", "no camera's image")
    cure = "use --preset fast, fewer subscribers to pictures, or a faster renderer (docs/how-to/unreal.md)"
    return _check("camera rate", slow, f"{wanted:g} Hz wanted", cure)


def different_clocks(facts: Facts) -> Check:
    """Sensors whose stamps come from another clock than the odometry's."""
    bad, compared = [], 0
    for vehicle, reference in facts.of(ODOMETRY):
        space = vehicle.rpartition("/")[0]
        for topic, stream in facts.of(*SENSORS):
            apart = _apart(stream, reference)
            compared += topic.startswith(f"{space}/") and apart is not None
            if topic.startswith(f"{space}/") and apart is not None and abs(apart) > APART:
                bad.append(f"{topic} is {apart:+.1f} s off {vehicle}")
    if not compared:
        return _unchecked("one clock", "no odometry with a sensor beside it")
    cure = (
        "stamp all sensors by the simulator's or the autopilot's clock; for drivers: parameter stamps of camera_driver"
    )
    return _check("one clock", bad, "sensors and odometry agree", cure)


def _apart(stream: Stream, reference: Stream) -> float | None:
    """Median of a stamp less the reference's newest stamp when it arrived (s)."""
    if len(stream.stamps) < 3 or len(reference.stamps) < 3:
        return None
    order = np.argsort(reference.arrivals)
    arrivals, stamps = np.array(reference.arrivals)[order], np.array(reference.stamps)[order]
    at = np.searchsorted(arrivals, stream.arrivals, side="right") - 1
    together = (at >= 0) & (at < len(arrivals) - 1)
    if not together.any():  # a recorder that files by stamp puts other clocks into other times
        return float(np.median(stream.stamps) - np.median(stamps))
    return float(np.median((np.array(stream.stamps) - stamps[at])[together]))


def north_east_down(facts: Facts) -> Check:
    """NED or FRD data outside the bridges, or under a name that says otherwise."""
    if not any(stream.frame for stream in facts.streams.values()):
        return _unchecked("ENU and FLU", "nothing with a frame")
    bad = []
    for topic, stream in facts.streams.items():
        if topic.startswith("/fmu/") or "/fmu/" in topic:
            continue  # PX4's own topics are meant to be so
        parts = topic.lower().replace("_", "/").split("/")
        down = stream.frame.endswith(("_ned", "_frd"))
        if down or "ned" in parts:
            bad.append(f"{topic} in frame '{stream.frame}'")
        elif stream.type == IMU and stream.values and np.median([v[0] for v in stream.values]) < -5.0:
            bad.append(f"{topic} reads gravity downwards")
    return _check("ENU and FLU", bad, "no NED outside the bridges", "convert at the bridge (REP-103, REP-145)")


def hidden_clock(facts: Facts) -> Check:
    """Finds simulation time published on another topic than /clock."""
    found = {topic for topic, _ in facts.of(CLOCK)} | {
        e.topic for e in facts.endpoints if e.type == CLOCK and e.publishes
    }
    if not found and not any(stream.stamps for stream in facts.streams.values()):
        return _unchecked("clock", "nothing with a stamp")
    bad = sorted(found - {names.CLOCK})
    return _check(
        "clock", bad, names.CLOCK if found else "no simulation time", "remap it to /clock, which has no namespace"
    )


def disobeyed(facts: Facts) -> Check:
    """Finds commands without effect: something else holds control, or an action reported success falsely."""
    bad = []
    driven = _driven(facts)
    if not driven:
        return _unchecked("commands obeyed", _COMMANDS)
    for topic, commands, odometry in driven:
        fast = [math.dist(v, (0.0, 0.0, 0.0)) > COMMANDED for v in commands.values]
        for begin, end in _runs(commands.stamps, fast):
            if end - begin >= OBEYS and _moved(odometry, begin, end) < STANDS:
                bad.append(f"{topic} asked to fly from {begin:.1f} to {end:.1f} s, and the vehicle stood")
                break
    cure = "see vehicle_state: armed and offboard; end the take-off or client that holds control"
    return _check("commands obeyed", bad, "the vehicle follows", cure)


def orphaned_commands(facts: Facts) -> Check:
    """A vehicle that flies on after its last command."""
    bad = []
    driven = _driven(facts)
    if not driven:
        return _unchecked("holds when orphaned", _COMMANDS)
    for topic, commands, odometry in driven:
        stamps = sorted(commands.stamps)
        gaps = [(a, b) for a, b in zip(stamps, [*stamps[1:], max(odometry.stamps)], strict=True) if b - a > 2 * ORPHAN]
        for last, until in gaps:
            before, after = (_speed(odometry, at) for at in (last, min(last + 2 * ORPHAN, until)))
            if before > COMMANDED and after > 0.7 * before:
                bad.append(f"{topic} ended at {last:.1f} s, and a second later the vehicle did {after:.1f} m/s")
                break
    cure = (
        "the bridge must hold after 0.2 s without commands; on PX4 set COM_OF_LOSS_T and COM_OBL_RC_ACT "
        "(docs/how-to/px4.md)"
    )
    return _check("holds when orphaned", bad, "it holds", cure)


def unmatched(facts: Facts) -> Check:
    """Listed but silent: a subscription that asks for more than the publisher offers."""
    if not facts.endpoints:
        return _unchecked("quality of service", "nothing about readers and writers in a bag")
    bad = []
    for reader in (e for e in facts.endpoints if not e.publishes):
        for writer in (e for e in facts.endpoints if e.publishes and e.topic == reader.topic):
            if writer.type != reader.type:
                why = f"types {writer.type} and {reader.type}"
            elif reader.reliable and not writer.reliable:
                why = "reliable asked, best effort offered"
            elif reader.latched and not writer.latched:
                why = "transient local asked, volatile offered"
            else:
                continue
            bad.append(f"{reader.topic} from {writer.node} to {reader.node}: {why}")
    return _check("quality of service", bad, "every reader matches", "subscribe best effort and volatile (REP-2003)")


def time_goes_back(facts: Facts) -> Check:
    """Stamps of TF or of the clock that jump back: a bag in a loop, or two simulators on one domain."""
    bad = []
    moving = [(topic, stream) for topic, stream in facts.of(TF, CLOCK) if not topic.startswith(names.TF_STATIC)]
    if not moving:
        return _unchecked("time goes on", "neither tf nor a clock")
    for topic, stream in moving:
        order = np.argsort(stream.arrivals, kind="stable")
        steps = np.diff(np.array(stream.stamps)[order])
        if (steps < -1.0).any():
            bad.append(f"{topic} by {-steps.min():.1f} s")
    cure = "play bags by ./esar replay --loop, which moves time on; one simulator a ROS_DOMAIN_ID"
    return _check("time goes on", bad, "no jump back", cure)


SYMPTOMS: tuple[Callable[[Facts], Check], ...] = (
    placed,
    slow_cameras,
    different_clocks,
    north_east_down,
    hidden_clock,
    disobeyed,
    orphaned_commands,
    unmatched,
    time_goes_back,
)


def examine(facts: Facts) -> list[Check]:
    """Every symptom."""
    return [symptom(facts) for symptom in SYMPTOMS]


def _check(name: str, bad: list[str], good: str, cure: str) -> Check:
    if not bad:
        return Check(name, True, good)
    more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
    return Check(name, False, "; ".join(bad[:3]) + more, cure)


def _unchecked(name: str, lacks: str) -> Check:
    """Returns the finding that nothing can be said: what it would be seen in is not there."""
    return Check(name, False, f"{UNCHECKED}: there is {lacks}", needed=False)


def _driven(facts: Facts) -> list[tuple[str, Stream, Stream]]:
    """Returns each topic of safe commands, its stream, and the odometry of the vehicle that obeys it."""
    found = []
    for topic, commands in facts.of(TWIST):
        odometry = _odometry_beside(facts, topic)
        if topic.endswith(f"/{names.CMD_VEL_SAFE}") and odometry is not None and commands.stamps:
            found.append((topic, commands, odometry))
    return found


def _odometry_beside(facts: Facts, topic: str) -> Stream | None:
    stream = facts.streams.get(f"{topic.rpartition('/')[0]}/{names.ODOMETRY}")
    return stream if stream is not None and stream.type == ODOMETRY and len(stream.stamps) > 1 else None


def _runs(stamps: list[float], flags: list[bool]) -> list[tuple[float, float]]:
    """Begin and end of each stretch of flags."""
    runs: list[tuple[float, float]] = []
    begin: float | None = None
    last = 0.0
    for stamp, flag in sorted(zip(stamps, flags, strict=True)):
        if flag and begin is None:
            begin = stamp
        if not flag and begin is not None:
            runs.append((begin, last))
            begin = None
        last = stamp
    if begin is not None:
        runs.append((begin, last))
    return runs


def _moved(odometry: Stream, begin: float, end: float) -> float:
    """m between the farthest positions of a time; infinity where little is known."""
    inside = [v[:3] for t, v in zip(odometry.stamps, odometry.values, strict=True) if begin <= t <= end]
    if len(inside) < 2:
        return math.inf
    return float(np.ptp(np.array(inside), axis=0).max())


def _speed(odometry: Stream, at: float) -> float:
    """m/s by the odometry nearest to a time."""
    nearest = min(range(len(odometry.stamps)), key=lambda i: abs(odometry.stamps[i] - at))
    return float(np.linalg.norm(odometry.values[nearest][3:6]))
