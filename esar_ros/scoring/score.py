"""Score of one mission: its reports and flight, compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission import names
from esar_ros.mission.decision import PARTLY, ReportType
from esar_ros.mission.stamps import NANO
from esar_ros.scoring import metrics
from esar_ros.scoring.findings import Claim, Claims, Findings, collect_claims
from esar_ros.scoring.flight import (
    FAILED,
    Flight,
    count_answers,
    count_troubles,
    fly_over,
    summarise_safety,
    summarise_timing,
)
from esar_ros.scoring.judge import Judge
from esar_ros.scoring.losses import Looks, Seen, cause_of, collect_looks
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import (
    ClueResult,
    Metrics,
    ReportResult,
    Result,
    Safety,
    Scores,
    TaskInfo,
    VictimResult,
    Where,
)
from esar_ros.scoring.truth import End, Point, TrueClue, TrueVictim, Truth
from esar_ros.scoring.whereabouts import places_of

UNUSED = "no answer of the model could be used"  # why a flight is not eligible


def score(record: EpisodeRecord, truth: Truth, judge: Judge) -> Result:
    """Result of a mission. A function of the record's rows, the truth and the judge's answers alone.

    Of a bag that was cut before the mission's end, what lies before the cut is scored, and the result says so.
    """
    truth, truncated = _up_to_the_cut(record, truth)
    claims = collect_claims(record, truth, judge)
    found = claims.matched(truth, truth.thresholds.error_threshold)
    flights = fly_over(record, truth)
    safety = summarise_safety(flights, truth)
    reports = _reports(record, claims, found, truth)
    troubles, (asked, used) = count_troubles(record, truth), count_answers(record, truth)
    reasons = (*_ineligible(record, truth, truncated), *((UNUSED,) if asked and not used else ()))
    looks, run = collect_looks(record, truth), truth.run
    return Result(
        schema="esar-result/1",
        mission_id=run.mission_id,
        task=_task(truth),
        planner=run.planner,
        planner_details=run.planner_details,
        planner_troubles=troubles,
        trouble=_trouble(asked, used, troubles),
        detector_details=run.detector_details,
        eligible=run.eligible and not reasons,
        ineligible_reasons=reasons,
        judge=claims.judgement.judge,
        judge_details=dict(claims.judgement.details),
        pace=run.pace,
        clock=run.clock,
        world=run.world,
        seed=run.seed,
        preset=run.preset,
        quality=run.quality,
        governor=run.governor,
        odometry=run.odometry,
        map_digest=run.map_digest,
        versions=run.versions,
        vehicles=tuple(sorted(truth.vehicles)),
        thresholds=truth.thresholds,
        end=truth.end_reason,
        end_text=truth.end_text,
        error=truth.end_text or "unknown" if truth.end_reason is End.ERROR else None,
        truncated=truncated,
        metrics=_metrics(claims, found, flights, safety, reports, truth),
        reports=reports,
        victims=_victims(looks, found, reports, flights, truth),
        clues=_clues(looks, found, reports, flights, truth),
        safety=safety,
        timing=summarise_timing(record, truth),
    )


def _trouble(asked: int, used: int, troubles: Mapping[str, int]) -> str:
    """Returns in words how many of a model's answers could be used, and the reason of most that could not."""
    if used == asked:
        return ""
    without = {why: count for why, count in troubles.items() if not why.startswith(PARTLY)}
    most = max(without, key=lambda why: without[why])
    return f"{used} of {asked} answers of the model could be used: {most} ({without[most]} times)"


def _up_to_the_cut(record: EpisodeRecord, truth: Truth) -> tuple[Truth, float | None]:
    """The truth of what the record holds, and the mission time (s) at which it breaks off, None when it does not."""
    if not record.cut or record.last_stamp >= truth.end:
        return truth, None
    end = max(record.last_stamp, truth.start)
    at = (end - truth.start) / NANO
    text = f"the bag is truncated at {at:.1f} s"
    return truth.model_copy(update={"end": end, "end_reason": End.ABORTED, "end_text": text}), at


def _elapsed(truth: Truth) -> float:
    """Returns how long the mission lasted, s."""
    return min(max((truth.end - truth.start) / NANO, 0.0), truth.task.t_max)


def _scored_time(truth: Truth) -> float:
    """Returns the time (s) by which success is weighed: who was landed by another has not ended its search."""
    return truth.task.t_max if truth.end_reason is End.LANDED else _elapsed(truth)


def _scores(found: Findings, safe: bool, truth: Truth) -> Scores:
    """The paper's metrics; a run that failed scores 0 in each."""
    counts = (0, 0, 0, 0)
    if truth.end_reason is not End.ERROR:
        counts = (
            len(found.victims_found),
            found.victims_gated_first,
            len(found.clues_located),
            len(found.clues_exact),
        )
    victims, gated_first, located, exact = counts
    elapsed, t_max = _scored_time(truth), truth.task.t_max
    sr = metrics.share(victims, len(truth.victims))
    cds = metrics.clue_score(located, exact, len(truth.clues), truth.thresholds)
    return Scores(
        sr=sr,
        sr_gated_first=metrics.share(gated_first, len(truth.victims)),
        tsr=metrics.time_weighted_success(sr, elapsed, t_max),
        cds=cds,
        rs=metrics.rescue_score(safe, sr, cds, elapsed, t_max, truth.thresholds),
        victims_found=victims,
        clues_located=located,
        clues_exact=exact,
    )


def _metrics(
    claims: Claims,
    found: Findings,
    flights: tuple[Flight, ...],
    safety: Safety,
    reports: tuple[ReportResult, ...],
    truth: Truth,
) -> Metrics:
    scores = _scores(found, safety.safe, truth)
    without_safety = scores.rs - truth.thresholds.weight_safety * float(safety.safe)
    scored = [report for report in reports if report.verdict != "over_cap"]
    correct = scores.victims_found + scores.clues_located
    return Metrics(
        **scores.model_dump(),
        rs_without_safety=max(0.0, without_safety),
        victims=len(truth.victims),
        clues=len(truth.clues),
        safe=safety.safe,
        crashed=safety.collisions > 0,
        elapsed=_elapsed(truth),
        efficiency=metrics.efficiency(_scored_time(truth), truth.task.t_max),
        path_length=sum(flight.path_length for flight in flights),
        safe_flight_distance=sum(flight.safe_distance for flight in flights),
        coverage=max(flight.coverage for flight in flights),
        min_clearance=safety.min_clearance,
        interventions=sum(safety.interventions.values()),
        reports=len(reports),
        reports_scored=len(scored),
        reports_over_cap=len(reports) - len(scored),
        false_reports=sum(report.verdict == "false" for report in scored),
        duplicate_reports=sum(report.verdict == "duplicate" for report in scored),
        precision=metrics.share(correct, len(scored)),
        sensitivity={
            f"{gate:g}": _scores(claims.matched(truth, gate), safety.safe, truth)
            for gate in truth.thresholds.sensitivity_thresholds
        },
    )


@dataclass(frozen=True)
class _Outcome:
    verdict: str
    truth: TrueVictim | TrueClue | None


def _outcomes(claims: Claims, found: Findings, truth: Truth) -> dict[int, _Outcome]:
    """Outcome of each claim that scored, by its index; an exact match says more than a located one."""
    outcomes: dict[int, _Outcome] = {}
    for match in found.victims_found:
        outcomes[match.report] = _Outcome("found", truth.victims[match.truth])
    for match in found.clues_located:
        outcomes[match.report] = _Outcome("located", truth.clues[match.truth])
    for match in found.clues_exact:
        outcomes[match.report] = _Outcome("exact", truth.clues[match.truth])
    return outcomes


def _reports(record: EpisodeRecord, claims: Claims, found: Findings, truth: Truth) -> tuple[ReportResult, ...]:
    outcomes = _outcomes(claims, found, truth)
    found_ids = {outcome.truth.id for outcome in outcomes.values() if outcome.truth is not None}
    places = places_of(record, claims.claims)
    return tuple(_report(claim, outcomes.get(i), found_ids, places[i], truth) for i, claim in enumerate(claims.claims))


def _report(
    claim: Claim, outcome: _Outcome | None, found_ids: set[str], where: Where | None, truth: Truth
) -> ReportResult:
    row = claim.row
    kind = ReportType(row.type).name.lower() if row.type in set(ReportType) else "unknown"
    target = outcome.truth if outcome else _nearest(claim, truth)
    distance = None
    if target is not None and claim.position is not None:
        distance = float(np.linalg.norm(claim.position - np.array(target.position)))
    if claim.over_cap:
        verdict = "over_cap"
    elif not truth.task.is_scored:
        verdict = "unknown"
    elif outcome:
        verdict = outcome.verdict
    elif target is None or distance is None or distance >= truth.thresholds.error_threshold:
        verdict = "false"
    else:
        verdict = "duplicate" if target.id in found_ids else "lost"
    return ReportResult(
        vehicle=claim.vehicle,
        seq=row.seq,
        time=(row.stamp - truth.start) / NANO,
        type=kind,  # type: ignore[arg-type]
        kind=row.kind,
        text=row.text,
        confidence=row.confidence,
        position=None if claim.position is None else _point(claim.position),
        where=where,
        verdict=verdict,  # type: ignore[arg-type]
        ok=outcome is not None,
        matched=target.id if target is not None else None,
        distance=distance,
    )


def _point(position: Vector) -> Point:
    return float(position[0]), float(position[1]), float(position[2])


def _nearest(claim: Claim, truth: Truth) -> TrueVictim | TrueClue | None:
    """The victim or clue, as the report claims, that lies nearest to it."""
    targets: tuple[TrueVictim | TrueClue, ...] = ()
    if claim.row.type == ReportType.VICTIM:
        targets = truth.victims
    elif claim.row.type == ReportType.CLUE:
        targets = truth.clues
    if claim.position is None or not targets:
        return None
    away = metrics.distances(claim.position, [target.position for target in targets])[0]
    return targets[int(np.argmin(away))]


def _looked(
    thing: TrueVictim | TrueClue, found: bool, seen: Seen | None, reports: tuple[ReportResult, ...], truth: Truth
) -> dict[str, Any]:
    """Returns the fields of a result on the progress of the search for a victim or clue."""
    cause = cause_of(thing, found, seen, reports, truth)
    if seen is None:
        return {"cause": cause}
    return {
        "cause": cause,
        "pictures": seen.images,
        "nearest_picture": seen.nearest,
        "nearest_picture_time": None if seen.nearest_at is None else (seen.nearest_at - truth.start) / NANO,
        "nearest_picture_vehicle": seen.nearest_by,
        "told_from": seen.first_reported_range,
        "track_score": seen.track_score,
        "track_views": seen.track_views,
    }


def _victims(
    looks: Looks | None,
    found: Findings,
    reports: tuple[ReportResult, ...],
    flights: tuple[Flight, ...],
    truth: Truth,
) -> tuple[VictimResult, ...]:
    by_victim = {match.truth: match for match in found.victims_found}
    out = []
    for i, victim in enumerate(truth.victims):
        match, seen = by_victim.get(i), looks.victims[i] if looks else None
        out.append(
            VictimResult(
                id=victim.id,
                name=victim.name,
                pose=victim.pose,
                position=victim.position,
                found=match is not None,
                report=match.report if match else None,
                time=reports[match.report].time if match else None,
                distance=match.distance if match else None,
                nearest_report=_nearest_report(reports, victim.position),
                closest_approach=_approach(flights, victim.position),
                **_looked(victim, match is not None, seen, reports, truth),
            )
        )
    return tuple(out)


def _nearest_report(reports: tuple[ReportResult, ...], position: Point) -> float | None:
    places = [r.position for r in reports if r.type == "victim" and r.verdict != "over_cap" and r.position is not None]
    return float(metrics.distances(places, position).min()) if places else None


def _clues(
    looks: Looks | None,
    found: Findings,
    reports: tuple[ReportResult, ...],
    flights: tuple[Flight, ...],
    truth: Truth,
) -> tuple[ClueResult, ...]:
    located = {match.truth: match for match in found.clues_located}
    exact = {match.truth: match for match in found.clues_exact}
    out = []
    for i, clue in enumerate(truth.clues):
        match = exact.get(i) or located.get(i)
        out.append(
            ClueResult(
                id=clue.id,
                kind=clue.kind,
                description=clue.description,
                position=clue.position,
                located=i in located,
                exact=i in exact,
                report=match.report if match else None,
                time=reports[match.report].time if match else None,
                distance=match.distance if match else None,
                closest_approach=_approach(flights, clue.position),
                **_looked(clue, match is not None, looks.clues[i] if looks else None, reports, truth),
            )
        )
    return tuple(out)


def _approach(flights: tuple[Flight, ...], position: tuple[float, float, float]) -> float | None:
    return min((away for flight in flights if (away := flight.nearest(position)) is not None), default=None)


UNKNOWN = "nobody knows who and what lies there"  # why a search of one's own is not scored
DAMAGED = "the bag is damaged"  # begins why a flight is not eligible


def _ineligible(record: EpisodeRecord, truth: Truth, truncated: float | None) -> tuple[str, ...]:
    """Reasons of the run, and of what was seen in it.

    A detector may say itself that it used ground truth, a governor that its limits are not the benchmark's.
    """
    backends = {
        row.backend
        for vehicle in truth.vehicles
        for row in record.rows(vehicle, names.CLUES, None, truth.end)
        if not row.eligible
    }
    seen = tuple(f"detector {backend} uses ground truth" for backend in sorted(backends))
    limits = tuple(f"safety limits differ: {row.text}" for _, row in record.all_rows(names.SAFETY_LIMITS))
    damage = (f"{DAMAGED}: {record.damaged} of its chunks are not what their checksums say",) if record.damaged else ()
    unknown = () if truth.task.is_scored else (UNKNOWN,)
    aborted: tuple[str, ...] = ()
    if truncated is not None:
        aborted = (truth.end_text,)
    elif truth.end_reason is End.ABORTED:
        aborted = ("a person ended the mission",)
    elif truth.end_reason is End.ERROR:
        aborted = (FAILED,)
    return tuple(dict.fromkeys((*truth.run.ineligible_reasons, *seen, *unknown, *limits, *damage, *aborted)))


def _task(truth: Truth) -> TaskInfo:
    task = truth.task
    return TaskInfo(
        id=task.id,
        map=task.map,
        event=task.event,
        snapshot=task.snapshot,
        split=task.split,
        tier=task.tier,
        difficulty=task.difficulty,
        weather=task.weather.value,
        local_time=task.local_time.isoformat(),
        t_max=task.t_max,
    )
