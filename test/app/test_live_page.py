"""The live page over HTTP and in a browser: events, pictures, the token, and what a person sees."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from esar_ros.app.view.live import PAGE, LiveView
from esar_ros.app.view.page_image import BROWSERS, browser, take_screenshot
from esar_ros.app.view.pages import PageServer, read_assets
from esar_ros.incident.features import Area, AreaKind, Find, Position
from esar_ros.incident.store import Incident
from esar_ros.mission import names
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.terrain.relief_image import photographed
from helpers.live_messages import Told, grid, message, state_of


@pytest.fixture
def graph() -> Told:
    return Told()


@pytest.fixture
def view(graph: Told) -> LiveView:
    made = LiveView(("uav1",), graph)
    prompt = "<b>Who</b>? He went 300 m north of where you take off. A dog barked, 70 m."
    brief = message("esar_ros/msg/Brief", mission_id="aotai-first-fbe-7", map_id="elsewhere", prompt=prompt)
    made.take("uav1", names.BRIEF, brief)
    made.take("uav1", names.MISSION_STATE, state_of(2, 30.0))
    return made


@pytest.fixture
def page(view: LiveView) -> Iterator[PageServer]:
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    server = PageServer(html, view, 0, read_assets(PAGE), view.changes)
    yield server
    server.close()


def get(address: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read(), {}


def post(page: PageServer, words: dict[str, Any], **headers: str) -> int:
    request = urllib.request.Request(page.address + "command", json.dumps(words).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return int(error.code)


def test_every_command_needs_the_token_in_a_header(page: PageServer, graph: Told) -> None:
    hold = {"do": "hold", "vehicle": "uav1"}
    assert post(page, hold) == 403
    assert post(page, hold, **{"X-Token": "guessed"}) == 403
    assert post(page, {**hold, "token": page.token}) == 403
    assert post(page, hold, **{"X-Token": page.token, "Host": "evil.example"}) == 403
    assert graph.asked == []
    assert post(page, hold, **{"X-Token": page.token}) == 200
    assert graph.asked == [("order", "uav1", "hold")]


def test_the_token_is_in_nothing_that_is_served(page: PageServer) -> None:
    for path in ("", "live.js", "map.js", "parts.js", "live.css", "state"):
        status, body, headers = get(page.address + path)
        assert status == 200, path
        assert page.token.encode() not in body
        assert "Access-Control-Allow-Origin" not in headers
        assert "unsafe-inline" not in headers["Content-Security-Policy"]
    assert get(page.address + "../live.py")[0] == 404
    assert get(page.address + "live.js", Host="evil.example")[0] == 403


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name, body in read_assets(PAGE).items():
        assert b"http://" not in body and b"https://" not in body, name
    assert "http" not in (PAGE / "index.html").read_text(encoding="utf-8")


# All that the page's scripts find in a browser, which does nothing; told: what the server sends, one after the other.
BROWSER = """
const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.iterator ? () => [].values() : key === Symbol.toPrimitive ? () => 0 : nothing),
  set: () => true, apply: () => nothing, construct: () => nothing,
});
const sources = [];
Object.assign(globalThis, {
  document: nothing, sessionStorage: nothing, history: nothing, addEventListener() {}, requestAnimationFrame() {},
  location: { hash: "", search: "", pathname: "/", reload() { console.log("reload"); } },
  ResizeObserver: class { observe() {} }, EventSource: class { constructor() { sources.push(this); } close() {} },
});
await import("./live.js");
for (const news of JSON.parse(process.argv[2])) {
  sources[0].onopen();
  sources[0].onmessage({ data: JSON.stringify(news) });
  console.log("taken");
}
"""


def test_an_open_page_begins_anew_where_another_mission_is_served(tmp_path: Path, view: LiveView, graph: Told) -> None:
    """Its pictures have the same addresses there, and a browser would go on to show the old ones."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on this machine")
    for name, body in read_assets(PAGE).items():
        (tmp_path / name).write_bytes(body)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "browser.js").write_text(BROWSER)
    first, other = dict(view.state()), dict(LiveView(("uav1",), graph).state())
    told = json.dumps([first, first, {"pace": 2.0}, other])
    done = subprocess.run(
        [node, "browser.js", told], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["taken", "taken", "taken", "reload", "taken"]


def test_events_begin_with_everything_and_go_on_with_what_is_new(page: PageServer, view: LiveView) -> None:
    with urllib.request.urlopen(page.address + "events?vehicle=uav1", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        first = json.loads(answer.readline().removeprefix(b"data: "))
        assert first["mission"]["elapsed"] == 30.0
        assert view.wanted() == {"uav1"}
        view.take("uav1", names.MISSION_STATE, state_of(2, 31.0))
        answer.readline()
        second = json.loads(answer.readline().removeprefix(b"data: "))
        assert second["mission"]["elapsed"] == 31.0
        assert set(second) <= {"mission", "pace"}
        view.take("uav1", names.MISSION_STATE, state_of(3, 32.0, end=1))
        page.close()
        rest = answer.read()
    assert b'"ended"' in rest, "the last word is told before the page closes"


def test_pictures_of_cameras_layers_and_nothing_else(page: PageServer, view: LiveView) -> None:
    image = message("sensor_msgs/msg/CompressedImage", 130.0, data=np.frombuffer(b"\xff\xd8jpeg", np.uint8))
    view.take("uav1", names.camera_compressed("front"), image)
    view.take("uav1", names.BELIEF, grid(np.array([[1, 100]], dtype=np.int8)))
    assert get(page.address + "picture/camera/uav1/front")[1] == b"\xff\xd8jpeg"
    view.take("uav1", names.camera_compressed(names.THERMAL), image)
    assert get(page.address + "picture/camera/uav1/thermal")[1] == b"\xff\xd8jpeg", "where one is mounted"
    assert get(page.address + "picture/layer/belief/uav1")[1].startswith(b"\x89PNG")
    for name in ("camera/uav1/left", "camera/uav2/front", "layer/other/uav1", "crop/uav1/1", "crop/uav1/x", "truth"):
        assert get(page.address + "picture/" + name)[0] == 404, name


@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium on this machine")
def test_a_browser_shows_the_mission(page: PageServer, view: LiveView, tmp_path: Path) -> None:
    red = bytes(cv2.imencode(".jpg", np.full((240, 320, 3), (0, 0, 220), np.uint8))[1])
    image = message("sensor_msgs/msg/CompressedImage", 130.0, data=np.frombuffer(red, np.uint8))
    for camera in names.CAMERAS:
        view.take("uav1", names.camera_compressed(camera), image)
    view.take("uav1", names.SAFETY_STATUS, message("esar_ros/msg/SafetyStatus", 130.0, mode=3, reasons=[8]))
    shot = tmp_path / "page.jpg"
    take_screenshot(page.address + "?still", shot, 1440, 900, budget=2000)
    pixels = cv2.imread(str(shot)).astype(int)
    assert pixels.shape == (900, 1440, 3)
    reddish = (pixels[..., 2] > 180) & (pixels[..., 1] < 60)
    assert reddish[60:460, 790:].mean() > 0.7, "four cameras stand at the right"
    assert (pixels[460:, 790:] > 200).any(), "and there is something to read below"
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=2000"]
    command += [f"--user-data-dir={tmp_path}", page.address + "?still"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    for words in ("aotai-first-fbe-7", "running", "obstacle", "hold"):
        assert f">{words}<" in text, words
    assert "&lt;b&gt;Who&lt;/b&gt;?" in text, "what the mission says is text, never HTML"
    assert 'class="read">300 m north<' in text and 'class="unread">70 m<' in text, "what was understood of the brief"
    assert 'class="meaning unread">not understood: 70 m<' in text and "which widens the search" in text


def test_an_incident_that_is_flown_is_on_the_page(tmp_path: Path) -> None:
    pytest.importorskip("pyogrio")
    from helpers.ridge import MAP, ridge

    folder = ridge(tmp_path / "ridge")
    opened = Incident.open(folder)
    origin = load_map(MAP).origin
    corners = [origin.to_geodetic([x, y, 0.0])[1::-1] for x, y in ((0.0, 0.0), (100.0, 0.0), (100.0, 100.0))]
    opened.search.areas.append(Area("A1", AreaKind.SEGMENT, np.array(corners)))
    opened.search.finds.append(Find("1", "jacket", Position(*origin.to_geodetic([30.0, 40.0, 0.0]))))
    opened.save()
    view = LiveView(("uav1",), None, incident=folder)
    view.take("uav1", names.BRIEF, message("esar_ros/msg/Brief", mission_id="m", map_id=MAP, prompt="He is there."))
    assert view.image("relief") is not None
    shown = view.state()["incident"]
    (segment,) = shown["segments"]
    assert segment["name"] == "A1" and np.array(segment["outline"]) == pytest.approx(
        np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]]), abs=0.2
    )
    (find,) = shown["finds"]
    assert find["label"].startswith("jacket") and find["position"] == pytest.approx([30.0, 40.0], abs=0.2)
    assert len(shown["sorties"]) == 1 and len(shown["sorties"][0]) == 3
    lost = LiveView(("uav1",), None, incident=tmp_path / "none")
    lost.take("uav1", names.BRIEF, message("esar_ros/msg/Brief", mission_id="m", map_id=MAP, prompt="He is there."))
    assert lost.image("relief") is not None
    assert "holds no incident" in str(lost.state()["log"])


def test_a_photograph_lies_over_the_relief_where_it_shows_the_ground() -> None:
    relief = np.full((4, 4, 3), 9, np.uint8)
    imagery = np.zeros((4, 4, 4), np.uint8)
    imagery[0, :, :] = (200, 100, 50, 255)  # the southernmost row
    over = photographed(relief, imagery)
    assert (over[3] == (200, 100, 50)).all() and (over[:3] == 9).all()
    assert photographed(relief, None) is relief
