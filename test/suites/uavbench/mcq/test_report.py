"""Tables: baselines in every one, two protocols in none, the same bytes twice; imported answers beside our own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.app.cli import main
from esar_ros.benchmark.report.formatting import PAGE_POLICY
from esar_ros.benchmark.report.table import Drawing, Table
from esar_ros.mission.chat import Completion
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.suites.uavbench.mcq import measures
from esar_ros.suites.uavbench.mcq.asking import Answer
from esar_ros.suites.uavbench.mcq.baselines import REFERENCES, Encode, nearest_row, reference_rows
from esar_ros.suites.uavbench.mcq.importing import import_answers
from esar_ros.suites.uavbench.mcq.item import LETTERS, Item
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
from esar_ros.suites.uavbench.mcq.report import make_report, write_report
from esar_ros.suites.uavbench.mcq.run import Run, answer_record, jobs_of, open_run, read_run, settings_of
from helpers.questions import make_item, make_items, write_items

MODEL = ModelSettings(base_url="http://127.0.0.1:1/v1", name="stub")
PRICES = ModelSettings(price_in=2.0, price_out=10.0)
ITEMS = make_items(60)


def answered(folder: Path, name: str, protocol: str, right: int, count: int = 60, items: list[Item] = ITEMS) -> Path:
    """A run whose first `right` answers are right."""
    how, model = PROTOCOLS[protocol], MODEL.model_copy(update={"name": name})
    store = open_run(folder, settings_of(items, how, 1, model), items)
    for job in jobs_of(items, 1)[:count]:
        letter = LETTERS[job.item.key if job.index < right else (job.item.key + 1) % 7]
        text = f"Answer: {letter}" if protocol == "esar" else letter
        answer = Answer(Completion(text, 1000, 10, "stop"), False, 0.5, 1)
        store.append(answer_record(job, answer, how, store.settings_hash))
    store.close()
    return folder


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Intervals here are looked at by nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "DRAWS", 1000)
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    return [
        answered(root / "good", "good", "esar", 50),
        answered(root / "poor", "poor", "esar", 20),
        answered(root / "part", "part", "esar", 20, count=30),
        answered(root / "paper", "good", "paper", 45),
    ]


@pytest.fixture(scope="module")
def tables(folders: list[Path]) -> list[Table]:
    return tables_of([read_run(folder) for folder in folders], PRICES)


def tables_of(runs: list[Run], prices: ModelSettings = MODEL, encode: Encode | None = None) -> list[Table]:
    """The tables of a report, without its drawings."""
    return [section for section in make_report(runs, prices, encode) if isinstance(section, Table)]


def drawing(runs: list[Run], name: str) -> str | None:
    """A drawing of a report of runs of one kind, as SVG."""
    found = next(s for s in make_report(runs, MODEL) if isinstance(s, Drawing) and s.name == f"mcq_{name}.svg")
    made = found.draw()
    assert not isinstance(made, bytes)
    return made


def rows(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_two_protocols_stand_in_no_table_together(tables: list[Table]) -> None:
    for table in tables:
        names = set(rows(table))
        if table.name.endswith("_1"):
            assert "protocol esar" in table.title and ("good" in names or table.name.startswith("mcq_pairs"))
        else:
            assert "protocol paper" in table.title and not names & {"poor", "part"}


def test_what_needs_no_understanding_stands_in_every_table(tables: list[Table]) -> None:
    shown = [table for table in tables if not table.name.startswith("mcq_pairs")]
    assert len(shown) == 2 * 5
    for table in shown:
        assert list(rows(table))[: len(REFERENCES)] == list(REFERENCES)


def test_the_overall_table_holds_accuracy_balance_and_cost(tables: list[Table]) -> None:
    overall = next(table for table in tables if table.name == "mcq_overall_1")
    found = rows(overall)
    columns = dict(zip(overall.heads[1:], found["good"], strict=True))
    assert columns["accuracy"] == columns["of answered"] == "83.3"
    assert (columns["asked"], columns["answered"]) == ("60", "100.0")
    assert (columns["tokens read"], columns["written"]) == ("60000", "600")
    assert columns["money"] == f"{60000 * 2e-6 + 600 * 10e-6:.4f}"
    assert columns["s an answer"] == "0.50"
    assert found["chance"][2] == "14.3" and overall.rows[0][3].interval == ""
    assert any("part: 30 of 60 questions asked" in note for note in overall.notes)
    assert list(found)[-3:] == ["good", "part", "poor"]


def test_pairs_are_compared_on_common_questions(tables: list[Table]) -> None:
    pairs = next(table for table in tables if table.name == "mcq_pairs_1")
    found = rows(pairs)
    assert found["good − poor"][:3] == ["60", "30", "0"]
    assert found["poor − part"][0] == "30"


def test_the_same_bytes_come_twice(tmp_path: Path, folders: list[Path]) -> None:
    contents = []
    for name in ("a", "b"):
        runs = [read_run(folder) for folder in folders]
        page, *others = write_report(runs, make_report(runs, PRICES), tmp_path / name)
        contents.append({path.name: path.read_bytes() for path in (page, *others)})
    assert contents[0] == contents[1]
    kinds = Counter(name.rpartition(".")[2] for name in contents[0])
    assert kinds == {"html": 1, "svg": 2 + 2 + 1, "md": 11, "csv": 11, "tex": 11}  # the questions are drawn once


def test_the_page_holds_every_table_and_drawing_and_nothing_from_elsewhere(tmp_path: Path, folders: list[Path]) -> None:
    runs = [read_run(folder) for folder in folders]
    sections = make_report(runs, PRICES)
    path, *others = write_report(runs, sections, tmp_path)
    page = path.read_text(encoding="utf-8")
    for section in sections:
        assert f"<h2>{section.title}</h2>" in page
    for other in others:
        assert other.suffix != ".svg" or other.read_text(encoding="utf-8") in page
    assert PAGE_POLICY.split(";")[0] in page.replace("&#39;", "'")
    assert not re.search(r"<(script|link|iframe)|(?:src|href)=[\"'](?!#|data:)", page)
    assert [name for name in ("good", "poor", "part", "paper") if f"<td>{name}</td>" not in page] == []


def test_every_row_of_the_table_stands_in_both_figures(folders: list[Path]) -> None:
    runs = [read_run(folder) for folder in folders[:3]]
    found = rows(tables_of(runs)[0])
    balance, styles = drawing(runs, "balance"), drawing(runs, "styles")
    assert balance and styles
    places = [balance.index(f">{name}</text>") for name in found]
    assert places == sorted(places) and all(f">{name}</text>" in styles for name in found)
    for name, row in found.items():
        assert all(f">{number}</text>" in balance for number in row[4:7]), name  # mean, sigma, BSS as in the table
    assert styles.count(">Multi-agent</text>") == 1 + len(runs)


def test_styles_without_questions_are_left_out_of_the_figures(tmp_path: Path) -> None:
    three = [item for item in ITEMS if item.style in (2, 5, 7)]
    run = read_run(answered(tmp_path / "three", "some", "esar", 9, items=three))
    balance, styles = drawing([run], "balance"), drawing([run], "styles")
    assert balance and ">50.0</text>" in balance and "Balanced" not in balance  # accuracy alone, 9 of 18
    assert styles and "Navigation" in styles and "Security" not in styles
    two = read_run(answered(tmp_path / "two", "some", "esar", 9, items=three[:2]))
    assert drawing([two], "styles") is None
    _, *others = write_report([two], make_report([two], MODEL), tmp_path / "out")
    assert sorted(path.name for path in others if path.suffix == ".svg") == ["mcq_balance.svg", "mcq_items.svg"]


def test_a_style_that_was_not_asked_is_a_gap_and_a_dash(tmp_path: Path) -> None:
    run = read_run(answered(tmp_path / "part", "part", "esar", 5, count=8))
    balance, styles = drawing([run], "balance"), drawing([run], "styles")
    assert balance and balance.count("> –</text>") == 3
    assert styles and "nan" not in styles.lower().replace("navigation", "")


def test_names_are_no_formulas_and_no_markup(tmp_path: Path) -> None:
    name = "a$\\frac$<b>&c"
    run = read_run(answered(tmp_path / "odd", name, "esar", 5))
    path, *_ = write_report([run], make_report([run], MODEL), tmp_path / "out")
    page = path.read_text(encoding="utf-8")
    assert "<b>&c" not in page and page.count("a$\\frac$&lt;b&gt;&amp;c") >= 2 + 5  # both figures, five tables


def test_the_drawing_of_the_questions_tells_their_counts(tmp_path: Path) -> None:
    items = [make_item(i, style=1 + (i > 20), key=0) for i in range(60)]
    made = drawing([read_run(answered(tmp_path / "run", "some", "esar", 5, items=items))], "items")
    assert made
    counts = [made.index(f">{count}</text>") for count in (21, 39)]
    assert counts == sorted(counts)
    average = np.mean([len(item.options[0]) for item in items])
    assert f">right, {average:.1f} on average</text>" in made


def test_different_questions_stand_apart(tmp_path: Path, folders: list[Path]) -> None:
    other = answered(tmp_path / "other", "other", "esar", 5, count=20, items=make_items(20))
    made = tables_of([read_run(folders[0]), read_run(other)])
    assert not any({"good", "other"} <= set(rows(table)) for table in made)


def test_a_run_without_answers_or_given_twice_is_refused(tmp_path: Path, folders: list[Path]) -> None:
    empty = answered(tmp_path / "empty", "empty", "esar", 0, count=0)
    with pytest.raises(UsageError, match="no answers"):
        make_report([read_run(empty)], MODEL)
    with pytest.raises(UsageError, match="twice"):
        make_report([read_run(folders[0]), read_run(folders[0])], MODEL)


def test_the_verb_writes_the_tables(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcq", "report", str(folders[0]), "--out", str(tmp_path / "r")]) == 0
    assert "blind-words" in capsys.readouterr().out
    assert (tmp_path / "r" / "mcq_overall.md").is_file()
    capsys.readouterr()
    assert main(["mcq", "report", str(tmp_path)]) == 2
    assert "holds no run of questions: name the --out folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("qwen-max", True),
        ("microsoft/Phi-4-Reasoning-Plus:free", True),
        ("meta-llama/llama-3.3-70b-instruct", True),
        ("gpt-4o-audio", False),
        ("qwen3-max", False),
    ],
)
def test_a_model_that_wrote_the_scenarios_is_marked(tmp_path: Path, model: str, told: bool) -> None:
    def notes(items: list[Item], folder: str) -> str:
        run = read_run(answered(tmp_path / folder, model, "esar", 10, items=items))
        return " ".join(tables_of([run])[0].notes)

    assert ("wrote UAVBench's scenarios" in notes(make_items(20), "theirs")) == told
    computed = [replace(item, solution={"value": 1.0}) for item in make_items(20)]
    assert "wrote UAVBench's scenarios" not in notes(computed, "computed")


# --- Rows without understanding -----------------------------------------------------------------------------------


def shares(items: list[Item], orders: int = 1) -> dict[str, float]:
    return {name: sum(own.values()) / len(own) for name, own in reference_rows(items, orders).items()}


def test_options_drawn_alike_give_nothing_away() -> None:
    found = shares(make_items(420))
    assert found["chance"] == pytest.approx(1 / 7)
    for name in ("constant", "longest", "blind-words"):
        assert abs(found[name] - 1 / 7) < 4.0 * (6 / 49 / 420) ** 0.5, name


def test_wording_that_gives_answers_away_is_found() -> None:
    items = [
        make_item(i, style=i % 10 + 1, key=(i * 5) % 7, options=tuple(
            f"{text} safely" if place == (i * 5) % 7 else text for place, text in enumerate(make_item(i).options)
        ))
        for i in range(140)
    ]  # fmt: skip
    found = shares(items)
    assert found["blind-words"] > 0.9
    assert found["longest"] > 0.5


def test_a_number_that_is_always_in_the_middle_is_found() -> None:
    items = [
        make_item(i, options=tuple(f"{10 * i + 13 * ((place - i * 5) % 7 + 4) % 91} W" for place in range(7)))
        for i in range(140)
    ]
    ranked = [sorted(item.options, key=lambda text: float(text.split()[0])) for item in items]
    middle = [
        make_item(i, key=item.options.index(ranked[i][3]), options=item.options)
        for i, item in enumerate(items)
        if len(set(item.options)) == 7
    ]
    assert len(middle) > 100 and shares(middle)["blind-words"] > 0.9


def test_a_constant_letter_gains_nothing_from_uneven_keys_in_seven_orders() -> None:
    items = [make_item(i, key=2) for i in range(30)]
    assert shares(items)["constant"] == 1.0
    assert shares(items, 7)["constant"] == pytest.approx(1 / 7)


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """A stand-in for sentence embeddings: by which of some words a text holds."""
    held = np.array([[float(word in text.lower()) for word in ("hold", "climb", "land")] for text in texts])
    return np.asarray(held / np.maximum(np.linalg.norm(held, axis=1, keepdims=True), 1.0), dtype=np.float32)


def test_the_nearest_option_is_that_of_description_and_question(tmp_path: Path) -> None:
    options = ("Turn", "Hold now", "Hold and climb", "Land", "Wait", "Hold", "Scan")
    said: dict[str, Any] = {"description": "It must hold.", "question": "Then climb?"}
    near = [make_item(0, key=2, options=options, **said), make_item(1, key=1, options=options, **said)]
    assert nearest_row(near, embedded) == {"q00000": 1.0, "q00001": 0.0}
    said["question"] = "And then?"  # both `Hold now` and `Hold`: the first of equals
    assert nearest_row([make_item(2, key=1, options=options, **said)], embedded) == {"q00002": 1.0}
    run = read_run(answered(tmp_path / "run", "some", "esar", 20))
    tables = tables_of([run], MODEL, embedded)
    assert all(list(rows(table)) == [*REFERENCES, "nearest", "some"] for table in tables)
    assert any(note.startswith("nearest: ") for note in tables[0].notes)
    found = nearest_row(ITEMS, embedded)
    assert rows(tables[0])["nearest"][2] == f"{100 * sum(found.values()) / len(ITEMS):.1f}"


# --- Imported answers ---------------------------------------------------------------------------------------------


def test_lines_of_answers_make_a_run(tmp_path: Path) -> None:
    questions = write_items(tmp_path / "q.jsonl", ITEMS)
    lines = [json.dumps({"id": item.id, "answer": f"Answer: {LETTERS[item.key]}"}) for item in ITEMS[:40]]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert import_answers(tmp_path / "a.jsonl", [questions], "theirs", "esar", tmp_path / "out") == (40, 60)
    run = read_run(tmp_path / "out")
    assert run.is_imported and set(run.scores.values()) == {1.0} and len(run.scores) == 40
    assert import_answers(tmp_path / "a.jsonl", [questions], "theirs", "esar", tmp_path / "out") == (40, 60)
    (tmp_path / "b.jsonl").write_text("\n".join(lines[:-1]))
    with pytest.raises(UsageError, match="other settings"):  # other answers are another run
        import_answers(tmp_path / "b.jsonl", [questions], "theirs", "esar", tmp_path / "out")
    own = read_run(answered(tmp_path / "own", "own", "esar", 10))
    assert not any({"own", "theirs"} <= set(rows(table)) for table in tables_of([run, own]))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('{"id": "q00000"}', "no object with the texts id and answer"),
        ('{"id": "q00000", "answer": "A"}\n{"id": "q00000", "answer": "B"}', "answered twice"),
        ('{"id": "strange", "answer": "A"}', "none of the questions"),
        ("not json", "not JSON"),
    ],
)
def test_lines_that_answer_nothing_are_refused(tmp_path: Path, lines: str, words: str) -> None:
    questions = write_items(tmp_path / "q.jsonl", ITEMS)
    (tmp_path / "a.jsonl").write_text(lines)
    with pytest.raises(UsageError, match=words):
        import_answers(tmp_path / "a.jsonl", [questions], "theirs", "esar", tmp_path / "out")


def test_lines_of_answers_need_their_questions_and_their_maker(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "q00000", "answer": "A"}')
    with pytest.raises(UsageError, match="--items"):
        import_answers(tmp_path / "a.jsonl", [], "theirs", "esar", tmp_path / "out")
    with pytest.raises(UsageError, match="--model and --protocol"):
        import_answers(tmp_path / "a.jsonl", [tmp_path], "", "", tmp_path / "out")
