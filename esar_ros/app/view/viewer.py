"""The process behind `esar mission --view`: the viewer node, and the page it fills."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.view.live import PAGE, LiveView
from esar_ros.app.view.pages import PageServer, read_assets
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.graph.progress import SERVING
from esar_ros.nodes.viewer import ViewerNode


def make() -> ViewerNode:
    """Node and page. Raises UsageError when the port is taken."""
    node = ViewerNode()
    view = LiveView(node.vehicles, node, incident=Path(node.incident) if node.incident else None)
    page = PageServer(
        (PAGE / "index.html").read_text(encoding="utf-8"), view, node.port, read_assets(PAGE), view.changes
    )
    node.show(view, page.close)
    # The token travels behind the '#': browsers send that part to nobody.
    print(f"{SERVING} {page.address}#token={page.token}", flush=True)
    return node


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [make()])


if __name__ == "__main__":
    raise SystemExit(main())
