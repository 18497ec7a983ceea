"""report.html: one self-contained page about a flown mission."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from markupsafe import Markup

from esar_ros.benchmark.report import formatting
from esar_ros.benchmark.report.mission_images import Find, Miss, collect_finds, collect_misses
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.benchmark.report.mission_surface import surface_jpeg
from esar_ros.benchmark.report.mission_timeline import decision_spans, mode_spans, timeline_svg
from esar_ros.benchmark.report.page import PAGES, fill
from esar_ros.benchmark.report.scorecard import map_jpeg
from esar_ros.planning.belief.brief.coordinates import Ground
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.telling import summary, told
from esar_ros.scoring.result import ClueResult, Result, VictimResult

_NETWORK = {"digest": "SHA-256 of its file", "card": "SHA-256 of its card", "engine": "engine"}
_CHIPS = {"found": "", "exact": "", "located": "near", "duplicate": "near", "lost": "near"}


def render_html(
    flown: MissionRecord,
    map_image: bytes | None = None,
    finds: list[Find] | None = None,
    misses: list[Miss] | None = None,
) -> str:
    """The page. map_image (JPEG), finds and misses are made here unless given."""
    result = flown.result
    m = result.metrics
    facts = parse_brief(flown.truth.task.prompt, _ground(flown))
    return fill(
        PAGES / "mission.html",
        policy=formatting.PAGE_POLICY,
        title=f"{result.task.id} · {result.planner} · {formatting.score(result, m.rs)}",
        r=result,
        m=m,
        ending=formatting.ending(result),
        headline=formatting.headline(result),
        unsafe=formatting.unsafe(result),
        breakdown=formatting.breakdown(result),
        score=lambda share: formatting.score(result, share),
        conditions=formatting.conditions(result),
        brief=told(flown.truth.task.prompt, facts),
        reading=summary(facts),
        bars=[("SR", m.sr), ("TSR", m.tsr), ("CDS", m.cds)],
        facts=_facts(result),
        caveats=formatting.caveats(result),
        surface=surface_jpeg(flown.bag),
        map=map_image if map_image is not None else map_jpeg(flown),
        zones=flown.truth.run.keep_out,
        finds=finds if finds is not None else collect_finds(flown),
        misses=misses if misses is not None else collect_misses(flown),
        timeline=Markup(timeline_svg(flown)),
        decisions=[(vehicle, spans) for vehicle in result.vehicles if (spans := decision_spans(flown, vehicle))],
        holds=[
            (vehicle, spans)
            for vehicle in result.vehicles
            if (spans := [span for span in mode_spans(flown, vehicle) if span.word != "normal"])
        ],
        safety=_safety(result),
        timing=_timing(result),
        sensitivity=sorted(
            [(f"{result.thresholds.error_threshold:g}", m), *m.sensitivity.items()], key=lambda pair: float(pair[0])
        ),
        thresholds=[(formatting.plain(name), _value(value)) for name, value in result.thresholds.model_dump().items()],
        run=_run(result),
        percent=formatting.percent,
        metres=formatting.metres,
        seconds=formatting.seconds,
        plain=formatting.plain,
        found_word=formatting.found_word,
        chip=_chip,
        verdict_chip=lambda verdict: _CHIPS.get(verdict, "bad"),
        why=lambda thing: formatting.why(thing, result.thresholds.error_threshold),
        coordinates=formatting.coordinates,
        uri=_uri,
    )


def _ground(flown: MissionRecord) -> Ground | None:
    """Returns what the brief's coordinates are placed by; None for a place this machine does not have."""
    place = flown.place
    if place is None:
        return None
    half = place.size / 2.0
    return Ground(place.origin, flown.home[:2], np.array([[-half, -half], [half, -half], [half, half], [-half, half]]))


def _uri(jpeg: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")


def _chip(thing: VictimResult | ClueResult) -> str:
    return {"missed": "bad", "located": "near"}.get(formatting.found_word(thing), "")


def _facts(result: Result) -> list[tuple[str, str]]:
    m = result.metrics
    flown = [
        (f"of {result.task.t_max:g} s", formatting.seconds(m.elapsed)),
        ("flown", formatting.metres(m.path_length)),
        ("area seen", f"{m.coverage:.1%}"),
    ]
    if not formatting.is_scored(result):
        return [("reports", str(m.reports)), *flown]
    return [
        ("victims found", f"{m.victims_found} of {m.victims}"),
        ("clues located", f"{m.clues_located} of {m.clues}"),
        ("named right", f"{m.clues_exact} of {m.clues}"),
        *flown,
        ("report precision", f"{m.precision:.0%}"),
        ("false reports", str(m.false_reports)),
    ]


def _safety(result: Result) -> list[tuple[str, str]]:
    safety, m = result.safety, result.metrics
    battery = "–" if safety.battery_at_end is None else f"{safety.battery_at_end:.0%}"
    rows = [
        ("safe", "yes" if safety.safe else "no"),
        ("collisions", str(safety.collisions)),
        ("steps outside the hard envelope", str(safety.breaches)),
        ("nearest obstacle", formatting.metres(safety.min_clearance)),
        ("least height above ground", formatting.metres(safety.min_height)),
        ("safe flight distance", formatting.metres(m.safe_flight_distance)),
        ("charge at the end", battery),
        ("at the end", "landed" if safety.landed_at_end else "airborne"),
        ("steps corrected", str(m.interventions)),
    ]
    rows += [(f"· because of {formatting.plain(reason)}", str(count)) for reason, count in safety.interventions.items()]
    rows += [(f"time in mode {mode}", f"{share:.1%}") for mode, share in safety.modes.items()]
    return rows


def _timing(result: Result) -> list[tuple[str, str]]:
    t = result.timing
    return [
        ("wall time of the mission", formatting.seconds(t.wall_time)),
        ("decisions", str(t.decisions)),
        ("planner latency, mean", f"{1000 * t.latency_mean:.0f} ms"),
        ("planner latency, 95th percentile", f"{1000 * t.latency_p95:.0f} ms"),
        ("planner latency, longest", f"{1000 * t.latency_max:.0f} ms"),
        ("decisions that a model was asked for", "not counted" if t.asked is None else str(t.asked)),
        ("model tokens read", str(t.tokens_in)),
        ("model tokens written", str(t.tokens_out)),
        ("mapping, mean per frame", f"{1000 * t.map_integration_mean:.0f} ms"),
    ]


def _run(result: Result) -> list[tuple[str, str]]:
    network = result.detector_details
    rows = [
        ("mission", result.mission_id),
        ("planner", result.planner),
        ("clue detector", formatting.detector(result) or "not recorded"),
        *((f"· {name}", network[key][:16]) for key, name in _NETWORK.items() if key in network),
        ("eligible", formatting.eligibility(result)),
        ("judge", result.judge),
        ("world", result.world),
        ("pace", f"{result.pace}, clock {result.clock}"),
        ("seed", str(result.seed)),
        ("preset", result.preset),
        ("quality of the images", result.quality),
        ("safety governor", "on" if result.governor else "off"),
        ("odometry", result.odometry),
        ("vehicles", ", ".join(result.vehicles)),
        ("map", f"{result.task.map} {result.map_digest[:16]}"),
        ("event, snapshot", f"{result.task.event}, {result.task.snapshot}"),
    ]
    rows += [(f"planner's {formatting.plain(key)}", value) for key, value in sorted(result.planner_details.items())]
    rows += [(f"· decided without its answer: {why}", str(count)) for why, count in result.planner_troubles.items()]
    return rows + sorted(result.versions.items())


def _value(value: Any) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple | list) else f"{value:g}"
