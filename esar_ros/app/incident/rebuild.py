"""`esar incident rebuild DIR`: what is derived is made anew from what was given: POA, segments and the flown map."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from esar_ros.app.incident.new import LAYERS, draw_map, say
from esar_ros.incident.prior.laying import lay
from esar_ros.incident.rasters import CANOPY, ELEVATION, OFFSET, POD, POD_ON_FOOT
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError

_GIVEN = {ELEVATION: "--dem", OFFSET: "--ways", CANOPY: "--canopy"}


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    parser = verbs.add_parser(
        "rebuild", help="make POA, segments and map anew: rasters are lost, or words, IPP or area changed"
    )
    parser.add_argument("dir", type=Path, metavar="DIR", help="the incident's folder")


def run(arguments: argparse.Namespace) -> int:
    """Lays the POA again by brief.txt and the layers as they are now. Raises UsageError."""
    lost = list[tuple[str, str]]()
    incident = Incident.open(arguments.dir, lost)
    for name, unit in lost:
        if unit in _GIVEN:
            raise UsageError(
                f"{arguments.dir} has lost its raster of {unit}, which was given",
                f"begin anew with esar incident new {_GIVEN[unit]} FILE, and add what was done",
            )
        if unit in (POD, POD_ON_FOOT):
            incident.let_again(name)
            print(f"the POD of {name} is lost: add its file again: esar incident add {arguments.dir} FILE")
    words = incident.brief
    prior, terrain = lay(incident.search, incident.about, words)
    incident.about |= {"by_words": f"{prior.by_words:g}", "terrain": terrain.told}
    incident.save()
    gone = [layer for layer in LAYERS if layer in incident.about and not Path(incident.about[layer]).is_file()]
    for layer in gone:  # it was not copied
        print(f"{incident.about[layer]} is not there any more: a map that has to be drawn anew is without it")
    about = {key: value for key, value in incident.about.items() if key not in gone}
    draw_map(incident.folder, incident.search, about)
    say(incident, prior, terrain, words)
    return 0
