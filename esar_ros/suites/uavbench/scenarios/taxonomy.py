"""The tokens of scenarios: missions, airspaces, weather, vehicles, faults, each of one family or tag.

The paper names categories and publishes no list (section III-B); the tokens are those seen in its released files.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, get_args

from esar_ros.mission import errors

Mission = Literal[
    "inspection", "survey", "delivery", "search_rescue", "mapping", "firefighting_drop", "runway_touch_and_go",
    "package_delivery", "convoy_escort", "area_recon_fixedwing", "relay", "loiter", "satellite_link_relay",
    "heli_point_hover_inspection", "waypoint_survey", "border_patrol", "emergency_medical_delivery", "disaster_recon",
    "facade_inspection",
]  # fmt: skip
Airspace = Literal[
    "desert", "warehouse_indoor", "bridge_site", "jungle", "powerline_corridor", "urban_canyon", "mountainous",
    "suburban", "industrial_plant", "rural", "volcanic_zone", "arctic", "underground_mine", "offshore_platform",
    "forest", "harbor", "ship_deck", "airport_perimeter", "dense_urban", "coastal", "wind_farm", "pipeline_corridor",
]  # fmt: skip
Phenomenon = Literal[
    "icing_conditions", "snowfall", "sandstorm", "lightning_risk", "hail", "thermal_updrafts", "dust", "rain",
    "microburst_risk", "fog", "gusts", "crosswind_strong", "temperature_extremes_hot", "temperature_extremes_cold",
    "low_visibility", "ash_cloud", "dust_haze", "volcanic_ash", "heat_haze", "thermal_turbulence", "clear",
]  # fmt: skip
Visibility = Literal["good", "moderate", "low", "poor", "very_low"]
Vehicle = Literal[
    "quadrotor", "hexacopter", "octocopter", "heavy_lift", "swarm_drone", "helicopter", "fixed_wing", "glider",
    "solar_wing", "haps", "amphibious", "vtol_tiltrotor", "convertiplane",
]  # fmt: skip
Fault = Literal[
    "motor_failure", "control_failure", "sensor_failure", "lidar_failure", "gnss_jam", "gnss_spoofing", "gnss_outage",
    "compass_failure", "link_loss", "battery_failure", "battery_degradation", "fuel_leak", "icing",
]  # fmt: skip
Metric = Literal[
    "min_nfz_slant_m", "geofence_breach", "altitude_violation", "battery_ending_Wh", "battery_low", "collisions",
    "daa_min_separation_m", "daa_min_ttc_s", "daa_breach", "mission_success", "stall_events", "link_quality_min_dbm",
    "gnss_outage_s",
]  # fmt: skip

MISSIONS: tuple[str, ...] = get_args(Mission)
AIRSPACES: tuple[str, ...] = get_args(Airspace)
PHENOMENA: tuple[str, ...] = get_args(Phenomenon)
VEHICLES: tuple[str, ...] = get_args(Vehicle)
FAULTS: tuple[str, ...] = get_args(Fault)
METRICS: tuple[str, ...] = get_args(Metric)


class Family(str, Enum):
    """Ways of staying in the air."""

    ROTOR = "rotor"
    WING = "wing"
    HYBRID = "hybrid"  # hovers on rotors, cruises on a wing

    @property
    def hovers(self) -> bool:
        """Returns whether it can hold still."""
        return self is not Family.WING

    @property
    def has_wing(self) -> bool:
        """Returns whether it cruises on a wing."""
        return self is not Family.ROTOR


_ROTORS = ("quadrotor", "hexacopter", "octocopter", "heavy_lift", "swarm_drone", "helicopter")
_HYBRIDS = ("vtol_tiltrotor", "convertiplane")
FAMILIES: dict[str, Family] = {
    name: Family.ROTOR if name in _ROTORS else Family.HYBRID if name in _HYBRIDS else Family.WING for name in VEHICLES
}
NEEDS_RUNWAY = frozenset({"fixed_wing", "solar_wing", "haps"})  # gliders are launched, amphibians start from water
FEW_ROTORS = 4  # up to which the loss of one ends a hover
INDOORS = frozenset({"warehouse_indoor", "underground_mine"})

FAULT_TAGS: dict[str, str] = {
    "motor_failure": "Vehicle", "control_failure": "Vehicle", "sensor_failure": "Vehicle", "lidar_failure": "Vehicle",
    "gnss_jam": "Navigation", "gnss_spoofing": "Navigation", "gnss_outage": "Navigation",
    "compass_failure": "Navigation", "link_loss": "Navigation", "battery_failure": "Energy",
    "battery_degradation": "Energy", "fuel_leak": "Energy", "icing": "Weather",
}  # fmt: skip

# Other spellings of tokens. A file with one is told the token; profile `public` reads it as the token.
ALIASES: dict[str, str] = {
    "quadcopter": "quadrotor", "quad": "quadrotor", "hexarotor": "hexacopter", "octorotor": "octocopter",
    "heli": "helicopter", "fixed-wing": "fixed_wing", "fixedwing": "fixed_wing", "vtol": "vtol_tiltrotor",
    "tiltrotor": "vtol_tiltrotor", "search_and_rescue": "search_rescue", "sar": "search_rescue", "snow": "snowfall",
    "lightning": "lightning_risk", "motor_fail": "motor_failure",
    "gps_jamming": "gnss_jam", "gnss_jamming": "gnss_jam", "gps_spoofing": "gnss_spoofing",
    "gnss_spoof": "gnss_spoofing", "comms_loss": "link_loss",
}  # fmt: skip


def canonical(token: str) -> str:
    """Returns the token of a spelling: lower case, underscores, aliases followed."""
    plain = token.strip().lower().replace(" ", "_")
    return ALIASES.get(plain, ALIASES.get(plain.replace("-", "_"), plain))


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Returns the known token that a word most likely means; None where none is near."""
    if canonical(word) in known:
        return canonical(word)
    return errors.nearest(canonical(word), known)
