"""The shipped parameters of the paper's methods state their defaults, and methods keep the registry's promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.planning import registry
from esar_ros.planning.method import NEEDS, Method, SupportsAsync, details_of
from esar_ros.planning.methods.maps.semexp import SemExpSettings
from esar_ros.planning.methods.maps.unigoal import UniGoalSettings
from esar_ros.planning.methods.maps.vlfm import VlfmSettings, VlfmTextSettings
from esar_ros.planning.methods.models.aoa import AoaSettings
from esar_ros.planning.methods.models.apex import ApexSettings
from esar_ros.planning.methods.models.clip_h import ClipHLabelsSettings, ClipHSettings, ClipHTextSettings
from esar_ros.planning.methods.models.navgpt import NavGptSettings
from esar_ros.planning.methods.models.pure_mllm import PureMllm
from esar_ros.planning.methods.models.spf import SpfSettings
from esar_ros.planning.model.settings import ModelSettings
from helpers.chat_server import ChatEndpoint

ASKING: dict[str, Any] = {
    "pure_mllm": PureMllm.settings_type, "navgpt": NavGptSettings, "unigoal": UniGoalSettings, "spf": SpfSettings,
    "apex": ApexSettings, "aoa_f": AoaSettings, "aoa_v": AoaSettings,
}  # fmt: skip
SILENT: dict[str, Any] = {
    "semexp": SemExpSettings, "vlfm": VlfmSettings, "vlfm_labels": VlfmSettings, "clip_h": ClipHSettings,
    "clip_h_labels": ClipHLabelsSettings, "vlfm_text": VlfmTextSettings, "clip_h_text": ClipHTextSettings,
}  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), sorted((ASKING | SILENT).items()))
def test_the_shipped_file_states_the_defaults(name: str, settings: Any) -> None:
    data = yaml.safe_load(resource("config/planners.yaml").read_text(encoding="utf-8"))
    assert settings.model_validate(data[name]) == settings()
    assert ModelSettings.model_validate(data["model"]) == ModelSettings()


@pytest.mark.parametrize("name", sorted(ASKING))
def test_methods_that_ask_need_an_endpoint_and_say_what_they_ask(
    name: str, chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = registry.create(name, {"model": {"clock": "running"}})
    assert isinstance(method, Method) and isinstance(method, SupportsAsync)
    assert method.name == name and method.eligible and method.needs <= NEEDS
    details = details_of(method)
    assert details["model"] == "scripted" and details["clock"] == "running" and len(details["prompt_sha256"]) == 64
    assert chat.secret not in str(details)
    monkeypatch.delenv("ESAR_MODEL_URL")
    with pytest.raises(UsageError, match=f"planner {name} asks a language model"):
        registry.create(name)


@pytest.mark.parametrize("name", ["semexp", "vlfm_labels", "clip_h_labels"])
def test_methods_that_do_not_ask_need_none(name: str) -> None:
    method = registry.create(name)
    assert isinstance(method, Method) and method.name == name and method.eligible
    with pytest.raises(UsageError, match="parameter model"):
        registry.create(name, {"model": {}})


@pytest.mark.parametrize("name", ["vlfm", "clip_h"])
def test_clip_without_weights_names_the_stand_in(name: str) -> None:
    with pytest.raises(UsageError, match=f"planner {name} needs CLIP weights.*fly {name}_labels"):
        registry.create(name)


def test_the_stand_ins_say_what_they_are() -> None:
    for name in ("vlfm_labels", "clip_h_labels"):
        assert registry.create(name).details["scorer"] == "labels"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["vlfm", "clip_h"])
def test_sentence_embeddings_that_are_not_there_are_told_with_what_flies_without(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"planner {name}_text: .*no sentence-transformers model.*or fly {name}_labels"
    with pytest.raises(UsageError, match=told):
        registry.create(f"{name}_text", {"sentences": {"weights": str(tmp_path)}})
    monkeypatch.setattr("esar_ros.perception.text.sentence_encoder.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=rf"planner {name}_text: .*pip install 'esar_ros\[text\]'"):
        registry.create(f"{name}_text")
