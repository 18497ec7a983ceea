"""Progress of a mission on the terminal: a line per phase, refreshed in place."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import TextIO

from esar_ros.nodes.graph.progress import PREFIX, Progress

BEFORE = ("outside", "prepare", "start", "join")  # phases before the mission's clock runs
QUIET_PERIOD = 10.0  # s between lines where the output is no terminal
_WORDS = {
    "outside": "Waiting",
    "prepare": "Preparing",
    "start": "Starting the graph",
    "join": "Nodes joining",
    "arm": "Arming",
    "take_off": "Taking off",
    "search": "Searching",
    "return": "Returning",
    "land": "Landing",
    "ended": "Mission ended",
}


def parse(line: str) -> Progress | None:
    """Progress from a line of output, None when it is another line."""
    if not line.startswith(PREFIX):
        return None
    try:
        return Progress(**json.loads(line[len(PREFIX) :]))
    except (json.JSONDecodeError, TypeError):
        return None


class ProgressLine:
    """Prints progress: rewritten in place on a terminal, one line every few seconds elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        self._phase = ""
        self._open = False
        self._printed = 0.0
        self._text = ""
        self._began = time.monotonic()

    @property
    def flown(self) -> bool:
        """True once the mission's clock has run."""
        return self._phase not in ("", *BEFORE)

    def show(self, progress: Progress) -> None:
        """Show the newest state."""
        new_phase = progress.phase != self._phase
        now = time.monotonic()
        if new_phase and self._open:
            self._stream.write("\n")
            self._open = False
        text = self._format(progress)
        if not new_phase and not self._live and (now - self._printed < QUIET_PERIOD or text == self._text):
            return
        self._phase = progress.phase
        self._printed, self._text = now, text
        if self._live:
            self._stream.write("\r\x1b[2K" + text[: shutil.get_terminal_size().columns - 1])
            self._open = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def note(self, text: str) -> None:
        """Say something once."""
        if self._open:
            self._stream.write("\n")
            self._open = False
        self._stream.write(f"  {text}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
            self._open = False

    def _format(self, p: Progress) -> str:
        words = _WORDS.get(p.phase, p.phase)
        wall = time.monotonic() - self._began
        if p.phase in (*BEFORE, "ended"):
            return f"  {words:<18} {p.text}" if p.text else f"  {words}"
        share = min(1.0, p.elapsed / p.t_max) if p.t_max > 0 else 0.0
        filled = round(20 * share)
        bar = "━" * filled + "─" * (20 - filled)
        speed = p.elapsed / wall if wall > 0 else 0.0
        unsure = f" ({p.candidates} candidates)" if p.candidates else ""
        line = (
            f"  {words:<18} {bar} {p.elapsed:5.0f} / {p.t_max:.0f} s  covered {100 * p.coverage:4.1f} %"
            f"  clues {p.clues}{unsure}  reports {p.reports}  {speed:.1f}x"
        )
        line = f"{line}  {p.mode}" if p.mode and p.mode != "normal" else line
        return f"{line}  {p.text}" if p.text else line
