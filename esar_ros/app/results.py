"""The folder a mission's results go to: earlier results are moved aside."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.system_errors import system_error

TASK = "task.json"  # where its brief was corrected, and of a search of one's own
RESULTS = ("result.json", TASK, "report.html", "scorecard.png", "bag", "logs")
EARLIER = "earlier"


class ResultsFolder:
    """The --out folder of one mission."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._made: list[Path] = []  # folders that were not there before, innermost first
        self._moved: dict[Path, Path] = {}  # where an earlier result lies now -> where it was

    def prepare(self) -> None:
        """Makes the folder and its logs/, and moves earlier results into its earlier/<time of writing>.

        Raises UsageError, with everything back where it was.
        """
        try:
            self._make(self.path)
            probe = self.path / ".writable"
            probe.touch()
            probe.unlink()
            earlier = self._present()
            if earlier:
                written = datetime.fromtimestamp(max(p.stat().st_mtime for p in earlier), tz=timezone.utc)
                aside = self.path / EARLIER / written.strftime("%Y%m%dT%H%M%S.%f")
                self._make(aside)
                for path in earlier:
                    path.rename(aside / path.name)
                    self._moved[aside / path.name] = path
            (self.path / "logs").mkdir()
        except OSError as error:
            self._restore()
            what = f"cannot write {self.path}"
            raise (
                system_error(error, what) or UsageError(f"{what}: {error.strerror}", "choose another --out")
            ) from None

    def _make(self, folder: Path) -> None:
        self._made = [f for f in (folder, *folder.parents) if not f.exists()] + self._made
        folder.mkdir(parents=True, exist_ok=True)

    def _restore(self) -> None:
        for now, before in self._moved.items():
            now.rename(before)
        for folder in self._made:
            with suppress(OSError):  # somebody has put something into it
                folder.rmdir()
        self._made, self._moved = [], {}

    def _present(self) -> list[Path]:
        return [self.path / name for name in RESULTS if (self.path / name).exists()]
