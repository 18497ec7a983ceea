"""The missing stay where they are, or do not."""

from __future__ import annotations

import pytest

from esar_ros.planning.belief.brief.staying import is_stationary


@pytest.mark.parametrize(
    "text",
    [
        "She can't put any weight on her foot.",
        "They're sitting under a rock and waiting for us.",
        "He has been told not to move.",
        "Both are hypothermic and unable to continue.",
        "He fell and lies at the foot of the cliff.",
        "Her ankle is broken.",
        "The two are stuck on a ledge.",
        "He said he would stay with the quad.",
        "He's holed up in a snow cave.",
        "non-ambulatory",
        "mobility: none",
        "they have pitched the tent and will sit out the storm",
        "The boat is aground and they are staying aboard.",
        "hanging in the rope",
        "He's exhausted and can go no further.",
        "He has made camp there.",
        "They have orders not to leave the snow hole.",
    ],
)
def test_they_stay(text: str) -> None:
    assert is_stationary(text)


@pytest.mark.parametrize(
    "text",
    [
        "He is walking towards the valley.",
        "They keep moving.",
        "He wanted to wait for the bus but left.",
        "The team is waiting at the hut.",
        "Nobody knows where he stayed.",
        "mobile, fit walker",
        "She may have taken shelter.",
        "He broke his arm but kept walking.",
        "The weather is staying fine.",
        "They never stay in one place.",
        "Do not wait for the helicopter.",
        "We are all waiting here, beside the drone.",
        "Subject: boy, 8\nNot missing: his father, waits at car",
        "",
    ],
)
def test_they_do_not_stay(text: str) -> None:
    assert not is_stationary(text)
