"""Pages for a browser: who may ask, what is answered, and the simulator flown through one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from esar_ros.app.view import live, pages, simulator
from esar_ros.app.view.pages import BOUNDARY, IDLE, PageServer, Wanted, read_assets
from esar_ros.mission.errors import UsageError


class Fake:
    """A source that counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[Mapping[str, Any]] = []
        self.late = b""

    def state(self) -> Mapping[str, Any]:
        return {"asked": self.asked}

    def image(self, name: str) -> tuple[bytes, int] | None:
        if name == "late":
            return (self.late, 1) if self.late else None
        if name == "still":
            return b"\xff\xd8still", 0
        self.asked += 1
        return (b"\xff\xd8picture %d" % self.asked, self.asked) if name == "front" else None

    def command(self, words: Mapping[str, Any]) -> Mapping[str, Any]:
        if words.get("do") == "nonsense":
            raise ValueError("'nonsense' is nothing to do")
        self.told.append(words)
        return {"done": words.get("do")}


@pytest.fixture
def source() -> Fake:
    return Fake()


@pytest.fixture
def page(source: Fake) -> Iterator[PageServer]:
    server = PageServer("<p>{{token}}</p>", source)
    yield server
    server.close()


def get(address: str, **headers: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def post(page: str, words: object, token: str) -> tuple[int, dict[str, Any]]:
    body = words if isinstance(words, bytes) else json.dumps(words).encode()
    request = urllib.request.Request(page + "command", data=body, headers={"X-Token": token}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_the_page_its_state_and_its_pictures(page: PageServer) -> None:
    assert get(page.address) == (200, f"<p>{page.token}</p>".encode())
    assert get(page.address + "state") == (200, b'{"asked": 0}')
    assert get(page.address + "picture/front") == (200, b"\xff\xd8picture 1")
    assert get(page.address + "picture/back")[0] == 404
    assert get(page.address + "etc/passwd")[0] == 404


def test_a_stream_is_one_new_picture_after_the_other(page: PageServer) -> None:
    with urllib.request.urlopen(page.address + "stream/front", timeout=10) as answer:
        head = answer.read(400)
    assert head.count(f"--{BOUNDARY}".encode()) >= 2
    assert b"picture 1" in head
    assert b"picture 2" in head


def readers() -> int:
    """Threads that answer a browser."""
    return sum("process_request" in thread.name for thread in threading.enumerate())


@pytest.mark.parametrize("name", ["nothing", "still"])
def test_a_stream_without_news_ends_when_its_reader_leaves(page: PageServer, source: Fake, name: str) -> None:
    deadline = time.monotonic() + 10.0
    while readers():  # of tests before this one, which have left
        assert time.monotonic() < deadline, "threads wait for readers that have left"
        time.sleep(0.05)
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", page.port), timeout=10) as reader:
            reader.sendall(f"GET /stream/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert reader.recv(100).startswith(b"HTTP/1.1 200")
            assert readers()
    deadline = time.monotonic() + 10.0
    while readers():
        assert time.monotonic() < deadline, "threads wait for readers that have left"
        time.sleep(0.05)


def test_a_reader_that_stays_gets_the_next_picture(page: PageServer, source: Fake) -> None:
    with urllib.request.urlopen(page.address + "stream/late", timeout=10) as answer:
        time.sleep(0.3)
        source.late = b"\xff\xd8at last"
        assert answer.read(65).endswith(b"at last")


@pytest.mark.parametrize("path", ["", "state", "picture/front", "picture/back", "stream/front", "nowhere"])
def test_every_answer_forbids_what_this_server_does_not_send(page: PageServer, path: str) -> None:
    try:
        with urllib.request.urlopen(page.address + path, timeout=10) as answer:
            headers = answer.headers
    except urllib.error.HTTPError as error:
        headers = error.headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src 'self'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("folder", [simulator.PAGE, live.PAGE])
def test_pages_hold_no_code_and_code_makes_no_markup_of_words(folder: Path) -> None:
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|<script>|\sstyle=|\son[a-z]+=", html)
    for name, body in read_assets(folder).items():
        assert not re.search(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", body), name


def test_commands_need_the_pages_token(page: PageServer, source: Fake) -> None:
    assert post(page.address, {"do": "hover"}, "guessed")[0] == 403
    assert source.told == []
    assert post(page.address, {"do": "hover"}, page.token) == (200, {"done": "hover"})
    assert source.told == [{"do": "hover"}]


def test_a_token_in_other_letters_is_refused_with_an_answer(page: PageServer) -> None:
    with socket.create_connection(("127.0.0.1", page.port), timeout=10) as client:
        client.sendall("POST /command HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Token: Schlüssel\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 403")


def test_a_request_that_never_ends_is_hung_up(source: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly its bytes come in; an answer that takes longer goes on."""
    monkeypatch.setattr(pages, "REQUEST", 1.0)
    server = PageServer("<p></p>", source)
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as reader:
            reader.sendall(b"GET /stream/late HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert reader.recv(100).startswith(b"HTTP/1.1 200")
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client, suppress(ConnectionError):
                client.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
                client.settimeout(0.3)
                began, hung_up = time.monotonic(), False
                while not hung_up and time.monotonic() - began < 10.0:
                    client.sendall(b"x")
                    with suppress(TimeoutError):
                        hung_up = client.recv(1) == b""
            assert time.monotonic() - began < 10.0
            source.late = b"\xff\xd8late"
            seen = b""
            while b"late" not in seen.partition(b"frame")[2]:
                seen += reader.recv(1000)
    finally:
        server.close()


def test_half_open_connections_give_way_to_a_reader(source: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "CONNECTIONS", 4)
    server = PageServer("<p></p>", source)
    half = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(12)]
    try:
        for client in half:
            with suppress(ConnectionError):
                client.sendall(b"GET / HTTP/1.1\r\n")
        assert get(server.address)[0] == 200
        assert sum(is_open(client) for client in half) <= 4
    finally:
        for client in half:
            client.close()
        server.close()


def is_open(client: socket.socket) -> bool:
    client.settimeout(0.2)
    try:
        return client.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


@pytest.mark.parametrize("words", [b"[1]", b"{", {"do": "nonsense"}, b"x" * 5000, b"[" * 4000])
def test_what_is_no_command_is_refused_and_the_server_lives(page: PageServer, words: object) -> None:
    status, answer = post(page.address, words, page.token)
    assert status == 400
    assert answer["error"]
    assert get(page.address)[0] == 200


def test_a_name_that_only_points_here_is_refused(page: PageServer) -> None:
    assert get(page.address + "state", Host="evil.example")[0] == 403


def test_a_taken_port_is_told(page: PageServer, source: Fake) -> None:
    with pytest.raises(UsageError, match=f"port {page.port} for the page"):
        PageServer("", source, page.port)


def test_wanted_forgets_who_looked_long_ago() -> None:
    now = [0.0]
    wanted = Wanted(lambda: now[0])
    wanted.ask("front")
    now[0] = IDLE / 2
    wanted.ask("down")
    assert wanted.names() == ["down", "front"]
    now[0] = IDLE + 0.1
    assert wanted.names() == ["down"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def watched() -> Iterator[str]:
    """Address of the page of a real simulator."""
    port, page_port = free_port(), free_port()
    command = [sys.executable, "-m", "esar_ros.app.cli", "sim", "--port", str(port), "--image", "320x240"]
    command += ["--view", str(page_port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("watch and fly it"):
            break
    yield f"http://127.0.0.1:{page_port}/"
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 0
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a process of the simulator outlived it")


def craft_of(page: str) -> dict[str, Any]:
    """The vehicle's state, once it is there."""
    for _ in range(100):
        state = json.loads(get(page + "state")[1])
        if "craft" in state:
            return dict(state["craft"]["uav1"])
        time.sleep(0.1)
    raise AssertionError("no state came")


def test_a_person_watches_and_flies(watched: str) -> None:
    token = get(watched)[1].decode().split('data-token="')[1].split('"')[0]
    before = craft_of(watched)
    assert before["landed"]
    data = b""
    for _ in range(200):
        status, data = get(watched + "picture/down")
        if status == 200:
            break
        time.sleep(0.1)
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert image.shape == (240, 320, 3)
    relief = cv2.imdecode(np.frombuffer(get(watched + "picture/map")[1], np.uint8), cv2.IMREAD_COLOR)
    assert relief.shape[0] == relief.shape[1] >= 400
    assert post(watched, {"do": "take_off"}, token) == (200, {"done": "take_off"})
    for _ in range(100):
        if craft_of(watched)["height"] > 1.5:
            break
        time.sleep(0.2)
    moved, after = 0.0, before
    for _ in range(200):
        assert post(watched, {"do": "move", "forward": 1.0, "up": 0.5}, token)[0] == 200
        time.sleep(0.15)
        after = craft_of(watched)
        moved = float(np.hypot(*np.subtract(after["position"], before["position"])[:2]))
        if moved > 3.0:
            break
    assert moved > 3.0
    assert not after["landed"]
    assert after["height"] > 1.5
    assert post(watched, {"do": "move", "forward": 9.0}, token)[0] == 400
    assert post(watched, {"do": "choose", "vehicle": "uav9"}, token)[0] == 400


def test_a_browser_draws_it(watched: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    shot = tmp_path / "page.png"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
         "--virtual-time-budget=5000", f"--user-data-dir={tmp_path}", f"--screenshot={shot}", watched],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    image = cv2.imread(str(shot))
    assert image.shape[:2] == (900, 1400)
    cameras, side = image[60:780, 20:980], image[60:430, 1010:1380]
    assert len(np.unique(cameras.reshape(-1, 3), axis=0)) > 2000  # pictures, not panels
    assert len(np.unique(side.reshape(-1, 3), axis=0)) > 1000
