"""Modes and reasons: equal to the message's constants, all ordered."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from esar_ros.mission.modes import SEVERITY, Mode, Reason, by_severity
from esar_ros.mission.resources import resource


def test_values_equal_the_message() -> None:
    text = resource("msg/SafetyStatus.msg").read_text(encoding="utf-8")
    modes = {n: int(v) for n, v in re.findall(r"^uint8 MODE_(\w+)=(\d+)", text, re.MULTILINE)}
    reasons = {n: int(v) for n, v in re.findall(r"^uint16 REASON_(\w+)=(\d+)", text, re.MULTILINE)}
    assert modes == {mode.name: mode.value for mode in Mode}
    assert reasons == {reason.name: reason.value for reason in Reason}


def test_every_reason_has_one_place_in_the_order() -> None:
    assert sorted(SEVERITY) == sorted(set(Reason) - {Reason.NONE})


@given(st.lists(st.sampled_from(SEVERITY)))
def test_order_does_not_depend_on_when_a_reason_was_found(reasons: list[Reason]) -> None:
    ordered = by_severity(reasons)
    assert ordered == by_severity(reversed(reasons))
    assert set(ordered) == set(reasons) and len(ordered) == len(set(reasons))
    assert [SEVERITY.index(r) for r in ordered] == sorted(SEVERITY.index(r) for r in ordered)
