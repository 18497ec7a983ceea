"""The page of the interface names every method that is served, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from esar_ros.sim.airsim_api.calls.rest import REFUSED, WITHOUT_EFFECT
from esar_ros.sim.sensors.weather_effects import EFFECTS
from helpers.api_bench import Bench

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "airsim-api.md"

# What the interface must have, from the list of AirSim's wire protocol.
LISTED = """
ping getServerVersion getMinRequiredClientVersion reset enableApiControl isApiControlEnabled armDisarm getHomeGeoPoint
listVehicles getSettingsString simAddVehicle simPause simIsPaused simContinueForTime simContinueForFrames takeoff land
goHome hover moveByVelocity moveByVelocityZ moveByVelocityBodyFrame moveByVelocityZBodyFrame moveToPosition moveToGPS
moveOnPath moveToZ moveByManual rotateToYaw rotateByYawRate moveByRollPitchYawZ moveByRollPitchYawThrottle
moveByRollPitchYawrateThrottle moveByRollPitchYawrateZ moveByAngleRatesZ moveByAngleRatesThrottle moveByMotorPWMs
cancelLastTask moveByRC setAngleRateControllerGains setAngleLevelControllerGains setVelocityControllerGains
setPositionControllerGains getMultirotorState getRotorStates simGetVehiclePose simSetVehiclePose
simGetGroundTruthKinematics simSetKinematics simGetGroundTruthEnvironment simGetCollisionInfo simGetImages simGetImage
simGetCameraInfo simSetCameraPose simSetCameraFov simAddDetectionFilterMeshName simSetDetectionFilterRadius
simGetDetections simClearDetectionMeshNames getImuData getGpsData getBarometerData getMagnetometerData
getDistanceSensorData getLidarData simEnableWeather simSetWeatherParameter simSetTimeOfDay simSetWind
simListSceneObjects simGetObjectPose simSetObjectPose simSpawnObject simDestroyObject simListAssets simLoadLevel
simSetSegmentationObjectID simGetSegmentationObjectID simTestLineOfSightToPoint simTestLineOfSightBetweenPoints
simGetWorldExtents startRecording stopRecording simRunConsoleCommand
"""


def rows(section: str) -> list[list[str]]:
    """Cells of the tables of one section."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")][2:]


def test_the_page_and_the_server_name_the_same_methods() -> None:
    told = {name: cells[1] for cells in rows("Methods") for name in re.findall(r"`(\w+)`", cells[0])}
    assert set(told) == set(Bench().api.names)
    assert set(LISTED.split()) <= set(told)
    assert {name for name, answer in told.items() if answer.strip().startswith("an error")} == set(REFUSED)
    assert {name for name, answer in told.items() if "drawn nowhere" in answer} == set(WITHOUT_EFFECT)


def test_the_page_states_the_shares_of_lost_returns() -> None:
    text = "".join("|".join(cells) for cells in rows("Sensors"))
    for weather, effect in EFFECTS.items():
        assert weather.value.replace("_", " ") in text
        assert f"{effect.dropout * 100:g} %" in text
