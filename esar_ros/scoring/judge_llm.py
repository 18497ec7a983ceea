"""A language model as judge: the prompt of ESARBench's appendix D over any OpenAI-compatible endpoint.

One request a mission. The key comes from the environment and is sent nowhere else (mission/chat.py). On any error the
offline judge answers instead and the judgement states it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import product

from esar_ros.mission.chat import DASHSCOPE, ChatServer, NoAnswer, key_of, without_fence
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.scoring.judge import TEXT_LENGTH, Judge, Judgement, OfflineJudge, Pair

URL, MODEL, KEY = "ESAR_JUDGE_URL", "ESAR_JUDGE_MODEL", "ESAR_JUDGE_KEY"  # environment variables
PRESET = "ESAR_JUDGE_PRESET"
PRESETS = {"qwen3-max": {URL: DASHSCOPE, MODEL: "qwen3-max"}}  # the paper's judge (appendix D)

PROMPT = """Role: You are an expert judge for a Search and Rescue (SAR) mission.
Task: Determine if the objects reported by a drone match the actual ground truth clues.

Input Data:
• Ground Truth List: {ground_truth_cues}
• Drone Reported List: {agent_cues}

Matching Logic:
1. Perform semantic matching. (e.g., "red bag" matches "Backpack", "fire" matches "Campfire").
2. A drone report matches a ground truth if they refer to the same physical object.
3. Multiple reports might refer to the same ground truth clue; ensure you count unique ground truth matches.

Output Format (Strict JSON only, no conversational filler):
{
"matches": [
{"agent_cue":"reported_term","gt_cue":"matched_ground_truth_term"}
],
"matched_gt_count": <number-of-unique-ground-truth-clues-found>
}
"""


@dataclass(frozen=True)
class Endpoint:
    """Server and model to ask. url ends before /chat/completions, e.g. http://localhost:8000/v1; times in s."""

    url: str
    model: str
    timeout: float = 60.0  # of one request, its whole answer included
    attempts: int = 3
    pause: float = 1.0  # before the second attempt, doubled before the third


class LlmJudge:
    """Asks a model once for all pairs of a mission."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None = None,
        instead: Judge | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """instead: the judge that answers when the model does not, by default the offline judge."""
        try:
            self._server = ChatServer(endpoint.url, key, endpoint.timeout)
        except ValueError as error:
            raise UsageError(f"{URL} {error}", "give e.g. http://localhost:8000/v1") from None
        self._endpoint = endpoint
        self._instead = instead or OfflineJudge()
        self._sleep = sleep

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> LlmJudge:
        """Judge at ESAR_JUDGE_URL with ESAR_JUDGE_MODEL and, where one is needed, ESAR_JUDGE_KEY. Raises UsageError.

        ESAR_JUDGE_PRESET fills in the first two where they are not given.
        """
        preset = environment.get(PRESET, "")
        if preset and preset not in PRESETS:
            raise UsageError(f"no judge preset '{preset}'", suggest(preset, PRESETS))
        given = {name: environment[name] for name in (URL, MODEL) if environment.get(name)}
        where = {**PRESETS.get(preset, {}), **given}
        missing = [name for name in (URL, MODEL) if name not in where]
        if missing:
            raise UsageError(
                f"judge llm: {' and '.join(missing)} not set", f"export {missing[0]}=..., or --judge offline"
            )
        return cls(Endpoint(where[URL].rstrip("/"), where[MODEL]), key_of(KEY, environment))

    @property
    def name(self) -> str:
        """llm/<model>."""
        return f"llm/{self._endpoint.model}"

    def decide(self, pairs: Sequence[Pair]) -> Judgement:
        """See Judge.decide."""
        details = {
            "model": self._endpoint.model,
            "prompt_sha256": hashlib.sha256(PROMPT.encode("utf-8")).hexdigest(),
            "date": datetime.now(timezone.utc).date().isoformat(),
        }
        if not pairs:
            return Judgement((), self.name, details)
        try:
            meant = self._ask([_reported(pair) for pair in pairs], [_clue(pair) for pair in pairs])
        except NoAnswer as reason:
            other = self._instead.decide(pairs)
            return Judgement(other.answers, other.judge, {**details, "fell_back": f"{self.name}: {reason}"})
        return Judgement(tuple((_reported(pair), _clue(pair)) in meant for pair in pairs), self.name, details)

    def _ask(self, reported: Sequence[str], clues: Sequence[str]) -> set[tuple[str, str]]:
        """Matching (report, clue) terms. Raises NoAnswer."""
        reported, clues = list(dict.fromkeys(reported)), list(dict.fromkeys(clues))
        lists = {"{ground_truth_cues}": clues, "{agent_cues}": reported}
        # One pass, so that a report that holds a placeholder is not filled in.
        prompt = re.sub(
            "|".join(map(re.escape, lists)), lambda m: json.dumps(lists[m.group()], ensure_ascii=False), PROMPT
        )
        for attempt in range(self._endpoint.attempts):
            if attempt:
                self._sleep(self._endpoint.pause * 2 ** (attempt - 1))
            try:
                return parse_answer(self._request(prompt), reported, clues)
            except NoAnswer as error:
                if not error.again or attempt + 1 == self._endpoint.attempts:
                    raise
        raise NoAnswer("no attempt allowed")

    def _request(self, prompt: str) -> str:
        """The model's words. Raises NoAnswer."""
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "response_format": {"type": "json_object"},
        }
        return self._server.complete(body).text


def parse_answer(text: str, reported: Sequence[str], clues: Sequence[str]) -> set[tuple[str, str]]:
    """(report, clue) terms of appendix D's strict JSON; terms that were not asked about make it no answer.

    A code fence around the JSON is taken off, nothing else is forgiven. Raises NoAnswer.
    """
    try:
        answer = json.loads(without_fence(text))
    except (ValueError, RecursionError):
        raise NoAnswer("the model's answer is no JSON") from None
    matches = answer.get("matches") if isinstance(answer, dict) else None
    count = answer.get("matched_gt_count") if isinstance(answer, dict) else None
    if not isinstance(matches, list) or not isinstance(count, int) or isinstance(count, bool):
        raise NoAnswer("the model's JSON lacks matches or matched_gt_count")
    found: set[tuple[str, str]] = set()
    for match in matches:
        if not isinstance(match, dict) or set(match) != {"agent_cue", "gt_cue"}:
            raise NoAnswer("a match of the model is no agent_cue and gt_cue")
        meant = set(product(_meant(str(match["agent_cue"]), reported), _meant(str(match["gt_cue"]), clues)))
        if not meant:
            raise NoAnswer("the model matches a term that was not asked about")
        found |= meant
    return found


def _meant(term: str, terms: Sequence[str]) -> list[str]:
    """Returns those of the terms that a model's term means: itself, or all that differ in case and spaces alone."""
    return [term] if term in terms else [other for other in terms if _plain(other) == _plain(term)]


def _plain(term: str) -> str:
    return " ".join(term.casefold().split())


def _reported(pair: Pair) -> str:
    """The report in words; one without any says its kind."""
    return " ".join(pair.report_text.split())[:TEXT_LENGTH] or pair.report_kind.replace("_", " ")


def _clue(pair: Pair) -> str:
    """The clue's name as the paper writes it, e.g. Sleeping Bag."""
    return pair.truth_kind.replace("_", " ").title()
