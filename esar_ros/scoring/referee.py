"""The referee's core: fed with what happens, it says when a mission ends and what it is worth.

The end depends on stamps alone. The node feeds messages as they come and calls `advance(now)` once everything
stamped up to `now` has been fed; the earliest reason then wins, whatever the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esar_ros.mission import names
from esar_ros.mission.decision import DecisionStatus
from esar_ros.mission.modes import Landed, Mode
from esar_ros.mission.stamps import NANO
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import Thresholds
from esar_ros.scoring.judge import Judge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import Result
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Run, TrueClue, TrueVictim, Truth, VehicleTruth

# At one stamp the graver reason ends the mission.
_GRAVITY = (End.COLLISION, End.BREACH, End.ERROR, End.ABORTED, End.STOP, End.LANDED, End.TIMEOUT)
LANDED_FOR = 3 * NANO  # ns that a vehicle stands with its motors off until its flight counts as over


@dataclass(frozen=True)
class Ending:
    """End of a mission: stamp (ns), reason, text."""

    stamp: int
    reason: End
    text: str


@dataclass(frozen=True)
class Progress:
    """State of a mission, as published on mission/state."""

    running: bool
    ended: bool
    end_code: int
    elapsed: float
    t_max: float
    reports: int
    text: str


class Referee:
    """One mission from its brief to its score."""

    def __init__(
        self,
        task: Task,
        victims: tuple[TrueVictim, ...],
        clues: tuple[TrueClue, ...],
        thresholds: Thresholds,
        run: Run,
        odom_in_map: Mapping[str, tuple[float, float, float]],
    ) -> None:
        """odom_in_map: origin of each vehicle's odom frame in the map (m); its keys are the vehicles of the mission."""
        self.record = EpisodeRecord()
        self.ending: Ending | None = None
        self.start: int | None = None
        self._task = task
        self._victims = victims
        self._clues = clues
        self._thresholds = thresholds
        self._run = run
        self._vehicles = {name: VehicleTruth(odom_in_map=offset) for name, offset in sorted(odom_in_map.items())}
        self._reasons: list[Ending] = []
        self._stopped: dict[str, int] = {}
        self._states: dict[str, list[tuple[int, int, bool]]] = {name: [] for name in self._vehicles}
        self._contacts: list[tuple[str, int, str]] = []

    def begin(self, stamp: int) -> None:
        """The mission clock starts (ns). A second call changes nothing."""
        if self.start is None:
            self.start = stamp

    def add(self, vehicle: str, topic: str, message: Any) -> None:
        """Take one message; topics as in mission/names.py, others are ignored."""
        row = self.record.add(vehicle, topic, message)
        if row is not None:
            self._weigh(vehicle, topic, row)

    def take(self, vehicle: str, topic: str, row: Any) -> None:
        """Take one row of the record (scoring/record/rows.py), where there are no messages."""
        self.record.take(vehicle, topic, row)
        self._weigh(vehicle, topic, row)

    def _weigh(self, vehicle: str, topic: str, row: Any) -> None:
        """Keep what may end the mission."""
        if vehicle not in self._vehicles:
            return
        if topic == names.DECISION and row.status == DecisionStatus.STOP:
            self._stopped[vehicle] = min(row.effective, self._stopped.get(vehicle, row.effective))
        elif topic == names.DECISION and row.status == DecisionStatus.FAILED:
            whose = "the planner" if len(self._vehicles) == 1 else f"{vehicle}: the planner"
            self.fail(row.effective, f"{whose} failed: {row.trouble or 'no reason given'}")
        elif topic == names.SAFETY_STATUS and row.breach:
            self._reasons.append(Ending(row.stamp, End.BREACH, f"{vehicle}: {row.text or 'hard safety envelope left'}"))
        elif topic == names.COLLISION:
            self._contacts.append((vehicle, row.stamp, row.object))
        elif topic == names.VEHICLE_STATE:
            self._note_state(vehicle, row.stamp, row.landed, row.armed)

    def fail(self, stamp: int, text: str) -> None:
        """The run cannot go on (ns, reason): it scores 0 and keeps the reason."""
        self._reasons.append(Ending(stamp, End.ERROR, text))

    def abort(self, stamp: int) -> None:
        """A person ended the mission (ns)."""
        self._reasons.append(Ending(stamp, End.ABORTED, "ended by a person"))

    def disqualify(self, reason: str) -> None:
        """The flight was not the method's own (a person took part): the result says so, once for each reason."""
        reasons = self._run.ineligible_reasons
        if self.ending is None and reason not in reasons:
            update = {"eligible": False, "ineligible_reasons": (*reasons, reason)}
            self._run = self._run.model_copy(update=update)

    def advance(self, now: int) -> Ending | None:
        """The mission's end, if it came at or before now (ns). Everything stamped up to now must have been fed."""
        if self.ending is None and self.start is not None:
            self.ending = self._earliest(self.start, now)
        return self.ending

    def progress(self, now: int) -> Progress:
        """Returns the state of the mission at now (ns)."""
        start = now if self.start is None else self.start
        last = now if self.ending is None else self.ending.stamp
        elapsed = min(max((last - start) / NANO, 0.0), self._task.t_max)
        reports = sum(len(self.record.rows(vehicle, names.REPORTS, start, last)) for vehicle in self._vehicles)
        return Progress(
            running=self.start is not None and self.ending is None,
            ended=self.ending is not None,
            end_code=self.ending.reason.code if self.ending else 0,
            elapsed=elapsed,
            t_max=self._task.t_max,
            reports=reports,
            text=f"{self.ending.reason.value}: {self.ending.text}" if self.ending else f"{elapsed:.0f} s flown",
        )

    def truth(self, wall_time: float | None = None) -> Truth:
        """Ground truth of the ended mission, to be published. wall_time: s it took. Raises RuntimeError before."""
        if self.ending is None or self.start is None:
            raise RuntimeError("the mission has not ended: ground truth stays here")
        return Truth(
            schema="esar-truth/1",
            run=self._run,
            task=self._task,
            thresholds=self._thresholds,
            victims=self._victims,
            clues=self._clues,
            vehicles=self._vehicles,
            start=self.start,
            end=self.ending.stamp,
            end_reason=self.ending.reason,
            end_text=self.ending.text,
            wall_time=wall_time,
        )

    def result(self, judge: Judge, wall_time: float | None = None) -> Result:
        """Score of the ended mission; the same as from its bag. Raises RuntimeError before the end."""
        return score(self.record, self.truth(wall_time), judge)

    def _note_state(self, vehicle: str, stamp: int, landed: int, armed: bool) -> None:
        """Keep the stamps at which the state differs; states may come late, so the list stays sorted."""
        states = self._states[vehicle]
        if not states or states[-1][1:] != (landed, armed) or stamp < states[-1][0]:
            states.append((stamp, landed, armed))
            states.sort()

    def _earliest(self, start: int, now: int) -> Ending | None:
        t_max = round(self._task.t_max * NANO)
        reasons = [Ending(start + t_max, End.TIMEOUT, f"{self._task.t_max:g} s are over"), *self._reasons]
        if len(self._stopped) == len(self._vehicles):
            reasons.append(Ending(max(self._stopped.values()), End.STOP, "the planner said stop"))
        if (landed := self._landing(start, now)) is not None:
            reasons.append(landed)
        for vehicle, stamp, touched in self._contacts:
            if self._flying(vehicle, stamp) and self.record.knows_place(vehicle, stamp):
                reasons.append(Ending(stamp, End.COLLISION, f"{vehicle} touched {touched or 'something'}"))
        due = [reason for reason in reasons if start <= reason.stamp <= now]
        return min(due, key=lambda end: (end.stamp, _GRAVITY.index(end.reason), end.text), default=None)

    def _flying(self, vehicle: str, stamp: int) -> bool:
        """Off the ground by the autopilot's last word, as scoring sees it."""
        before = [landed for at, landed, _ in self._states[vehicle] if at <= stamp]
        return not before or before[-1] != Landed.ON_GROUND

    def _landing(self, start: int, now: int) -> Ending | None:
        """Returns the end of a mission of which every vehicle has stopped or was landed by another than its planner."""
        down = {vehicle: self._landed_by(vehicle, start, now) for vehicle in self._vehicles}
        landings = {vehicle: found for vehicle, found in down.items() if found is not None}
        if not landings or any(vehicle not in self._stopped for vehicle in set(down) - set(landings)):
            return None
        prefix = {vehicle: f"{vehicle} " if len(down) > 1 else "" for vehicle in landings}
        text = "; ".join(f"{prefix[vehicle]}{words}" for vehicle, (_, words) in landings.items())
        stamps = [*(stamp for stamp, _ in landings.values()), *(self._stopped[v] for v in set(down) - set(landings))]
        return Ending(max(stamps), End.LANDED, text)

    def _landed_by(self, vehicle: str, start: int, now: int) -> tuple[int, str] | None:
        """Returns since when a landing of the governor or the autopilot counts, and whose it was; None without one.

        A planner that lands by its own goal may go on: it alone ends its mission.
        """
        states = [state for state in self._states[vehicle] if state[0] <= now]
        if not states or states[-1][1:] != (Landed.ON_GROUND, False):
            return None
        since = states[-1][0]
        aloft = max((i for i, (_, landed, _) in enumerate(states) if landed != Landed.ON_GROUND), default=None)
        if aloft is None or states[aloft + 1][0] <= start:
            return None  # it has not flown in this mission
        in_air = states[aloft + 1][0] - 1  # the last stamp before it touched the ground
        governed = self.record.rows(vehicle, names.SAFETY_STATUS, None, in_air)
        if governed and governed[-1].mode >= Mode.RETURN:
            return since + LANDED_FOR, f"landed by the governor: {governed[-1].text or 'no reason given'}"
        bridged = self.record.rows(vehicle, names.VEHICLE_STATE, None, in_air)
        if bridged and bridged[-1].holding:
            by_itself = bridged[-1].failsafe or self._run.world not in names.AUTOPILOTS
            who = f"the autopilot {bridged[-1].failsafe}".rstrip() if by_itself else "a person or a ground station"
            return since + LANDED_FOR, f"landed by {who}"
        if self._run.world in names.AUTOPILOTS and states[aloft][1] == Landed.FLYING:
            return since + LANDED_FOR, "landed by the autopilot, which took it for landed and stopped its motors"
        return None
