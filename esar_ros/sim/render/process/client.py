"""The simulator's side of the rendering process: starts it, asks for images, starts it again if it dies."""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import DEFAULT_QUALITY
from esar_ros.mission.system.processes import cpu_seconds, how_it_ended
from esar_ros.sim.render.process.protocol import Done, Failed, Job
from esar_ros.sim.settings import Capture

LOG = logging.getLogger(__name__)
LOOK = 1.0  # s between looks at a rendering process that has not answered
IDLE_LIMIT = 60.0  # s without an answer and without any work, after which it is taken to hang


class RenderError(Exception):
    """An image could not be made."""


class RenderClient:
    """One rendering process; jobs are done one after another."""

    def __init__(self, map_id: str, seed: int, captures: list[Capture], quality: str = DEFAULT_QUALITY) -> None:
        self._map_id, self._seed, self._captures, self._quality = map_id, seed, captures, quality
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._memory = -1
        self._map: mmap.mmap | None = None
        self._sent = -1
        self._turn = asyncio.Lock()

    def launch(self) -> None:
        """Start the process; it gets ready on its own time."""
        ours, theirs = socket.socketpair()
        self._memory = os.memfd_create("esar-images")
        path = os.pathsep.join(p for p in sys.path if p)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "esar_ros.sim.render.process.worker"]
            + [str(theirs.fileno()), str(self._memory), self._map_id, str(self._seed), self._quality],
            pass_fds=(theirs.fileno(), self._memory),
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path, "NUMBA_NUM_THREADS": "1"},
        )
        theirs.close()
        self._pipe = Connection(ours.detach())
        self._sent = -1
        self._pipe.send(self._captures)

    async def ready(self) -> None:
        """Wait until it can draw. Raises UsageError when it cannot."""
        try:
            answer = await self._receive()
        except RenderError as error:
            raise UsageError(f"the rendering process did not start: {error}", "see ./esar doctor") from None
        if isinstance(answer, Failed):
            raise UsageError(answer.reason, "see ./esar doctor")

    async def images(self, job: Job) -> list[bytes]:
        """Wire bytes of each view. Raises RenderError."""
        # A client that leaves must not leave a half-done job behind: the job goes on without it.
        task = asyncio.ensure_future(self._do(job))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # none may be left to hear of it
        return await asyncio.shield(task)

    async def _do(self, job: Job) -> list[bytes]:
        async with self._turn:
            if self._process is None or self._process.poll() is not None:
                await self._restart()
            assert self._pipe is not None
            assert job.scene is not None
            version = job.scene.version
            try:
                self._pipe.send(job if version != self._sent else replace(job, scene=None))
                answer = await self._receive()
            except (OSError, RenderError) as error:
                self._stop()
                raise RenderError(f"the rendering process failed: {error}") from None
            if isinstance(answer, Failed):
                self._sent = -1
                raise RenderError(answer.reason)
            self._sent = version
            return self._read(answer)

    def close(self) -> None:
        """End the process."""
        self._stop()

    async def _restart(self) -> None:
        LOG.warning("the rendering process is gone; starting it again")
        self._stop()
        self.launch()
        answer = await self._receive()
        if isinstance(answer, Failed):
            raise RenderError(answer.reason)

    async def _receive(self) -> Any:
        """Returns the next answer, without holding up the simulation.

        Waits for as long as the process works, however busy the machine is. Raises RenderError with how it ended, or
        when it has used no CPU time for IDLE_LIMIT.
        """
        assert self._pipe is not None and self._process is not None
        pipe, loop = self._pipe, asyncio.get_running_loop()
        arrived = loop.create_future()

        def readable() -> None:
            if not arrived.done():
                arrived.set_result(None)

        descriptor = pipe.fileno()  # the pipe may be closed by the end
        loop.add_reader(descriptor, readable)
        work, worked_at = cpu_seconds(self._process.pid), loop.time()
        try:
            while not (await asyncio.wait({arrived}, timeout=LOOK))[0]:
                used = cpu_seconds(self._process.pid)
                if used != work:
                    work, worked_at = used, loop.time()
                elif loop.time() - worked_at > IDLE_LIMIT:
                    raise RenderError(f"it has done nothing for {IDLE_LIMIT:g} s")
            return pipe.recv()
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):  # it closes its end a moment before it is gone
                self._process.wait(1.0)
            code = self._process.returncode
            raise RenderError("it hung up" if code is None else f"it {how_it_ended(code)}") from None
        finally:
            loop.remove_reader(descriptor)

    def _read(self, done: Done) -> list[bytes]:
        if self._map is None or len(self._map) != done.size:
            self._map = mmap.mmap(self._memory, done.size, prot=mmap.PROT_READ)
        return [self._map[offset : offset + size] for offset, size in done.spans]

    def _stop(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            try:
                self._process.wait(0.5)  # it ends when the pipe closes
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._memory >= 0:
            os.close(self._memory)
        self._process, self._pipe, self._map, self._memory = None, None, None, -1
