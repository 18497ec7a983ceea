"""AirSim's recording: a folder with airsim_rec.txt, one line a sample, and the images that the lines name."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.sim.airsim_api.api import Context
from esar_ros.sim.airsim_api.cameras import Cameras
from esar_ros.sim.airsim_api.values import pose_dict
from esar_ros.sim.msgpack_wire import FLOAT_ELEMENT
from esar_ros.sim.render.process.client import RenderClient, RenderError
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.render.process.protocol import Job, RenderRequest
from esar_ros.sim.settings import RecordedImage

LOG = logging.getLogger(__name__)
FOLDER = Path("out/recordings")  # below the present folder, unless settings name another
HEADER = "VehicleName\tTimeStamp\tPOS_X\tPOS_Y\tPOS_Z\tQ_W\tQ_X\tQ_Y\tQ_Z\tImageFile\n"
WAITING = 16  # samples whose images are not drawn yet; more are left out
_ARRAY_HEADER = 5  # bytes in front of the elements of a packed float array


@dataclass(frozen=True)
class _Sample:
    """A vehicle at one instant."""

    vehicle: str
    line: str  # without the files
    stamp_ns: int
    images: tuple[RecordedImage, ...]
    job: Job


class Recorder:
    """Samples every vehicle at an interval of simulation time while it runs."""

    def __init__(self, context: Context, cameras: Cameras, renderer: RenderClient) -> None:
        self._context, self._cameras, self._renderer = context, cameras, renderer
        self._queue: asyncio.Queue[_Sample | None] = asyncio.Queue(WAITING + 1)  # one place for the end
        self._writer: asyncio.Task[None] | None = None
        self._due_ns = 0
        self._poses: dict[str, Pose] = {}
        self.left_out = 0  # samples of this recording that the renderer had no time for
        context.simulation.watchers.append(self._watch)

    @property
    def active(self) -> bool:
        """True while it records."""
        return self._writer is not None

    def start(self) -> Path:
        """Begin a recording of its own folder; answers it. Raises OSError."""
        settings = self._context.settings.recording
        base = Path(settings.folder).expanduser() if settings.folder else FOLDER
        stamp = datetime.now().strftime("%Y-%m-%d-%H-%M-%S")
        folder, count = base / stamp, 1
        while folder.exists():
            folder, count = base / f"{stamp}-{count}", count + 1
        (folder / "images").mkdir(parents=True)
        table = (folder / "airsim_rec.txt").open("w", encoding="utf-8")
        table.write(HEADER)
        self._due_ns, self.left_out = self._context.simulation.clock.now_ns, 0
        self._poses.clear()
        self._queue = asyncio.Queue(WAITING + 1)
        self._writer = asyncio.ensure_future(self._write(folder, table, self._queue))
        return folder

    def stop(self) -> None:
        """End it; what was sampled is still written."""
        if self._writer is not None:
            self._queue.put_nowait(None)
            self._writer = None
            if self.left_out:
                LOG.warning("recording: %d samples were left out, the pictures took too long", self.left_out)

    def _watch(self) -> None:
        """Sample when it is time; called at every control step."""
        if self._writer is None or self._context.simulation.clock.now_ns < self._due_ns:
            return
        settings, now_ns = self._context.settings.recording, self._context.simulation.clock.now_ns
        self._due_ns = now_ns + round(settings.interval * 1e9)
        for name, drone in self._context.simulation.drones.items():
            pose = drone.body.pose
            if settings.on_move and self._poses.get(name) == pose:
                continue
            self._poses[name] = pose
            images = settings.images_of(name)
            views = [self._view(name, image) for image in images]
            if self._queue.qsize() >= WAITING:
                self.left_out += 1
                continue
            fields = pose_dict(pose, drone.offset)
            numbers = [*fields["position"].values(), *fields["orientation"].values()]
            line = "\t".join([name, str(now_ns // 1_000_000), *(f"{value:g}" for value in numbers)])
            self._queue.put_nowait(_Sample(name, line, now_ns, images, self._cameras.job(views)))

    def _view(self, vehicle: str, image: RecordedImage) -> RenderRequest:
        drone = self._context.drone(vehicle)
        name = self._cameras.name(image.camera, drone)
        return self._cameras.view(drone, name, ImageType(image.kind), image.as_float, image.compress)

    async def _write(self, folder: Path, table: TextIO, queue: asyncio.Queue[_Sample | None]) -> None:
        loop = asyncio.get_running_loop()
        try:
            with table:
                while (sample := await queue.get()) is not None:
                    try:
                        blobs = await self._renderer.images(sample.job)
                    except RenderError as error:
                        LOG.warning("recording: a sample is lost: %s", error)
                        continue
                    await loop.run_in_executor(None, _store, folder, table, sample, blobs)
        except OSError as error:
            LOG.error("recording ended: %s", error)
            if queue is self._queue:
                self._writer = None


def _store(folder: Path, table: TextIO, sample: _Sample, blobs: list[bytes]) -> None:
    names = []
    for image, view, blob in zip(sample.images, sample.job.views, blobs, strict=True):
        stem = f"img_{sample.vehicle}_{image.camera}_{image.kind}_{sample.stamp_ns}"
        suffix, contents = file_of(view, blob)
        names.append(stem + suffix)
        (folder / "images" / names[-1]).write_bytes(contents)
    table.write(f"{sample.line}\t{';'.join(names)}\n")
    table.flush()


def file_of(view: RenderRequest, blob: bytes) -> tuple[str, bytes]:
    """Suffix and contents of an image's file: PFM for floats, PNG compressed, PPM raw."""
    width, height = view.capture.width, view.capture.height
    if view.as_float:
        values: NDArray[np.float32] = np.frombuffer(blob, FLOAT_ELEMENT, offset=_ARRAY_HEADER)["value"].astype("<f4")
        return ".pfm", f"Pf\n{width} {height}\n-1.0\n".encode() + values.reshape(height, width)[::-1].tobytes()
    if view.compress:
        return ".png", blob
    rgb = np.frombuffer(blob, np.uint8).reshape(height, width, 3)[..., ::-1]
    return ".ppm", f"P6\n{width} {height}\n255\n".encode() + rgb.tobytes()
