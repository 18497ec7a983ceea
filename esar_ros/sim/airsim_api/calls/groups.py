"""The whole interface: every group of methods on one context."""

from __future__ import annotations

from esar_ros.sim.airsim_api.api import Api, Context
from esar_ros.sim.airsim_api.calls.detections import DetectionsApi
from esar_ros.sim.airsim_api.calls.images import ImagesApi
from esar_ros.sim.airsim_api.calls.motion import MotionApi
from esar_ros.sim.airsim_api.calls.recording import RecordingApi
from esar_ros.sim.airsim_api.calls.rest import RestApi
from esar_ros.sim.airsim_api.calls.sensors import SensorsApi
from esar_ros.sim.airsim_api.calls.session import SessionApi
from esar_ros.sim.airsim_api.calls.state import StateApi
from esar_ros.sim.airsim_api.calls.world import WorldApi
from esar_ros.sim.airsim_api.cameras import Cameras
from esar_ros.sim.airsim_api.recording import Recorder
from esar_ros.sim.render.process.client import RenderClient


def build_api(context: Context, renderer: RenderClient) -> tuple[Api, Recorder]:
    """Everything a simulator serves, and the recorder, which also runs without a client."""
    cameras = Cameras(context)
    recorder = Recorder(context, cameras, renderer)
    groups = [
        SessionApi(context),
        MotionApi(context),
        StateApi(context),
        SensorsApi(context),
        ImagesApi(context, cameras, renderer),
        DetectionsApi(context, cameras, renderer),
        RecordingApi(recorder),
        WorldApi(context),
        RestApi(),
    ]
    return Api(context, groups), recorder
