"""startRecording, stopRecording, isRecording."""

from __future__ import annotations

from typing import Any

from esar_ros.sim.airsim_api.api import Session, method
from esar_ros.sim.airsim_api.recording import Recorder
from esar_ros.sim.airsim_api.values import ApiError


class RecordingApi:
    """One recording at a time, of every vehicle."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @method("startRecording")
    def start(self, session: Session) -> None:
        """Into a new folder; while one runs: nothing, as AirSim."""
        if not self._recorder.active:
            try:
                self._recorder.start()
            except OSError as error:
                raise ApiError(f"cannot record: {error}") from None

    @method("stopRecording")
    def stop(self, session: Session) -> None:
        """Nothing while none runs."""
        self._recorder.stop()

    @method("isRecording")
    def is_recording(self, session: Session) -> Any:
        return self._recorder.active
