"""Documents and where they come from: whatever is wrong is told in one line, and nothing is a traceback."""

from __future__ import annotations

import errno
import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.scenarios.findings import Finding, pointer_of, printable
from esar_ros.suites.uavbench.scenarios.reading import DEEPEST, LARGEST, canonical, digest, parse
from esar_ros.suites.uavbench.scenarios.sources import documents
from esar_ros.suites.uavbench.scenarios.validate import check, validate
from helpers.scenarios import example, patched

SOUND = json.dumps(example()).encode()
DEEP = b'{"a":' * 1000 + b"1" + b"}" * 1000
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 166738456\n"


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", "J2", "is empty"),
        (b" \n", "J2", "is empty"),
        (b"\xef\xbb\xbf" + SOUND, "J1", "byte order mark"),
        (SOUND.decode().encode("utf-16"), "J1", "not UTF-8"),
        (bytes(range(256)), "J1", "not UTF-8"),
        (b" " * (LARGEST + 1), "J1", "larger than 1 MiB"),
        (LFS, "J1", "Git LFS"),
        (b'{"a": 1,\n "b": }', "J2", "line 2, column 7"),
        (b'{"a": NaN}', "J2", "NaN"),
        (b'{"a": -Infinity}', "J2", "Infinity"),
        (b'{"a": [1e400]}', "J2", "too large"),
        (b'{"a": 99999999999999999999}', "J2", "63 bits"),
        (b'{"a": ' + b"9" * 5000 + b"}", "J2", "digits"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "J3", '"c" twice'),
        (DEEP, "J4", "deeper than"),
        (b"[" * 100_000, "J4", "deeper than"),
        (b"[1, 2]", "J4", "a list at the top"),
        (b"null", "J4", "null at the top"),
    ],
)
def test_a_document_that_is_none_is_told_once(content: bytes, code: str, words: str) -> None:
    found = parse(content)
    assert isinstance(found, Finding)
    assert (found.code, found.pointer) == (code, "") and words in found.text
    assert len(found.line("x").splitlines()) == 1


def test_depth_is_counted_exactly() -> None:
    at = b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST
    assert not isinstance(parse(at), Finding)
    assert isinstance(parse(b'{"a":' + at + b"}"), Finding)


def test_bytes_do_not_depend_on_the_order_of_keys() -> None:
    scenario = example()
    turned = dict(reversed(scenario.items()))
    assert json.loads(canonical(scenario)) == scenario
    assert canonical(turned) == canonical(scenario) and digest(turned) == digest(scenario)
    assert digest(patched(scenario, {"/seed": 8})) != digest(scenario)


def test_pointers_are_escaped_and_lines_stay_lines() -> None:
    assert pointer_of(("a/b", "c~d", 0)) == "/a~1b/c~0d/0"
    strange = {**example(), "a/b~\n\ud800\x1b": 1}
    (finding,) = (f for f in check(strange).findings if f.code == "S7")
    line = finding.line("x")
    assert line.isprintable() and line.encode() and "/a~1b~0" in line
    assert printable("é\n") == "é\\n"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "battery", "clear", "quadrotor", "17 m/s", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "xyz", "points", "a/b"]), inner)
    ),
    max_leaves=8,
)


def _pointers(value: Any, place: str = "") -> list[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, item in items for p in (f"{place}/{key}", *_pointers(item, f"{place}/{key}"))]


@settings(max_examples=60, deadline=None)
@given(st.data(), JSON, st.sampled_from(["strict", "public"]))
def test_any_value_anywhere_gives_findings_and_no_traceback(data: st.DataObject, value: Any, profile: str) -> None:
    scenario = example(data.draw(st.sampled_from(["bridge_inspection_rain", "coastal_patrol_crosswind"])))
    places = data.draw(st.lists(st.sampled_from(sorted(_pointers(scenario))), min_size=1, max_size=2))
    for place in places[:1] if places[-1].startswith(places[0]) else places:
        scenario = patched(scenario, {place: value})
    for finding in check(scenario, profile).findings:
        assert finding.line("x").isprintable()


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_any_document_gives_findings_and_no_traceback(value: Any) -> None:
    checked = validate(json.dumps(value).encode())
    assert checked.has_error


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=3), JSON))
def test_what_is_written_is_read_again(value: dict[str, Any]) -> None:
    assert parse(canonical(value)) == value
    assert digest(dict(reversed(value.items()))) == digest(value)


# -- where documents come from ------------------------------------------------------------------------


def read(*paths: Path) -> list[tuple[str, bytes]]:
    return [(document.source, document.content) for document in documents(paths)]


def test_files_folders_lines_and_archives_give_the_same_documents(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(SOUND)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.jsonl").write_bytes(SOUND + b"\n\n" + SOUND + b"\r\n")
    (tmp_path / "notes.txt").write_text("no scenario")
    found = read(tmp_path)
    assert [source.removeprefix(f"{tmp_path}/") for source, _ in found] == [
        "b.json",
        "inner/a.jsonl:1",
        "inner/a.jsonl:3",
    ]
    archive = tmp_path / "c.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("x/z.json", SOUND)
        made.writestr("x/y.json", SOUND)
        made.writestr("x/readme.md", "no scenario")
    found += read(archive)
    assert [source for source, _ in found[3:]] == [f"{archive}/x/y.json", f"{archive}/x/z.json"]
    assert {content for _, content in found} == {SOUND}


def test_a_folder_is_read_one_document_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "0.json").write_bytes(bytes(100_000))
    for number in range(1, 300):
        os.link(tmp_path / "0.json", tmp_path / f"{number}.json")
    tracemalloc.start()
    try:
        assert sum(len(document.content) for document in documents([tmp_path])) == 300 * 100_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_large_file_is_told_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(200 << 20)
    ((_, content),) = read(path)
    assert len(content) == LARGEST + 1


def test_a_line_that_is_too_long_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(SOUND + b"\n" + b"x" * (3 * LARGEST) + b"\n" + SOUND + b"\n" + b"y" * (LARGEST + 9))
    found = read(path)
    assert [source.rpartition(":")[2] for source, _ in found] == ["1", "2", "3", "4"]
    assert [isinstance(parse(content), Finding) for _, content in found] == [False, True, False, True]


def zipped(path: Path, name: str, size: int = 2) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, b"{}" if size == 2 else bytes(size))
    return path


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "esar_ros.suites.uavbench.scenarios.sources"
    monkeypatch.setattr(f"{module}.MAX_UNPACKED", 1 << 20)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pointer.zip").write_bytes(LFS)
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "lines.jsonl").write_bytes(LFS)
    (tmp_path / "nothing.jsonl").write_bytes(b"")
    (tmp_path / "link.json").symlink_to(tmp_path / "gone.json")
    cases = {
        tmp_path / "empty": "holds no",
        tmp_path / "missing.json": "cannot read",
        tmp_path / "link.json": "cannot read",
        tmp_path / "pointer.zip": "git lfs pull",
        tmp_path / "lines.jsonl": "git lfs pull",
        tmp_path / "nothing.jsonl": "is empty",
        tmp_path / "broken.zip": "no zip",
        zipped(tmp_path / "out.zip", "../a.json"): "outside itself",
        zipped(tmp_path / "bomb.zip", "a.json", 2 << 20): "unpacks to",
        zipped(tmp_path / "text.zip", "a.txt"): "holds no",
    }
    for path, words in cases.items():
        with pytest.raises(UsageError, match=words) as caught:
            read(path)
        assert len(str(caught.value).splitlines()) == 1
    monkeypatch.setattr(f"{module}.MAX_ENTRIES", 0)
    with pytest.raises(UsageError, match="entries"):
        read(tmp_path / "text.zip")


def test_a_file_without_the_right_to_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, *_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    path = tmp_path / "a.json"
    path.write_bytes(SOUND)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything
        monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(UsageError, match=r"cannot read .*Permission denied"):
        read(path)
