"""Shaders: those of low quality are what every stored result and every trained detector has seen."""

from __future__ import annotations

import hashlib

from esar_ros.sim.render.shaders import common, flora, sky
from esar_ros.sim.render.shaders.common import defined

# Changes with every word of a shader of low quality, and with it perhaps the bits of its pictures: then detectors,
# their bars and stored results have to be made anew.
LOW = "65efe596a6f58598"


def test_shaders_of_low_quality_stay_to_the_letter() -> None:
    total = hashlib.sha256()
    for module in (common, flora, sky):
        for name, text in sorted(vars(module).items()):
            if name.endswith(("_VERTEX", "_FRAGMENT")):
                total.update(f"{name}\n{text}\n".encode())
    assert total.hexdigest()[:16] == LOW


def test_defined_names_stand_after_the_version() -> None:
    assert defined("#version 330 core\nvoid main() {}\n", "A", "B").splitlines()[:3] == [
        "#version 330 core", "#define A", "#define B",
    ]  # fmt: skip
