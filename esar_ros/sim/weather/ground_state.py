"""Snow, water and dust on the ground: a pure function of the weather, how long it has lasted, and what was before."""

from __future__ import annotations

from dataclasses import dataclass

from esar_ros.mission.weather import Weather
from esar_ros.sim.weather.appearance import CONDITIONS

ICING = 900.0  # s in which ice on a lens reaches the share that the weather's row states
_THAW = 0.45 / ICING  # share a second that is lost where the weather has less
INITIAL_DURATION = 600.0  # s that a weather has already lasted when nothing else is said: a flight begins in it


@dataclass(frozen=True)
class GroundState:
    """Shares in [0, 1]. snow: of flat ground under new snow; water: 0.5 wet through, 1 with puddles; dust: a coat."""

    snow: float = 0.0
    water: float = 0.0
    dust: float = 0.0

    def after(self, weather: Weather, seconds: float) -> GroundState:
        """Returns the ground after `seconds` s (not below 0) of a weather."""
        change = CONDITIONS[weather].ground
        minutes = max(0.0, seconds) / 60.0
        return GroundState(
            _step_towards(self.snow, change.snow * minutes, change.snow_limit),
            _step_towards(self.water, change.water * minutes, change.water_limit),
            _step_towards(self.dust, change.dust * minutes, change.dust_limit),
        )


BARE = GroundState()


def usual_ground(weather: Weather) -> GroundState:
    """Returns ground that was bare, INITIAL_DURATION seconds into a weather."""
    return BARE.after(weather, INITIAL_DURATION)


def ice_after(ice: float, weather: Weather, seconds: float) -> float:
    """Returns the share of a lens that ice reaches after `seconds` s of a weather, having been `ice`."""
    limit = CONDITIONS[weather].frost
    return _step_towards(ice, (limit / ICING if ice < limit else -_THAW) * seconds, limit)


def _step_towards(value: float, step: float, limit: float) -> float:
    """Returns the value moved by a step, not past the limit; where it is past already it stays."""
    if step > 0.0:
        return max(value, min(value + step, limit))
    return min(value, max(value + step, limit)) if step < 0.0 else value
