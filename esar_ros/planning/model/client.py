"""Asks a model until its answer has the required form, within time-outs, attempts and the mission's budget."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from esar_ros.mission.chat import ChatServer, Completion, NoAnswer, estimated_tokens, without_fence
from esar_ros.mission.decision import writable
from esar_ros.planning.exchange import Question, Reply, clean, payload
from esar_ros.planning.model.dialect import Dialect
from esar_ros.planning.model.scripted import ScriptedModel
from esar_ros.planning.model.settings import SCRIPTED, ModelSettings

_WORDS = 400  # characters of a server's words that are logged
_THOUGHT_END = "</think>"  # some models show their reasoning first, of which a server may take the opening tag off


@dataclass
class Spent:
    """Tokens and seconds that a mission's questions have cost so far; estimated: the server left out some counts."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    estimated: bool = False

    def over(self, settings: ModelSettings) -> str:
        """Returns which part of the budget is used up, '' when none is."""
        budget = settings.budget
        money = (self.tokens_in * settings.price_in + self.tokens_out * settings.price_out) * 1e-6
        how = ", by an estimate: the server does not count" if self.estimated else ""
        if budget.tokens and self.tokens_in + self.tokens_out >= budget.tokens:
            return f"the budget of {budget.tokens} tokens is spent{how}"
        if budget.money and money >= budget.money:
            return f"the budget of {budget.money:g} is spent{how}"
        if budget.seconds and self.seconds >= budget.seconds:
            return f"the budget of {budget.seconds:g} s is spent"
        return ""


class Server(Protocol):
    """Server that answers requests."""

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Answer once. Raises NoAnswer."""


class ModelClient:
    """One model at one server. ask() may be called from several threads."""

    def __init__(
        self, settings: ModelSettings, key: str | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """settings: resolved ones."""
        self._settings = settings
        self._server: Server = (
            ScriptedModel() if settings.preset == SCRIPTED else ChatServer(settings.base_url, key, settings.timeout)
        )
        self._sleep = sleep
        self._dialect = Dialect()
        self._spread = random.Random()  # jitter must differ between clients; no decision hangs on it
        self._lock = threading.Lock()
        self.spent = Spent()

    def ask(self, question: Question) -> Reply:
        """The model's answer in its form, or why there is none. Never raises."""
        began = time.monotonic()
        tokens_in = tokens_out = attempt = 0
        reason = hint = ""
        texts: list[str] = []
        errors: list[str] = []

        def reply(value: BaseModel | None, why: str) -> Reply:
            seconds = time.monotonic() - began
            return Reply(value, why, tokens_in, tokens_out, seconds, attempt, tuple(texts), tuple(errors))

        for attempt in range(1, self._settings.attempts + 1):
            if reason:
                wait = self._settings.pause * 2 ** (attempt - 2)
                self._sleep(wait * self._spread.uniform(0.75, 1.25))
            with self._lock:
                over = self.spent.over(self._settings)
            if over:
                return reply(None, over)
            try:
                completion = self._completion(question, hint, errors)
            except NoAnswer as error:
                reason = str(error)
                if error.completion is not None:  # the model said nothing or refused
                    tokens_in += error.completion.tokens_in
                    tokens_out += error.completion.tokens_out
                    reason = self._cut(error.completion) or reason
                if not error.again:
                    break
                continue
            tokens_in, tokens_out = tokens_in + completion.tokens_in, tokens_out + completion.tokens_out
            texts.append(completion.text)
            try:
                value = parse(completion.text, question.form)
            except NoAnswer as error:
                reason = self._cut(completion) or str(error)
                # Tell the model what was wrong; its own words stay out, so that nothing grows without bound.
                hint = f"Your last answer was not usable: {reason}. Answer again."
                continue
            return reply(value, "")
        return reply(None, reason)

    def _cut(self, completion: Completion) -> str:
        """Returns in words that an answer was cut; empty where it was not."""
        return f"the model's answer was cut at max_tokens ({self._settings.max_tokens})" * (
            completion.finish == "length"
        )

    def _completion(self, question: Question, hint: str, errors: list[str]) -> Completion:
        """Asks once, in the dialect that the server takes; appends its words about what it refused to errors.

        Raises NoAnswer.
        """
        standard = payload(question, self._settings.model_dump(), hint)
        dialect: Dialect | None = self._dialect
        refusal: NoAnswer | None = None
        while dialect is not None:
            body, asked = dialect.request(standard, question), time.monotonic()
            try:
                completion = self._server.complete(body)
            except NoAnswer as error:
                refusal = error
                self._count(error.completion, body, time.monotonic() - asked)
                if error.words:
                    errors.append(clean(f"{error}: {error.words}", _WORDS))
                dialect = dialect.mended(standard, question, error) if error.status else None
                continue
            self._dialect = dialect  # what one question has learnt the next begins with
            self._count(completion, body, time.monotonic() - asked)
            return completion
        assert refusal is not None
        raise refusal

    def _count(self, completion: Completion | None, body: Mapping[str, Any], seconds: float) -> None:
        """Adds an attempt to what was spent; tokens that the server does not count are estimated, a reply's are not."""
        with self._lock:
            self.spent.seconds += seconds
            if completion is None or self._settings.preset == SCRIPTED:  # which costs nothing
                return
            asked = sum(estimated_tokens(message["content"]) for message in body["messages"])
            self.spent.tokens_in += completion.tokens_in or asked
            self.spent.tokens_out += completion.tokens_out or estimated_tokens(completion.text)
            self.spent.estimated |= not (completion.tokens_in and completion.tokens_out)


def parse(text: str, form: type[BaseModel]) -> BaseModel:
    """Parses a model's text into the required form.

    A code fence around the JSON and shown reasoning before it are taken off, nothing else is forgiven.
    Raises NoAnswer, whose text holds none of the model's words.
    """
    _, ended, after = text.partition(_THOUGHT_END)
    for candidate in (text, after) if ended else (text,):
        try:
            answer = json.loads(without_fence(candidate))
            # Its escapes may name halves of surrogate pairs.
            answer = json.loads(writable(json.dumps(answer, ensure_ascii=False)))
            break
        except (ValueError, RecursionError):
            continue
    else:
        raise NoAnswer("the model's answer is no JSON")
    try:
        return form.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        named = [str(part) for part in first["loc"] if isinstance(part, int) or part in form.model_fields]
        where = ".".join(named) or "all"
        raise NoAnswer(f"the model's JSON does not fit: {where}: {first['type'].replace('_', ' ')}") from None
