"""Chat servers that refuse what three common ones refuse, a field at a time, in those servers' own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from helpers.chat_server import Answer, fitting

Body = dict[str, Any]
Refusal = tuple[int, Any]  # HTTP status and the error's JSON


def pictures(body: Body) -> list[Any]:
    """Returns the addresses of pictures in a request."""
    parts = [part for turn in body["messages"] if isinstance(turn["content"], list) for part in turn["content"]]
    return [part["image_url"] for part in parts if part["type"] == "image_url"]


def roles(body: Body) -> list[str]:
    return [turn["role"] for turn in body["messages"]]


def newest_openai(body: Body) -> Refusal | None:
    """OpenAI's reasoning models: other limit of tokens, no temperature, no field that they do not know."""

    def error(message: str, param: str) -> Refusal:
        return 400, {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}

    if "max_tokens" in body:
        words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return error(f"Unsupported parameter: {words}", "max_tokens")
    if body.get("temperature", 1) != 1:
        words = "'temperature' does not support 0 with this model. Only the default (1) value is supported."
        return error(f"Unsupported value: {words}", "temperature")
    unknown = set(body) - {"model", "messages", "max_completion_tokens", "temperature", "response_format"}
    return error(f"Unrecognized request argument supplied: {min(unknown)}", "") if unknown else None


def vllm_with_gemma(body: Body) -> Refusal | None:
    """vLLM with a model whose template has no system turn: one picture, fields of its own alone, turns alternate."""

    def error(message: str) -> Refusal:
        return 400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}

    unknown = set(body) - {"model", "messages", "max_tokens", "temperature", "response_format"}
    if unknown:
        return error(
            f"[{{'type': 'extra_forbidden', 'loc': ('body', '{min(unknown)}'), 'input': {{'max_tokens': 1}}}}]"
        )
    if len(pictures(body)) > 1:
        return error("At most 1 image(s) may be provided in one request.")
    if "system" in roles(body):
        return error("System role not supported")
    if len(roles(body)) > 1:
        return error("Conversation roles must alternate user/assistant/user/assistant/...")
    return None


def lm_studio(body: Body) -> Refusal | None:
    """LM Studio: a schema as form of the answer, addresses of pictures as texts; no word on the rest."""
    if (body.get("response_format") or {"type": "text"})["type"] not in ("json_schema", "text"):
        return 400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}
    if any(isinstance(address, dict) for address in pictures(body)):
        return 400, {"error": "Invalid 'messages': 'image_url' must be a string"}
    return (422, {"error": "Unprocessable"}) if "max_tokens" in body else None


def strict(refuses: Callable[[Body], Refusal | None], log: list[int]) -> Callable[[Body], Answer]:
    """A server's script; log: the statuses that it answered with."""

    def script(body: Body) -> Answer:
        refusal = refuses(body)
        log.append(refusal[0] if refusal else 200)
        if refusal is None:
            return fitting(body)
        return lambda handler: handler.reply(refusal[0], json.dumps(refusal[1]).encode())

    return script
