"""Recorder node: what scoring and viewing need, into one MCAP bag, as raw bytes."""

from __future__ import annotations

import os
import shutil
from collections import deque
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from diagnostic_msgs.msg import DiagnosticStatus

from esar_ros.bags.writer import BagWriter
from esar_ros.mission import names
from esar_ros.mission.system.system_errors import system_error
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.interface import TOPICS
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import header_nanoseconds
from esar_ros.nodes.core.steps import Step, StepNode
from esar_ros.nodes.core.types import message_class

LITTLE = 1 << 30  # bytes of free disk below which the recorder warns
RESERVE = 1 << 20  # bytes of disk that are kept for the end of the bag and the result
OFF = 60_000_000_000  # ns from the mission's time, beyond which a stamp of /diagnostics is another clock's
HELD = 1000  # messages of /diagnostics kept for the time that the first odometry tells


class RecorderNode(StepNode):
    """Subscribes by the table in nodes/core/interface.py and writes what comes, stamped with its own header's time."""

    def __init__(self) -> None:
        super().__init__(node_names.RECORDER)
        folder = Path(str(declare(self, "out", "out", "folder of the results; the bag goes to its bag/")))
        self._writer = BagWriter(folder / "bag") if self.record_level != "none" else None
        self._folder = folder
        self.trouble = ""  # one line: why the bag ends before the mission
        self._reserve: IO[bytes] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._reserve = TemporaryFile(dir=folder)  # noqa: SIM115 - without a name: it ends with the process
            os.posix_fallocate(self._reserve.fileno(), 0, RESERVE)
        except OSError as error:
            if told := system_error(error, f"no room for results in {folder}"):
                raise told from None
        self._taken, self._bytes = 0, 0
        self._newest: dict[tuple[str, str], int] = {}
        self._truth_of: set[str] = set()  # vehicles whose ground truth has been written
        self._now = 0
        self._held: deque[tuple[tuple[str, str], str, bytes]] = deque(maxlen=HELD)
        self._subscriptions_kept = []
        seen_global = set()
        for vehicle in self.vehicles:
            for entry in TOPICS:
                if self._writer is None or not entry.recorded(self.record_level):
                    continue
                name = self.topic(entry.name, vehicle)
                if name in seen_global:
                    continue
                seen_global.add(name)
                full = name if name.startswith("/") else f"{self.get_namespace().rstrip('/')}/{name}"
                flown, kept = entry.quality.value, entry.quality.kept_for_late
                self._writer.add_topic(full, entry.type, latched=kept, reliable=flown.reliable, depth=flown.depth)
                message_type = message_class(entry.type)
                stamped = "header" in message_type.get_fields_and_field_types()
                self._subscriptions_kept.append(
                    self.create_subscription(
                        message_type,
                        name,
                        lambda raw, k=(vehicle, entry.name), f=full, s=stamped: self._take(k, f, s, raw),
                        PROFILES[entry.quality],
                        raw=True,
                    )
                )
        self.join()

    def waiting_for(self) -> str:
        """Publishers of what the score is made of."""
        for subscription in self._subscriptions_kept:
            relative = subscription.topic_name.rsplit("/", 1)[-1]
            if relative in (names.ODOMETRY, names.CMD_VEL, names.REPORTS) and subscription.get_publisher_count() < 1:
                return f"a publisher of {subscription.topic_name}"
        return ""

    def diagnose(self) -> list[Finding]:
        """Reports the bag's size, and warns when the disk is nearly full, or was."""
        if self.trouble:
            return [Finding("bag", DiagnosticStatus.ERROR, self.trouble)]
        if self._writer is None:
            return [Finding("bag", message="not recording")]
        free = shutil.disk_usage(self._folder).free
        values = {
            "messages": self._taken,
            "size (MB)": round(self._bytes / 1e6, 1),
            "disk free (MB)": free // 1_000_000,
        }
        if free < LITTLE:
            return [Finding("bag", DiagnosticStatus.WARN, "the disk is nearly full", values)]
        return [Finding("bag", message=f"recording level {self.record_level}", values=values)]

    def _take(self, key: tuple[str, str], topic: str, stamped: bool, raw: bytes) -> None:
        if self._writer is None:
            return
        ns = header_nanoseconds(raw) if stamped else 0
        if key[1] == names.DIAGNOSTICS and ns != 0 and not self.flown:
            self._held.append((key, topic, raw))
            return
        if stamped:
            self._newest[key] = max(ns, self._newest.get(key, 0))
            if key[1] == names.ODOMETRY:
                self._now = max(self._now, ns)
        # Stamps in wall time and messages without any are filed under the mission's time. /diagnostics is the whole
        # domain's, whose other nodes may keep another time than this graph's.
        is_other = key[1] == names.HEARTBEAT or (key[1] == names.DIAGNOSTICS and abs(ns - self._now) > OFF)
        ns = self._now if is_other or ns == 0 else ns
        try:
            self._writer.write(topic, ns, bytes(raw))
        except OSError as error:
            self._give_up(error)
            return
        if key[1] == names.TRUTH:
            self._truth_of.add(key[0])
            self._writer.flush()  # from here on the bag can be scored, whatever happens to this process
        self._taken += 1
        self._bytes += len(raw)
        if key[1] == names.ODOMETRY and self.flown:
            while self._held:
                earlier, its_topic, its_raw = self._held.popleft()
                self._take(earlier, its_topic, True, its_raw)
        if self.lockstep and key[1] in (names.ODOMETRY, names.SAFETY_STATUS):
            self.retry()

    def _free_reserve(self) -> None:
        reserve, self._reserve = self._reserve, None
        if reserve is not None:
            reserve.close()

    def _give_up(self, error: OSError) -> None:
        """Ends the bag where the disk is full, with the room that was kept for that; what was written stays."""
        what = f"cannot write {self._folder / 'bag'}"
        self.trouble = str(system_error(error, what) or f"{what}: {error.strerror}")
        self.get_logger().error(self.trouble)
        self._free_reserve()
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(OSError):  # then it is read up to where it is cut
                writer.close()

    @property
    def flown(self) -> bool:
        """Returns whether odometry of a vehicle has come."""
        return self._now > 0

    def complete(self, ns: int) -> bool:
        """Returns whether everything scoring needs up to this stamp has been written, the truth included."""
        topics = (names.ODOMETRY, names.SAFETY_STATUS, names.MAP_STATUS, names.DECISION)
        return self._writer is None or (
            self._truth_of.issuperset(self.vehicles)
            and all(
                self._newest.get((vehicle, topic), -1) >= (ns if topic == names.ODOMETRY else ns - 1_000_000_000)
                for vehicle in self.vehicles
                for topic in topics
            )
        )

    def on_step(self, step: Step) -> bool | None:
        """Frames are acknowledged once the odometry up to them is written, so that the recorder cannot fall behind."""
        if not step.is_frame() or self._writer is None:
            return None
        if all(self._newest.get((vehicle, names.ODOMETRY), -1) >= step.ns for vehicle in self.vehicles):
            return None
        return False

    def close(self) -> None:
        """Finish the bag; one that holds no odometry, of which nothing was flown, is taken away."""
        self._free_reserve()
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                self._give_up(error)
            self._writer = None
            if not self.flown:
                shutil.rmtree(self._folder / "bag", ignore_errors=True)


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [RecorderNode()])


if __name__ == "__main__":
    raise SystemExit(main())
