"""The scene server of the public code, answered here: `ping`, `reopen_scenes` and `close_scenes` over msgpack-RPC.

`reopen_scenes(ip, [[scene, gpu], ...])` closes what is open, starts a simulator a scene on ports from 100 above its own
on, and answers `[true, [ip, [port, ...]]]` when all of them answer and their renderers have drawn; `[false, null]`
where one cannot be opened. Its client closes the connection and flies by the ports, so a simulator belongs to nobody:
it ends when another scene is asked for, or when no client has been connected to it for DESERTED.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.processes import die_with_parent, how_it_ended
from esar_ros.sim.airsim_api.rpc_server import RpcServer
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.suites.uav_on.scenes import find_scene
from esar_ros.suites.uav_on.settings import SuiteSettings, load_suite_settings

PORT = 30000  # the public code's default
OFFSET = 100  # from the server's port to the first simulator's
MOST = 16  # scenes at a time, as the public code's client allows
PATIENCE = 280.0  # s that opening may take; the client waits 300
DESERTED = 120.0  # s; the client may take up to 63 to connect
LEAVE = 10.0  # s that a simulator may take to end
READY = "ready on "
_SIMULATOR = "esar_ros.suites.uav_on.protocol_server.scene_simulator"
_TOLD = 600  # characters of a line that is passed on

Say = Callable[[str], None]


def scene_here(name: str, settings: SuiteSettings) -> str:
    """Name of the scene that is flown where one is asked for: itself, or what stands in for it. Raises UsageError."""
    stand_in = next((one for prefix, one in settings.stand_ins.items() if name.startswith(prefix)), None)
    return find_scene(name).name if stand_in is None else stand_in.here


class _Simulator:
    """One scene's process."""

    def __init__(self, scene: str, host: str, port: int, say: Say) -> None:
        self._scene, self._host, self.port, self._say = scene, host, port, say
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns when it answers and its renderer has drawn. Raises UsageError with its last words otherwise."""
        arguments = ["--host", self._host, "--port", str(self.port), "--deserted", f"{DESERTED:g}"]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _SIMULATOR, self._scene, *arguments,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )  # fmt: skip
        line = ""
        while told := await self._line():
            line = told
            self._say(f"{self.port}: {line}")
            if line.startswith(READY):
                self._listening = asyncio.ensure_future(self._listen())
                return
        raise UsageError(f"port {self.port}: {line or how_it_ended(await self._process.wait())}", "see ./esar doctor")

    async def close(self) -> None:
        """End it, by force where it does not go."""
        if self._process is None:
            return
        for how in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(how)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), LEAVE)
                break
        if self._listening is not None:
            self._listening.cancel()

    async def _listen(self) -> None:
        while line := await self._line():
            self._say(f"{self.port}: {line}")

    async def _line(self) -> str:
        """The next line; empty at the end."""
        assert self._process is not None and self._process.stdout is not None
        while data := await self._process.stdout.readline():
            if line := data.decode(errors="replace").strip()[:_TOLD]:
                return line
        return ""


class SceneServer:
    """The three calls (rpc_server.Service); whoever asks last has the scenes."""

    def __init__(self, host: str, port: int, say: Say) -> None:
        self._host, self._port, self._say = host, port, say
        self._settings = load_suite_settings()
        self._simulators: list[_Simulator] = []
        self._turn = asyncio.Lock()

    def open(self) -> None:
        """Connections have no state."""

    def is_heavy(self, method: str) -> bool:
        """Answers are small."""
        return False

    def call(self, session: None, method: str, arguments: list[Any]) -> Any:
        """Result or coroutine of a call. Raises ApiError for one that there is not, or with wrong arguments."""
        match method, arguments:
            case "ping", []:
                return True
            case "close_scenes", [str() | bytes()]:
                return self._close()
            case "reopen_scenes", [str() | bytes() as ip, list(wanted)]:
                return self._reopen(_text(ip), _scenes(wanted))
        raise ApiError(f"'{method[:60]}' with {len(arguments)} arguments is none of {', '.join(CALLS)}")

    async def close(self) -> None:
        """End every simulator."""
        simulators, self._simulators = self._simulators, []
        await asyncio.gather(*(simulator.close() for simulator in simulators))

    async def _close(self) -> bool:
        async with self._turn:
            await self.close()
            self._say("all scenes are closed")
        return True

    async def _reopen(self, ip: str, wanted: Sequence[str | None]) -> list[Any]:
        async with self._turn:
            await self.close()
            try:
                ports = await asyncio.wait_for(self._open(wanted), PATIENCE)
            except (UsageError, asyncio.TimeoutError) as error:
                await self.close()
                self._say(f"not opened: {str(error) or f'not ready within {PATIENCE:g} s'}")
                return [False, None]
            except BaseException:  # who asked is gone
                await self.close()
                raise
        self._say(f"open: {', '.join(f'{name} on {port}' for name, port in zip(wanted, ports, strict=True))}")
        return [True, [ip, ports]]

    async def _open(self, wanted: Sequence[str | None]) -> list[int]:
        """Ports of the scenes; one without a name has a port and no simulator. Raises UsageError."""
        ports = _free_ports(self._host, self._port + OFFSET, len(wanted))
        for name, port in zip(wanted, ports, strict=True):
            if name is None:
                continue
            scene = await asyncio.to_thread(scene_here, name, self._settings)  # sets are read, or made
            if scene != name:
                self._say(f"{name} is not here: {scene} stands in, where its episodes' coordinates are other places")
            self._simulators.append(_Simulator(scene, self._host, port, self._say))
        await asyncio.gather(*(simulator.start() for simulator in self._simulators))
        return ports


CALLS = ("ping()", "reopen_scenes(ip, [[scene, gpu], ...])", "close_scenes(ip)")


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _scenes(wanted: list[Any]) -> list[str | None]:
    """Names of the scenes asked for. Raises ApiError."""
    names: list[str | None] = []
    for item in wanted[: MOST + 1]:
        match item:
            case [str() | bytes() as name, *_] if len(name) <= 80:
                names.append(None if _text(name).lower() == "none" else _text(name))
            case [None, *_]:
                names.append(None)
            case _:
                raise ApiError(f"scenes are pairs of a name and a GPU's number, not {item!r:.60}")
    if not 1 <= len(names) <= MOST:
        raise ApiError(f"between 1 and {MOST} scenes at a time")
    return names


def _free_ports(host: str, first: int, count: int) -> list[int]:
    """The first free ports from one on. Raises UsageError."""
    found: list[int] = []
    for port in range(first, min(first + 1000, 65536)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the simulator will
            probe.bind((host, port))
            found.append(port)
        if len(found) == count:
            return found
    raise UsageError(f"no {count} free ports from {first} on", "give another --port")


async def serve_scenes(host: str, port: int, say: Say) -> None:
    """Serve until SIGINT or SIGTERM. Raises UsageError when it cannot."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = RpcServer()
    port = await server.bind(host, port)
    scenes = SceneServer(host, port, say)
    try:
        await server.start(scenes)
        say(f"scene server: {', '.join(CALLS)}")
        say(f"{READY}{host}:{port}")
        await stop.wait()
    finally:
        await server.close()
        await scenes.close()
