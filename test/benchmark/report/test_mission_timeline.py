"""Timeline of a flown mission: what was decided and in what mode it flew, without gaps."""

from __future__ import annotations

from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.benchmark.report.mission_timeline import decision_spans, mode_spans, timeline_svg


def test_spans_cover_the_mission_without_gaps(flown: MissionRecord) -> None:
    decisions, modes = decision_spans(flown, "uav1"), mode_spans(flown, "uav1")
    assert [(s.word, s.start, s.end) for s in decisions] == [("take off", 0.0, 5.0), ("lane 1", 5.0, 40.0)]
    assert [(s.word, s.start, s.end) for s in modes] == [
        ("normal", 0.0, 10.0),
        ("hold", 10.0, 12.0),
        ("normal", 12.0, 40.0),
    ]
    assert modes[1].note == "<tree> ahead"


def test_the_timeline_is_well_formed_and_escaped(flown: MissionRecord) -> None:
    import xml.etree.ElementTree as ElementTree

    root = ElementTree.fromstring(timeline_svg(flown))
    tips = [element.text or "" for element in root.iter() if element.tag.endswith("title")]
    assert any("orange <tent> (exact)" in tip for tip in tips)
    assert any("hold (<tree> ahead)" in tip for tip in tips)
