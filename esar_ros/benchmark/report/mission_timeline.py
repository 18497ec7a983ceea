"""The course of a mission as one SVG: reports, decisions, the governor's modes, coverage and charge over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import cos, pi, sin

from esar_ros.benchmark.report import formatting
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.mission import names
from esar_ros.mission.modes import mode_name, reason_name

WIDTH, LEFT, RIGHT = 1000.0, 104.0, 24.0
_VERDICTS = {"found": "good", "exact": "good", "located": "near", "duplicate": "near", "lost": "near"}
_MODES = {"normal": "good", "slow": "near", "hold": "bad", "climb": "bad", "return": "bad", "land": "calm"}


@dataclass(frozen=True)
class Span:
    """Something that lasted from start to end (s)."""

    start: float
    end: float
    word: str
    note: str


def decision_spans(flown: MissionRecord, vehicle: str) -> list[Span]:
    """Decisions of one planner, those that did the same in a row joined; the note is the first one's reason."""
    rows = flown.record.rows(vehicle, names.DECISION, flown.truth.start, flown.truth.end)
    spans = []
    for action, group in itertools.groupby(rows, key=lambda row: row.action):
        same = list(group)
        spans.append((flown.seconds(same[0].stamp), action, same[0].why))
    return _until_the_next(spans, flown)


def mode_spans(flown: MissionRecord, vehicle: str) -> list[Span]:
    """Modes of one governor with the reason it gave."""
    rows = flown.record.rows(vehicle, names.SAFETY_STATUS, flown.truth.start, flown.truth.end)
    spans = []
    for (mode, reason), group in itertools.groupby(rows, key=lambda row: (row.mode, row.reason if row.mode > 1 else 0)):
        first = next(group)
        spans.append((flown.seconds(first.stamp), mode_name(mode), first.text or formatting.plain(reason_name(reason))))
    return _until_the_next(spans, flown)


def _until_the_next(starts: Sequence[tuple[float, str, str]], flown: MissionRecord) -> list[Span]:
    """Spans of (start, word, note), each lasting until the next begins and the last until the mission's end."""
    ends = [start for start, _, _ in starts[1:]] + [flown.result.metrics.elapsed]
    return [Span(start, end, word, note) for (start, word, note), end in zip(starts, ends, strict=False)]


def timeline_svg(flown: MissionRecord) -> str:
    """SVG text; colours come from the page's CSS classes good, near, bad and calm."""
    total = max(flown.result.metrics.elapsed, 1.0)
    parts: list[str] = []
    y = 8.0
    for vehicle in flown.result.vehicles:
        suffix = f" {vehicle}" if len(flown.result.vehicles) > 1 else ""
        y = _lane(parts, y, f"reports{suffix}", _reports(flown, vehicle, total, y + 17.0), 34.0)
        y = _lane(parts, y, f"decisions{suffix}", _decisions(flown, vehicle, total, y), 30.0)
        y = _lane(parts, y, f"governor{suffix}", _modes(flown, vehicle, total, y), 30.0)
        for label, values, highest in _curves(flown, vehicle):
            if values:
                y = _lane(parts, y, f"{label}{suffix}", _curve(values, total, y, highest), 40.0)
    parts.append(_axis(total, y))
    height = y + 26.0
    return (
        f'<svg class="timeline" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="course of the mission">'
        + "".join(parts)
        + "</svg>"
    )


def _x(time: float, total: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(time / total, 0.0), 1.0)


def _lane(parts: list[str], y: float, label: str, content: Iterable[str], height: float) -> float:
    parts.append(f'<text class="label" x="0" y="{y + height / 2 + 4:.1f}">{escape(label)}</text>')
    parts.extend(content)
    return y + height + 8.0


def _reports(flown: MissionRecord, vehicle: str, total: float, y: float) -> list[str]:
    out = [f'<line class="rule" x1="{LEFT:g}" y1="{y:.1f}" x2="{WIDTH - RIGHT:g}" y2="{y:.1f}"/>']
    for report in flown.result.reports:
        if report.vehicle != vehicle:
            continue
        style = _VERDICTS.get(report.verdict, "bad")
        tip = f"{report.time:.0f} s: {report.text or report.kind} ({formatting.plain(report.verdict)})"
        x = _x(report.time, total)
        if report.type == "victim":
            shape = f'<polygon class="{style}" points="{_star(x, y, 11.0)}">'
            out.append(f"{shape}<title>{escape(tip)}</title></polygon>")
        else:
            corners = f"{x:.1f},{y - 7:.1f} {x + 7:.1f},{y:.1f} {x:.1f},{y + 7:.1f} {x - 7:.1f},{y:.1f}"
            out.append(f'<polygon class="{style}" points="{corners}"><title>{escape(tip)}</title></polygon>')
    return out


def _star(x: float, y: float, radius: float) -> str:
    points = []
    for i in range(10):
        r = radius if i % 2 == 0 else 0.45 * radius
        points.append(f"{x + r * sin(i * pi / 5):.1f},{y - r * cos(i * pi / 5):.1f}")
    return " ".join(points)


def _decisions(flown: MissionRecord, vehicle: str, total: float, y: float) -> list[str]:
    out = []
    for i, span in enumerate(decision_spans(flown, vehicle)):
        x, width = _x(span.start, total), _x(span.end, total) - _x(span.start, total)
        tip = f"{span.start:.0f} to {span.end:.0f} s: {span.word}" + (f" ({span.note})" if span.note else "")
        out.append(
            f'<rect class="decision shade{i % 2}" x="{x:.1f}" y="{y:.1f}" width="{max(width - 1, 0.8):.1f}" '
            f'height="30" rx="3"><title>{escape(tip)}</title></rect>'
        )
        if (letters := int((width - 12) / 6.6)) >= 3:
            short = span.word if len(span.word) <= letters else span.word[: letters - 1] + "…"
            out.append(f'<text class="inside" x="{x + 6:.1f}" y="{y + 19:.1f}">{escape(short)}</text>')
    return out


def _modes(flown: MissionRecord, vehicle: str, total: float, y: float) -> list[str]:
    out = []
    for span in mode_spans(flown, vehicle):
        x, width = _x(span.start, total), _x(span.end, total) - _x(span.start, total)
        plain = span.word == "normal"
        height, top = (8.0, y + 11.0) if plain else (30.0, y)
        tip = f"{span.start:.1f} to {span.end:.1f} s: {span.word}" + ("" if plain else f" ({span.note})")
        out.append(
            f'<rect class="{_MODES.get(span.word, "bad")}" x="{x:.1f}" y="{top:.1f}" '
            f'width="{max(width, 1.2):.1f}" height="{height:g}" rx="2"><title>{escape(tip)}</title></rect>'
        )
    return out


def _curves(flown: MissionRecord, vehicle: str) -> list[tuple[str, list[tuple[float, float]], float]]:
    start, end = flown.truth.start, flown.truth.end
    seen = [
        (flown.seconds(row.stamp), row.coverage) for row in flown.record.rows(vehicle, names.MAP_STATUS, start, end)
    ]
    charge = [(flown.seconds(row.stamp), row.charge) for row in flown.record.rows(vehicle, names.BATTERY, start, end)]
    heights = [
        (flown.seconds(row.stamp), row.height)
        for row in flown.record.rows(vehicle, names.SAFETY_STATUS, start, end)[::10]
        if row.height < 1e6
    ]
    return [
        ("area seen", seen, max((value for _, value in seen), default=0.0)),
        ("height", heights, max((value for _, value in heights), default=0.0)),
        ("charge", charge, 1.0),
    ]


def _curve(values: Sequence[tuple[float, float]], total: float, y: float, highest: float) -> list[str]:
    top = max(highest, 1e-9)
    points = [(_x(t, total), y + 40.0 - 26.0 * min(max(v / top, 0.0), 1.0)) for t, v in values]
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    last = values[-1][1]
    word = f"{last:.1%}" if highest <= 1.0 else f"{last:.0f} m"
    base = y + 40.0
    return [
        f'<polygon class="area" points="{points[0][0]:.1f},{base:.1f} {path} {points[-1][0]:.1f},{base:.1f}"/>',
        f'<polyline class="curve" points="{path}"/>',
        f'<text class="value" x="{points[-1][0] - 4:.1f}" y="{y + 10:.1f}" text-anchor="end">{word}</text>',
    ]


def _axis(total: float, y: float) -> str:
    step = next((s for s in (10, 20, 30, 60, 120, 300, 600, 1200) if total / s <= 10), 3600)
    ticks = []
    for i in range(int(total / step) + 1):
        x = _x(i * step, total)
        ticks.append(f'<line class="grid" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{y:.1f}"/>')
        ticks.append(f'<text class="tick" x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{i * step} s</text>')
    return "".join(ticks)
