"""The paper's numbers are the paper's."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.task import TIERS
from esar_ros.suites.esarbench.paper import PAPER


def test_single_values_are_those_of_tables_2_and_3() -> None:
    assert len(PAPER.methods) == 9
    assert PAPER.methods["APEX"]["overall", "sr"] == 13.89
    assert PAPER.methods["SPF"]["overall", "rs"] == 13.12
    assert PAPER.methods["VLFM"]["extreme", "tsr"] == 5.12
    assert PAPER.methods["NavGPT"]["extreme", "cds"] == 4.86


def test_means_are_those_of_section_4_2_2() -> None:
    names = list(PAPER.methods)
    means = [np.mean([PAPER.methods[m]["overall", "cds"] for m in part]) for part in (names[5:], names[3:5])]
    assert [round(float(mean), 2) for mean in means] == [3.48, 2.70]


def test_no_method_finds_faster_than_it_finds() -> None:
    for values in PAPER.methods.values():
        assert all(values[tier, "tsr"] <= values[tier, "sr"] for tier in (*TIERS, "overall"))
