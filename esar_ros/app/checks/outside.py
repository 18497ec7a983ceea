"""Things that a world needs and others start: PX4 and its agent, ArduPilot, a server of AirSim's interface."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from esar_ros.app.checks.finding import Check
from esar_ros.bags.facts import Facts, parse_facts
from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.bridges.ardupilot.link import MavlinkLink
from esar_ros.bridges.ardupilot.settings import load_ardupilot_settings
from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.mission.errors import UsageError, UsageErrors
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.mission import ARDUPILOT, AUTOPILOTS, PX4

PATIENCE = 10.0  # s that a mission waits for it
AGENT_PORT = 8888  # UDP, of `MicroXRCEAgent udp4 -p 8888`
LISTENED = 3.0  # s for topics to be discovered
ANSWER = 2.0  # s a server that is up may take to answer
_STARTING = 60.0  # s a process that listens may take beside what it listens, on a busy machine
_LISTENERS = (Path("/proc/net/udp"), Path("/proc/net/udp6"))


def outside(world: str, host: str, port: int, vehicles: Sequence[str]) -> list[Check]:
    """Returns a finding for each thing that a world needs beside the graph; none for the embedded one."""
    if world == "embedded":
        return []
    flying = {PX4: autopilots, ARDUPILOT: copters}
    return [*([flying[world](vehicles)] if world in flying else []), server(world, host, port)]


def wait_for_outside(
    world: str, host: str, port: int, vehicles: Sequence[str], patience: float, tell: Callable[[str], None]
) -> None:
    """Returns once all of it is there; tell is given what is waited for and how long (s) still.

    Raises UsageErrors with a line for each thing that is not there after patience (s).
    """
    limit = time.monotonic() + patience
    while True:
        lacking = [check for check in outside(world, host, port, vehicles) if not check.ok]
        if not lacking:
            return
        left = limit - time.monotonic()
        if left <= 0.0:
            waited = f"{patience:g} s waited; --wait S waits longer"
            raise UsageErrors(UsageError(f"world {world}: {check.detail} ({waited})", check.cure) for check in lacking)
        tell(f"{left:.0f} s more for {' and '.join(check.name for check in lacking)}: {lacking[0].detail}")
        time.sleep(min(1.0, left))


def server(world: str, host: str, port: int) -> Check:
    """Returns whether a server of AirSim's interface answers; a vehicle with cameras of its own flies without."""
    name = "AirSim server"
    try:
        with AirSimClient(host, port, ANSWER) as client:
            client.call("ping")
    except AirSimError as error:
        cure = (
            f"where no cameras fly, start one that draws (./esar sim --map MAP --port {port}), and ./esar px4 mirror "
            f"--port {port}"
            if world in AUTOPILOTS
            else "start AirSim, or say where it is by --host and --port (docs/how-to/unreal.md)"
        )
        return Check(name, False, str(error), cure, needed=world not in AUTOPILOTS)
    return Check(name, True, f"answers on {host}:{port}")


def autopilots(vehicles: Sequence[str]) -> Check:
    """Returns whether PX4's topics of each vehicle are in this ROS domain; if not, whether an agent is seen here."""
    settings = load_px4_settings()
    spaces = [settings.address(vehicle, index).namespace.strip("/") for index, vehicle in enumerate(vehicles)]
    wanted = [f"/{space}/fmu/out/" if space else "/fmu/out/" for space in spaces]
    written = {endpoint.topic for endpoint in running_graph(LISTENED).endpoints if endpoint.publishes}
    lacking = [space for space in wanted if not any(topic.startswith(space) for topic in written)]
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    if not lacking:
        return Check(PX4, True, f"writes {', '.join(f'{space}*' for space in wanted)} in ROS domain {domain}")
    detail = f"no topic {', '.join(f'{space}*' for space in lacking)} of PX4 in ROS domain {domain}"
    if len(lacking) < len(wanted):
        return Check(PX4, False, detail, "start PX4's other instances, or name their namespaces in config/px4.yaml")
    if not listens(AGENT_PORT):
        detail += f", and no agent on UDP port {AGENT_PORT} of this machine"
        return Check(PX4, False, detail, f"start MicroXRCEAgent udp4 -p {AGENT_PORT}, and PX4 (docs/how-to/px4.md)")
    detail += f", though something listens on UDP port {AGENT_PORT}, as the agent does"
    return Check(PX4, False, detail, f"start PX4 with its client in this domain (UXRCE_DDS_DOM_ID {domain})")


def copters(vehicles: Sequence[str]) -> Check:
    """Returns whether each vehicle's ArduPilot is heard on its link, which is closed again."""
    settings = load_ardupilot_settings()
    heard: list[str] = []
    for index, vehicle in enumerate(vehicles):
        address = settings.address(vehicle, index)
        link = MavlinkLink(address.link, settings.baud, address.system_id, lambda kind, message, now: None)
        now = time.monotonic()
        limit = now + LISTENED
        while "HEARTBEAT" in link.streams.lacking(now) and now < limit:
            time.sleep(0.05)
            now = time.monotonic()
            link.poll(now)
        silent, complaint = "HEARTBEAT" in link.streams.lacking(now), link.complaint(now)
        link.close()
        if silent:
            return Check(ARDUPILOT, False, complaint, "start it, or name its link in config/ardupilot.yaml")
        heard.append(f"system {address.system_id} on {address.link}")
    return Check(ARDUPILOT, True, f"speaks as {', '.join(heard)}")


def listens(port: int, tables: Iterable[Path] = _LISTENERS) -> bool:
    """Returns whether a process of this machine has bound a UDP port. tables: as of /proc/net/udp."""
    ending = f":{port:04X}"
    lines = [line for table in tables if table.is_file() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    return any(line.split()[1].endswith(ending) for line in lines)


def running_graph(seconds: float) -> Facts:
    """Returns what a process of its own hears (s) of the graph in this ROS domain. Raises UsageError."""
    command = [sys.executable, "-m", "esar_ros.nodes.tools.graph_probe", f"{seconds:g}"]
    environment = {**os.environ, **graph_environment()}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + _STARTING, stdin=subprocess.DEVNULL,
            env=environment, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UsageError(f"cannot listen: no answer within {seconds + _STARTING:.0f} s", "see esar doctor") from None
    lines = ((done.stdout if done.returncode == 0 else done.stderr) or done.stdout).strip().splitlines()
    if done.returncode or not lines:
        told = lines[-1] if lines else f"ended with {done.returncode}"
        raise UsageError(f"cannot listen: {told}", "see esar doctor without --live")
    return parse_facts(lines[-1])
