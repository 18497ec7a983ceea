"""The debrief of an incident: one page that a search manager reads in a minute, on a screen or on paper (A4)."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from esar_ros import __version__
from esar_ros.benchmark.report.page import fill
from esar_ros.geometry.coordinates import tell_position
from esar_ros.incident.debrief_map import COVERED, draw_map
from esar_ros.incident.features import Area, AreaKind, Find, FindState, Track
from esar_ros.incident.formats.words import clean, error_of, is_faint, source_name, utc
from esar_ros.incident.probability import by_segment, poa_ground, stand
from esar_ros.incident.rehearsal import REHEARSAL, rehearsed
from esar_ros.incident.store import Incident
from esar_ros.mission.clues import PERSON

TEMPLATE = Path(__file__).with_name("pages") / "debrief.html"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # one file: nothing is loaded, nothing runs
SEGMENTS = 12  # that are listed: the likeliest now
_PICTURE = 400_000  # bytes of a find's picture that the page holds at most


def debrief_page(incident: Incident) -> str:
    """Returns the page as HTML, one file. Raises UsageError where the incident has no POA."""
    now, pod = stand(incident)
    ground, search = poa_ground(incident), incident.search
    segments = by_segment(incident, now, pod)
    before = {area.name: area.poa or 0.0 for area in search.areas if area.kind is AreaKind.SEGMENT}
    picture = draw_map(search, segments, ground, now.normalised, pod)
    shown = [find for find in search.finds if find.state is not FindState.NEW or not is_faint(find)]
    finds = sorted(shown, key=_importance)
    return fill(
        TEMPLATE,
        title=f"Debrief: {clean(search.name)}",
        policy=POLICY,
        name=clean(search.name),
        about=incident.about,
        brief=incident.brief.strip(),
        version=__version__,
        map=_image(picture, "png"),
        covered=f"{100 * COVERED:.0f} %",
        facts=[
            (_percent(now.success), "probability of success (POS) of what was done: so sure would it have found them"),
            (_percent(1.0 - now.normalised_rest), "POA on the map that is left"),
            (f"{(pod >= COVERED).sum() * ground.cell**2 / 1e4:.0f} ha", f"with a POD of {100 * COVERED:.0f} % or more"),
            (str(sum(find.state is not FindState.DISMISSED for find in finds)), "finds that are not dismissed"),
        ],
        finds=[_find_row(find) for find in finds],
        improbable=len(search.finds) - len(finds),
        segments=[
            (area.name, _percent(before.get(area.name, 0.0)), _percent(area.poa or 0.0), _percent(area.pod or 0.0))
            for area in sorted(segments, key=lambda area: -(area.poa or 0.0))[:SEGMENTS]
        ],
        rest=_percent(now.normalised_rest),
        done=[_track_row(track) for track in sorted(search.tracks, key=_begin)],
        searched=[_searched_row(area) for area in search.areas if area.kind is AreaKind.SEARCHED],
        next=[
            (
                clean(s.name),
                _percent(s.pos or 0.0),
                f"{s.hectares or 0.0:.0f}",
                f"{s.minutes:.0f}",
                rehearsed(incident.folder / REHEARSAL, s),
            )
            for s in search.sorties
        ],
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _image(data: bytes, kind: str) -> Markup:
    return Markup(f"data:image/{kind};base64,{base64.b64encode(data).decode()}")


def _importance(find: Find) -> tuple[bool, bool, float]:
    return find.state is FindState.DISMISSED, find.kind != PERSON, -(find.probability or 0.0)


def _find_row(find: Find) -> dict[str, Any]:
    chance = "" if find.probability is None else _percent(find.probability)
    return {
        "id": clean(find.id), "kind": clean(find.kind).replace("_", " "), "state": find.state.value,
        "probability": chance, "time": utc(find.time), "note": clean(find.note), "source": source_name(find.source),
        "where": tell_position(find.position.latitude, find.position.longitude, error_of(find)),
        "picture": _picture(find),
    }  # fmt: skip


def _picture(find: Find) -> Markup | None:
    """Returns a find's picture, where it still is and is small enough for a page."""
    path = find.picture
    if path is None:
        return None
    kind = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}.get(path.suffix.lower())
    if kind is None or not path.is_file() or path.stat().st_size > _PICTURE:
        return None
    return _image(path.read_bytes(), kind)


def _begin(track: Track) -> float:
    known = track.time[np.isfinite(track.time)]
    return float(known[0]) if known.size else np.inf


def _track_row(track: Track) -> tuple[str, str, str, str]:
    known = track.time[np.isfinite(track.time)]
    minutes = f"{(known[-1] - known[0]) / 60.0:.0f}" if known.size > 1 else ""
    return clean(track.name), track.mover.value, utc(float(known[0])) if known.size else "", minutes


def _searched_row(area: Area) -> tuple[str, str, str]:
    pod = "not told, not counted" if area.pod is None else _percent(area.pod)
    return clean(area.name), pod, clean(area.note)
