"""Question files are read strictly: oddities are told, what cannot be asked is refused in one line."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.mcq.item import LETTERS, as_lines, digest, in_turns
from esar_ros.suites.uavbench.mcq.reading import Reading, read_items, usable_items
from helpers.questions import make_item, make_items, public, write_items, write_json

OPTIONS = make_item().options
PLAIN = list(OPTIONS)
COLUMNS = [
    *("file", "scenario_name", "model", "style_id", "style", "answer", "correct_letter", "question", "context"),
    *(f"choice_{letter}" for letter in LETTERS),
    "gt_reason",
]


def read(tmp_path: Path, **changed: Any) -> Reading:
    return read_items([write_json(tmp_path / "q.json", public(**changed))])


def told(reading: Reading) -> list[str]:
    return [finding.text for finding in reading.findings]


def test_a_public_question_is_read_without_its_labels(tmp_path: Path) -> None:
    reading = read(tmp_path)
    [item] = reading.items
    assert item == make_item(id="q")
    assert not reading.findings


@pytest.mark.parametrize("label", ["{}- ", "{}) ", "({}) ", "{}. ", "{}: "])
def test_labels_of_every_form_are_taken_off(tmp_path: Path, label: str) -> None:
    choices = [label.format(letter) + text for letter, text in zip(LETTERS, OPTIONS, strict=True)]
    assert read(tmp_path, choices=choices).items[0].options == OPTIONS


def test_taking_labels_off_does_not_eat_an_article(tmp_path: Path) -> None:
    choices = ["A steep climb", "A - shaped turn", "A-frame survey", *PLAIN[3:]]
    assert read(tmp_path, choices=choices).items[0].options == tuple(choices)
    labelled = [f"{letter}- {text}" for letter, text in zip(LETTERS, choices, strict=True)]
    assert read(tmp_path, choices=labelled).items[0].options == tuple(choices)


def test_a_label_that_is_missing_is_told_and_the_key_is_read_by_place(tmp_path: Path) -> None:
    labelled = [f"{letter}- {text}" for letter, text in zip(LETTERS, PLAIN, strict=True)]
    reading = read(tmp_path, choices=[*labelled[:3], f"?? {PLAIN[3]}", *labelled[4:]], correct_choice="D")
    assert told(reading) == ["option D has no label as the others do"]
    assert reading.findings[0].is_error
    assert reading.items[0].key == 3


def test_labels_off_their_places_are_told_and_the_key_is_read_by_place(tmp_path: Path) -> None:
    shifted = [f"{letter}- {text}" for letter, text in zip("ABCD?EF", PLAIN, strict=True)]
    reading = read(tmp_path, choices=shifted, correct_choice="F")
    assert told(reading) == [
        "option E has no label as the others do",
        "option F is labelled E; options are read by place",
        "option G is labelled F; options are read by place",
    ]
    assert reading.items[0].options[reading.items[0].key] == PLAIN[5]


@pytest.mark.parametrize(("key", "place"), [("c", 2), (2, 2), (PLAIN[4].upper(), 4), (f"E- {PLAIN[4]}", 4)])
def test_a_key_by_place_or_text_is_read_and_told(tmp_path: Path, key: object, place: int) -> None:
    reading = read(tmp_path, correct_choice=key)
    assert reading.items[0].key == place
    assert len(reading.findings) == (key != "c")
    assert not any(finding.is_error for finding in reading.findings)


def test_a_question_without_a_question_mark_is_told(tmp_path: Path) -> None:
    assert told(read(tmp_path, question="Choose one.")) == ["question: does not end in a question mark"]


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "four options": ({"choices": PLAIN[:4]}, "choices: must be 7 texts, is 4"),
    "num_choices of another count": ({"num_choices": 4}, "num_choices: must be 7"),
    "an option that is a number": ({"choices": [*PLAIN[:6], 5]}, "choices/6: must be a text"),
    "an empty option": ({"choices": [*PLAIN[:6], "  "]}, "choices/6: must be a text"),
    "two equal options": ({"choices": [*PLAIN[:6], PLAIN[1].upper()]}, "options B and G are equal"),
    "key H": ({"correct_choice": "H"}, "correct_choice: must be a letter A to G, is 'H'"),
    "key 7": ({"correct_choice": 7}, "correct_choice: must be"),
    "key true": ({"correct_choice": True}, "correct_choice: must be"),
    "no key": ({"correct_choice": None}, "correct_choice: must be"),
    "style 11": ({"style_id": 11}, "style_id: must be 1 to 10, is '11'"),
    "style true": ({"style_id": True}, "style_id: must be"),
    "style of another name": ({"style": "Energy & Resource Management Reasoning"}, "is not style 1"),
    "no description": ({"description": None}, "description: missing"),
    "a blank question": ({"question": "  "}, "question: must be a text"),
    "half a surrogate": ({"description": "\ud800"}, "description: must be a text"),
    "another schema": ({"schema_version": "drivebench-mcq"}, "schema_version"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_asked_is_told_and_refused(tmp_path: Path, name: str) -> None:
    changed, words = UNUSABLE[name]
    reading = read(tmp_path, **changed)
    assert reading.unusable == 1 and not reading.items
    assert words in reading.findings[-1].text
    with pytest.raises(UsageError, match="json"):
        usable_items([tmp_path / "q.json"])


def _bytes(content: bytes, name: str = "q.json") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def _zip(members: dict[str, bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "q.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return folder / "q.zip"

    return make


def _link(folder: Path) -> Path:
    (folder / "q.json").symlink_to(folder / "gone.json")
    return folder / "q.json"


GOOD = json.dumps(public()).encode()
UNREADABLE: dict[str, Callable[[Path], Path]] = {
    "nothing there": lambda folder: folder / "q.json",
    "a broken link": _link,
    "an empty folder": lambda folder: folder,
    "an empty file": _bytes(b""),
    "a byte order mark": _bytes(b"\xef\xbb\xbf" + GOOD),
    "UTF-16": _bytes(GOOD.decode().encode("utf-16")),
    "binary": _bytes(bytes(range(256))),
    "NaN": _bytes(GOOD.replace(b'"style_id": 1', b'"style_id": NaN')),
    "1e400": _bytes(GOOD.replace(b'"style_id": 1', b'"style_id": 1e400')),
    "a key twice": _bytes(b'{"style_id": 2, ' + GOOD[1:]),
    "depth 1000": _bytes(b"[" * 5000 + b"]" * 5000),
    "a large file": _bytes(b" " * (2 << 20)),
    "a long line": _bytes(b'{"a": "' + b"x" * (2 << 20) + b'"}', "q.jsonl"),
    "a pointer of LFS": _bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "q.zip"),
    "no archive": _bytes(b"PK nothing", "q.zip"),
    "an archive with a path outside": _zip({"../q.json": GOOD}),
    "an archive without questions": _zip({"readme.txt": b"hello"}),
    "an archive of large files": _zip({"q.json": b" " * (4 << 20)}),
    "another kind of file": _bytes(GOOD, "q.txt"),
    "a csv of something else": _bytes(b"a,b\n1,2\n", "q.csv"),
    "no lines": _bytes(b"\n\n", "q.jsonl"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_source_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as error:
        usable_items([UNREADABLE[name](tmp_path)])
    assert "\n" not in str(error.value) and str(tmp_path) in str(error.value)
    if name == "a pointer of LFS":
        assert "pointer" in str(error.value)


def test_a_list_at_the_top_is_no_question(tmp_path: Path) -> None:
    assert told(read_items([write_json(tmp_path / "q.json", [public()])])) == ["holds a list at the top, not an object"]


def test_all_sources_hold_the_same_questions(tmp_path: Path) -> None:
    items = make_items(12)
    folder = tmp_path / "set"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for item in items:
            value = {key: content for key, content in item.as_json.items() if key != "id"}
            path = write_json(folder / f"{item.id}.json", value)
            archive.write(path, path.name)
    sets = [
        read_items([path]).items for path in (write_items(tmp_path / "set.jsonl", items), folder, tmp_path / "set.zip")
    ]
    assert {digest(own) for own in sets} == {digest(items)}


def test_an_id_may_stand_once(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(as_lines([make_item(), make_item()]))
    assert read_items([path]).unusable == 1


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def csv_row(number: int = 0, answer: str = "?") -> dict[str, Any]:
    item = make_item(number)
    row = {"file": f"/content/drive/{item.id}.json", "scenario_name": item.scenario, "model": "some/model"}
    row |= {"style_id": "1", "style": "Aerodynamics & Physics Reasoning", "answer": answer, "context": item.description}
    row |= {"correct_letter": LETTERS[item.key], "question": item.question, "gt_reason": item.reason}
    return row | {f"choice_{letter}": text for letter, text in zip(LETTERS, item.options, strict=True)}


def test_a_result_file_of_the_paper_holds_its_questions(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "r.csv", [csv_row(i) for i in range(3)])
    assert read_items([path]).items == tuple(make_item(i) for i in range(3))


def test_a_cut_result_file_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "r.csv", [csv_row(0), csv_row(1)])
    path.write_text(path.read_text()[:-60])
    with pytest.raises(UsageError, match="line 3"):
        read_items([path])


def test_any_first_part_is_balanced() -> None:
    turns = in_turns(make_items(200))
    for count in (10, 50, 170):
        styles = [item.style for item in turns[:count]]
        assert {styles.count(style) for style in range(1, 11)} == {count // 10}
