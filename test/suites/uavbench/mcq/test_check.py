"""The gate: each fault of a set is found, and a set without faults passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.app.cli import main
from esar_ros.suites.uavbench.mcq.check import gate
from esar_ros.suites.uavbench.mcq.item import LETTERS, Item
from helpers.questions import make_item, make_items, public, write_items, write_json


def told(items: list[Item]) -> list[str]:
    return [f"{finding.where}: {finding.text}" for finding in gate(items)[0]]


@pytest.fixture(scope="module")
def fair() -> list[Item]:
    return make_items(210)


def test_a_fair_set_passes(fair: list[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcq", "check", str(write_items(tmp_path / "q.jsonl", fair))]) == 0
    assert "210 questions, 0 errors, 0 notes" in capsys.readouterr().out


def test_uneven_letters_are_found(fair: list[Item]) -> None:
    uneven = [make_item(i, style=item.style, key=2 if i % 2 else item.key) for i, item in enumerate(fair)]
    assert any(text.startswith("the set: the right letters are uneven") for text in told(uneven))


def test_longer_right_options_are_found(fair: list[Item]) -> None:
    def longer(item: Item) -> Item:
        options = list(item.options)
        options[item.key] += f" and {item.options[item.key].split()[0].lower()}"
        return make_item(int(item.id[1:]), style=item.style, key=item.key, options=tuple(options))

    texts = told([longer(item) for item in fair])
    assert any("'longest' is right" in text for text in texts)
    assert any("'blind-words' is right" in text for text in texts)


@pytest.mark.parametrize("words", ["{} is correct since", "option {} is the right one", "{} is the best: it"])
def test_a_reason_that_calls_another_letter_right_is_found(words: str) -> None:
    item = make_item(key=1)
    assert told([make_item(key=1, reason=f"Here {words.format('D')} it holds.")]) == [
        f"{item.id}: the reason calls D right, the key is B"
    ]
    assert told([make_item(key=1, reason=f"Here {words.format('B')} it holds.")]) == []


def test_nearly_the_same_question_twice_is_found() -> None:
    long = " ".join(f"word{i}" for i in range(80))
    one = make_item(1, description=long)
    other = make_item(1, id="other", key=3, description=f"{long} more")
    assert told([one, other, make_item(2)]) == [f"other: is nearly the same as {one.id}"]


def test_numbers_that_are_nearly_alike_are_found() -> None:
    options = tuple(f"{value} Wh" for value in (100, 120, 140, 104, 180, 200, 220))
    solution = {"value": 100, "inputs": {}}
    item = make_item(key=0, options=options, solution=solution)
    assert told([item]) == [f"{item.id}: options A and D differ by less than 10 %"]
    assert told([make_item(key=0, options=options)]) == []  # nobody says that a number is the answer


def test_an_input_that_is_not_told_is_found() -> None:
    solution = {"value": 1, "inputs": {"/uav/mass_kg": 7.5, "/spawn/xyz": [1, -2.5, 3]}}
    item = make_item(description="It weighs 7.5 kg.", question="From (1, -2.5, 3), what now?", solution=solution)
    assert told([item]) == []
    item = make_item(description="It weighs 7.4 kg.", question="From (1, -2.5, 3), what now?", solution=solution)
    assert told([item]) == [f"{item.id}: cannot be answered: /uav/mass_kg (7.5) is not told"]


def test_what_cannot_be_read_is_told_and_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(tmp_path / "a.json", public())
    write_json(tmp_path / "b.json", public(correct_choice=f"{LETTERS[-1]}!"))
    assert main(["mcq", "check", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "b.json: correct_choice: must be a letter" in out and "1 questions, 1 errors" in out
