"""Classes of wordings of ways and places, each with what must not be taken for one of the class."""

from __future__ import annotations

from typing import Any

import phrasings
import pytest

AT = [0, None]
BACKWARDS: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    ("Her last message: 'the radio mast is 800 metres to the west of me'. Our drone lifts off at the radio mast.",
     AT, [[800, 90]]),
    ("The boathouse is 300 m east of where the canoe was found upturned. UAV: boathouse.", AT, [[300, 270]]),
    ("The saddle is 600 m NW of the LKP. Drone at the saddle.", AT, [[600, 135]]),
    ("Drone position is 500 m north of the LKP.", None, [[500, 180, "take-off"]]),
    ("We can see the lighthouse, it's north of us, two miles maybe, the girls texted. Drone at the lighthouse.",
     AT, [[3218, 180]]),
    # not backwards
    ("LKP is 600 m NW of the saddle. Drone at the saddle.", AT, [[600, 315]]),
    ("The hut is 900 m west of the road. He went 300 m north of the hut. The drone is at the hut.",
     AT, [[900, 270], [300, 0]]),
    ("Your launch site lies 700 m east of the wreck; the crew are still with the wreck.", [700, 90], []),
    ("LKP: hut. A cap lay 200 m north of the LKP, a shoe 450 m north of the LKP. Drone at the hut.",
     AT, [[200, 0], [450, 0]]),
)  # fmt: skip
CLOCKS: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    # an hour of the day
    ("He phoned at four o'clock. He is 400 m north of the school. Drone: school.", AT, [[400, 0]]),
)  # fmt: skip
TAKEN_BACK: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    ("She went 600 m east from the stile, sorry, west from the stile. Drone is at the stile.", AT, [[600, 270]]),
    ("He is 500 m north of the bridge. Correction: 500 m south. Drone at the bridge.", AT, [[500, 180]]),
    ("They turned north at the ford - scratch that, south - and went on for a kilometre. Drone at the ford.",
     AT, [[1000, 180]]),
    ("The report of a light 2 km west of the dam has been withdrawn. New: light 900 m east of the dam. Drone at dam.",
     AT, [[900, 90]]),
    ("Position 500 m E of the tower (was: 500 m W). Drone: tower", AT, [[500, 90]]),
    # not taken back
    ("I'm sorry to bother you. He went 500 m north from the bench. No, I have not seen him since. "
     "He then went 200 m west. Drone at the bench.", AT, [[500, 0], [200, 270, "on"]]),
    ("Call from Two: she is 300 south of the barn. Correction, the drone is 300 south of the barn, "
     "she is 500 east of the barn.", [300, 180], [[500, 90]]),
)  # fmt: skip
RETURNS: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    ("Dog tracked her 1.1 km east of the barn, then 400 m back towards it. Drone at the barn.",
     AT, [[1100, 90], [400, 270, "on"]]),
    ("They walked 900 m west of the quarry, turned round and retraced their steps for 300 m. UAS at the quarry.",
     AT, [[900, 270], [300, 90, "on"]]),
    # no return
    ("His back hurts. He walked 700 m west from the cabin. Drone at the cabin.", AT, [[700, 270]]),
    ("She went back to the hut and then 400 m north. Drone at the hut.", AT, [[400, 0]]),
    ("Come back to me on this. Target 900 m north of the silo. UAV on the silo.", AT, [[900, 0]]),
)  # fmt: skip
VEHICLES: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    ("You will be flying from the jetty. The jetty is 250 m west of the hotel. She was seen 600 m north of the hotel.",
     [250, 270], [[600, 0]]),
    ("He was seen 500 m west of the chalet. The crew with the drone are at the helipad; that is 200 m north of the "
     "chalet.", [200, 0], [[500, 270]]),
    ("The site from which the aircraft operates lies 350 m south-west of the shelter. Her rucksack was 500 m north of "
     "the shelter.", [350, 225], [[500, 0]]),
    ("Police moved their drone to the lower car park, 500 m south of the station. She was 1.3 km east of the station.",
     [500, 180], [[1300, 90]]),
    ("She left the home at noon and was seen 400 m south of the home. The UAV is flown 150 m north of the home.",
     [150, 0], [[400, 180]]),
    # somebody else's place
    ("Drones have gone up since dawn from the brewery, and it was 600 m north of the brewery that he was last seen.",
     AT, [[600, 0]]),
    ("The inn lies 400 m east of your take-off. He went from the inn 500 m north.",
     None, [[400, 90, "take-off"], [500, 0, "on"]]),
)  # fmt: skip
FORMS: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (
    ("Ref pt: silo. RP from UAV: 300 m E. Casualty from RP: 200 m N.",
     None, [[300, 90, "take-off"], [200, 0, "on"]]),
    ("1. Launch site: chapel\n2. Landmark: cave, 900 m N of launch site\n3. Subject: 200 m W of landmark",
     AT, [[900, 0], [200, 270, "on"]]),
    ("Reference: bridge\nUAS from reference: 200 m E\nSubject from reference: 500 m S", [200, 90], [[500, 180]]),
    ("He left the inn heading 210 for 800 m. Drone at the inn.", AT, [[800, 210]]),
    ("They are midway between the jetty and the islet; the islet lies 900 m south of the jetty. Drone at the jetty.",
     AT, [[450, 180]]),
    # a compass word that is a name
    ("They camped on the north shore. The tent is 700 m east of the dam. Drone at the dam.", AT, [[700, 90]]),
    ("The ridge runs north. He is 500 m west of the hut. Drone at the hut.", AT, [[500, 270]]),
)  # fmt: skip
MEASURES: tuple[tuple[str, list[Any] | None, list[list[Any]]], ...] = (  # as reports of incidents have them
    ("He fell north-east of the 978m (3,209ft) summit. Drone at the summit.", AT, [[None, 45]]),
    ("She set out on the 19-mile route and turned south at the gate. Drone at the gate.", AT, [[None, 180]]),
    ("A 29yr old man is 1/10th of a mile north of the trailhead. Drone at the trailhead.", AT, [[161, 0]]),
    ("He is 300 m (1,000 ft) east of the summit. Drone at the summit.", AT, [[300, 90]]),
)


@pytest.mark.parametrize(
    ("text", "start", "ways"), BACKWARDS + CLOCKS + TAKEN_BACK + RETURNS + VEHICLES + FORMS + MEASURES
)
def test_start_and_ways(text: str, start: list[Any] | None, ways: list[list[Any]]) -> None:
    marks = phrasings.understood({"text": text, "start": start, "ways": ways, "victims": 1, "stationary": False})
    assert marks["start"] and marks["ways"], phrasings.lines_read(phrasings.parse_brief(text))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Drone at the south gate. He was seen 500 m east of the south gate.", (500.0, 0.0)),
        ("Drone in the air above the gate. Bicycles lean on a birch 300 m west of the gate.", (-300.0, 0.0)),
        ("Take-off is the crest of the north dam. His rod lay 700 m from the north dam on a bearing of 90 degrees.",
         (700.0, 0.0)),
        ("Task the drone south of the mast out to a kilometre. You start at the mast.", (0.0, -1000.0)),
    ],
)  # fmt: skip
def test_the_prior_is_on_the_side_told(text: str, place: tuple[float, float]) -> None:
    middle = phrasings.middle_of({"text": text})[1]
    assert middle == pytest.approx(place, abs=120.0)


@pytest.mark.parametrize("text", ["A 29yr old male walker is overdue.", "Missing: 31 yo woman.", "A 7 yrs old boy."])
def test_an_age_is_no_number_of_people(text: str) -> None:
    assert phrasings.parse_brief(text).victims == 1
