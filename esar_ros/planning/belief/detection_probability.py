"""How probably a look finds somebody: by range, angle of view, weather, light and what is looked for.

A logistic curve over range stands for pixels on target (Johnson, 1958: recognition needs a number of lines across the
target, so the range halves when the target's size or the picture's focal length does). Haze lowers contrast by
Koschmieder's law; below a contrast a detector sees less and less. Along the ground, plants and folds hide what lies
behind them.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from esar_ros.mission.observation import Brief
from esar_ros.mission.settings_file import load_settings
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather
from esar_ros.perception.model_card import find_model
from esar_ros.planning.parameters import Settings

_EXTINCTION = 3.912  # -ln 0.02: visibility is the range at which contrast has fallen to 2 % (Koschmieder)
_SUREST = 0.99  # no look rules out that somebody was missed
_DAY = (7, 17)  # h; full light (ESARBench, appendix A)
TABLE_RANGE = 150  # m, a table's last range


class Curves(NamedTuple):
    """Probability of finding a person, and a clue, by whole metres of distance."""

    person: NDArray[np.float64]
    clue: NDArray[np.float64]

    def beside(self, height: float) -> Curves:
        """The same by distance on the ground from the track of a vehicle that passes at a height (m)."""
        aside = np.arange(len(self.person), dtype=np.float64)
        slant = np.minimum(np.rint(np.hypot(aside, height)), len(aside) - 1).astype(int)
        return Curves(self.person[slant], self.clue[slant])


class DetectionSettings(Settings):
    """The detector's calibration, and what is assumed of weather and light."""

    cards: dict[str, str] = Field(
        default_factory=lambda: {"esar_yolo": "esar-clues"},
        description="detector -> its model card, name or .json file, whose measured curve replaces the next four",
    )
    best: float = Field(default=0.92, gt=0, lt=1, description="probability of finding a person near and in the open")
    person_range: float = Field(default=60.0, gt=0, description="m, half of best")
    clue_range: float = Field(default=42.0, gt=0, description="m, the same of a clue of middling size")
    softness: float = Field(default=9.0, gt=0, description="m, scale of the fall around that range")
    dark: float = Field(default=0.75, gt=0, le=1, description="factor on ranges at night")
    contrast: float = Field(default=0.25, gt=0, le=1, description="contrast below which less is seen")
    grazing: float = Field(default=0.25, gt=0, lt=1, description="sine of the angle of view below which less is seen")
    # m, typical of each weather by its definition (WMO code table 4677 for fog, GB/T 20480 for sandstorms)
    visibility: dict[Weather, float] = Field(
        default_factory=lambda: {
            Weather.CLEAR: 30_000.0, Weather.PARTLY_CLOUDY: 25_000.0, Weather.OVERCAST: 12_000.0,
            Weather.LIGHT_RAIN: 5_000.0, Weather.HEAVY_RAIN: 1_500.0, Weather.THUNDERSTORM: 1_200.0,
            Weather.LIGHT_SNOW: 2_000.0, Weather.HEAVY_SNOW: 500.0, Weather.BLIZZARD: 150.0,
            Weather.FOG: 300.0, Weather.DENSE_FOG: 100.0, Weather.SANDSTORM: 200.0, Weather.DUST: 900.0,
        }
    )  # fmt: skip


class Fit(BaseModel):
    """Probability of finding by range: best / (1 + exp((range - half) / softness)), range and both in m."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    best: float = Field(ge=0, le=1)
    half: float = Field(ge=0)
    softness: float = Field(gt=0)


class _Fits(BaseModel):
    model_config = ConfigDict(extra="ignore")

    person: Fit | None = None  # None: too little was seen to fit one
    clues: Fit | None = None


class _Measured(BaseModel):
    model_config = ConfigDict(extra="ignore")

    fit: _Fits


class _Card(BaseModel):
    model_config = ConfigDict(extra="ignore")

    detection_probability: _Measured


def load_fits(settings: DetectionSettings, detector: str) -> tuple[Fit, Fit]:
    """Curves of person and clue in daylight and fair weather: the detector's card's, else the settings'.

    Raises UsageError.
    """
    person = Fit(best=settings.best, half=settings.person_range, softness=settings.softness)
    clue = Fit(best=settings.best, half=settings.clue_range, softness=settings.softness)
    card = settings.cards.get(detector, "")
    if not card:
        return person, clue
    path = find_model(f"{card.removesuffix('.json')}.json", "mend detection.cards in config/planners.yaml")
    measured = load_settings(_Card, path, "model card").detection_probability.fit
    return measured.person or person, measured.clues or clue


class Detection:
    """Probabilities of detection in one mission's weather and light, by the detector that is flown."""

    def __init__(self, settings: DetectionSettings, brief: Brief, detector: str = "", focal: float = 0.0) -> None:
        """focal: focal length (px) of the detector's pictures; 0: as config/vehicle.yaml has it.

        Raises UsageError when the detector's model card cannot be used.
        """
        self.detector, self.focal = detector, focal
        self._sharpness = focal / load_vehicle().image.model.fx if focal > 0.0 else 1.0
        self._settings = settings
        try:
            self._visibility = settings.visibility.get(Weather(brief.weather), math.inf)
        except ValueError:
            self._visibility = math.inf
        try:
            hour = datetime.fromisoformat(brief.local_time).hour
            self._light = 1.0 if _DAY[0] <= hour < _DAY[1] else settings.dark
        except ValueError:
            self._light = 1.0
        metres = np.arange(TABLE_RANGE + 1, dtype=np.float64)
        person, clue = load_fits(settings, detector)
        self.person = self._curve(metres, person)  # by whole metres of range
        self.clue = self._curve(metres, clue)
        self.person.flags.writeable = self.clue.flags.writeable = False
        self.curves = Curves(self.person, self.clue)

    def _curve(self, metres: NDArray[np.float64], fit: Fit) -> NDArray[np.float64]:
        settings = self._settings
        alike = metres / self._sharpness  # m, where as many pixels lie on target in the pictures it was measured with
        size = 1.0 / (1.0 + np.exp((alike - fit.half * self._light) / fit.softness))
        contrast = np.exp(-_EXTINCTION * metres / self._visibility)
        curve = min(fit.best, _SUREST) * size * np.minimum(1.0, contrast / settings.contrast)
        curve[-1] = 0.0
        return np.asarray(curve)

    def angle_factor(self, sine: NDArray[np.float64]) -> NDArray[np.float64]:
        """Factor for looks at an angle below the horizon, by its sine."""
        return np.clip(sine / self._settings.grazing, 0.0, 1.0)

    @property
    def reach(self) -> float:
        """Range (m) beyond which a look tells next to nothing."""
        telling = np.flatnonzero(self.person > 0.02)
        return float(telling[-1]) if len(telling) else 0.0
