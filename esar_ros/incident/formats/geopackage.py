"""Layers of a GeoPackage as files hold them: written, and those of others copied from one file into another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, first_line


def write_layer(path: Path, layer: str, frame: Any, geometry_type: str | None = None) -> None:
    """geometry_type: of a frame without rows, or of mixed ones; None: that of its rows."""
    import pyogrio

    about = {} if geometry_type is None else {"geometry_type": geometry_type}
    pyogrio.write_dataframe(frame, path, layer=layer, driver="GPKG", append=False, promote_to_multi=False, **about)


def keep_layers(before: Path, path: Path, own: set[str]) -> None:
    """Writes the layers that somebody else has put into the GeoPackage. Raises UsageError where one cannot be kept."""
    import pyogrio

    if not before.is_file():
        return
    spatial = {str(layer): kind for layer, kind in pyogrio.list_layers(before) if kind is not None}
    for layer in sorted({*spatial, *_tables(before)} - own):
        try:
            if layer not in spatial:
                _copy_table(before, path, layer)
                continue
            frame = pyogrio.read_dataframe(before, layer=layer)
            if any(isinstance(value, bytes) for name in frame.columns for value in frame[name]):
                raise ValueError("it holds binary values")
            write_layer(path, layer, frame, spatial[layer])
        except (ValueError, TypeError, RuntimeError, sqlite3.Error) as error:
            said = f"{before}: layer {layer} cannot be kept: {first_line(error)}"
            raise UsageError(said, "move it to a file of its own") from error


def _tables(path: Path) -> set[str]:
    """Returns the tables of a GeoPackage that are not its own."""
    with closing(sqlite3.connect(path)) as connection:
        names = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {name for name in names if not name.startswith(("gpkg_", "rtree_", "sqlite_"))}


def _copy_table(before: Path, path: Path, table: str) -> None:
    """Copies a table without a geometry byte by byte, as a project of QGIS is one."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ATTACH ? AS old", (str(before),))
        named = '"' + table.replace('"', '""') + '"'
        ((made,),) = connection.execute("SELECT sql FROM old.sqlite_master WHERE type = 'table' AND name = ?", (table,))
        with connection:
            connection.execute(made)
            connection.execute(f"INSERT INTO main.{named} SELECT * FROM old.{named}")
            told = "INSERT INTO main.gpkg_contents SELECT * FROM old.gpkg_contents WHERE table_name = ?"
            connection.execute(told, (table,))
