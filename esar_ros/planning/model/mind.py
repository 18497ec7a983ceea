"""A method's thought: questions asked one after another or at once, answers waited for by the mission's clock.

A thought is a generator that yields questions and is sent their replies; what it returns is the outcome. The model is
asked in threads of its own. With the clock paused the observation in hand waits for the answers. With the clock running
mission time goes on: the outcome is there at the first frame no earlier than question's stamp plus the time the model
took, in a simulator that outruns the wall clock too (which then waits for the model, never the other way round).
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from esar_ros.mission.chat import key_of
from esar_ros.mission.decision import partly
from esar_ros.planning.exchange import CAUTION, Question, Reply
from esar_ros.planning.model.client import ModelClient
from esar_ros.planning.model.log import Log, Replay, file_name, find_recording
from esar_ros.planning.model.settings import KEY, SCRIPTED, ModelSettings, resolved

_Outcome = TypeVar("_Outcome")
Thought = Generator[Sequence[Question], Sequence[Reply], _Outcome]

_GRACE = 5.0  # s beyond all attempts after which a thread counts as lost


@dataclass(frozen=True)
class Outcome(Generic[_Outcome]):
    """Outcome of a thought, its cost, and what went wrong ('' when nothing did; `partly` with a usable answer).

    Where the server counts no tokens a usable answer costs one, so that records know of it.
    """

    value: _Outcome
    trouble: str
    tokens_in: int
    tokens_out: int


class Named(Protocol):
    """The part of a brief that a mind needs."""

    @property
    def mission_id(self) -> str:
        """Names the mission, and its log."""


class Moment(Protocol):
    """The part of an observation that a mind needs."""

    @property
    def stamp(self) -> float:
        """s."""

    @property
    def vehicle(self) -> str:
        """Name of the vehicle that observes."""


class Mind(Generic[_Outcome]):
    """Thinks for one method, one thought at a time."""

    def __init__(self, settings: ModelSettings, method: str, prompts: Sequence[str]) -> None:
        """Opens nothing yet. Raises UsageError when no model is configured."""
        self._settings = resolved(settings, method)
        # The stand-in for a model is part of the method's name, everywhere.
        self.method = f"{method}@{SCRIPTED}" if self._settings.preset == SCRIPTED else method
        self._running = self._settings.clock == "running"
        self._prompts = hashlib.sha256("\0".join([CAUTION, *prompts]).encode("utf-8")).hexdigest()
        replayed = Path(self._settings.replay) if self._settings.replay else None
        self._model = Replay(replayed).model if replayed is not None and replayed.is_file() else self._settings.name

    @property
    def details(self) -> dict[str, str]:
        """For results: which model is asked, with which words, when, and what the clock does meanwhile."""
        out = {
            "model": self._model,
            "prompt_sha256": self._prompts,
            "clock": "running" if self._running else "paused",
            "date": datetime.now(timezone.utc).date().isoformat(),
        }
        return {**out, "answers": "replayed"} if self._settings.replay else out

    @property
    def sends_images(self) -> tuple[int, int] | None:
        """Width (px) and JPEG quality, None for a model that reads text only."""
        return (self._settings.image_width, self._settings.jpeg_quality) if self._settings.images else None

    @property
    def busy(self) -> bool:
        """True while a thought is under way."""
        return self._thought is not None

    def run_clock(self) -> None:
        """From now on mission time does not wait: for worlds that cannot be paused."""
        self._running = True

    def reset(self, brief: Named) -> None:
        """Forget the last mission, its costs included."""
        self._mission = brief.mission_id
        self._thought: Thought[_Outcome] | None = None
        self._batch: _Batch | None = None
        self._transcript: _Transcript | None = None
        self._failures = 0
        self._backoff_until = -1.0

    def begin(self, thought: Thought[_Outcome]) -> None:
        """Start a thought; ask poll() at once and at every later frame."""
        if self._thought is not None:
            raise RuntimeError("one thought at a time")
        self._thought, self._batch = thought, None
        self._tokens, self._trouble, self._is_used = [0, 0], "", False

    def poll(self, observation: Moment) -> Outcome[_Outcome] | None:
        """The outcome, or None while the model thinks. Raises UsageError when a replay does not fit."""
        assert self._thought is not None
        now = observation.stamp
        if self._transcript is None:
            self._transcript = self._open(observation.vehicle)
        replies: Sequence[Reply] | None = None
        while True:
            if self._batch is not None:
                if not self._batch.ready(now, self._running):
                    return None
                replies, asked = self._settle(self._batch, now), self._batch.ready_at
            else:
                asked = now
            try:
                questions = next(self._thought) if replies is None else self._thought.send(replies)
            except StopIteration as end:
                self._thought = self._batch = None
                trouble = partly(self._trouble) if self._is_used else self._trouble
                return Outcome(end.value, trouble, *self._tokens)
            self._batch = self._ask(questions, asked)

    def _ask(self, questions: Sequence[Question], now: float) -> _Batch:
        assert self._transcript is not None
        if now < self._backoff_until:
            why = f"the model rests after {self._settings.rest_after} rounds without an answer"
            return _BackedOff(questions, [Reply(None, why, attempts=0) for _ in questions], now)
        return self._transcript.ask(questions, now)

    def _settle(self, batch: _Batch, now: float) -> Sequence[Reply]:
        replies = batch.replies()
        for reply in replies:
            self._tokens[0] += reply.tokens_in
            self._tokens[1] += reply.tokens_out
            if reply.value is None:
                self._trouble = reply.reason
            else:
                self._is_used = True
                self._tokens[1] += not (reply.tokens_in or reply.tokens_out)
        if isinstance(batch, _BackedOff):
            return replies
        assert self._transcript is not None
        self._transcript.write(batch, replies, now if self._running else batch.asked)
        if replies:
            self._failures = 0 if any(reply.value is not None for reply in replies) else self._failures + 1
        if self._failures >= self._settings.rest_after:
            self._failures, self._backoff_until = 0, now + self._settings.rest
        return replies

    def _open(self, vehicle: str) -> _Transcript:
        name = file_name(self._mission, vehicle, self.method)
        replay = Replay(find_recording(self._settings.replay, name)) if self._settings.replay else None
        if replay is not None:
            replay.check_method(self.method)
            self._model = replay.model
        header = {"method": self.method, "mission_id": self._mission, "vehicle": vehicle, **self.details}
        log = Log(Path(self._settings.log) / name, self._settings.log_images, header) if self._settings.log else None
        client = None if replay is not None else ModelClient(self._settings, key_of(KEY, os.environ))
        return _Transcript(self._settings, client, replay, log, self._model)


class _Batch(ABC):
    """Questions under way, asked at a stamp (s)."""

    def __init__(self, questions: Sequence[Question], first: int, asked: float) -> None:
        self.questions, self.first, self.asked = tuple(questions), first, asked

    @property
    @abstractmethod
    def ready_at(self) -> float:
        """Stamp (s) at which the answers were there."""

    @abstractmethod
    def ready(self, now: float, running: bool) -> bool:
        """Returns whether the answers are there at a stamp (s); waits as far as the clock allows."""

    @abstractmethod
    def replies(self) -> Sequence[Reply]:
        """One for each question."""


class _Known(_Batch):
    """Answers that are known beforehand, delivered at a stamp."""

    def __init__(self, questions: Sequence[Question], first: int, asked: float, replies: list[Reply], at: float):
        super().__init__(questions, first, asked)
        self._replies, self._at = replies, at

    @property
    def ready_at(self) -> float:
        return self._at

    def ready(self, now: float, running: bool) -> bool:
        return now >= self._at

    def replies(self) -> Sequence[Reply]:
        return self._replies


class _BackedOff(_Known):
    """No answers, at once and without asking: the model is left alone for a while after too many failures."""

    def __init__(self, questions: Sequence[Question], replies: list[Reply], asked: float) -> None:
        super().__init__(questions, 0, asked, replies, asked)


class _Asked(_Batch):
    """Questions to a server, a thread each."""

    def __init__(
        self, questions: Sequence[Question], first: int, asked: float, client: ModelClient, longest: float
    ) -> None:
        super().__init__(questions, first, asked)
        self._began, self._longest = time.monotonic(), longest
        self._replies: list[Reply | None] = [None] * len(self.questions)
        self._now = asked
        self._threads = [
            # Daemons: a server that does not answer must not keep a process that ends.
            threading.Thread(target=self._work, args=(client, index), daemon=True, name=f"model-{first + index}")
            for index in range(len(self.questions))
        ]
        for thread in self._threads:
            thread.start()

    def _work(self, client: ModelClient, index: int) -> None:
        try:
            self._replies[index] = client.ask(self.questions[index])
        except Exception as error:  # a fault of ours must not leave the mission waiting
            self._replies[index] = Reply(None, f"asking failed: {type(error).__name__}")

    @property
    def ready_at(self) -> float:
        return self._now

    def ready(self, now: float, running: bool) -> bool:
        elapsed = time.monotonic() - self._began
        allowed = min(now - self.asked, self._longest) if running else self._longest
        end = time.monotonic() + max(allowed - elapsed, 0.0)
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0.0))
        answered = all(reply is not None for reply in self._replies)
        if running and answered and now - self.asked < max(reply.seconds for reply in self._replies if reply):
            return False
        lost = time.monotonic() - self._began >= self._longest
        self._now = now
        return answered or lost

    def replies(self) -> Sequence[Reply]:
        lost = Reply(None, f"no answer within {self._longest:g} s in all", seconds=self._longest)
        return [reply or lost for reply in list(self._replies)]


class _Transcript:
    """Numbers a mission's questions and keeps or replays their answers."""

    def __init__(
        self, settings: ModelSettings, client: ModelClient | None, replay: Replay | None, log: Log | None, model: str
    ) -> None:
        self._client, self._replay, self._log, self._model = client, replay, log, model
        self._count = 0
        pauses = sum(settings.pause * 2**n for n in range(settings.attempts - 1)) * 1.25
        self._longest = 2.0 * settings.timeout * settings.attempts + pauses + _GRACE

    def ask(self, questions: Sequence[Question], now: float) -> _Batch:
        """Send questions off, all at once."""
        first, self._count = self._count + 1, self._count + len(questions)
        if self._replay is not None:
            known = [self._replay.answer(first + n, question) for n, question in enumerate(questions)]
            at = max((at for _, at in known), default=now)
            return _Known(questions, first, now, [reply for reply, _ in known], at)
        assert self._client is not None
        return _Asked(questions, first, now, self._client, self._longest)

    def write(self, batch: _Batch, replies: Sequence[Reply], delivered: float) -> None:
        """Log a batch in the order of its questions."""
        if self._log is None:
            return
        for n, (question, reply) in enumerate(zip(batch.questions, replies, strict=True)):
            self._log.write(batch.first + n, (batch.asked, delivered), question, reply, self._model)
