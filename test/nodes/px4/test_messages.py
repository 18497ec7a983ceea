"""interfaces/px4_msgs against the originals: same type hashes, same versions, and built only when needed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from esar_ros.bridges.px4.versions import DEFAULT, EXTERNAL_IN, EXTERNAL_OUT, IN, OUT, RELEASES
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.px4 import messages

FOLDER = Path(__file__).resolve().parents[3] / "interfaces" / "px4_msgs"
# As rosidl gives them for the files of px4_msgs, branch release/1.17.
UPSTREAM = {
    "ArmingCheckReply": "RIHS01_bbab73fbc7dedd6d2e4c40d2c14ee23f8e563fdf5e82d26d843842bfa358b07c",
    "ArmingCheckRequest": "RIHS01_e4d6be7c8f4d5e08cd19e344ba59a76295dbcf71a6a29ed9efd44d6ea588a5eb",
    "BatteryStatus": "RIHS01_92fd1f3af4149312736945b5a3537b61e5268fca090d27abbb3b8ba243a5df8e",
    "Event": "RIHS01_4964812eb982e8d7855e07632a5b462b0beeb3a19e116913506b339eb1c876a9",
    "FailsafeFlags": "RIHS01_ddcab52d172610c368dffcd0eb2c372dd5e64ca1b49b02afcdef19e2c494e69d",
    "HomePosition": "RIHS01_bb4352e4d731e317bc0d078a5c07da073d64eac3010e82e1f56d8ddcec4af223",
    "OffboardControlMode": "RIHS01_e87463f252f320d2f197d1feadd643b8645e5ef53a2b158dccfdf11372e00f9f",
    "RegisterExtComponentReply": "RIHS01_a76fd6e064978373f9269b50f9e62da7333cb63c6075f86afc308ea0e4f4740f",
    "RegisterExtComponentRequest": "RIHS01_7c843ec24d1e079277fdf1948d36483bef0639ffe556adc536d1030b15158edf",
    "TimesyncStatus": "RIHS01_e41cb05a033818ad8025bcc7b2a06ab536cb2f93f9d1f31362c2f9bcc641f161",
    "TrajectorySetpoint": "RIHS01_9a7deb0cb7db5e52b441169a284b90188c4efdf06b302d55cb1db33ca0358c1a",
    "VehicleCommand": "RIHS01_1f0ab537807e2e20e04826633ea2c52e5431bea8eb0187152ff23bd07f1dd30b",
    "VehicleCommandAck": "RIHS01_36038d69f9db90980fb8fe154f27f22dffed0c35e530b32413cf0456aa8a29e2",
    "VehicleControlMode": "RIHS01_edb7e835846bc77720fa87a0fb0a150051d02f0a5fad41168031a73a49ba527c",
    "VehicleGlobalPosition": "RIHS01_cf9a06f6a8c328f7200984e3aabc0fb76fde3b1fa693baff68ebaf162d2fdc60",
    "VehicleLandDetected": "RIHS01_ced22fc1699e2a3746a1fa86aa4b5463b42f5b9c97e7913063365a04d8324901",
    "VehicleLocalPosition": "RIHS01_690ad535169297241c696494adbd98bbdc45566645026fe7963513a29a1bf144",
    "VehicleOdometry": "RIHS01_4295b96ad312084aa35c84bdcec65ba2f57eb4f6a293d57d52d95acbe99ff817",
    "VehicleStatus": "RIHS01_828bddbb7d4c2aa6ad93757955f6893be1ec5d8f11885ec7715bcdd76b5226c9",
}


def definition(name: str) -> str:
    return (FOLDER / "msg" / f"{name}.msg").read_text(encoding="utf-8")


def register(store: Any, name: str) -> None:
    """A message, and the one that it holds."""
    for each in ("Event", name) if name == "ArmingCheckReply" else (name,):
        store.register(get_types_from_msg(definition(each), f"px4_msgs/msg/{each}"))


def test_every_message_of_the_bridge_is_there() -> None:
    there = {path.stem for path in (FOLDER / "msg").glob("*.msg")}
    assert there == set(UPSTREAM)
    assert {*OUT, *IN, *EXTERNAL_OUT, *EXTERNAL_IN} <= there


@pytest.mark.parametrize("name", ["VehicleStatus", "TimesyncStatus", "TrajectorySetpoint"])
def test_fields_of_another_release_are_found_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    store = get_typestore(Stores.EMPTY)
    register(store, name)
    fields = [field for field in store.types[f"px4_msgs/msg/{name}"].__dataclass_fields__ if field[0].islower()]
    there = {field: "" for field in fields}
    kind = type(name, (), {"get_fields_and_field_types": staticmethod(lambda: there)})
    monkeypatch.setattr(messages, "message_class", {name: kind}.__getitem__)
    assert messages.lacking_fields(name) == []
    there = {field: "" for field in fields if field not in (fields[0], fields[-1])}
    assert messages.lacking_fields(name) == [fields[0], fields[-1]]


@pytest.mark.parametrize("name", UPSTREAM)
def test_a_message_has_the_original_s_type_hash(name: str) -> None:
    store = get_typestore(Stores.EMPTY)
    register(store, name)
    assert store.hash_rihs01(f"px4_msgs/msg/{name}") == UPSTREAM[name]


@pytest.mark.parametrize("name", UPSTREAM)
def test_a_message_has_its_release_s_version(name: str) -> None:
    found = re.search(r"MESSAGE_VERSION = (\d+)", definition(name))
    assert int(found.group(1) if found else 0) == RELEASES[DEFAULT].get(name, 0)


@pytest.mark.skipif(not messages.is_built(), reason="px4_msgs is not built in this environment")
@pytest.mark.parametrize("name", [*OUT, *IN, *EXTERNAL_OUT, *EXTERNAL_IN])
def test_what_is_imported_is_what_was_written(name: str) -> None:
    kind = messages.message_class(name)
    fields = re.findall(r"^[A-Za-z]+\d*(?:\[\d+\])? ([a-z]\w*)", definition(name), re.MULTILINE)
    assert list(kind.get_fields_and_field_types()) == fields


def test_without_px4_msgs_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    messages.message_class.cache_clear()
    monkeypatch.setattr(messages, "is_built", lambda: False)
    with pytest.raises(UsageError, match=r"px4_msgs is not here: .*esar_ros\.nodes\.px4\.messages"):
        messages.message_class("VehicleStatus")
    messages.message_class.cache_clear()


def test_what_is_there_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "is_built", lambda: True)
    monkeypatch.setattr(messages, "is_outdated", lambda: False)
    monkeypatch.setattr(messages, "_build", lambda target: pytest.fail("built again"))
    assert messages.ensure() is False


@pytest.mark.parametrize(("said", "again"), [(None, False), ("Built from others.\n", True), ("", True)])
def test_what_an_earlier_version_built_is_built_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str | None, again: bool
) -> None:
    """said: what the mark of this package says; None: there is none, as in a sourced workspace."""
    package = tmp_path / "lib" / "px4_msgs" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.touch()
    monkeypatch.delitem(sys.modules, "px4_msgs", raising=False)
    monkeypatch.syspath_prepend(package.parents[1])
    monkeypatch.setattr(messages, "prefix", lambda: tmp_path)
    mark = tmp_path / "share" / "esar_ros" / "built" / "px4_msgs"
    mark.parent.mkdir(parents=True)
    if said is not None:
        mark.write_text(said, encoding="utf-8")
    built: list[Path] = []
    monkeypatch.setattr(messages, "_build", built.append)
    assert messages.ensure() is again and built == [tmp_path] * again
    mark.write_text(messages._built_from(), encoding="utf-8")
    assert messages.ensure() is False


def test_a_place_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(messages, "is_built", lambda: False)
    monkeypatch.setattr(messages, "prefix", lambda: tmp_path / "nowhere")
    with pytest.raises(UsageError, match="nowhere"):
        messages.ensure()


def test_the_environment_is_where_they_go() -> None:
    target = messages.prefix()
    assert target == Path(sys.prefix) or (target / "share" / "esar_ros").is_dir()
