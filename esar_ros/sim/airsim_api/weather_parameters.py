"""AirSim's weather parameters 0..8 (each 0..1), read as one of the thirteen weathers and a visibility."""

from __future__ import annotations

from dataclasses import dataclass, field

from esar_ros.mission.weather import Weather
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.weather.ground_state import GroundState

RAIN, ROAD_WETNESS, SNOW, ROAD_SNOW, MAPLE_LEAF, ROAD_LEAF, DUST, FOG, ENABLED = range(9)
_MIN_WEIGHT = 0.02  # weaker than this is nothing


@dataclass
class WeatherParameters:
    """The nine values a client sets one by one; without simEnableWeather they have no effect."""

    values: list[float] = field(default_factory=lambda: [0.0] * 9)
    enabled: bool = False

    def set(self, parameter: int, value: float) -> None:
        """Store one value. Raises ApiError."""
        if not 0 <= parameter <= ENABLED:
            raise ApiError(f"weather parameter must be in [0, {ENABLED}], is {parameter}")
        if not 0.0 <= value <= 1.0:
            raise ApiError(f"weather value must be in [0, 1], is {value:g}")
        if parameter == ENABLED:
            self.enabled = value > 0.5
        self.values[parameter] = value

    def meaning(self) -> tuple[Weather, float | None]:
        """The weather, and a visibility in m where fog says so (None: as the weather has it).

        Where several are set, the one that hides most counts: dust, then fog, snow, rain.
        """
        rain, snow, dust, fog = (self.values[k] if self.enabled else 0.0 for k in (RAIN, SNOW, DUST, FOG))
        if dust > _MIN_WEIGHT:
            return (Weather.SANDSTORM if dust > 0.5 else Weather.DUST), None
        if fog > _MIN_WEIGHT and max(rain, snow) <= _MIN_WEIGHT:
            # Visibility falls by a factor of ten per half of the scale: 2 km in a haze, 20 m at full.
            return (Weather.DENSE_FOG if fog > 0.5 else Weather.FOG), 2000.0 * 10.0 ** (-2.0 * fog)
        if snow > _MIN_WEIGHT:
            kinds = (Weather.LIGHT_SNOW, Weather.HEAVY_SNOW, Weather.BLIZZARD)
            return kinds[min(2, int(snow * 3.0))], None
        if rain > _MIN_WEIGHT:
            kinds = (Weather.LIGHT_RAIN, Weather.HEAVY_RAIN, Weather.THUNDERSTORM)
            return kinds[min(2, int(rain * 3.0))], None
        return Weather.CLEAR, None

    def ground(self) -> GroundState | None:
        """Wetness and snow of the ground where a client has set them; None leaves them to the weather."""
        wet, snow = (self.values[k] if self.enabled else 0.0 for k in (ROAD_WETNESS, ROAD_SNOW))
        return GroundState(snow=snow, water=wet) if max(wet, snow) > _MIN_WEIGHT else None
