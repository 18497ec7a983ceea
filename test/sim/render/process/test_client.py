"""The simulator's end of the rendering process when the simulator ends."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from multiprocessing.connection import Connection

import pytest

from esar_ros.sim.render.process.client import RenderClient


def test_an_end_while_an_image_is_awaited_is_quiet() -> None:
    """As on Ctrl-C: the pipe is closed, then the loop cancels what still waits for it."""

    async def scene() -> None:
        client = RenderClient("aotai", 0, [])
        ours, theirs = socket.socketpair()
        with theirs:
            client._process = subprocess.Popen(["sleep", "60"])
            client._pipe = Connection(ours.detach())
            waiting = asyncio.ensure_future(client.ready())
            await asyncio.sleep(0.05)
            client.close()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(scene())
