"""Connecting to an AirSim server that may still be starting."""

from __future__ import annotations

import math
import socket
import time

from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.truth_token import truth_token

PATIENCE = 120.0  # s for a server that somebody else starts
AS_LONG_AS_IT_TAKES = math.inf  # for one that whoever started this process started too, and watches
_AGAIN = 0.2  # s between attempts


def connect(host: str, port: int, patience: float = PATIENCE) -> AirSimClient:
    """Returns a client as soon as the server answers. Raises UsageError when it does not within patience (s).

    A name that no host has is refused at once.
    """
    try:
        socket.getaddrinfo(host, port)
    except socket.gaierror:
        raise UsageError(f"no host is called '{host}'", "check the name, or give an address") from None
    limit = time.monotonic() + patience
    while True:
        try:
            client = AirSimClient(host, port)
            client.call("ping")
            return client
        except AirSimError as error:
            if time.monotonic() > limit:
                raise UsageError(f"{error}", "start the simulator, or check host and port") from None
            time.sleep(_AGAIN)


def authorise(client: AirSimClient) -> None:
    """Show the referee's token, when this process was given one."""
    token = truth_token()
    if token:
        client.call("esarAuthorize", token)
