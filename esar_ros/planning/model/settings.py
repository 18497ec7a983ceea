"""Settings of the language model, its server and its budget: section `model` of config/planners.yaml.

The address, the name, the log and the replay may also come from the environment, which takes precedence over the file;
the key comes from there alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from esar_ros.mission.chat import DASHSCOPE, check_address, check_key, key_of
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.parameters import check

SCRIPTED = "scripted"  # preset: the offline stand-in, asked in place of a server
KEY = "ESAR_MODEL_KEY"  # environment variable that holds the secret
ENVIRONMENT = {  # variable -> key of this section
    "ESAR_MODEL_PRESET": "preset",
    "ESAR_MODEL_URL": "base_url",
    "ESAR_MODEL_NAME": "name",
    "ESAR_MODEL_LOG": "log",
    "ESAR_MODEL_REPLAY": "replay",
    "ESAR_MODEL_CLOCK": "clock",
}
# What a preset fills in where nothing is given: the paper's planner (section 4.1), and its judge in that role.
PRESETS: dict[str, dict[str, Any]] = {
    "qwen3.5-plus": {"base_url": DASHSCOPE, "name": "qwen3.5-plus", "extra": {"enable_thinking": False}},
    "qwen3-max": {"base_url": DASHSCOPE, "name": "qwen3-max", "images": False},
    SCRIPTED: {"name": "esar-scripted-3"},  # the number counts versions of its rules (scripted.py)
}
# What config/planners.yaml says of it as it is shipped: that is not given by anybody.
SHIPPED: dict[str, Any] = {"base_url": "", "name": "", "images": True}
# Money per million tokens read and written, in the currency of each provider's list. A price is a fact of a day
# (looked up in November 2026) and of a length: DashScope's of qwen3-max, CNY, is for questions of up to 32000 tokens.
PRICES = {"qwen3-max": (2.5, 10.0)}
_KEPT_SCRIPTED = ("log", "replay", "clock")  # what the environment may say about the scripted model


class Budget(StrictModel):
    """Budget of one mission; 0: no limit."""

    tokens: int = Field(default=0, ge=0, description="read and written together; estimated where a server counts none")
    money: float = Field(default=0.0, ge=0, description="in the currency of the prices")
    seconds: float = Field(default=0.0, ge=0, description="s of waiting for answers")


class ModelSettings(StrictModel):
    """Section `model` of config/planners.yaml, shared by every method that asks a model."""

    preset: str = Field(default="", description="fills in what is not given: qwen3.5-plus, qwen3-max, scripted")
    base_url: str = Field(default="", description="ends before /chat/completions")
    name: str = Field(default="", description="model's name at that server")
    timeout: float = Field(default=60.0, gt=0, description="s for one attempt")
    attempts: int = Field(default=3, ge=1, le=10, description="per question")
    pause: float = Field(default=1.0, ge=0, description="s before the second attempt, doubled each time, +- 25 %")
    rest_after: int = Field(default=3, ge=1, description="rounds of questions in a row without an answer, then a rest")
    rest: float = Field(default=60.0, ge=0, description="s of mission time before the model is asked again")
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_tokens: int = Field(default=800, ge=16, description="of one answer")
    structured: Literal["json_object", "json_schema", "none"] = Field(
        default="json_object", description="what the server is told about the answer's form"
    )
    images: bool = Field(default=True, description="send pictures; false for a model that reads text only")
    image_width: int = Field(default=640, ge=32, le=4096, description="px of the pictures sent, never enlarged")
    jpeg_quality: int = Field(default=85, ge=10, le=100)
    extra: dict[str, Any] = Field(default_factory=dict, description="further fields of each request")
    price_in: float = Field(default=0.0, ge=0, description="money per million tokens read")
    price_out: float = Field(default=0.0, ge=0, description="money per million tokens written")
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=lambda: dict(PRICES), description="price_in, price_out by model, where they are not given"
    )
    budget: Budget = Field(default_factory=Budget)
    clock: Literal["paused", "running"] = Field(
        default="paused", description="whether mission time stands still while the model thinks"
    )
    log: str = Field(default="", description="folder for prompts, pictures and answers, a file a mission; empty: none")
    log_images: bool = Field(default=True, description="keep the pictures beside the log")
    replay: str = Field(default="", description="log file or folder whose answers are given instead of a server's")


def resolved(settings: ModelSettings, method: str, environment: Mapping[str, str] = os.environ) -> ModelSettings:
    """Settings with the environment's and the preset's values filled in.

    Raises UsageError when no model can be asked, or none without sending the key in clear.
    """
    given = {key: environment[name] for name, key in ENVIRONMENT.items() if environment.get(name)}
    if SCRIPTED in (settings.preset, given.get("preset")):
        # Nothing else that is configured may turn a method named after it into one that asks a server.
        given = {key: value for key, value in given.items() if key in _KEPT_SCRIPTED}
        given |= {"preset": SCRIPTED, "base_url": "", "name": ""}
    settings = check(ModelSettings, {**settings.model_dump(exclude_unset=True), **given}, method)
    if settings.preset:
        if settings.preset not in PRESETS:
            raise UsageError(f"no model preset '{settings.preset}'", suggest(settings.preset, sorted(PRESETS)))
        own = {key for key in settings.model_fields_set if key not in SHIPPED or getattr(settings, key) != SHIPPED[key]}
        filled = {key: value for key, value in PRESETS[settings.preset].items() if key not in own}
        settings = settings.model_copy(update=filled)
    settings = _priced(settings, method)
    if settings.replay:
        if not Path(settings.replay).exists():
            raise UsageError(f"planner {method}: no recorded answers at {settings.replay}", "name a log of a mission")
        return settings
    if settings.preset == SCRIPTED:
        return settings
    missing = [name for name, key in (("URL", "base_url"), ("NAME", "name")) if not getattr(settings, key)]
    if missing:
        raise UsageError(
            f"planner {method} asks a language model and none is configured",
            f"export {' and '.join(f'ESAR_MODEL_{name}=...' for name in missing)}, or "
            f"ESAR_MODEL_PRESET=qwen3.5-plus; or fly {method}@{SCRIPTED}, with an offline stand-in",
        )
    try:
        check_address(settings.base_url)
    except ValueError as error:
        raise UsageError(f"planner {method}, model.base_url {error}", "give e.g. http://localhost:8000/v1") from None
    check_key(settings.base_url, key_of(KEY, environment))
    return settings


def _priced(settings: ModelSettings, method: str) -> ModelSettings:
    """Returns the settings with the prices of the table. Raises UsageError for a budget of money without a price."""
    if not (settings.price_in or settings.price_out) and settings.name in settings.prices:
        price_in, price_out = settings.prices[settings.name]
        settings = settings.model_copy(update={"price_in": price_in, "price_out": price_out})
    costs_nothing = settings.preset == SCRIPTED or settings.replay
    if settings.budget.money and not (costs_nothing or settings.price_in or settings.price_out):
        raise UsageError(
            f"planner {method}, model.budget.money: {settings.name} has no price",
            "give price_in and price_out, or name it under prices",
        )
    return settings
