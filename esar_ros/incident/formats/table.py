"""A table of finds and places as CSV: coordinates in degrees, UTM and MGRS, errors and times, a row each.

Encoded as UTF-8 with a mark at its start, by which Excel knows it. A text that a spreadsheet would take for a formula
is led by an apostrophe.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from esar_ros.geometry.coordinates import grid_position
from esar_ros.incident.features import CHI_SQUARE_95, Position, Search
from esar_ros.incident.formats import words
from esar_ros.scoring.result import write_atomically

COLUMNS = (
    "what", "id", "name", "latitude", "longitude", "altitude_msl_m", "utm", "mgrs", "error_95_m", "probability",
    "state", "time_utc", "picture", "note", "source",
)  # fmt: skip


def write(search: Search, path: Path) -> None:
    """Writes a search's points. Raises UsageError."""
    rows: list[dict[str, str]] = []
    for find in search.finds:
        numbers = {"error_95_m": _number(words.error_of(find), 1), "probability": _number(find.probability, 3)}
        texts = {"id": find.id, "name": find.kind, "picture": words.picture_link(find, path)}
        texts |= {"note": find.note, "source": words.source_name(find.source)}
        head = {"what": "find", "state": find.state.value, "time_utc": words.utc(find.time)}
        rows.append(head | _where(find.position) | numbers | {name: _text(text) for name, text in texts.items()})
    for place in search.places:
        error = None if place.sigma is None else place.sigma * math.sqrt(CHI_SQUARE_95)
        head = {"what": place.kind.value, "error_95_m": _number(error, 1), "time_utc": words.utc(place.time)}
        rows.append(head | _where(place.position) | {"name": _text(place.name), "note": _text(place.note)})
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\r\n")
    table.writeheader()
    table.writerows(rows)
    write_atomically(path, out.getvalue().encode("utf-8-sig"))


def _where(position: Position) -> dict[str, str]:
    grid = grid_position(position.latitude, position.longitude)
    degrees = {"latitude": f"{position.latitude:.8f}", "longitude": f"{position.longitude:.8f}"}
    grids = {} if grid is None else {"utm": grid.utm, "mgrs": grid.mgrs}
    return degrees | grids | {"altitude_msl_m": _number(words.known(position.altitude), 1)}


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _text(text: str) -> str:
    plain = words.clean(text)
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@")) else plain
