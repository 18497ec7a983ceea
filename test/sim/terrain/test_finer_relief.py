"""Relief finer than a model: as strong as what the model's cells lost, where it lost it, and none on level ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates, uniform_filter

from esar_ros.sim.terrain.finer_relief import FinerRelief, add_finer_relief, measure, missing_share
from esar_ros.sim.terrain.noise import fbm


@dataclass(frozen=True)
class Coarsened:
    """Heights, and what is left of them when the means of cells of so many heights are interpolated."""

    heights: NDArray[np.float64]
    smooth: NDArray[np.float64]

    @property
    def lost(self) -> NDArray[np.float64]:
        return self.heights - self.smooth


def coarsened(heights: NDArray[np.float64], cell: int) -> Coarsened:
    n = heights.shape[0] // cell * cell
    means = heights[:n, :n].reshape(n // cell, cell, n // cell, cell).mean(axis=(1, 3))
    rows, columns = (np.mgrid[0 : n - 1, 0 : n - 1] + 0.5) / cell - 0.5
    smooth = map_coordinates(means, [rows, columns], order=3, mode="nearest")
    return Coarsened(heights[: n - 1, : n - 1], smooth)


@pytest.fixture(scope="module")
def surveyed() -> NDArray[np.float64]:
    """The Jacksboro fault, Tennessee: matplotlib's sample data, a USGS model."""
    from matplotlib import cbook

    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as dem:
        return np.asarray(dem["elevation"], dtype=np.float64)[:336, :336]


@pytest.mark.parametrize("cell", [3, 4, 6])
def test_as_much_is_added_as_a_real_models_cells_lost(surveyed: NDArray[np.float64], cell: int) -> None:
    known = coarsened(surveyed, cell)
    finer = measure(known.smooth, 1.0, float(cell), 0.0, seed=7)
    assert finer is not None
    assert finer.amplitude == pytest.approx(float(known.lost.std()), rel=0.15)
    made = known.smooth.copy()
    add_finer_relief(made, 1.0, float(cell), finer, None)
    assert (made - known.smooth).std() == pytest.approx(finer.amplitude, rel=0.05)


def test_it_is_added_where_it_was_lost() -> None:
    """Rough ground in the west, smooth ground in the east."""
    n, cell = 256, 4
    rough = np.array([[40.0 * fbm(x / 60.0, y / 60.0, 6, 5, 0.5) for x in range(n)] for y in range(n)])
    heights = rough * np.linspace(1.0, 0.05, n) + 0.2 * np.arange(n)[:, None]
    known = coarsened(heights, cell)
    finer = measure(known.smooth, 1.0, float(cell), 0.0, seed=7)
    assert finer is not None
    made = known.smooth.copy()
    add_finer_relief(made, 1.0, float(cell), finer, None)
    lost, added = (
        np.sqrt(uniform_filter(part**2, 8 * cell))[16:-16:16, 16:-16:16] for part in (known.lost, made - known.smooth)
    )
    assert np.corrcoef(lost.ravel(), added.ravel())[0, 1] > 0.8
    assert added[:, -1].mean() < 0.25 * added[:, 0].mean()


def test_level_ground_the_sea_and_the_centre_stay() -> None:
    n, step, cell = 257, 2.0, 30.0
    axis = np.linspace(-256.0, 256.0, n)
    east = np.broadcast_to(axis, (n, n))
    heights = np.where(east > 0.0, 30.0 * np.sin(axis / 25.0)[:, None] * np.sin(east / 30.0), 0.0) + 5.0
    before = heights.copy()
    finer = FinerRelief(seed=1, amplitude=1.5, hurst=0.9)
    add_finer_relief(heights, step, cell, finer, water_level=-10.0)
    change = np.abs(heights - before)
    assert change[east < -1.0].max() == 0.0 and change[n // 2, n // 2] == 0.0
    assert change[before <= -10.0].max() == 0.0 and (before <= -10.0).any()
    assert change.max() > 1.0


def test_a_model_as_fine_as_the_map_gets_none() -> None:
    heights = np.random.default_rng(0).normal(0.0, 1.0, (257, 257))
    assert measure(heights, 2.0, 1.0, 0.0, seed=7) is None
    assert measure(heights, 2.0, 4.0, 0.0, seed=7) is None
    before = heights.copy()
    add_finer_relief(heights, 2.0, 1.0, FinerRelief(seed=1, amplitude=1.0, hurst=0.9), None)
    assert (heights == before).all()


def test_a_model_that_is_wilder_than_any_ground_gets_no_more_than_may_be_told() -> None:
    steps = np.random.default_rng(0).normal(0.0, 1000.0, (17, 17))
    wild = map_coordinates(steps.cumsum(axis=0).cumsum(axis=1), np.mgrid[0:16:129j, 0:16:129j], order=3)
    finer = measure(wild, 10.0, 80.0, 0.0, 1)
    assert finer is not None and finer.amplitude == 50.0


def test_rounded_heights_of_a_plain_are_no_relief() -> None:
    n, cell = 257, 8
    plain = 300.0 + np.random.default_rng(0).uniform(-0.5, 0.5, (n // cell + 1, n // cell + 1)).round()
    steps = np.kron(plain, np.ones((cell, cell)))[:n, :n]
    rounded, exact = (measure(steps, 1.0, float(cell), quantum, seed=7) for quantum in (1.0, 0.0))
    assert rounded is not None and exact is not None
    assert rounded.amplitude < 0.1 and exact.amplitude <= 0.5


def test_the_share_that_cells_miss_follows_the_law() -> None:
    """Of H = 1/2 the mean square of second differences is 4 S(L) - S(2 L) = 2 S(L), S(L) = pi A L.

    Cells c miss A c / pi.
    """
    assert missing_share(0.5, 2.0) == pytest.approx(1.0 / (4.0 * np.pi**2), rel=1e-3)
    assert missing_share(0.9, 2.0) < missing_share(0.5, 2.0)
