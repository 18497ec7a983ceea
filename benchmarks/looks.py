"""The contrast that the ground shows, in low and in high quality, seen straight down by day.

    ./esar exec python benchmarks/looks.py [--page]

A figure is the mean over nine places a spot, 30 m apart, each by the same camera, 960x720 and 75 degrees wide, at noon.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from page import Table, add_page, end_with, write_page
from renderer import SPOTS as PLACES

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.names import QUALITIES
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.render.tiles.fields import SPAN
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World

SNOW = "shoulder"  # whose rms has no goal
SPOTS = {  # by name: map and place (x, y), m
    name: (map_id, x, y)
    for map_id, places in PLACES.items()
    for name, (x, y, *_) in places.items()
    if name != "overview"
}
WIDTH, HEIGHT, VIEW = 960, 720, math.radians(75.0)
NOON = datetime(2024, 7, 20, 13)
BAND = (0.2, 2.0)  # m, wavelengths of stones, tufts and ripples
LOW, HIGH = 25.0, 60.0  # m above the ground
RISE, MEAN, REPEAT = 1.6, 0.05, 0.10  # goals
STEPS = (-30.0, 0.0, 30.0)  # m, east and north of a spot


def textured(grey: NDArray[np.float64], metres: float) -> NDArray[np.float64]:
    """Returns the part of an image (H, W) whose wavelengths lie in the band; metres: of a pixel on the ground."""
    across = np.hypot(np.fft.fftfreq(grey.shape[0], metres)[:, None], np.fft.rfftfreq(grey.shape[1], metres))
    kept = (across >= 1.0 / BAND[1]) & (across <= 1.0 / BAND[0])
    return np.fft.irfft2(np.fft.rfft2(grey - grey.mean()) * kept, grey.shape)


def repetition(part: NDArray[np.float64], metres: float) -> float:
    """Returns the largest correlation of an image (H, W) with itself, about one tile further, whichever way."""
    shape = tuple(2 * side for side in part.shape)
    moved, weight = np.fft.rfft2(part, shape), np.fft.rfft2(np.ones(part.shape), shape)
    product = np.fft.irfft2(moved * moved.conj(), shape)
    energy = np.fft.irfft2(np.fft.rfft2(part**2, shape) * weight.conj(), shape)  # of what overlaps, and of its partner
    partner = np.roll(energy[::-1, ::-1], (1, 1), (0, 1))
    far = np.hypot(*np.meshgrid(*(np.fft.fftfreq(side, 1.0 / side) * metres for side in shape), indexing="ij"))
    about = (far > 0.8 * SPAN) & (far < 1.2 * SPAN)
    return float((product[about] / np.sqrt(energy[about] * partner[about])).max())


def seen(world: World, renderer: Renderer, x: float, y: float) -> NDArray[np.float64]:
    """Returns the rms of the band at both heights, the mean grey at the lower, the repetition at the higher: (4,)."""
    rms, extra = [], []
    for above in (LOW, HIGH):
        eye = np.array([x, y, float(world.ground_height((x, y))) + above])
        pose = Pose(eye, quaternion_from_rotation(optical_rotation(math.pi / 2, -math.pi / 2)))
        grey = renderer.render([pose], 0.0).rgb[0].astype(float) @ (0.299, 0.587, 0.114)
        metres = 2.0 * above * math.tan(VIEW / 2.0) / WIDTH
        part = textured(grey, metres)
        rms.append(float(part.std()))
        extra.append(float(grey.mean()) if above == LOW else repetition(part, metres))
    return np.array([*rms, *extra])


def spot_figures(name: str) -> NDArray[np.float64]:
    """Returns the figures of both qualities at a spot, (2, 9, 4)."""
    map_id, x, y = SPOTS[name]
    world = World(load_map(map_id), 0)
    world.environment = Environment(local_time=NOON)
    made = []
    for quality in QUALITIES:
        renderer = Renderer(world, WIDTH, HEIGHT, VIEW, quality=quality)
        made.append([seen(world, renderer, x + east, y + north) for east in STEPS for north in STEPS])
        renderer.close()
    return np.array(made)


def main() -> int:
    """Measures every spot, prints a table and a JSON line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_page(parser)
    arguments = parser.parse_args()
    rows, figures = [], {}
    for name in SPOTS:
        places = spot_figures(name)
        low, high = places.mean(axis=1)
        rise, mean = high[:2] / low[:2], high[2] / low[2] - 1.0
        worst = float(places[1, :, 3].max())
        met = name == SNOW or rise.min() >= RISE, abs(mean) <= MEAN, worst < REPEAT
        rows.append([
            name, *(f"{low[i]:.1f} / {high[i]:.1f} ({rise[i]:.1f})" for i in (0, 1)),
            f"{low[2]:.0f} / {high[2]:.0f} ({100 * mean:+.0f} %)", f"{high[3]:.2f}, at most {worst:.2f}",
            ", ".join(word for word, good in zip(("rms", "grey", "repetition"), met, strict=True) if not good) or "-",
        ])  # fmt: skip
        figures[name] = {"low": low.tolist(), "high": high.tolist(), "worst_repetition": worst}
        print(*rows[-1], sep=" | ", flush=True)
    print(json.dumps({"benchmark": "looks", "figures": figures}))
    if arguments.page:
        about = (
            f"The ground seen straight down at noon under a clear sky, {WIDTH}x{HEIGHT} and 75 degrees wide, mean of "
            f"nine places 30 m apart. rms: of the grey's wavelengths from {BAND[0]} to {BAND[1]:.0f} m; repetition: "
            f"their largest correlation 0.8 to 1.2 of the ground's tiles ({SPAN:.0f} m) further, from {HIGH:.0f} m up. "
            f"Goals: rms at least {RISE} times that of low quality, but on the shoulder's snow; mean grey within 5 %; "
            f"repetition below {REPEAT:.2f} at every place."
        )
        columns = (
            "spot", f"rms at {LOW:.0f} m, low / high", f"rms at {HIGH:.0f} m", f"mean grey at {LOW:.0f} m",
            "repetition, high", "missed",
        )  # fmt: skip
        write_page(__file__, "What the ground has to show", about, {}, [Table(columns, rows)])
    return 0


if __name__ == "__main__":
    end_with(main)
