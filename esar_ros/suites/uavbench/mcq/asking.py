"""Puts one question to a model at an OpenAI-compatible server, again where the server fails."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esar_ros.mission.chat import ChatServer, Completion, NoAnswer, estimated_tokens, key_of
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.client import Server
from esar_ros.planning.model.dialect import Dialect
from esar_ros.planning.model.settings import KEY, SCRIPTED, Budget, ModelSettings, resolved
from esar_ros.planning.parameters import MODEL, check, configured
from esar_ros.suites.uavbench.mcq.item import Item
from esar_ros.suites.uavbench.mcq.protocol import Protocol

_NAME = "mcq"  # section of the settings' file
_CURE = "export ESAR_MODEL_URL=... and ESAR_MODEL_NAME=..., or ESAR_MODEL_PRESET=qwen3-max; or --local smollm2"


@dataclass(frozen=True)
class Answer:
    """A model's words to one question and their cost.

    estimated: the server did not count the tokens; changes: what it did not take of the protocol's request.
    """

    completion: Completion
    estimated: bool
    seconds: float
    attempts: int
    changes: tuple[str, ...] = ()


class Asker:
    """One model at one server. ask() may be called from several threads."""

    def __init__(
        self, server: Server, settings: ModelSettings, protocol: Protocol, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """settings: resolved ones, of which name, pause and extra are used."""
        self._server, self._settings, self._protocol, self._sleep = server, settings, protocol, sleep
        self._dialect = Dialect()
        self._spread = random.Random()  # jitter must differ between threads; no answer hangs on it

    def ask(self, item: Item, order: Sequence[int]) -> Answer:
        """Ask, as often as the protocol says. Raises NoAnswer when the server gave no answer: that is no wrong one."""
        body = {
            "model": self._settings.name,
            "messages": self._protocol.messages(item, order),
            "temperature": 0.0,
            "top_p": 1.0,
            "max_tokens": self._protocol.max_tokens,
            **self._settings.extra,
        }
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                completion, dialect = self._completion(body)
            except NoAnswer as error:
                if error.completion is None:
                    if attempt >= self._protocol.attempts or not error.again:
                        raise
                    self._sleep(self._settings.pause * 2 ** (attempt - 1) * self._spread.uniform(0.75, 1.25))
                    continue
                completion, dialect = error.completion, self._dialect  # the model said nothing or refused
            return _counted(completion, body, time.monotonic() - began, attempt, dialect.changes)

    def _completion(self, body: Mapping[str, Any]) -> tuple[Completion, Dialect]:
        """Asks once, in the dialect that the server takes, and returns the dialect too. Raises NoAnswer."""
        dialect = self._dialect
        while True:
            try:
                completion = self._server.complete(dialect.request(body))
            except NoAnswer as error:
                mended = dialect.mended(body, None, error) if error.status else None
                if mended is None:
                    raise
                dialect = mended
                continue
            self._dialect = dialect  # what one question has learnt the next begins with
            return completion, dialect


def _counted(
    completion: Completion, body: Mapping[str, Any], seconds: float, attempts: int, changes: tuple[str, ...]
) -> Answer:
    """The answer with tokens that the server left out estimated."""
    asked = completion.tokens_in or sum(estimated_tokens(message["content"]) for message in body["messages"])
    said = completion.tokens_out or estimated_tokens(completion.text)
    estimated = not completion.tokens_in or (not completion.tokens_out and bool(completion.text))
    whole = Completion(completion.text, asked, said, completion.finish, completion.model)
    return Answer(whole, estimated, seconds, attempts, changes)


def model_settings(name: str = "", environment: Mapping[str, str] = os.environ) -> ModelSettings:
    """Section `model` of config/planners.yaml under the environment, with another model's name where one is given.

    The file's budget is a mission's and does not count here. Raises UsageError when no model can be asked.
    """
    variables = {**environment, **({"ESAR_MODEL_NAME": name} if name else {})}
    settings = check(ModelSettings, configured(_NAME, {}, shared=(MODEL,))[MODEL], _NAME)
    settings = settings.model_copy(update={"budget": Budget()})
    preset, url, known_name = (
        variables.get(f"ESAR_MODEL_{variable}") or getattr(settings, key)
        for variable, key in (("PRESET", "preset"), ("URL", "base_url"), ("NAME", "name"))
    )
    if not preset and not (url and known_name):
        raise UsageError("no language model is configured", _CURE)
    if preset == SCRIPTED:
        raise UsageError("the scripted model answers no such questions", _CURE)
    if settings.replay or variables.get("ESAR_MODEL_REPLAY"):
        raise UsageError("a mission's log holds no answers to such questions", "unset ESAR_MODEL_REPLAY")
    return resolved(settings, _NAME, variables)


def server_of(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> ChatServer:
    """Returns the server of resolved settings, with the key from the environment alone. Raises UsageError."""
    return ChatServer(settings.base_url, key_of(KEY, environment), settings.timeout)
