"""Scorecard, page and table of a flown mission."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from esar_ros.benchmark.report import formatting, mission_page
from esar_ros.benchmark.report.mission_images import collect_finds, collect_misses
from esar_ros.benchmark.report.mission_page import render_html
from esar_ros.benchmark.report.mission_record import MissionRecord, assemble, open_record
from esar_ros.benchmark.report.mission_report import show_mission
from esar_ros.benchmark.report.scorecard import map_jpeg, scorecard_png, terminal_table
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import FIELD
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.scoring.flight import FAILED
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import Cause, Where
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End


class Page(HTMLParser):
    """Checks that tags nest, and collects texts, links and images."""

    VOID = frozenset({"meta", "img", "br", "link", "circle", "line", "rect", "polyline", "polygon"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_folder_opens_with_everything(flown: MissionRecord) -> None:
    assert flown.result.metrics.victims_found == 1
    assert flown.place is not None
    assert flown.coverage is not None
    assert flown.coverage.seen.sum() == 20 * 40
    assert flown.home[:2] == pytest.approx(flown.truth.task.start.position)


@pytest.mark.parametrize("world", ["embedded", "px4"])
def test_the_report_of_a_flight_in_world_px4_says_what_the_detector_is_worth(flown: MissionRecord, world: str) -> None:
    asked = {"world": world, "detector_details": about_chosen("esar_yolo")}
    told = formatting.caveats(flown.result.model_copy(update=asked))
    assert any("not for real flights: esar_yolo" in note for note in told) is (world == "px4")


def test_a_bag_alone_is_scored(mission_folder: Path, flown: MissionRecord) -> None:
    assert open_record(mission_folder / "bag").result.dump() == flown.result.dump()


def test_a_broken_result_is_one_clear_line(mission_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bag").symlink_to(mission_folder / "bag")
    (tmp_path / "result.json").write_text('{"schema": "esar-result/9"}')
    with pytest.raises(UsageError, match=r"result\.json, key "):
        open_record(tmp_path)


# --- The page -------------------------------------------------------------------------------------------------------


def test_the_page_is_whole_and_needs_nothing_from_outside(flown: MissionRecord) -> None:
    text = render_html(flown)
    page = Page(text)
    assert not page.open
    assert page.addresses
    assert all(address.startswith("data:image/jpeg;base64,") for address in page.addresses)
    assert "script" not in page.tags
    assert formatting.PAGE_POLICY in unescape(text.partition("<title>")[0]), "before anything that it must hold for"
    assert not re.search(r"https?://", text)
    assert len(text) < 3_000_000


def test_the_page_tells_what_happened(flown: MissionRecord) -> None:
    text = " ".join(Page(render_html(flown)).texts)
    for expected in (
        "aotai-first",
        "zigzag",
        "ended by the planner",
        "orange tent",
        "missed",
        "Wu",
    ):
        assert expected in text
    assert formatting.percent(flown.result.metrics.rs) in text
    for name in flown.result.thresholds.model_dump():
        assert formatting.plain(name) in text
    assert "nan" not in text.lower().split()


def test_keep_out_zones_are_drawn(flown: MissionRecord) -> None:
    x, y = flown.home[:2]
    zone = ((x + 20.0, y - 30.0), (x + 60.0, y - 30.0), (x + 60.0, y + 30.0), (x + 20.0, y + 30.0))
    told = flown.truth.run.model_copy(update={"keep_out": (zone,)})
    kept_out = replace(flown, truth=flown.truth.model_copy(update={"run": told}))
    for drawn in (scorecard_png, map_jpeg):
        plain, hatched = (np.asarray(Image.open(io.BytesIO(drawn(one)))).astype(int) for one in (flown, kept_out))
        redder = (hatched[..., 0] - hatched[..., 1]) - (plain[..., 0] - plain[..., 1]) > 10
        assert redder.mean() > 0.005, "the zone's part of the map"
    with_zone, without = (render_html(one, map_image=b"", finds=[], misses=[]) for one in (kept_out, flown))
    assert "kept out of" in with_zone and "kept out of" not in without


def test_the_page_shows_how_the_brief_was_read(flown: MissionRecord) -> None:
    prompt = (
        "Wu <b>left</b> the hut. He went 300 m north of where you take off. A dog barked, 70 m. Do not fly at the dam."
    )
    task = flown.truth.task.model_copy(update={"prompt": prompt})
    text = render_html(
        replace(flown, truth=flown.truth.model_copy(update={"task": task})), map_image=b"", finds=[], misses=[]
    )
    quote = text.partition("<blockquote>")[2].partition("</blockquote>")[0]
    assert unescape(re.sub("<br>.*?</span>|<[^>]+>|\n", "", quote)) == prompt.replace(". ", ".")
    assert '<span class="read">300 m north</span>' in quote
    assert '<span class="unread">70 m</span>' in quote
    assert "300 m north (0°) from the drone" in quote
    assert "missing: 1" in text and "2 passages were not read, which widens the search" in text
    for warning in ("not understood: 70 m", "not obeyed: Do not fly at the dam"):
        assert f'<span class="unread small">{warning}</span>' in quote, warning


def test_the_page_tells_which_model_was_asked_and_what_it_lacked(flown: MissionRecord) -> None:
    asked = {"planner_details": {"model": "qwen"}, "planner_troubles": {"HTTP 500": 3}}
    text = " ".join(Page(render_html(replace(flown, result=flown.result.model_copy(update=asked)))).texts)
    assert re.search(r"planner's model\s+qwen\s+· decided without its answer: HTTP 500\s+3\b", text)


def test_words_from_a_mission_cannot_break_the_page(flown: MissionRecord) -> None:
    text = render_html(flown, map_image=b"", finds=[])
    assert "<b>next</b>" not in text
    assert "&lt;b&gt;next&lt;/b&gt;" in text
    assert "orange <tent>" not in text
    assert "<tree>" not in text


def test_each_find_comes_with_four_views_and_a_ring_where_it_lies(flown: MissionRecord) -> None:
    finds = collect_finds(flown)
    assert [find.thing.id for find in finds] == ["camp-tent", "wu"]
    for find in finds:
        assert [view.camera for view in find.views] == ["front", "left", "right", "down", "thermal"]
    tent = {view.camera: view for view in finds[0].views}
    assert any(view.holds_it for view in tent.values())
    for view in tent.values():
        image = np.asarray(Image.open(io.BytesIO(view.jpeg)), dtype=int)
        assert image.shape == (360, 480, 3)
        assert (np.ptp(image, axis=(0, 1)).max() > 60) == view.holds_it


def test_a_bag_without_pictures_still_makes_a_page(flown: MissionRecord) -> None:
    bare = assemble(flown.result, flown.truth, flown.record, None)
    assert bare.coverage is None
    text = " ".join(Page(render_html(bare)).texts)
    assert "No pictures in the bag" in text


def test_what_the_cameras_saw_is_on_the_page_where_there_is_a_picture_of_it(
    flown: MissionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "The ground as the cameras saw it"
    assert words not in render_html(flown)  # the bag holds no depth
    monkeypatch.setattr(mission_page, "surface_jpeg", lambda bag: b"surface of " + bag.name.encode())
    page = Page(text := render_html(flown))
    assert words in text and f"data:image/jpeg;base64,{b64encode(b'surface of bag').decode()}" in page.addresses


def looked_at(flown: MissionRecord, **more: Any) -> MissionRecord:
    """The flight with what became of the missed fire place, and of the sleeping bag, which no picture showed."""
    seen = {"cause": Cause.LOOKED_AND_MISSED, "pictures": 3, "nearest_picture": 31.4, "nearest_picture_time": 4.0,
            "nearest_picture_vehicle": "uav1", **more}  # fmt: skip
    news = {"camp-fire": seen, "wait-bag": {"cause": Cause.NEVER_LOOKED, "pictures": 0}}
    clues = tuple(clue.model_copy(update=news.get(clue.id, {})) for clue in flown.result.clues)
    return replace(flown, result=flown.result.model_copy(update={"clues": clues}))


def test_what_was_looked_at_and_missed_is_shown_from_the_nearest_picture(flown: MissionRecord) -> None:
    assert collect_misses(flown) == [], "nothing was recorded of looks"
    (miss,) = collect_misses(looked_at(flown))
    assert (miss.thing.id, miss.moment.time) == ("camp-fire", 4.0)
    assert miss.views and all(view.holds_it for view in miss.views)
    text = " ".join(" ".join(Page(render_html(looked_at(flown))).texts).split())
    assert "What was looked at and missed" in text
    assert "3 pictures within 60 m, the detector told of none" in text and "31.4 m" in text
    assert "never looked: in no picture within 60 m" in text
    assert "What was looked at and missed" not in " ".join(Page(render_html(flown)).texts)


@pytest.mark.parametrize(
    ("more", "short", "sentence"),
    [
        ({}, "looked from 31 m", "looked and missed: 3 pictures"),
        ({"pictures": 1}, "looked from 31 m", "looked and missed: 1 picture within"),
        ({"cause": Cause.SEEN_NOT_REPORTED, "track_score": 0.43}, "unsure from 31 m", "at most 43 % sure"),
        ({"cause": Cause.TOO_LATE, "closest_approach": 80.0}, "came within 80 m", "the flight ended before"),
        ({"cause": Cause.NEVER_LOOKED, "closest_approach": 80.4}, "came within 80 m", "in no picture"),
        ({"cause": Cause.TOO_LATE, "closest_approach": 1234.0}, "came within 1.23 km", "the flight ended before"),
        ({"cause": Cause.REPORTED_OFF, "closest_approach": 8.0}, "passed at 8.0 m", "too far off"),
        ({"cause": None, "closest_approach": 8.0}, "passed at 8.0 m", ""),
    ],
)
def test_why_something_was_missed_is_said(
    flown: MissionRecord, more: dict[str, Any], short: str, sentence: str
) -> None:
    fire = next(clue for clue in looked_at(flown, **more).result.clues if clue.id == "camp-fire")
    assert formatting.explanation(fire, 10.0) == short
    assert sentence in formatting.why(fire, 10.0)
    assert bool(formatting.why(fire, 10.0)) is bool(sentence)


def test_nothing_is_said_of_why_what_was_found_was_missed(flown: MissionRecord) -> None:
    tent = next(clue for clue in flown.result.clues if clue.id == "camp-tent")
    assert formatting.why(tent, 10.0) == ""


# --- The timeline ---------------------------------------------------------------------------------------------------


# --- Scorecard --------------------------------------------------------------------------------------------------------


def test_the_scorecard_is_a_picture_that_shows_success_and_failure(flown: MissionRecord, make_crash: Any) -> None:
    sizes = set()
    pictures = []
    for mission in (flown, make_crash):
        image = np.asarray(Image.open(io.BytesIO(scorecard_png(mission))).convert("RGB"))
        sizes.add(image.shape)
        pictures.append(image)
    assert sizes == {(1050, 1680, 3)}
    assert np.abs(pictures[0].astype(int) - pictures[1]).mean() > 1.0
    green = (np.abs(pictures[0][:, 1050:].astype(int) - (31, 157, 107)).sum(axis=-1) < 12).sum()
    red = (np.abs(pictures[1][:, 1050:].astype(int) - (214, 69, 61)).sum(axis=-1) < 12).sum()
    assert green > 2000
    assert red > 200


@pytest.fixture
def make_crash(flown: MissionRecord) -> MissionRecord:
    """The same flight, ended by a collision before anything was found, as an empty record tells it."""
    truth = flown.truth.model_copy(update={"end_reason": End.COLLISION, "end_text": "uav1 touched tree_17"})
    record = EpisodeRecord()
    return assemble(score(record, truth, OfflineJudge()), truth, record, None)


def test_a_mission_in_which_nothing_was_flown_can_be_shown(make_crash: MissionRecord) -> None:
    assert "never near" in formatting.explanation(make_crash.result.victims[0], 10.0)
    page = Page(render_html(make_crash))
    assert "ended by a collision" in " ".join(page.texts)


# --- The table ------------------------------------------------------------------------------------------------------


def printed(mission: MissionRecord, width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(terminal_table(mission.result))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_table_says_the_same(flown: MissionRecord) -> None:
    text = printed(flown)
    assert "1 of 1 victims found" in text
    assert formatting.percent(flown.result.metrics.rs) in text
    assert "orange tent" in text
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "safe" in text


def test_reports_stand_in_the_table_and_on_the_page_with_their_coordinates(flown: MissionRecord) -> None:
    report = flown.result.reports[0]
    where = Where(latitude=33.95, longitude=107.75, altitude=2800.0, utm="48S 1 2", mgrs="48SYC", error=4.2)
    told = "33.95000, 107.75000 ±5 m · 48S 1 2 · MGRS 48SYC"
    many = tuple(report.model_copy(update={"where": where, "text": f"report {n} [x]"}) for n in range(30))
    result = flown.result.model_copy(update={"reports": many})
    text = printed(replace(flown, result=result))
    assert text.count(told) == 12 and "and 18 more in result.json" in text
    assert "report 3 [x]" in text
    page = Page(render_html(replace(flown, result=result), map_image=b"", finds=[], misses=[]))
    assert "".join(page.texts).count(told) == 30


def test_what_was_reported_on_a_map_that_is_not_here_is_shown(flown: MissionRecord) -> None:
    task = flown.result.task.model_copy(update={"map": "atlantis", "split": FIELD})
    result = flown.result.model_copy(update={"task": task, "victims": (), "clues": ()})
    foreign = replace(flown, result=result, record=EpisodeRecord(), place=None)
    assert "orange <tent>" in printed(foreign)
    assert "<td>orange &lt;tent&gt;</td>" in render_html(foreign, map_image=b"", finds=[], misses=[])
    assert scorecard_png(foreign).startswith(b"\x89PNG")


def test_show_mission_writes_both_files_and_prints(mission_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bag").symlink_to(mission_folder / "bag")
    console = Console(width=100, file=io.StringIO(), force_terminal=False)
    show_mission(tmp_path, console)
    assert (tmp_path / "scorecard.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert "report.html" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "expected"), [(None, "–"), (3.14, "3.1 m"), (999.94, "999.9 m"), (1234.0, "1.23 km")]
)
def test_distances_are_said_briefly(value: float | None, expected: str) -> None:
    assert formatting.metres(value) == expected


def test_what_the_points_are_for_is_told(flown: MissionRecord) -> None:
    nothing = {"sr": 0.0, "cds": 0.0, "rs": 0.1, "safe": True}
    result = flown.result.model_copy(update={"metrics": flown.result.metrics.model_copy(update=nothing)})
    words = "10.0 for a safe flight + 0.0 for victims + 0.0 for clues"
    assert f"RS = {words}" in printed(replace(flown, result=result))
    assert words in render_html(replace(flown, result=result), map_image=b"", finds=[], misses=[])
    m, told = flown.result.metrics, formatting.breakdown(flown.result)
    assert sum(float(part.split()[0]) for part in told.split(" + ")) == pytest.approx(100.0 * m.rs, abs=0.2)


def test_the_network_that_was_flown_is_named(flown: MissionRecord) -> None:
    details = {"backend": "onnx", "model": "mine.onnx", "digest": "ab" * 32, "engine": "onnxruntime 1"}
    onnx = replace(flown, result=flown.result.model_copy(update={"detector_details": details}))
    assert "seen by onnx mine.onnx" in " ".join(printed(onnx).split())
    page = render_html(onnx, map_image=b"", finds=[], misses=[])
    assert "onnx mine.onnx" in page and ("ab" * 8) in page
    none = replace(flown, result=flown.result.model_copy(update={"detector_details": {}}))
    assert "seen by" not in printed(none)


def test_a_failed_run_has_one_headline(flown: MissionRecord) -> None:
    error = "the planner failed: act returned None (mine.py, line 7)"
    safety = flown.result.safety.model_copy(update={"safe": False, "reasons": (FAILED,)})
    update = {"error": error, "end_text": error, "end": End.ERROR, "safety": safety, "eligible": False}
    metrics = flown.result.metrics.model_copy(update={"safe": False, "victims_found": 0, "clues_located": 0})
    result = flown.result.model_copy(update={**update, "metrics": metrics, "ineligible_reasons": (FAILED,)})
    failed = replace(flown, result=result)
    head = render_html(failed, map_image=b"", finds=[], misses=[]).partition("</header>")[0]
    for text in (" ".join(printed(failed).split()), head):
        assert text.count("act returned None") == 1 and "not safe" not in text.casefold()
        assert "eligible" not in text and "for victims" not in text
    assert "orange tent" in printed(flown) and "orange tent" not in printed(failed), "nothing was found"
    assert formatting.eligibility(result) == "–" and formatting.eligibility(flown.result) == "yes"
    crashed = result.model_copy(update={"safety": safety.model_copy(update={"reasons": (FAILED, "collision")})})
    assert formatting.unsafe(crashed) == "not safe: collision"


@pytest.mark.parametrize(
    ("update", "said", "score"),
    [
        ({"error": "the planner failed: KeyError (mine.py, line 7)"}, "no score: the planner failed: KeyError", "–"),
        ({"trouble": "0 of 12 answers of the model could be used: HTTP 500 (12 times)"}, "0 of 12 answers", None),
    ],
)
def test_what_must_be_read_first_stands_before_the_numbers(
    flown: MissionRecord, update: dict[str, str], said: str, score: str | None
) -> None:
    result = flown.result.model_copy(update=update)
    score = formatting.percent(result.metrics.rs) if score is None else score
    screen = Console(file=io.StringIO(), width=160)
    screen.print(terminal_table(result))
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert shown.index(said) < shown.index("rescue score") and re.search(rf"RS\s+{score}\s", shown)
    head = render_html(replace(flown, result=result), map_image=b"", finds=[], misses=[]).partition("</header>")[0]
    assert said[3:] in unescape(head) and f'font-size="32">{score}<' in head
    assert scorecard_png(replace(flown, result=result)).startswith(b"\x89PNG")
