"""An incident's folder as far as a mission reads it: two sorties are planned."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path


def little_incident(folder: Path, planned: bool = True) -> Path:
    """An incident as far as a mission reads it."""
    (folder / "plans").mkdir(parents=True)
    (folder / "brief.txt").write_text("She was last seen at the hut.", encoding="utf-8")
    with closing(sqlite3.connect(folder / "incident.gpkg")) as base:
        base.execute("create table about (key text, value text)")
        base.execute("insert into about values ('map', 'incident_valley')")
        if planned:
            base.execute("create table sorties (name text, minutes real)")
            base.executemany("insert into sorties values (?, ?)", [("sortie 1", 12.0), ("sortie 2", 6.0)])
        base.commit()
    for number in (1, 2):
        mission = {"plannedHomePosition": [46.5, 8.0 + number, 900.0]}
        (folder / "plans" / f"sortie_{number}.plan").write_text(json.dumps({"mission": mission}))
    return folder
