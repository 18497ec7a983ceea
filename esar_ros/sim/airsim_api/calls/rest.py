"""AirSim calls that have no counterpart here: debug markers, materials, cinema lenses, audio."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from esar_ros.sim.airsim_api.api import Session, method
from esar_ros.sim.airsim_api.values import ApiError

LOG = logging.getLogger(__name__)

# Accepted and without effect: they draw over Unreal's image for a person to see.
WITHOUT_EFFECT = (
    "simFlushPersistentMarkers", "simPlotPoints", "simPlotLineStrip", "simPlotLineList", "simPlotArrows",
    "simPlotStrings", "simPlotTransforms", "simPlotTransformsWithNames", "simSetTraceLine",
)  # fmt: skip

# What AirSim answers where the thing asked for does not exist in the level.
NOTHING_THERE: dict[str, Any] = {
    "simSetLightIntensity": False,
    "simSetObjectMaterial": False,
    "simSetObjectMaterialFromTexture": False,
    "simSwapTextures": [],
    "simRunConsoleCommand": False,
}

_LENS = "the cameras are pinholes without a lens; simSetCameraFov sets the field of view"
REFUSED = {
    "simGetPresetLensSettings": _LENS,
    "simGetLensSettings": _LENS,
    "simSetPresetLensSettings": _LENS,
    "simGetPresetFilmbackSettings": _LENS,
    "simSetPresetFilmbackSettings": _LENS,
    "simGetFilmbackSettings": _LENS,
    "simSetFilmbackSettings": _LENS,
    "simGetFocalLength": _LENS,
    "simSetFocalLength": _LENS,
    "simEnableManualFocus": _LENS,
    "simGetFocusDistance": _LENS,
    "simSetFocusDistance": _LENS,
    "simGetFocusAperture": _LENS,
    "simSetFocusAperture": _LENS,
    "simEnableFocusPlane": _LENS,
    "simGetCurrentFieldOfView": _LENS,
    "simSetDistortionParam": "the cameras are pinholes without distortion",
    "simGetMeshPositionVertexBuffers": "meshes are not handed out",
    "simCreateVoxelGrid": "voxel grids of the truth are not written; esarGroundHeight and simGetObjectPose tell it",
}


class RestApi:
    """Answers at once, whatever the arguments."""

    def __init__(self) -> None:
        for name in WITHOUT_EFFECT:
            setattr(self, f"rest_{name}", _answers(name, None))
        for name, answer in NOTHING_THERE.items():
            setattr(self, f"rest_{name}", _answers(name, answer))
        for name, why in REFUSED.items():
            setattr(self, f"rest_{name}", _refuses(name, why))

    @method("simPrintLogMessage")
    def log(self, session: Session, message: Any, parameter: Any = "", severity: Any = 0) -> None:
        """Into the simulator's log, at the level of information."""
        LOG.info("client: %.200s%.200s", message, parameter)


def _answers(name: str, answer: Any) -> Callable[..., Any]:
    def serve(session: Session, *arguments: Any) -> Any:
        return answer

    return method(name)(serve)


def _refuses(name: str, why: str) -> Callable[..., Any]:
    def serve(session: Session, *arguments: Any) -> Any:
        raise ApiError(why)

    return method(name)(serve)
