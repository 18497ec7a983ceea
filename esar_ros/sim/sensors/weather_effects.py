"""Effects of weather on sensors: one small table, and LiDAR reach by visibility.

Rain and snow wet or cover the window, drops and dust scatter the beam; ice unbalances rotors and covers ports;
blown sand charges what it hits. Orders of magnitude, after Rasshofer et al., "Influences of weather phenomena on
automotive laser radar systems" (2011), and Goodin et al., "Predicting the influence of rain on LIDAR" (2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.sim.weather.changes import Air

CONTRAST = 3.912  # -ln(0.02): Koschmieder's extinction times visibility
CLEAN_AIR = 10_000.0  # m, visibility at which ranges are specified; clearer air adds nothing
FREEZING = 273.15  # K
PORT_ERROR = -0.12  # share of the dynamic pressure that a barometer's port reads, in gusts as in flight
_ICY = (WeatherFamily.RAIN, WeatherFamily.SNOW, WeatherFamily.FOG)


@dataclass(frozen=True)
class SensorWeather:
    """Factors on the standard deviations of NOISE, and shares of returns."""

    dropout: float = 0.0  # share of ranging returns that are lost
    magnetic: float = 1.0
    vibration: float = 1.0  # of gyros and accelerometers
    port: float = 1.0  # of a barometer's error by dynamic pressure


CLEAN = SensorWeather()
EFFECTS: dict[Weather, SensorWeather] = {
    Weather.LIGHT_RAIN: SensorWeather(dropout=0.02),
    Weather.HEAVY_RAIN: SensorWeather(dropout=0.08),
    Weather.THUNDERSTORM: SensorWeather(dropout=0.12, magnetic=2.0),
    Weather.LIGHT_SNOW: SensorWeather(dropout=0.03),
    Weather.HEAVY_SNOW: SensorWeather(dropout=0.08),
    Weather.BLIZZARD: SensorWeather(dropout=0.15),
    Weather.FOG: SensorWeather(dropout=0.02),
    Weather.DENSE_FOG: SensorWeather(dropout=0.05),
    Weather.SANDSTORM: SensorWeather(dropout=0.20, magnetic=3.0),
    Weather.DUST: SensorWeather(dropout=0.05, magnetic=1.5),
}
ICE_DROPOUT, ICE_VIBRATION, ICE_PORT = 0.05, 2.0, 2.0  # on top, where wet air freezes


def sensor_weather(weather: Weather, temperature: float) -> SensorWeather:
    """Effects of a weather at an air temperature (K)."""
    effect = EFFECTS.get(weather, CLEAN)
    if temperature >= FREEZING or weather.family not in _ICY:
        return effect
    return SensorWeather(
        min(1.0, effect.dropout + ICE_DROPOUT),
        effect.magnetic,
        effect.vibration * ICE_VIBRATION,
        effect.port * ICE_PORT,
    )


def sensors_in(air: Air, temperature: float) -> SensorWeather:
    """Effects of the air of a moment at an air temperature (K); within a change between those of both weathers."""
    if air.share <= 0.0:
        return sensor_weather(air.before, temperature)
    ends = {weather: sensor_weather(weather, temperature) for weather in (air.before, air.after)}
    return SensorWeather(
        dropout=air.mixed(lambda weather: ends[weather].dropout),
        magnetic=air.mixed(lambda weather: ends[weather].magnetic),
        vibration=air.mixed(lambda weather: ends[weather].vibration),
        port=air.mixed(lambda weather: ends[weather].port),
    )


def reach(clear: float, visibility: float) -> float:
    """Range (m) at which an echo is as weak as at `clear` m in clean air, in air of a visibility (m).

    Solves exp(-2 a r) / r^2 = 1 / clear^2, a being the extinction beyond that of clean air, by Newton's method.
    """
    extinction = CONTRAST * (1.0 / visibility - 1.0 / CLEAN_AIR)
    if extinction <= 0.0:
        return clear
    r = clear
    for _ in range(50):
        error = math.log(r / clear) + extinction * r
        step = error / (1.0 / r + extinction)
        r = max(r - step, 0.5 * r)
        if abs(step) < 1e-9 * r:
            break
    return r
