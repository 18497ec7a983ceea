"""Ways of whole briefs in words of many kinds: how far, which way, from where, one after the other."""

from __future__ import annotations

from typing import Any

import phrasings
import pytest

TOLD: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    (
        "He left the guest house, 250 m west of your launch site, and a farmer met him 900 m south of the guest house.",
        None, [[250, 270, "take-off"], [900, 180, "on"]],
    ),
    (  # a vehicle that is not the drone
        "A ranger's vehicle stands 350 m south of where you take off. Footprints lead 200 m west from the vehicle.",
        None, [[350, 180, "take-off"], [200, 270, "on"]],
    ),
    (  # somebody who came back
        "Karl went 400 m north of the hut, he's back with us. Willi went 700 m east of the hut. Drone at the hut.",
        [0, None], [[700, 90]],
    ),
    ("From a point two kilometres west of the hut he called. You fly from the hut.", [0, None], [[2000, 270]]),
    ("Your position three hundred west of the mast. He is four hundred north of the mast.", [300, 270], [[400, 0]]),
    ("The dam is 1 km south. Somebody whistled 450 m south of the hut. Negative on the north side, a kilometre. "
     "Drone's at the hut.", [0, None], [[1000, 180], [450, 180]]),
    (
        "He went 300 m north of the hut. You start 100 m east of the hut.\nCorrection: he went 500 m west of the hut.",
        [100, 90], [[500, 270]],
    ),
    (
        "He went 300 m north of the hut. You start 100 m east of the hut.\nCorrection: you start 50 m south of the "
        "hut.",
        [50, 180], [[300, 0]],
    ),
    (
        "Drone one, your tasking: from your location fly three hundred metres bearing zero nine zero, that's "
        "the last ping. One person.",
        None, [[300, 90, "take-off"]],
    ),
    (
        "Head out over the lake, 600 m east of your position, and check the island.",
        None, [[600, 90, "take-off"]],
    ),
    (
        "From the drone's start it is 200 m north to the gate. She went through the gate and 500 m east along "
        "the wall.",
        None, [[200, 0, "take-off"], [500, 90, "on"]],
    ),
    (
        "She was 15 minutes out of camp on the way south when the fog came. The drone is in camp.",
        [0, None], [[1200, 180]],
    ),
    (
        "Beacon heard strongest at 320 degrees, range approx. 1.5 km from the drone.",
        None, [[1500, 320, "take-off"]],
    ),
    (
        "Drone pilot: you are 450 m north of the sawmill. The old man often walks from the sawmill to the weir,"
        " 600 m further south.",
        [450, 0], [[600, 180]],
    ),
    (
        "A walker met him three quarters of a mile north of the inn at four. Half a mile further north the path"
        " is closed. The drone is at the inn.",
        [0, None], [[1207, 0], [804, 0, "on"]],
    ),
    (
        "Please fly to the summit cross, 1200 m north-east of your start, then follow the ridge south for 400 "
        "m.",
        None, [[1200, 45, "take-off"], [400, 180, "on"]],
    ),
    (
        "Missing from the picnic site. Site is 200 m E of drone. He's three and can't have got farther than 300"
        " m.",
        None, [[200, 90, "take-off"]],
    ),
    (
        "You: hut. Him: 400 N of hut, in the couloir.",
        [0, None], [[400, 0]],
    ),
    (
        "I walked with him from your drone to the stile, that's 200 m east, and from the stile he carried on by"
        " himself to the north for I'd say ten minutes.",
        None, [[200, 90, "take-off"], [800, 0, "on"]],
    ),
    (
        "We were three hundred metres short of the pass, coming from the south, when he fell behind. The drone "
        "is on the pass.",
        [0, None], [[300, 180]],
    ),
    (
        "The wreck lies 2 km off the point to the south, and he took the dinghy north-west from the wreck. "
        "Drone at the point.",
        [0, None], [[2000, 180], [None, 315, "on"]],
    ),
    (
        "North of the drone, at about two kilometres, smoke was seen yesterday evening.",
        None, [[2000, 0, "take-off"]],
    ),
    (
        "Drone base: sports field. From there: 300 m N to the footbridge. From the footbridge: 500 m upstream "
        "(W).",
        [0, None], [[300, 0], [500, 270, "on"]],
    ),
    (
        "The area up to 400 m west of the drone was searched. Now do the strip 800 m west of the drone.",
        None, [[800, 270, "take-off"]],
    ),
    ("Ping 800 m +-200 due W of mast. T/O mast.", [0, None], [[800, 270]]),
    (
        "He drifted 900 m north of the quay, another 600 m in the same direction by noon. The drone is at the quay.",
        [0, None], [[900, 0], [600, 0, "on"]],
    ),
    (
        "He's been gone for three hours. He ran off to the west. You have your drone at the picnic tables.",
        [0, None], [[None, 270]],
    ),
    ("Seen bearing 340 from the drone, range 590.\n- Correction, nine five zero metres.", None,
     [[950, 340, "take-off"]]),
    (  # telephones
        "Call 555 019 about the drone. Witness: 555 342. He went 400 m north of your start.", None,
        [[400, 0, "take-off"]],
    ),
)  # fmt: skip
"""The brief; its start, metres and degrees from the landmark; its ways, as test/data/briefs/README.md says."""


@pytest.mark.parametrize(("text", "start", "ways"), TOLD)
def test_start_and_ways(text: str, start: list[Any] | None, ways: list[list[Any]]) -> None:
    marks = phrasings.understood({"text": text, "start": start, "ways": ways, "victims": 1, "stationary": False})
    assert marks["start"] and marks["ways"]
