"""The probability of detection (POD) of a look: by range, angle of view, weather, light and kind of object.

A detector's model card states the share of the objects of each class that an image finds by range, by day and by night:
looks are evaluated with it. Where there is no such measurement a logistic curve over range stands for pixels on target
(Johnson, 1958: recognition needs a number of lines across the target, so the range halves when the target's size or the
image's focal length does). Haze lowers contrast by Koschmieder's law; below a contrast a detector sees less and less.
Along the ground, plants and folds hide what lies behind them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.optimize import curve_fit  # type: ignore[import-untyped]

from esar_ros.geometry.camera import CameraModel
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Brief
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather
from esar_ros.perception.detectors.model_card import find_model
from esar_ros.perception.pod_curves import PHOTOGRAPHS, SIDE, THERMAL, PodCurve, load_curve

_EXTINCTION = 3.912  # -ln 0.02: visibility is the range at which contrast has fallen to 2 % (Koschmieder)
_SUREST = 0.99  # no look rules out that somebody was missed
_DAY, _TWILIGHT = (7, 17), (6, 18)  # h; full and some light (ESARBench, appendix A)
_ALL_CLUES = "clues"  # a card's name for all classes but people
_ENOUGH = 30  # objects that a class needs in a light to have shares of its own
_BORROWED = 5.0  # objects of the clues' mean share that count with a class's own in each bin of ranges
_CARD_FOCAL = CameraModel.from_horizontal_fov(640, 480, math.pi / 2).fx  # px, of the pictures that cards without a
# word about it, and the settings' curves, hold for: 640x480 at 90 degrees (training.render, models/README.md)
TABLE_RANGE = 150  # m, a table's last range


class Curves(NamedTuple):
    """The POD of a person, and of a clue, by whole metres of distance."""

    person: NDArray[np.float64]
    clue: NDArray[np.float64]

    def beside(self, height: float) -> Curves:
        """Returns the curves by distance on the ground from the track of a vehicle that passes at a height (m)."""
        aside = np.arange(len(self.person), dtype=np.float64)
        slant = np.minimum(np.rint(np.hypot(aside, height)), len(aside) - 1).astype(int)
        return Curves(self.person[slant], self.clue[slant])


class DetectionSettings(StrictModel):
    """The detector's calibration, and the assumptions about weather and light."""

    measured_on: Literal["simulator", "photographs"] = Field(
        default="simulator",
        description="pictures on which the POD of a person was measured: the card's shares by range, or those on real "
        "photographs by pixels on the person (models/esar-clues-pod.json)",
    )
    cards: dict[str, str] = Field(
        default_factory=lambda: {"esar_yolo": "esar-clues"},
        description="detector -> its model card, name or .json file, whose measured shares replace the next five",
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
    """The POD by range: best / (1 + exp((range - half) / softness)), range and both in m."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    best: float = Field(ge=0, le=1)
    half: float = Field(ge=0)
    softness: float = Field(gt=0)


class _Fits(BaseModel):
    model_config = ConfigDict(extra="ignore")

    person: Fit | None = None  # None: too little was seen to fit one
    clues: Fit | None = None


class _Shares(BaseModel):
    """The share of objects that one image finds in each bin of ranges, and the number of objects."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    probability: tuple[float | None, ...]
    objects: tuple[int, ...]

    @model_validator(mode="after")
    def _same_bins(self) -> _Shares:
        if len(self.probability) != len(self.objects):
            raise ValueError("as many probabilities as objects")
        return self


class _Lights(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    day: _Shares  # by day in fair weather
    dark: _Shares  # at night


class _Measured(BaseModel):
    model_config = ConfigDict(extra="ignore")

    fit: _Fits
    focal: float = Field(default=_CARD_FOCAL, gt=0)  # px, of the pictures that it was measured on
    range_edges: tuple[float, ...] = ()
    by_kind: dict[str, _Lights] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _bins_have_edges(self) -> _Measured:
        for kind, lights in self.by_kind.items():
            for shares in (lights.day, lights.dark):
                if len(shares.objects) + 1 != len(self.range_edges):
                    raise ValueError(f"by_kind.{kind}: one share for each bin of range_edges")
        return self


class _Card(BaseModel):
    model_config = ConfigDict(extra="ignore")

    detection_probability: _Measured


def load_card(settings: DetectionSettings, detector: str) -> _Measured:
    """Returns the shares stated on the detector's card; without a card the settings' curves. Raises UsageError."""
    card = settings.cards.get(detector, "")
    if not card:
        return _Measured(fit=_Fits())
    path = find_model(f"{card.removesuffix('.json')}.json", "mend detection.cards in config/planners.yaml")
    return load_settings(_Card, path, "model card").detection_probability


def fitted(edges: Sequence[float], shares: _Shares, like: _Shares | None = None) -> Fit | None:
    """Returns the curve through measured shares, bins weighted by their objects; None where there were too few of them.

    like: shares of all clues, of which a few objects count with the class's own in each bin, so that two bottles
    decide nothing.
    """
    count = np.array(shares.objects, dtype=np.float64)
    if count.sum() < _ENOUGH:
        return None
    hits = count * np.array([share or 0.0 for share in shares.probability])
    if like is not None:
        hits += _BORROWED * np.array([share or 0.0 for share in like.probability])
        count += _BORROWED
    limits, known = np.array(edges, dtype=np.float64), count > 0.0

    def curve(metres: NDArray[np.float64], best: float, half: float, softness: float) -> NDArray[np.float64]:
        return np.asarray(best / (1.0 + np.exp((metres - half) / softness)))

    middle = ((limits[:-1] + limits[1:]) / 2.0)[known]
    (best, half, softness), _ = curve_fit(
        curve, middle, hits[known] / count[known], p0=(0.9, 40.0, 10.0), sigma=count[known] ** -0.5,
        bounds=((0.01, 0.0, 1.0), (1.0, 200.0, 60.0)),
    )  # fmt: skip
    return Fit(best=best, half=half, softness=softness)


def light_of(local_time: str) -> float:
    """Returns the share of daylight at a time: 1 by day, 0 at night, 0.5 in twilight."""
    try:
        hour = datetime.fromisoformat(local_time).hour
    except ValueError:
        return 1.0
    if _DAY[0] <= hour < _DAY[1]:
        return 1.0
    return 0.5 if _TWILIGHT[0] <= hour < _TWILIGHT[1] else 0.0


class Detection:
    """The POD in one mission's weather and light, by the detector in use."""

    def __init__(
        self,
        settings: DetectionSettings,
        brief: Brief,
        detector: str = "",
        focal: float = 0.0,
        kinds: Collection[str] = (),
    ) -> None:
        """detector: in use; THERMAL: the thermal camera's, which sees people alone and is told nothing by light.

        focal: focal length (px) of its images; 0: as config/vehicle.yaml has it.

        kinds: of the clues to be expected; none: any.

        Raises UsageError when the detector's model card cannot be used.
        """
        self._focal = focal if focal > 0.0 else load_vehicle().image.model.fx
        self._warm = detector == THERMAL
        on_photographs = settings.measured_on == PHOTOGRAPHS
        self._by_size = load_curve(THERMAL if self._warm else PHOTOGRAPHS) if self._warm or on_photographs else None
        self._settings = settings
        try:
            self._visibility = settings.visibility.get(Weather(brief.weather), math.inf)
        except ValueError:
            self._visibility = math.inf
        self._light = light_of(brief.local_time)
        self._card = load_card(settings, detector)
        self._sharpness = self._focal / self._card.focal
        self._known: dict[str, NDArray[np.float64]] = {}
        self.person = self.of(PERSON)  # by whole metres of range
        self.clue = np.mean([self.of(kind) for kind in sorted(kinds) or [_ALL_CLUES]], axis=0) * (not self._warm)
        self.clue.flags.writeable = False
        self.curves = Curves(self.person, self.clue)

    def of(self, kind: str) -> NDArray[np.float64]:
        """Returns the POD of an object of a kind by whole metres of range, (TABLE_RANGE + 1,)."""
        if kind not in self._known:
            self._known[kind] = self._mixed(kind)
        return self._known[kind]

    def _mixed(self, kind: str) -> NDArray[np.float64]:
        """Returns the day's and the night's curve, mixed by the share of light."""
        mixed = np.zeros(TABLE_RANGE + 1)
        for share, when in ((self._light, "day"), (1.0 - self._light, "dark")):
            if share > 0.0 and kind == PERSON and self._by_size is not None:
                mixed += share * self._of_size(
                    self._by_size, 1.0 if when == "day" or self._warm else self._settings.dark
                )
            elif share > 0.0:
                fit = self._measured(kind, when)
                factor = self._settings.dark if fit is None and when == "dark" else 1.0
                mixed += share * self._curve(fit or self._assumed(kind), factor)
        mixed.flags.writeable = False
        return mixed

    def _measured(self, kind: str, when: str) -> Fit | None:
        """Returns the fit to the card's shares of a class, else of all clues; None where the card has none."""
        edges, by_kind = self._card.range_edges, self._card.by_kind
        every = getattr(by_kind[_ALL_CLUES], when) if _ALL_CLUES in by_kind and kind != PERSON else None
        own = getattr(by_kind[kind], when) if kind in by_kind else None
        fit = fitted(edges, own, every if kind != _ALL_CLUES else None) if own is not None else None
        return fit if fit is not None or every is None else fitted(edges, every)

    def _assumed(self, kind: str) -> Fit:
        """Returns the curve by day where no shares were measured: the card's own fit, else the settings'."""
        settings, fit = self._settings, self._card.fit
        own, half = (fit.person, settings.person_range) if kind == PERSON else (fit.clues, settings.clue_range)
        return own or Fit(best=settings.best, half=half, softness=settings.softness)

    def _curve(self, fit: Fit, light: float) -> NDArray[np.float64]:
        """Returns the curve of a fit in the mission's weather; light: factor on its ranges."""
        settings = self._settings
        metres = np.arange(TABLE_RANGE + 1, dtype=np.float64)
        alike = metres / self._sharpness  # m, where as many pixels lie on target in the images it was measured with
        size = 1.0 / (1.0 + np.exp((alike - fit.half * light) / fit.softness))
        contrast = np.exp(-_EXTINCTION * metres / self._visibility)
        curve = min(fit.best, _SUREST) * size * np.minimum(1.0, contrast / settings.contrast)
        curve[-1] = 0.0
        return np.asarray(curve)

    def _of_size(self, measured: PodCurve, light: float) -> NDArray[np.float64]:
        """Returns the curve of shares by a person's size in pictures.

        light: factor on sizes, assumed in the dark, which shows nobody better.
        """
        metres = np.arange(TABLE_RANGE + 1, dtype=np.float64)
        contrast = np.exp(-_EXTINCTION * metres / self._visibility)
        size = self._focal * SIDE / np.maximum(metres, 1.0)
        shares = np.minimum(measured.at(size), measured.at(light * size))
        curve = np.minimum(shares, _SUREST) * np.minimum(1.0, contrast / self._settings.contrast)
        curve[-1] = 0.0
        return np.asarray(curve)

    def angle_factor(self, sine: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the factor for looks at an angle below the horizon, by its sine."""
        return np.clip(sine / self._settings.grazing, 0.0, 1.0)

    @property
    def reach(self) -> float:
        """Range (m) beyond which a look is nearly uninformative: person detection at or below 2 %."""
        telling = np.flatnonzero(self.person > 0.02)
        return float(telling[-1]) if len(telling) else 0.0
