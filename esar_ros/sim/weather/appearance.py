"""Effects of each of the thirteen weathers on sight, sky, ground and lens: the one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from esar_ros.mission.weather import Weather

CONTRAST = 3.912  # -ln 0.02: Koschmieder's law, extinction = 3.912 / visibility (Horvath, Atmos. Env. 5, 1971)


class Falling(str, Enum):
    """Particles in the air before the lens."""

    NOTHING = "nothing"
    RAIN = "rain"
    SNOW = "snow"
    SAND = "sand"


@dataclass(frozen=True)
class GroundChange:
    """Change of the ground per minute: shares 0..1 gained (or lost) until a limit is reached."""

    snow: float = 0.0
    snow_limit: float = 1.0
    water: float = 0.0
    water_limit: float = 1.0
    dust: float = 0.0
    dust_limit: float = 1.0


@dataclass(frozen=True)
class Conditions:
    """One row of the table."""

    visibility: float  # m at which contrast has fallen to 2 %
    cloud_cover: float  # 0..1
    dimming: float  # share of the open sky's light that is left below the clouds
    falling: Falling = Falling.NOTHING
    density: float = 0.0  # 0..1, of what falls
    frost: float = 0.0  # share of the lens that icing reaches in a quarter of an hour
    yellow: float = 0.0  # 0..1, of sand's colour in the air
    flashes: float = 0.0  # lightning flashes a second
    ground: GroundChange = GroundChange()


_DRY = GroundChange(snow=-0.004, snow_limit=0.0, water=-0.02, water_limit=0.0)

# Visibility: fog below 1 km and dense fog below 200 m by WMO's code table 4677; a blizzard 400 m or less by the US
# National Weather Service; a sandstorm below 500 m by China's GB/T 20480; the others typical of the intensity.
CONDITIONS: dict[Weather, Conditions] = {
    Weather.CLEAR: Conditions(30_000.0, 0.15, 1.0, ground=_DRY),
    Weather.PARTLY_CLOUDY: Conditions(25_000.0, 0.5, 1.0, ground=_DRY),
    Weather.OVERCAST: Conditions(12_000.0, 1.0, 0.55, ground=GroundChange(water=-0.008, water_limit=0.0)),
    Weather.LIGHT_RAIN: Conditions(
        5_000.0, 1.0, 0.42, Falling.RAIN, 0.3, ground=GroundChange(-0.02, 0.0, 0.04, 0.6, -0.1, 0.0)
    ),
    Weather.HEAVY_RAIN: Conditions(
        1_500.0, 1.0, 0.28, Falling.RAIN, 0.8, ground=GroundChange(-0.05, 0.0, 0.09, 1.0, -0.3, 0.0)
    ),
    Weather.THUNDERSTORM: Conditions(
        1_200.0, 1.0, 0.18, Falling.RAIN, 1.0, flashes=0.08, ground=GroundChange(-0.06, 0.0, 0.12, 1.0, -0.4, 0.0)
    ),
    Weather.LIGHT_SNOW: Conditions(
        2_000.0, 1.0, 0.45, Falling.SNOW, 0.3, 0.06, ground=GroundChange(0.02, 0.6, -0.01, 0.0, -0.02, 0.0)
    ),
    Weather.HEAVY_SNOW: Conditions(
        500.0, 1.0, 0.33, Falling.SNOW, 0.75, 0.2, ground=GroundChange(0.045, 0.95, -0.02, 0.0, -0.05, 0.0)
    ),
    Weather.BLIZZARD: Conditions(
        150.0, 1.0, 0.30, Falling.SNOW, 1.0, 0.45, ground=GroundChange(0.05, 0.9, -0.03, 0.0, -0.05, 0.0)
    ),
    Weather.FOG: Conditions(300.0, 1.0, 0.50, ground=GroundChange(water=0.004, water_limit=0.2)),
    Weather.DENSE_FOG: Conditions(100.0, 1.0, 0.42, ground=GroundChange(water=0.006, water_limit=0.25)),
    Weather.SANDSTORM: Conditions(
        200.0,
        1.0,
        0.35,
        Falling.SAND,
        1.0,
        yellow=1.0,
        ground=GroundChange(water=-0.05, water_limit=0.0, dust=0.06, dust_limit=1.0),
    ),
    Weather.DUST: Conditions(
        900.0,
        0.8,
        0.6,
        Falling.SAND,
        0.25,
        yellow=0.75,
        ground=GroundChange(water=-0.03, water_limit=0.0, dust=0.025, dust_limit=0.7),
    ),
}

VISIBILITY: dict[Weather, float] = {weather: row.visibility for weather, row in CONDITIONS.items()}
