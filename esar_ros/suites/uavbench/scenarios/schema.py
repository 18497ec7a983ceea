"""The schema of a scenario: keys, types, units, hard ranges. Positions are m: x east, y north, z above ground.

Angles are in degrees: yaw and heading clockwise from north, `wind_dir_deg` where the wind comes from. Unknown keys are
kept. What concerns several keys at once is no part of the schema: see rules.py.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from esar_ros.suites.uavbench.scenarios.taxonomy import (
    Airspace,
    Fault,
    Metric,
    Mission,
    Phenomenon,
    Vehicle,
    Visibility,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _whole(value: Any) -> Any:
    """Returns 3.0 as 3; JSON knows one kind of number."""
    return int(value) if type(value) is float and value.is_integer() else value


Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
XYZ = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
Whole = Annotated[int, BeforeValidator(_whole)]
Degrees = Annotated[float, Field(ge=-360.0, le=360.0)]
Positive = Annotated[float, Field(gt=0.0, le=1e7)]
NotNegative = Annotated[float, Field(ge=0.0, le=1e7)]
Speed = Annotated[float, Field(ge=-50.0, le=50.0)]


class Part(BaseModel):
    """Base of all parts: JSON's types as they are, no NaN, unknown keys kept."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)


class Sim(Part):
    """Time: its step and its end."""

    dt: float = Field(ge=0.005, le=0.1, description="s, integration step")
    duration_steps: Whole = Field(ge=1, le=10_000_000, description="number of steps")
    policy_frequency: float = Field(ge=1.0, le=100.0, description="Hz")


class BatteryModel(Part):
    """Power in flight: hover_power_W + k_drag v^3, and k_manoeuvre times the rate of turning."""

    hover_power_W: Positive = Field(description="W")
    k_drag: NotNegative = Field(description="W s^3/m^3")
    k_manoeuvre: NotNegative = Field(description="W")


class Rotorcraft(Part):
    """Rotors of what hovers."""

    rotor_count: Whole = Field(ge=1, le=16)
    disk_area_m2: Positive = Field(description="m^2, of all rotors")
    max_climb_mps: Positive = Field(description="m/s")
    hover_ceiling_m: Positive = Field(description="m")


class Aero(Part):
    """The wing of what cruises on one."""

    wing_area_m2: Positive = Field(description="m^2")
    aspect_ratio: float = Field(ge=1.0, le=40.0)
    cl_max: float = Field(ge=0.3, le=3.5)
    cd0: float = Field(ge=0.005, le=0.2)
    prop_efficiency: float = Field(ge=0.3, le=0.95)
    stall_speed_mps: Positive = Field(description="m/s")


class Sensors(Part):
    """Sensors that are on board."""

    gnss: bool
    imu: bool
    magnetometer: bool
    barometer: bool
    lidar: bool
    radar: bool
    camera_rgb: bool
    camera_thermal: bool


class Payload(Part):
    """One payload."""

    type: str = Field(min_length=1, max_length=80)
    category: str = Field(min_length=1, max_length=80)
    mass_kg: NotNegative = Field(description="kg, part of the vehicle's mass")
    power_W: NotNegative = Field(description="W")
    drag_cdA: float = Field(ge=0.0, le=10.0, description="m^2")
    mount: Literal["belly", "nose", "top", "wing", "gimbal", "bay", "tether"]
    data: dict[str, Any] | None = None
    operating: dict[str, Any] | None = None
    constraints: dict[str, Any] | None = None


class Uav(Part):
    """The vehicle."""

    type: Vehicle
    mass_kg: float = Field(gt=0.0, le=2000.0, description="kg, with payloads")
    battery_Wh: NotNegative = Field(description="Wh")
    fuel_L: NotNegative = Field(description="L")
    energy_source: Literal["battery", "fuel", "hybrid"]
    max_speed_mps: float = Field(ge=1.0, le=90.0, description="m/s")
    max_tilt_deg: float = Field(ge=5.0, le=60.0, description="deg")
    reserve_fraction: float = Field(ge=0.0, le=0.5)
    battery_model: BatteryModel
    rotorcraft: Rotorcraft | None = None
    aero: Aero | None = None
    sensors: Sensors
    payload_mass_kg: NotNegative | None = Field(default=None, description="kg, older form of payloads")
    payload_drag_coeff: NotNegative | None = None
    payloads: list[Payload] | None = Field(default=None, max_length=50)


class Weather(Part):
    """Wind near the ground, sight and phenomena."""

    wind_mps: float = Field(ge=0.0, le=20.0, description="m/s, mean")
    wind_dir_deg: float = Field(ge=0.0, le=360.0, description="deg, where it comes from")
    gust_mps: float = Field(ge=0.0, le=10.0, description="m/s on top of the mean")
    visibility: Visibility
    phenomena: list[Phenomenon] = Field(max_length=20)


class WindLayer(Part):
    """Mean wind at a height; between heights it is linear, beyond them constant."""

    alt_m: float = Field(ge=0.0, le=12_000.0, description="m above ground")
    wind_mps: float = Field(ge=0.0, le=50.0, description="m/s")
    dir_deg: float = Field(ge=0.0, le=360.0, description="deg, where it comes from")


class ThermalPlume(Part):
    """Rising air."""

    center: Annotated[list[Coordinate], Field(min_length=2, max_length=3)]
    radius_m: Positive
    w_up_mps: float = Field(gt=0.0, le=10.0, description="m/s")


class Environment(Part):
    """Surroundings."""

    airspace: Airspace
    weather: Weather
    wind_profile: list[WindLayer] | None = Field(default=None, max_length=100)
    thermal_plumes: list[ThermalPlume] | None = Field(default=None, max_length=100)
    gnss_multipath: bool | None = None
    em_interference: bool | None = None
    gnss_jam_dbm: float | None = Field(default=None, ge=-150.0, le=-30.0, description="dBm at the antenna")


class Fence(Part):
    """The polygon to stay in, in either sense of turning."""

    type: Literal["polygon"]
    points: list[XY] = Field(min_length=3, max_length=200)


class Zone(Part):
    """A cylinder to stay out of."""

    type: Literal["cylinder"]
    center: XY
    radius_m: Positive
    floor_m: Coordinate
    ceiling_m: Coordinate


class MovingZone(Zone):
    """A cylinder that moves straight at constant speed from t = 0."""

    vel_xy: Annotated[list[Speed], Field(min_length=2, max_length=2)]


class Runway(Part):
    """The runway of wings."""

    threshold: Annotated[list[Coordinate], Field(min_length=2, max_length=3)]
    heading_deg: Degrees
    length_m: Positive


class Bounds(Part):
    """The airspace that the mission may use."""

    altitude_agl_min_m: float = Field(ge=0.0, le=12_000.0, description="m above ground")
    altitude_agl_max_m: float = Field(gt=0.0, le=12_000.0, description="m above ground")
    geofence: list[Fence] = Field(min_length=1, max_length=1)
    no_fly_zones: list[Zone] | None = Field(default=None, max_length=50)
    no_fly_zones_dynamic: list[MovingZone] | None = Field(default=None, max_length=50)
    runway: Runway | None = None


class Spawn(Part):
    """The vehicle's place at t = 0; z 0 is on the ground."""

    xyz: XYZ
    yaw_deg: Degrees


class Landing(Part):
    """Places to land."""

    preferred_sites: list[XYZ] | None = Field(default=None, max_length=50)
    emergency_sites: list[XYZ] | None = Field(default=None, max_length=50)


class TransitionProfile(Part):
    """Seconds between hover and forward flight."""

    vtol_to_ff_t_s: NotNegative
    ff_to_vtol_t_s: NotNegative


class MissionPlan(Part):
    """The task."""

    type: Mission
    waypoints: list[XYZ] = Field(min_length=3, max_length=6)
    pattern: Literal["corridor", "grid", "orbit", "spiral", "custom"]
    loiter_radius_m: Positive | None = None
    time_budget_s: float = Field(ge=30.0, le=7200.0, description="s")
    runway_required: bool | None = None
    transition_profile: TransitionProfile | None = None


class Traffic(Part):
    """Another vehicle, straight and level from t = 0."""

    type: str = Field(min_length=1, max_length=40)
    spawn: XYZ
    speed_mps: float = Field(ge=0.0, le=90.0)
    heading_deg: Degrees


class MovingObstacle(Part):
    """A ball that moves straight from t = 0."""

    shape: Literal["sphere"]
    center: XYZ
    radius_m: float = Field(ge=0.1, le=100.0)
    vel: Annotated[list[Speed], Field(min_length=3, max_length=3)]


class Swarm(Part):
    """Vehicles that fly together."""

    enabled: bool
    size: Whole = Field(ge=1, le=50)
    roles: list[Literal["leader", "scout", "relay", "single", "solo", "follower"]] = Field(max_length=50)
    inter_uav_sep_min_m: NotNegative


class Controls(Part):
    """Commands that a policy has."""

    mode: Literal["discrete", "continuous"]
    actions: list[str] = Field(min_length=1, max_length=50)


class Daa(Part):
    """Detect and avoid: separation and time to collision to keep."""

    sep_threshold_m: float = Field(ge=1.0, le=1500.0)
    ttc_threshold_s: float = Field(ge=3.0, le=60.0)


class FaultEvent(Part):
    """Something that fails; a duration of 0 lasts to the end."""

    t_s: NotNegative
    type: Fault
    duration_s: NotNegative
    severity: float = Field(gt=0.0, le=1.0)


class Comms(Part):
    """The radio link."""

    uplink_ok: bool
    downlink_ok: bool
    loss_windows: list[Annotated[list[NotNegative], Field(min_length=2, max_length=2)]] | None = None
    rssi_dbm_min: float | None = Field(default=None, ge=-130.0, le=-20.0)


class Description(Part):
    """The mission in words."""

    text: str = Field(max_length=100_000)


class Label(Part):
    """Risk as somebody has judged it."""

    risk_level: Whole = Field(ge=1, le=3)
    risk_category: Literal["Low Risk", "Medium Risk", "High Risk"]
    factors: list[str] = Field(max_length=100)
    risk_tag: str | None = Field(default=None, description="category of what is worst")
    risk_score: float | None = Field(default=None, ge=0.0, le=1.0)
    reasons: list[dict[str, Any]] | None = Field(default=None, max_length=500)
    rules: str | None = None


class Scenario(Part):
    """A UAVBench scenario."""

    name: str = Field(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]*$")
    seed: Whole = Field(ge=0, le=2**31 - 1)
    sim: Sim
    uav: Uav
    environment: Environment
    airspace: Bounds
    spawn: Spawn
    landing: Landing | None = None
    mission: MissionPlan
    traffic: list[Traffic] | None = Field(default=None, max_length=100)
    moving_obstacles: list[MovingObstacle] | None = Field(default=None, max_length=100)
    swarm: Swarm | None = None
    controls: Controls
    daa: Daa
    faults: list[FaultEvent] | None = Field(default=None, max_length=50)
    comms: Comms | None = None
    metrics: list[Metric] | None = None
    description: Description | None = None
    label: Label | None = None


# Keys at the top that the released files have and nothing reads.
PASSED_THROUGH = frozenset({"required", "benchmark_tags", "Nonce"})


def json_schema() -> str:
    """Returns the JSON Schema (draft 2020-12) as text."""
    schema = {"$schema": DIALECT, **Scenario.model_json_schema()}
    return json.dumps(schema, indent=1, sort_keys=False) + "\n"
