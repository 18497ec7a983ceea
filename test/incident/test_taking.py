"""Files of every kind come in: what each adds to a search, and what is held against the elevation model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import AreaKind, Mover, Position
from esar_ros.incident.pod import Curves
from esar_ros.incident.sources import photos
from esar_ros.incident.sources.intake import Intake
from esar_ros.incident.taking import Terms, take, take_photos
from helpers import flight_logs
from helpers.hills import LATITUDE, LONGITUDE, hills
from helpers.photographs import photograph

GROUND = hills(relief=8.0)
PICTURE = np.zeros((480, 640, 3), np.uint8)
CURVES = Curves("esar_yolo", "clear")
HOME = Position(34.0003, 107.0003)
FRAME = Origin(LATITUDE, LONGITUDE, 0.0)


def card(folder: Path, *, height: float = 40.0, **told: Any) -> Path:
    """Six photographs along a line to the east, 15 m apart, at a height above the take-off."""
    start = GROUND.height(*GROUND.to_grid(HOME.latitude, HOME.longitude))
    folder.mkdir()
    for number in range(6):
        latitude, longitude, _ = FRAME.to_geodetic([15.0 * number, 0.0, 0.0])
        photograph(
            folder / f"DJI_{number}.JPG", latitude, longitude, altitude=start + height,
            pixels=PICTURE, time=f"2026:05:01 12:00:{number:02d}", **{"RelativeAltitude": f"{height:+.2f}"} | told,
        )  # fmt: skip
    return folder


def gpx(folder: Path) -> Path:
    points = [FRAME.to_geodetic([x, 0.0, 0.0]) for x in (0.0, 100.0, 200.0)]
    text = "".join(f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}"/>' for lat, lon, _ in points)
    (folder / "team.gpx").write_text(f'<gpx version="1.1" creator="t"><trk><trkseg>{text}</trkseg></trk></gpx>')
    return folder / "team.gpx"


def test_a_card_of_photographs_is_a_track_a_pod_and_a_footprint(tmp_path: Path) -> None:
    intake = Intake(HOME)
    search = take(card(tmp_path / "card"), intake, Terms(GROUND, curves=CURVES, home=HOME))
    assert intake.faults == []
    (track,), (pod,), (footprint,) = search.tracks, search.rasters, search.areas
    assert len(track.latitude) == 6 and track.mover is Mover.DRONE
    assert (pod.unit, pod.crs, pod.values.shape) == ("probability of detection", GROUND.crs, GROUND.heights.shape)
    under = GROUND.cells(np.array([LATITUDE]), np.array([LONGITUDE]))[0].astype(int)
    assert 0.3 < pod.values[under[1], under[0]] < 1.0
    assert pod.values[10, 10] == 0.0
    assert footprint.kind is AreaKind.FOOTPRINT
    shape = shapely.Polygon(footprint.outline)
    assert shape.contains(shapely.Point(LONGITUDE + 4e-4, LATITUDE))
    assert pod.values.astype(bool).sum() * GROUND.cell**2 == pytest.approx(_area(shape), rel=0.15)


def test_pictures_that_nobody_looked_at_have_a_footprint_and_no_pod(tmp_path: Path) -> None:
    search = take(card(tmp_path / "card"), Intake(HOME), Terms(GROUND, home=HOME))
    assert search.rasters == [] and len(search.areas) == 1


def _area(shape: Any) -> float:
    return float(geopandas.GeoSeries([shape], crs="EPSG:4326").to_crs(GROUND.crs).area.iloc[0])


def test_without_a_home_what_was_seen_is_marked(tmp_path: Path) -> None:
    intake = Intake(HOME)
    assert take(card(tmp_path / "card"), intake, Terms(GROUND, curves=CURVES)).rasters
    assert "not checked against the ground" in intake.faults[0] and "--home" in intake.faults[0]


@pytest.mark.parametrize("lift", [30.0, -30.0])
def test_on_an_elevation_model_that_is_off_nothing_counts_as_seen(tmp_path: Path, lift: float) -> None:
    intake = Intake(HOME)
    lifted = replace(GROUND, heights=GROUND.heights + lift)
    search = take(card(tmp_path / "card"), intake, Terms(lifted, curves=CURVES, home=HOME))
    assert search.rasters == [] and search.areas == [] and len(search.tracks) == 1
    assert any("disagrees" in line for line in intake.faults)


def test_a_card_without_yaw_is_a_track_alone(tmp_path: Path) -> None:
    intake = Intake(HOME)
    told: dict[str, Any] = {"GimbalYawDegree": "+0.00", "FlightYawDegree": "+0.00"}
    search = take(card(tmp_path / "card", **told), intake, Terms(GROUND, curves=CURVES, home=HOME))
    assert len(search.tracks) == 1 and search.rasters == []
    assert "DJI_0.JPG and 5 more: its yaw is 0 throughout" in intake.faults[0]


def test_people_on_foot_have_a_pod_where_their_range_is_told(tmp_path: Path) -> None:
    path = gpx(tmp_path)
    assert take(path, Intake(HOME), Terms(GROUND)).rasters == []
    (pod,) = take(path, Intake(HOME), Terms(GROUND, detection_range=20.0)).rasters
    column, row = GROUND.cells(*np.array([FRAME.to_geodetic([100.0, 0.0, 0.0])[:2]]).T)[0].astype(int)
    assert 0.5 < pod.values[row, column] < 0.9
    assert take(path, Intake(HOME), Terms(GROUND, mover=Mover.DOG, detection_range=20.0)).rasters == []


def test_polygons_and_logs_come_in_by_their_content(tmp_path: Path) -> None:
    square = shapely.box(LONGITUDE, LATITUDE, LONGITUDE + 1e-3, LATITUDE + 1e-3)
    geopandas.GeoDataFrame({"pod": [0.5]}, geometry=[square], crs="EPSG:4326").to_file(
        tmp_path / "a.gpkg", driver="GPKG"
    )
    (area,) = take(tmp_path / "a.gpkg", Intake(HOME), Terms(GROUND)).areas
    assert (area.kind, area.pod) == (AreaKind.SEARCHED, 0.5)


@pytest.mark.parametrize(("height", "kept"), [(1600.0, True), (1300.0, False)])
def test_heights_of_a_drone_below_the_ground_are_left_out(tmp_path: Path, height: float, kept: bool) -> None:
    rows = [(i * 1_000_000, LATITUDE + 1e-5 * i, LONGITUDE, height) for i in range(5)]
    topics = {"vehicle_global_position": ("uint64_t timestamp;double lat;double lon;float alt", rows)}
    intake = Intake(HOME)
    (track,) = take(flight_logs.ulog(tmp_path / "a", topics), intake, Terms(GROUND)).tracks
    assert np.isfinite(track.altitude).all() == kept
    assert any("below the ground" in line for line in intake.faults) != kept


def test_photographs_come_in_once(tmp_path: Path) -> None:
    paths = photos.files(card(tmp_path / "card"))
    _, first = take_photos("card", paths[:4], Intake(HOME), Terms(GROUND, home=HOME))
    assert list(first.values()) == [f"DJI_{number}.JPG" for number in range(4)]
    seen = list[None]()
    search, rest = take_photos("card", paths, Intake(HOME), Terms(GROUND, home=HOME), first, lambda: seen.append(None))
    assert list(rest.values()) == ["DJI_4.JPG", "DJI_5.JPG"]
    assert len(search.tracks[0].latitude) == 2 and len(seen) == 6


def test_what_gives_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "card").mkdir()
    photograph(tmp_path / "card" / "a.JPG", None)
    intake = Intake(HOME)
    search = take(tmp_path / "card", intake, Terms(GROUND))
    assert not search.tracks and not search.rasters
    assert "it has no position" in intake.faults[0]


def write_video(path: Path, east: float, count: int, altitude: float, more: str = "") -> Path:
    """Writes the telemetry of a video: `east` m a second, `altitude` m above the sea, 40 m above the take-off."""
    cues = []
    for n in range(count):
        latitude, longitude, _ = FRAME.to_geodetic([east * n, 0.0, 0.0])
        cues.append(
            f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},033\n2026-05-01 12:00:{n:02d}.000\n[latitude: {latitude:.7f}] "
            f"[longitude: {longitude:.7f}] [rel_alt: 40.0 abs_alt: {altitude:.3f}]{more}"
        )
    path.write_text("\n\n".join(cues), encoding="utf-8")
    return path


def test_a_video_of_a_camera_that_is_stated_has_a_pod_and_a_footprint(tmp_path: Path) -> None:
    start = GROUND.height(*GROUND.to_grid(HOME.latitude, HOME.longitude))
    path = write_video(tmp_path / "DJI_1.SRT", 6.0, 10, start + 40.0)
    alone = take(path, Intake(HOME, utc_offset=0.0), Terms(GROUND, curves=CURVES))
    assert alone.rasters == [] and len(alone.tracks) == 1
    camera = (-60.0, CameraModel.from_horizontal_fov(1920, 1080, 1.2))
    search = take(path, Intake(HOME, utc_offset=0.0), Terms(GROUND, curves=CURVES, camera=camera))
    (pod,) = search.rasters
    assert float(np.nanmax(pod.values)) > 0.5 and len(search.tracks) == 1
    assert any(area.kind is AreaKind.FOOTPRINT for area in search.areas)
    covered = Terms(GROUND, curves=CURVES, camera=camera, canopy=replace(pod, values=np.full_like(pod.values, 0.8)))
    (under,) = take(path, Intake(HOME, utc_offset=0.0), covered).rasters
    assert float(np.nanmax(under.values)) < 0.5 * float(np.nanmax(pod.values)), "under trees less is seen"


def test_a_video_that_tells_its_gimbal_counts_what_that_showed(tmp_path: Path) -> None:
    """Straight down beside the track: the stated pitch does not count, only the lens."""
    model = CameraModel.from_horizontal_fov(1920, 1080, 1.2)
    altitude = GROUND.height(*GROUND.to_grid(LATITUDE, LONGITUDE)) + 40.0
    path = write_video(tmp_path / "DJI_2.SRT", 5.0, 6, altitude, " [gb_yaw: 0.0 gb_pitch: -90.0 gb_roll: 0.0]")
    search = take(path, Intake(utc_offset=0.0), Terms(GROUND, curves=CURVES, camera=(-20.0, model)))
    (pod,) = search.rasters
    under = GROUND.cells(np.array([LATITUDE]), np.array([LONGITUDE]))[0].astype(int)
    seen = np.argwhere(pod.values > 0.05)
    assert pod.values[under[1], under[0]] > 0.3
    assert np.abs(seen - under[::-1]).max() * pod.cell < 60.0, "nothing far ahead"
    intake = Intake(utc_offset=0.0)
    assert take(path, intake, Terms(GROUND, curves=CURVES)).rasters == []
    assert any("not how wide" in fault for fault in intake.faults)
