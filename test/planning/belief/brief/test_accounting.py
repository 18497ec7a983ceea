"""Nothing of a brief that carries facts is silent: it is read, recognised, or left over."""

from __future__ import annotations

import pytest

from esar_ros.planning.belief.brief.facts import Content
from esar_ros.planning.belief.brief.parser import corrected, parse_brief
from esar_ros.planning.belief.brief.tokens import LONGEST


def left(text: str) -> dict[str, Content]:
    return {text[one.start : one.end]: one.content for one in parse_brief(text).left}


def aside(text: str) -> dict[str, str]:
    return {text[one.start : one.end]: one.why for one in parse_brief(text).passages if one.is_aside}


@pytest.mark.parametrize(
    ("text", "words", "content"),
    [
        ("Keep an eye on the ridge. POA 50/30/20.", "50/30/20", Content.SHARES),
        ("Sector A has 45 %, sector B the rest.", "45 %", Content.SHARES),
        ("Half of it is 12 per cent likely.", "12 per cent", Content.SHARES),
        ("Do not fly over the glacier tongue.", "Do not fly over the glacier tongue", Content.PROHIBITION),
        ("Go there, but please keep away from the nests.", "keep away from the nests", Content.PROHIBITION),
        ("The dam is a no-fly zone.", "The dam is a no-fly zone", Content.PROHIBITION),
        ("Drones must not be flown above the school.", "Drones must not", Content.PROHIBITION),
        ("Beware of the cable, he was seen at the mast.", "Beware of the cable", Content.PROHIBITION),
        ("An autistic man is missing.", "autistic", Content.CATEGORY),
        ("A man with dementia is missing.", "dementia", Content.CATEGORY),
        ("He went uphill.", "uphill", Content.SLOPE),
        ("She followed the bank downstream.", "downstream", Content.SLOPE),
        ("He may be trying to reach the hut.", "the hut", Content.LANDMARK),
        ("He was seen 400 m east of the quarry. You start at the mill.", "the quarry", Content.LANDMARK),
        ("He never got to the path.", "the path", Content.LANDMARK),
        ("See map sheet 1247.", "1247", Content.NUMBER),
        ("The fix has an accuracy of 300 m.", "300 m", Content.WAY),
        ("He is 900,000 km north of the hut.", "900,000 km", Content.WAY),
        ("Channel B12 is ours.", "B12", Content.NUMBER),
        ("A dog barked, 70 m.", "70 m", Content.WAY),
        ("9" * 400 + " of them", "9" * 400, Content.NUMBER),
    ],
)
def test_what_no_reading_uses_is_left(text: str, words: str, content: Content) -> None:
    told = left(text)
    assert any(words in one and told[one] is content for one in told), told


@pytest.mark.parametrize(
    ("text", "words", "what"),
    [
        ("A man of 60 is missing.", "60", "an age"),
        ("Zhong, 33, is missing.", "33", "an age"),
        ("She is missing since 14:00.", "14:00", "a time"),
        ("He left at 9.30 am.", "9.30 am.", "a time"),
        ("He left on 3 May 2024.", "3 May 2024", "a time"),
        ("It is twenty past seven.", "twenty", "a time"),
        ("Two hikers are missing.", "Two", "a number of people"),
        ("Ring 07700 900461.", "07700 900461", "a telephone number"),
        ("Her phone has 18 % battery.", "18 %", "a charge"),
        ("The tower is 40 m high.", "40 m", "a height, a length, a speed or a time"),
        ("A light wind from the north.", "north", "of the wind"),
    ],
)
def test_what_tells_of_no_place_is_left_aside(text: str, words: str, what: str) -> None:
    assert aside(text).get(words) == what and words not in left(text), (aside(text), left(text))


def test_what_a_way_was_read_from_is_not_left() -> None:
    text = "The drone starts at the hut. Ann, 34, was last seen 300 m north of the hut at 14:00, going uphill."
    assert left(text) == {}
    assert parse_brief(text).unread == 0.0


def test_an_order_is_no_way() -> None:
    """And shares are none: "20 for the north" of "50/30/20 for the north" is 20 m in no reading."""
    for text in ("Do not fly 300 m north of the hut.", "POA 50/30/20 for the north, middle and south sectors."):
        assert parse_brief(f"The drone starts at the hut. {text}").moves == (), text


def test_what_an_order_after_a_colon_is_about_is_no_way() -> None:
    facts = parse_brief("The drone starts at the hut. Private land 300 m east of the hut: no entry.")
    assert facts.moves == ()
    assert len(parse_brief("The drone starts at the hut. She is 300 m east of the hut: do not land there.").moves) == 1


def test_an_order_to_stay_is_still_read() -> None:
    facts = parse_brief("We told her: do not move. She is 300 m north of you.")
    assert facts.stationary and len(facts.moves) == 1


@pytest.mark.parametrize("words", ["He left on the sixteenth.", "She was one of the pupils.", "He left the party."])
def test_days_and_people_are_no_places(words: str) -> None:
    assert left(words) == {}


def test_what_is_taken_back_is_left_aside() -> None:
    text = "The drone starts at the hut. She was seen 300 m north of the hut."
    text = corrected(text, "she was seen 400 m east of the hut")
    assert aside(text) == {"300 m north": "taken back"} and left(text) == {}


def test_a_place_that_is_told_in_a_correction_is_located() -> None:
    text = "You take off at the village. He was last seen 2 miles south of the antenna."
    assert left(text) == {"the antenna": Content.LANDMARK}
    assert left(corrected(text, "the antenna is 3 km north of the village")) == {}


def test_a_place_is_told_once() -> None:
    text = "He left the quarry. He may be at the quarry. She went to the quarry."
    assert list(left(text)) == ["the quarry"]


def test_what_is_longer_than_is_read_is_said() -> None:
    text = "x " * LONGEST
    (rest,) = parse_brief(text).left
    assert (rest.start, rest.end, rest.content) == (LONGEST, len(text), Content.REST)


def test_the_more_is_left_the_larger_its_share() -> None:
    read = "The drone starts at the hut. She was last seen 300 m north of the hut."
    shares = [
        parse_brief(read + more).unread for more in ("", " POA 50/30/20.", " POA 50/30/20. Do not fly at the dam.")
    ]
    assert shares == sorted(set(shares)) and shares[0] == 0.0 and shares[-1] < 1.0
