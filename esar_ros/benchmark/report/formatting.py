"""Wording of results, shared by terminal, image and page."""

from __future__ import annotations

from typing import TypeGuard

from esar_ros.mission import names
from esar_ros.mission.task import FIELD
from esar_ros.perception.detectors.real_pictures import real_flight_warning
from esar_ros.scoring.flight import FAILED
from esar_ros.scoring.losses import LOOK_RANGE
from esar_ros.scoring.result import Cause, ClueResult, ReportResult, Result, VictimResult
from esar_ros.scoring.score import UNKNOWN
from esar_ros.scoring.truth import End

# A report is read as a file: it may draw itself, and neither run anything nor ask any server.
PAGE_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

ENDINGS = {
    End.STOP: "ended by the planner",
    End.TIMEOUT: "time was up",
    End.COLLISION: "ended by a collision",
    End.BREACH: "ended by leaving the safety envelope",
    End.ERROR: "failed",
    End.ABORTED: "ended by a person",
    End.LANDED: "landed by the governor or the autopilot",
}

CAUSES = {
    Cause.FOUND: "found",
    Cause.NEVER_LOOKED: "never looked",
    Cause.LOOKED_AND_MISSED: "looked and missed",
    Cause.SEEN_NOT_REPORTED: "seen, not reported",
    Cause.REPORTED_OFF: "reported off",
    Cause.TOO_LATE: "too late",
    Cause.CRASHED: "crashed",
    Cause.FAILED: "run failed",
}


_LOOKED = {Cause.SEEN_NOT_REPORTED: "unsure", Cause.LOOKED_AND_MISSED: "looked"}
_UNSEEN = (Cause.NEVER_LOOKED, Cause.TOO_LATE, Cause.CRASHED, Cause.FAILED)


def ending(result: Result) -> str:
    """Returns the reason for a mission's end, of a landing in the words of the result, or that its bag is cut."""
    if result.truncated is not None:
        return "bag truncated"
    return result.end_text if result.end is End.LANDED and result.end_text else ENDINGS[result.end]


def plain(word: str) -> str:
    """lower_snake_case as words."""
    return word.replace("_", " ")


def percent(share: float) -> str:
    """A share of 1 in per cent, with one decimal."""
    return f"{100.0 * share:.1f}"


def metres(value: float | None) -> str:
    """A distance, a dash when unknown."""
    if value is None:
        return "–"
    return f"{value / 1000.0:.2f} km" if value >= 1000.0 else f"{value:.1f} m"


def seconds(value: float | None) -> str:
    """A time, a dash when unknown."""
    return "–" if value is None else f"{value:.0f} s"


def conditions(result: Result) -> str:
    """Weather and hour of a task."""
    return f"{plain(result.task.weather)}, {result.task.local_time[11:16]} h"


def found_word(thing: VictimResult | ClueResult) -> str:
    """found, exact, located or missed."""
    if isinstance(thing, VictimResult):
        return "found" if thing.found else "missed"
    return "exact" if thing.exact else "located" if thing.located else "missed"


def explanation(thing: VictimResult | ClueResult, gate: float) -> str:
    """Returns in short the time and distance of a find, or the nearest approach. gate: the error threshold, m."""
    if thing.distance is not None:
        return f"{seconds(thing.time)}, {metres(thing.distance)} off"
    if _lost(thing, gate):
        return f"reported {metres(thing.nearest_report)} off, lost"
    if thing.nearest_picture is not None and thing.cause in _LOOKED:
        return f"{_LOOKED[thing.cause]} from {thing.nearest_picture:.0f} m"
    if thing.closest_approach is not None:
        if thing.cause in _UNSEEN:
            return f"came within {metres(round(thing.closest_approach)).replace('.0 m', ' m')}"
        return f"passed at {metres(thing.closest_approach)}"
    return "never near"


def why(thing: VictimResult | ClueResult, gate: float) -> str:
    """Returns a sentence on why an object was missed; empty for finds, and where it was not recorded."""
    if thing.report is not None or thing.cause is None:
        return ""
    if _lost(thing, gate):
        return (
            f"reported {metres(thing.nearest_report)} off, but the assignment over all distances gave that report to "
            "another victim"
        )
    pictures = f"{thing.pictures} picture{'' if thing.pictures == 1 else 's'}"
    return {
        Cause.REPORTED_OFF: "reported too far off, or as something else",
        Cause.SEEN_NOT_REPORTED: f"seen, not reported: at most {100.0 * (thing.track_score or 0.0):.0f} % sure",
        Cause.LOOKED_AND_MISSED: f"looked and missed: {pictures} within {LOOK_RANGE:.0f} m, the detector told of none",
        Cause.NEVER_LOOKED: f"never looked: in no picture within {LOOK_RANGE:.0f} m",
        Cause.TOO_LATE: f"too late: the flight ended before a picture within {LOOK_RANGE:.0f} m",
        Cause.CRASHED: "crashed",
        Cause.FAILED: "the run failed",
        Cause.FOUND: "",
    }[thing.cause]


def _lost(thing: VictimResult | ClueResult, gate: float) -> TypeGuard[VictimResult]:
    """Returns whether a report lay near enough to an unfound victim: assignment precedes the gate (appendix B)."""
    near = thing.nearest_report if isinstance(thing, VictimResult) and not thing.found else None
    return near is not None and near < gate


def is_scored(result: Result) -> bool:
    """Returns whether it is known who and what lies where a mission was flown."""
    return result.task.split != FIELD


def score(result: Result, share: float) -> str:
    """A score in per cent; a dash where there is none: of a run that failed (a benchmark counts it as 0), and of a
    search of one's own."""
    return percent(share) if result.error is None and is_scored(result) else "–"


def coordinates(report: ReportResult) -> str:
    """Returns where a report says that something is, for other people's maps: degrees WGS 84, UTM and MGRS."""
    return "–" if report.where is None else report.where.words


def headline(result: Result) -> str:
    """Returns what must be read before any number: that the run failed, or the trouble with the model's answers."""
    return f"no score: {result.error}" if result.error is not None else result.trouble


def breakdown(result: Result) -> str:
    """Returns what the points of a rescue score are for; empty where there is no score."""
    if result.error is not None or not is_scored(result):
        return ""
    safe = result.thresholds.weight_safety * float(result.metrics.safe)
    clues = result.thresholds.weight_clues * result.metrics.cds
    victims = max(result.metrics.rs - safe - clues, 0.0)
    flight = "a safe flight" if result.metrics.safe else "safety"
    return f"{percent(safe)} for {flight} + {percent(victims)} for victims + {percent(clues)} for clues"


def unsafe(result: Result) -> str:
    """Returns why a flight was not safe; empty where it was, and where it failed for no other reason."""
    reasons = [reason for reason in result.safety.reasons if reason != FAILED]
    return f"not safe: {', '.join(reasons)}" if reasons else ""


def eligibility(result: Result) -> str:
    """Returns whether a result may be compared; a dash where the run failed, which leaves nothing to compare."""
    return "–" if result.error is not None else "yes" if result.eligible else "no"


def detector(result: Result) -> str:
    """Returns the clue detector's name, with the file of its network where it has one; empty: not recorded."""
    known = result.detector_details
    return " ".join(known[key] for key in ("backend", "model") if key in known)


def caveats(result: Result) -> list[str]:
    """Returns the caveats that a reader must know before comparing this result."""
    reasons = [reason for reason in result.ineligible_reasons if reason not in (FAILED, UNKNOWN)]  # said elsewhere
    notes = [] if is_scored(result) else [f"not scored: {UNKNOWN}"]
    notes += [f"not eligible: {reason}" for reason in reasons]
    if result.preset != "paper" and result.preset != "default":
        notes.append(f"preset {result.preset}")
    if result.quality != names.DEFAULT_QUALITY:
        notes.append(f"images of {result.quality} quality")
    if not result.governor:
        notes.append("flown without the safety governor")
    if result.world in names.AUTOPILOTS:
        notes.append(real_flight_warning(result.detector_details))
    return notes
