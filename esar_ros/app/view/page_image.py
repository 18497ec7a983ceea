"""An image of the live page, made from a mission's bag: what a watcher saw at a moment of the flight.

python -m esar_ros.app.view.page_image BAG PICTURE.png [--at SECONDS] [--width PX] [--height PX]

Needs Chromium. The page is the one of `esar mission --view`, filled from the bag up to the moment.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from esar_ros.app.arguments import Parser
from esar_ros.app.view.live import PAGE, LiveView
from esar_ros.app.view.pages import PageServer, read_assets
from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import split_topic
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.viewer import ALWAYS, LOOKED_AT, RUNNING

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 120.0  # s
TABS = ("log", "clues", "reports", "brief", "score")
BUDGET = 8000  # ms of the browser's own time before the image is taken
COLOURS = 256  # of the image's palette: a third of the size
_TOPICS = {
    name.lstrip("/"): name for name in (*ALWAYS, *RUNNING, *LOOKED_AT, *map(names.camera_compressed, names.EYES))
}


def view_of(path: Path, until: float | None = None) -> LiveView:
    """The page's source as it stood `until` s after the mission's start; None: at the bag's end. Raises UsageError."""
    with open_bag(path) as bag:
        places = {c.topic: place for c in bag.connections if (place := split_topic(c.topic, _TOPICS))}
        vehicles = tuple(sorted({vehicle for vehicle, topic in places.values() if topic == names.ODOMETRY}))
        if not vehicles:
            raise UsageError(f"bag {path} holds no vehicle's odometry", "name a mission's bag")
        view = LiveView(vehicles, None)
        for connection, _, raw in bag.messages([c for c in bag.connections if c.topic in places]):
            vehicle, topic = places[connection.topic]
            message = bag.deserialize(raw, connection.msgtype)
            if topic == names.MISSION_STATE and until is not None and message.elapsed > until:
                break
            view.take(vehicle, _TOPICS[topic], message)
    return view


def browser() -> str:
    """Path of a Chromium. Raises UsageError."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise UsageError("no Chromium on this machine", f"install one of {', '.join(BROWSERS)}")


def take_screenshot(address: str, file: Path, width: int, height: int, budget: int = BUDGET) -> None:
    """PNG of a page as a browser of this size (px) shows it after some ms. Raises UsageError."""
    with tempfile.TemporaryDirectory(prefix="esar-picture-") as profile:
        shot = Path(profile, "page.png")
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--window-size={width},{height}", f"--virtual-time-budget={budget}"]
        command += [f"--user-data-dir={profile}", f"--screenshot={shot}", address]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        pixels = cv2.imread(str(shot)) if shot.is_file() else None
        if pixels is None:
            raise UsageError(f"the browser drew nothing: {done.stderr.decode(errors='replace')[-200:].strip()}")
        write_small(pixels, file)


def write_small(pixels: np.ndarray, file: Path) -> None:
    """PNG of few colours, or what the file's suffix says."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels[..., ::-1]))
    if file.suffix == ".png":
        # Of all methods the one that keeps both the panels' even colours and rare ones, which are what is marked.
        image = image.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(file, optimize=True)


def main(argv: list[str] | None = None) -> int:
    """Run the command."""
    parser = Parser(prog="python -m esar_ros.app.view.page_image", description=str(__doc__).splitlines()[0])
    parser.add_argument("bag", type=Path, help="of a mission recorded with --record view")
    parser.add_argument("picture", type=Path, help="file to write")
    parser.add_argument("--at", type=float, default=None, help="s since the mission's start (default: its end)")
    parser.add_argument("--tab", default="log", choices=TABS, help="which list is open (default: %(default)s)")
    parser.add_argument("--width", type=int, default=1440, help="px (default: %(default)s)")
    parser.add_argument("--height", type=int, default=900, help="px (default: %(default)s)")
    arguments: argparse.Namespace = parser.parse_args(argv)
    view = view_of(arguments.bag, arguments.at)
    view.image("relief")  # now: the browser's own time does not wait for it
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    page = PageServer(html, view, 0, read_assets(PAGE), view.changes)
    try:
        take_screenshot(
            f"{page.address}?still&tab={arguments.tab}", arguments.picture, arguments.width, arguments.height
        )
    finally:
        page.close()
    print(f"{arguments.picture}: {arguments.picture.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        print(f"esar: {error}", file=sys.stderr)
        sys.exit(2)
