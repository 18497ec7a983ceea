"""The rendering process: keeps its own world in step with the simulator's and draws into shared memory.

Started by render_client as `python -m esar_ros.sim.render.process.worker SOCKET MEMORY MAP SEED QUALITY`; ends when
the simulator does.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
from collections import OrderedDict
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.errors import UsageError
from esar_ros.sim.render.process.images import ImageType, encode_image
from esar_ros.sim.render.process.normals_image import surface_normals_ned
from esar_ros.sim.render.process.protocol import Done, Failed, Job, RenderRequest, RenderScene
from esar_ros.sim.render.renderer import Frame, Renderer
from esar_ros.sim.render.thermal_camera import thermal_picture
from esar_ros.sim.settings import Capture
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.scene import vehicle_object
from esar_ros.sim.world.world import World

KEPT_VIEWS = 16
FIRST_DRAWN = "tent"  # what is drawn before a client asks for anything
KEPT_RENDERERS = 5  # sizes and fields of view; one more lets go of the one not used longest
_PR_SET_PDEATHSIG = 1
_WARM = (ImageType.INFRARED, ImageType.THERMAL)  # need temperatures


class Painter:
    """Draws jobs; views of one size are drawn in one pass, and kept while the instant lasts."""

    def __init__(self, map_id: str, seed: int, quality: str) -> None:
        self._quality = quality
        self.world = World(load_map(map_id), seed)
        self._renderers: OrderedDict[Capture, Renderer] = OrderedDict()
        self._kept: OrderedDict[Any, Frame] = OrderedDict()  # of one image each
        self._lookup = np.zeros(256, dtype=np.uint8)
        self._version = -1

    def prepare(self, capture: Capture) -> None:
        """Make the renderer of a size and draw a first image of a thing now, so that no client waits for them.

        Drivers compile a shader when it first draws.
        """
        thing = self.world.spawn("first", FIRST_DRAWN, self.world.ground_pose((0.0, 0.0), 0.0))
        eye = thing.pose.position + np.array([-6.0, 0.0, 3.0])
        renderer = self._renderer(capture)
        renderer.render([Pose(eye, quaternion_from_rotation(optical_rotation(0.0, -0.4)))], 0.0)
        self.world.destroy("first")
        renderer.sync()

    def paint(self, job: Job) -> list[bytes]:
        """Wire bytes of each view."""
        if job.scene is not None:
            self._take(job.scene, job.time)
        missing: OrderedDict[tuple[Capture, bytes], OrderedDict[Any, RenderRequest]] = OrderedDict()
        for view in job.views:
            key = self._key(job, view)
            kept = self._kept.get(key)
            if kept is not None and (view.kind not in _WARM or kept.celsius is not None):
                self._kept.move_to_end(key)
            else:
                missing.setdefault((view.capture, _moving_key(view)), OrderedDict())[key] = view
        for (capture, _), views in missing.items():
            infrared = any(view.kind in _WARM and view.capture == capture for view in job.views)
            poses, first = [view.pose for view in views.values()], next(iter(views.values()))
            vehicles = [vehicle_object(*vehicle) for vehicle in first.vehicles]
            motion = np.array(first.motion)
            frame = self._renderer(capture).render(poses, job.time, infrared, vehicles, motion)
            for index, key in enumerate(views):
                heat = None if frame.celsius is None else frame.celsius[index].copy()
                ids = self._lookup[frame.ids[index]]
                self._kept[key] = Frame(frame.rgb[index].copy(), frame.depth[index].copy(), ids, heat)
        out = []
        for view in job.views:
            kept, model = self._kept[self._key(job, view)], camera_model(view.capture)
            wanted = view.kind is ImageType.SURFACE_NORMALS
            normals = surface_normals_ned(kept.depth, view.pose, model) if wanted else None
            rgb = kept.rgb
            if view.kind is ImageType.THERMAL and kept.celsius is not None:
                grey = thermal_picture(kept.celsius, view.pose, self.world.seed, job.time)
                rgb = np.repeat(grey[..., None], 3, axis=2)
            shown = (rgb, kept.depth, kept.ids)
            out.append(encode_image(view.kind, view.as_float, view.compress, *shown, model, normals, kept.celsius))
        while len(self._kept) > KEPT_VIEWS:
            self._kept.popitem(last=False)
        return out

    def close(self) -> None:
        """Give the graphics context back."""
        for renderer in self._renderers.values():
            renderer.close()

    def _key(self, job: Job, view: RenderRequest) -> Any:
        return (self._version, job.time, view.capture, _key_of(view.pose), _moving_key(view))

    def _renderer(self, capture: Capture) -> Renderer:
        if capture not in self._renderers:
            while len(self._renderers) >= KEPT_RENDERERS:
                self._renderers.popitem(last=False)[1].close()
            size = capture.width, capture.height
            self._renderers[capture] = Renderer(self.world, *size, np.radians(capture.fov), quality=self._quality)
        self._renderers.move_to_end(capture)
        return self._renderers[capture]

    def _take(self, scene: RenderScene, time: float) -> None:
        """Make the world equal to the simulator's at a simulation time, s."""
        world = self.world
        wanted = {placed.name: placed for placed in scene.objects}
        for name, thing in list(world.objects.items()):
            placed = wanted.get(name)
            if placed is None or thing.asset.name != placed.asset or thing.scale != placed.scale:
                world.destroy(name)
        for placed in scene.objects:
            if placed.name not in world.objects:
                world.spawn(placed.name, placed.asset, placed.pose, placed.scale)
            elif world.objects[placed.name].pose != placed.pose:
                world.move(placed.name, placed.pose)
        world.environment = scene.environment
        self._lookup[:] = scene.ground_segmentation
        for placed in scene.objects:
            self._lookup[world.objects[placed.name].id] = placed.segmentation
        self._version = scene.version
        self._kept.clear()
        for renderer in self._renderers.values():
            renderer.sync(time)


def _key_of(pose: Pose) -> bytes:
    return pose.position.tobytes() + pose.quaternion.tobytes()


def _moving_key(view: RenderRequest) -> bytes:
    return np.array(view.motion).tobytes() + b"".join(_key_of(pose) for pose, _ in view.vehicles)


def camera_model(capture: Capture) -> CameraModel:
    """Intrinsics of a capture."""
    return CameraModel.from_horizontal_fov(capture.width, capture.height, float(np.radians(capture.fov)))


class _Memory:
    """The anonymous file that both processes map; grows as needed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None

    def write(self, blobs: list[bytes]) -> Done:
        total = sum(len(blob) for blob in blobs)
        if self._map is None or len(self._map) < total:
            size = max(1 << 20, 1 << (total - 1).bit_length())
            os.ftruncate(self._descriptor, size)
            self._map = mmap.mmap(self._descriptor, size)
        offset, spans = 0, []
        for blob in blobs:
            self._map[offset : offset + len(blob)] = blob
            spans.append((offset, len(blob)))
            offset += len(blob)
        return Done(len(self._map), tuple(spans))


def main(arguments: list[str]) -> None:
    """Serve jobs until the simulator hangs up."""
    socket, memory, map_id, seed, quality = (
        int(arguments[0]), int(arguments[1]), arguments[2], int(arguments[3]), arguments[4],
    )  # fmt: skip
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the simulator, which then hangs up
    pipe = Connection(socket)
    try:
        painter = Painter(map_id, seed, quality)
        captures = pipe.recv()
        for capture in captures[:KEPT_RENDERERS]:
            painter.prepare(capture)
    except UsageError as error:
        pipe.send(Failed(str(error)))
        return
    except Exception as error:  # a driver's own exception types
        pipe.send(Failed(f"cannot render: {error}"))
        return
    shared = _Memory(memory)
    pipe.send(Done(0, ()))
    try:
        while True:
            job = pipe.recv()
            try:
                pipe.send(shared.write(painter.paint(job)))
            except Exception as error:  # one bad job must not end the images of all
                pipe.send(Failed(f"{type(error).__name__}: {error}"))
    except (EOFError, OSError):
        painter.close()


if __name__ == "__main__":
    main(sys.argv[1:])
