"""The thirteen weathers in six families, and what each does to difficulty (ESARBench, appendix A)."""

from __future__ import annotations

from enum import Enum


class WeatherFamily(str, Enum):
    """Families share an effect on sight."""

    FAIR = "fair"
    RAIN = "rain"
    SNOW = "snow"
    FOG = "fog"
    SANDSTORM = "sandstorm"
    DUST = "dust"


class Weather(str, Enum):
    """Names used in tasks, briefs and the simulator."""

    CLEAR = "clear"
    PARTLY_CLOUDY = "partly_cloudy"
    OVERCAST = "overcast"
    LIGHT_RAIN = "light_rain"
    HEAVY_RAIN = "heavy_rain"
    THUNDERSTORM = "thunderstorm"
    LIGHT_SNOW = "light_snow"
    HEAVY_SNOW = "heavy_snow"
    BLIZZARD = "blizzard"
    FOG = "fog"
    DENSE_FOG = "dense_fog"
    SANDSTORM = "sandstorm"
    DUST = "dust"

    @property
    def family(self) -> WeatherFamily:
        """The family this weather belongs to."""
        return _FAMILY[self]

    @property
    def difficulty(self) -> int:
        """Points it adds to a task's difficulty score."""
        return _DIFFICULTY[self.family]


_FAMILY = {
    Weather.CLEAR: WeatherFamily.FAIR,
    Weather.PARTLY_CLOUDY: WeatherFamily.FAIR,
    Weather.OVERCAST: WeatherFamily.FAIR,
    Weather.LIGHT_RAIN: WeatherFamily.RAIN,
    Weather.HEAVY_RAIN: WeatherFamily.RAIN,
    Weather.THUNDERSTORM: WeatherFamily.RAIN,
    Weather.LIGHT_SNOW: WeatherFamily.SNOW,
    Weather.HEAVY_SNOW: WeatherFamily.SNOW,
    Weather.BLIZZARD: WeatherFamily.SNOW,
    Weather.FOG: WeatherFamily.FOG,
    Weather.DENSE_FOG: WeatherFamily.FOG,
    Weather.SANDSTORM: WeatherFamily.SANDSTORM,
    Weather.DUST: WeatherFamily.DUST,
}
_DIFFICULTY = {
    WeatherFamily.FAIR: 0,
    WeatherFamily.RAIN: 1,
    WeatherFamily.SNOW: 1,
    WeatherFamily.FOG: 3,
    WeatherFamily.SANDSTORM: 3,
    WeatherFamily.DUST: 3,
}
