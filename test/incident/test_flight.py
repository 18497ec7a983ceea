"""A bag as a search: its tracks, finds with their error and picture, and seen ground; nothing of the truth."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pyproj import Transformer

from esar_ros.app import cli
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import AreaKind, Place, PlaceKind, Position, Search
from esar_ros.incident.flight import search_of
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError
from helpers.built_messages import SECOND, START, build, header, point
from helpers.small_mission import mission, odometry

ORIGIN = Origin(33.95, 107.75, 2800.0)
COVARIANCE = np.array([4.0, 1.0, 0.0, 1.0, 9.0, 0.0, 0.0, 0.0, 2.25])
CELL, SEEN = 4.0, (slice(3, 8), slice(2, 12))  # m; rows = y, columns = x of the grid that are seen
FORMATS = "geojson,kml,gpx,cot,csv,geotiff"


def brief(**values: Any) -> Any:
    area = [point(-50.0, -50.0, 0.0), point(50.0, -50.0, 0.0), point(50.0, 50.0, 0.0)]
    told = {"mission_id": "test-belief-1", "map_id": "aotai", "local_time": "2021-10-03T09:20:00", "area": area}
    place = {"origin_latitude": 33.95, "origin_longitude": 107.75, "origin_altitude": 2800.0}
    return build("esar_ros/msg/Brief", header=header(0.0), home=point(1.0, 2.0, 3.0), **(told | place | values))


def coverage() -> Any:
    cells = np.full((20, 20), -1, dtype=np.int8)
    cells[SEEN] = 40
    at = build("geometry_msgs/msg/Pose", position=point(-40.0, -40.0, 0.0))
    info = build("nav_msgs/msg/MapMetaData", resolution=CELL, width=20, height=20, origin=at)
    return build("nav_msgs/msg/OccupancyGrid", header=header(9.0), info=info, data=cells.ravel())


def clues() -> Any:
    def clue(number: int, kind: str, x: float, probability: float, spread: np.ndarray) -> Any:
        place = point(x, 0.0, 0.0)
        return build(
            "esar_ros/msg/Clue", id=number, kind=kind, probability=probability, position=place, covariance=spread
        )

    seen = [clue(1, "tent", 40.0, 0.9, COVARIANCE), clue(2, "rope", -20.0, 0.2, np.zeros(9))]
    return build("esar_ros/msg/Clues", header=header(6.0), eligible=True, clues=seen)


def jpeg() -> np.ndarray:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), (0, 90, 0)).save(out, "JPEG")
    return np.frombuffer(out.getvalue(), dtype=np.uint8)


def in_space() -> Any:
    one = build("vision_msgs/msg/Detection3D", header=header(5.0))
    return build("vision_msgs/msg/Detection3DArray", header=header(5.0), detections=[one])


def frame() -> Any:
    at = build("geometry_msgs/msg/Transform", translation=point(10.0, 0.0, 0.0))
    one = build("geometry_msgs/msg/TransformStamped", header=header(0.0), child_frame_id="uav1/odom", transform=at)
    return build("tf2_msgs/msg/TFMessage", transforms=[one])


def write_bag(path: Path, told: Any = None, with_images: bool = True, positions: int = 400) -> Path:
    """A flight of 20 s eastwards, its odom frame 10 m east of the map's origin, with one report, of a tent."""
    box = build(
        "esar_ros/msg/Detection", kind="tent", camera="front", x=20, y=10, width=12, height=8, has_position=True,
        position=point(40.5, 0.0, 0.0),
    )  # fmt: skip
    report = build(
        "esar_ros/msg/Report", header=header(6.0), seq=1, type=1, kind="tent", text="orange tent", confidence=0.9,
        position=point(41.0, 0.0, 0.0),
    )  # fmt: skip
    truth = [message for topic, _, message in mission("{}") if topic.endswith("truth")]
    messages: list[tuple[str, str, float, Any]] = [
        ("/uav1/mission/brief", "esar_ros/msg/Brief", 0.0, brief() if told is None else told),
        ("/tf_static", "tf2_msgs/msg/TFMessage", 0.0, frame()),
        *(("/uav1/odometry", "nav_msgs/msg/Odometry", i / 20, odometry(i / 20)) for i in range(positions)),
        ("/uav1/clues", "esar_ros/msg/Clues", 6.0, clues()),
        ("/uav1/reports", "esar_ros/msg/Report", 6.0, report),
        ("/uav1/mission/truth", "esar_ros/msg/Truth", 20.0, truth[0]),
    ]
    if with_images:
        detections = build("esar_ros/msg/Detections", header=header(5.0), detections=[box])
        image = build("sensor_msgs/msg/CompressedImage", header=header(5.0), format="jpeg", data=jpeg())
        messages += [
            ("/uav1/map/coverage", "nav_msgs/msg/OccupancyGrid", 9.0, coverage()),
            ("/uav1/detections", "esar_ros/msg/Detections", 5.0, detections),
            ("/uav1/clues/detections", "vision_msgs/msg/Detection3DArray", 5.0, in_space()),
            ("/uav1/camera/front/image/compressed", "sensor_msgs/msg/CompressedImage", 5.0, image),
        ]
    writer = BagWriter(path)
    for topic, kind in dict.fromkeys((topic, kind) for topic, kind, _, _ in messages):
        writer.add_topic(topic, kind, latched=int(topic.endswith(("truth", "brief", "static"))))
    for topic, kind, t, message in messages:
        writer.write(topic, START + round(t * SECOND), bytes(typestore().serialize_cdr(message, kind)))
    writer.close()
    return path


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("flown") / "bag")


def enu(latitude: float, longitude: float, altitude: float | None) -> Sequence[float]:
    return ORIGIN.to_enu(latitude, longitude, ORIGIN.altitude if altitude is None else altitude).tolist()


def test_the_track_is_the_vehicle_s_own_in_the_map_s_frame_a_point_a_second(bag: Path) -> None:
    (track,) = search_of(bag).tracks
    first, last = ([column[k] for column in (track.latitude, track.longitude, track.altitude)] for k in (0, -1))
    assert enu(*first) == pytest.approx([10.0, 0.0, 20.0], abs=1e-6)
    assert enu(*last) == pytest.approx([29.95, 0.0, 20.0], abs=1e-6)
    assert 20 <= len(track.time) <= 22
    assert track.time[0] == 1_633_224_000.0  # 09:20 at UTC+8
    assert np.diff(track.time).max() == pytest.approx(1.0)


def test_a_report_has_the_error_of_the_object_that_it_is_about(bag: Path) -> None:
    find = search_of(bag).finds[0]
    assert re.fullmatch("uav1/1-[0-9a-f]{6}", find.id) and (find.kind, find.note) == ("tent", "orange tent")
    assert find.probability == pytest.approx(0.9)
    assert enu(find.position.latitude, find.position.longitude, find.position.altitude) == pytest.approx(
        [41.0, 0, 0], abs=1e-6
    )
    assert find.covariance is not None
    np.testing.assert_allclose(find.covariance, [[4.0, 1.0], [1.0, 9.0]])
    assert find.altitude_sigma == 1.5
    assert find.time == 1_633_224_006.0


def test_what_was_seen_and_not_reported_is_a_find_without_an_error_that_nobody_stated(bag: Path) -> None:
    candidate = search_of(bag).finds[1]
    assert (candidate.kind, candidate.note, candidate.covariance) == ("rope", "seen, not reported", None)
    assert candidate.probability == pytest.approx(0.2)


def test_places_and_areas(bag: Path) -> None:
    search = search_of(bag)
    assert [(place.kind, place.name) for place in search.places] == [(PlaceKind.HOME, "home of uav1")]
    area, seen = search.areas
    assert (area.kind, len(area.outline), seen.kind) == (AreaKind.SEARCH, 3, AreaKind.FOOTPRINT)
    corners = {tuple(np.round(enu(latitude, longitude, None)[:2], 3)) for longitude, latitude in seen.outline}
    assert corners == {(-32.0, -28.0), (8.0, -28.0), (8.0, -8.0), (-32.0, -8.0)}


def test_the_raster_shows_the_ground_where_it_was_seen(bag: Path) -> None:
    (raster,) = search_of(bag).rasters
    assert raster.crs == "EPSG:32648"
    to_utm = Transformer.from_crs("EPSG:4326", raster.crs, always_xy=True)

    def value(x: float, y: float) -> float:
        latitude, longitude, _ = ORIGIN.to_geodetic((x, y, 0.0))
        east, north = to_utm.transform(longitude, latitude)
        return float(raster.values[int((raster.north - north) / raster.cell), int((east - raster.west) / raster.cell)])

    assert value(-12.0, -18.0) == value(-28.0, -12.0) == pytest.approx(0.4)
    inside = np.isfinite(raster.values).sum() * raster.cell**2
    assert inside == pytest.approx(40.0 * 20.0, rel=0.1)


def test_a_picture_shows_the_find_in_a_frame(bag: Path, tmp_path: Path) -> None:
    reported, candidate = search_of(bag, tmp_path).finds
    assert candidate.picture is None and reported.picture == tmp_path / f"{reported.id.replace('/', '_')}.jpg"
    image = np.asarray(Image.open(reported.picture), dtype=np.int64)
    is_yellow = (image[..., 0] > 150) & (image[..., 2] < 140)
    rows, columns = np.nonzero(is_yellow)
    assert (columns.min(), columns.max()) == pytest.approx((14, 38), abs=2)
    assert (rows.min(), rows.max()) == pytest.approx((4, 24), abs=2)


def test_a_clock_of_the_world_needs_no_map(tmp_path: Path) -> None:
    told = brief(map_id="elsewhere", local_time="2021-10-03T09:20:00+02:00")
    search = search_of(write_bag(tmp_path / "zoned", told))
    assert search.tracks[0].time[0] == 1_633_245_600.0
    assert math.isnan(search_of(write_bag(tmp_path / "bag", brief(map_id="elsewhere"))).tracks[0].time[0])


def test_without_a_map_s_place_there_is_nothing_to_export(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no brief says where on Earth"):
        search_of(write_bag(tmp_path / "bag", brief(origin_latitude=0.0, origin_longitude=0.0)))


# -- esar export -------------------------------------------------------------------------------


def test_the_command_writes_every_format_and_no_truth(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", str(bag.parent), "--to", FORMATS, "--out", str(tmp_path)]) == 0
    assert "2 finds, 1 tracks of 21 points, 2 areas, 1 rasters (WGS 84" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "finds", "rasters", "search.cot", "search.csv", "search.geojson", "search.gpx", "search.kml",
    ]  # fmt: skip
    for path in tmp_path.glob("search.*"):
        assert "truth" not in path.read_text(encoding="utf-8") and str(tmp_path) not in path.read_text(encoding="utf-8")
    features = json.loads((tmp_path / "search.geojson").read_text(encoding="utf-8"))["features"]
    pictures = [f["properties"]["picture"] for f in features if "picture" in f["properties"]]
    assert len(pictures) == 1 and pictures[0].startswith("finds/uav1_1-") and (tmp_path / pictures[0]).is_file()


def test_a_bag_without_images_has_no_raster_and_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_bag(tmp_path / "bag", with_images=False)
    assert cli.main(["export", str(bag), "--to", "kml,geotiff", "--out", str(tmp_path / "out")]) == 0
    assert "no grid of what was seen" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["search.kml"]


# -- esar incident add -------------------------------------------------------------------------


def test_a_mission_comes_into_an_incident_with_its_pictures_and_goes_with_the_folder(bag: Path, tmp_path: Path) -> None:
    ipp = Place("IPP", PlaceKind.IPP, Position(ORIGIN.latitude, ORIGIN.longitude))
    Incident.create(tmp_path / "here", Search("valley", places=[ipp]), {}, "Words.")
    assert cli.main(["incident", "add", str(tmp_path / "here"), str(bag), "--detector", "none"]) == 0
    (tmp_path / "here").rename(tmp_path / "there")
    search = Incident.open(tmp_path / "there").search
    assert [track.name for track in search.tracks] == ["uav1"] and not search.areas
    tent = next(find for find in search.finds if find.id.startswith("uav1/1-"))
    assert tent.picture is not None and tent.picture.is_file()
    assert tent.picture == tmp_path / "there" / "finds" / f"{tent.id.replace('/', '_')}.jpg"


def test_a_mission_that_was_flown_elsewhere_is_refused(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Incident.create(tmp_path / "i", Search("far", places=[Place("IPP", PlaceKind.IPP, Position(47.0, 8.0))]), {}, "")
    assert cli.main(["incident", "add", str(tmp_path / "i"), str(bag), "--detector", "none"]) == 1
    assert "more than 50 km from the search" in capsys.readouterr().err
    assert not Incident.open(tmp_path / "i").search.tracks


def test_a_bag_of_one_place_has_no_track_and_comes_into_an_incident(tmp_path: Path) -> None:
    search = search_of(write_bag(tmp_path / "bag", with_images=False, positions=1))
    assert search.tracks == [] and len(search.finds) == 2
    Incident.create(tmp_path / "there", search, {}, "")
    assert len(Incident.open(tmp_path / "there").search.finds) == 2
