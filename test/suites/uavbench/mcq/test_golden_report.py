"""The tables of a small fixed set of runs, byte for byte, and the figures in them that were computed by hand.

`python test/suites/uavbench/mcq/test_golden_report.py` writes the golden files anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from esar_ros.app.cli import main
from esar_ros.mission.chat import Completion
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.suites.uavbench.mcq.asking import Answer
from esar_ros.suites.uavbench.mcq.item import LETTERS
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
from esar_ros.suites.uavbench.mcq.run import Job, answer_record, jobs_of, open_run, settings_of
from helpers.questions import make_items

GOLDEN = Path(__file__).with_name("golden_report")
SUFFIXES = ("md", "csv", "tex")
ITEMS = make_items(20)  # two of each style; A to F are right three times each, G twice


def letter(job: Job, right: bool) -> str:
    """The letter under which the right option is shown, or the one after it."""
    return LETTERS[(job.order.index(job.item.key) + (not right)) % 7]


def ask(
    folder: Path,
    protocol: str,
    say: Callable[[Job], str],
    orders: int = 1,
    count: int = 1000,
    cut: Sequence[int] = (),
    without: str = "",
) -> str:
    """A run of a stub's words, named after its folder; cut: places of answers that ended at max_tokens."""
    how = replace(PROTOCOLS[protocol], without=(without,) if without else ())
    model = ModelSettings(base_url="http://127.0.0.1:1/v1", name=folder.name.partition(",")[0])
    store = open_run(folder, settings_of(ITEMS, how, orders, model), ITEMS)
    for job in jobs_of(ITEMS, orders)[:count]:
        completion = Completion(say(job), 400, 8, "length" if job.index in cut else "stop")
        store.append(answer_record(job, Answer(completion, False, 0.25, 1), how, store.settings_hash))
    store.close()
    return str(folder)


def report(folder: Path) -> dict[str, str]:
    """The report's tables after one another, by format."""
    runs = [
        ask(folder / "three-quarters", "esar", lambda job: f"Answer: {letter(job, job.index < 15)}"),
        ask(folder / "half-asked", "esar", lambda job: f"({letter(job, True)})", count=10, cut=(8, 9)),
        ask(folder / "first-order-alone", "esar", lambda job: letter(job, job.number == 0), orders=2),
        ask(folder / "considering", "paper", lambda job: "Considering" if job.index < 15 else ""),
        ask(folder / "three-quarters, blind", "esar", lambda job: letter(job, job.index < 5), without="description"),
    ]
    assert main(["mcq", "report", *runs, "--out", str(folder / "report")]) == 0
    found = {suffix: sorted((folder / "report").glob(f"*.{suffix}")) for suffix in SUFFIXES}
    figures = {path.name for path in (folder / "report").iterdir()} - {
        path.name for own in found.values() for path in own
    }
    assert figures == {"report.html", "mcq_items_1.svg"} | {
        f"mcq_{figure}_{group}.svg" for figure in ("balance", "styles") for group in (1, 2, 3, 4)
    }
    return {
        suffix: "\n".join(f"{path.name}\n\n{path.read_text(encoding='utf-8')}" for path in paths)
        for suffix, paths in found.items()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return report(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_tables_are_those_of_the_golden_file(made: dict[str, str], suffix: str) -> None:
    assert made[suffix] == GOLDEN.with_suffix(f".{suffix}").read_text(encoding="utf-8")


def cells(text: str, table: str, name: str) -> list[str]:
    """A row of a table of the golden Markdown."""
    part = text.partition(f"{table}.md\n")[2]
    line = next(line for line in part.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


# Wilson's interval of k of n: (p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n), z = 1.96, z² = 3.8415.
# Of n = 20: (p + 0.0960 ± 1.96 sqrt(p (1 - p) / 20 + 0.0024)) / 1.1921; of n = 2: (p + 0.9604 ± 1.96 sqrt(p (1 - p) / 2
# + 0.2401)) / 2.9207.
HAND = [
    # 15 of 20: (0.8460 ± 1.96 sqrt(0.009375 + 0.0024)) / 1.1921 = 0.7097 ± 0.1784.
    ("mcq_overall_1", "three-quarters", {0: "20", 1: "100.0", 2: "75.0 [53.1, 88.8]", 3: "75.0"}),
    # Styles come in turn, so both questions of styles 1 to 5 are right, and one of each of 6 to 10: a_s are five ones
    # and five halves, mu = 0.75, sigma = 0.25, gm = sqrt(1/2) = 0.7071, BSS = 0.7071 (1 - 1/3) = 0.471.
    ("mcq_overall_1", "three-quarters", {4: "75.0 [", 5: "25.0 [", 6: "0.471 ["}),
    # 8 of the 10 that were asked, the two that were cut are wrong: (0.9921 ± 1.96 sqrt(0.016 + 0.0096)) / 1.3841.
    ("mcq_overall_1", "half-asked", {0: "10", 1: "80.0", 2: "80.0 [49.0, 94.3]", 3: "100.0"}),
    # One of each style: eight ones and two zeros, mu = 0.8, sigma = 0.4, gm = (1e-6)^0.2 = 0.0631, BSS = gm / 2.
    ("mcq_overall_1", "half-asked", {4: "80.0 [", 5: "40.0 [", 6: "0.032 ["}),
    # Chance is exact in every style: sigma = 0, BSS = 1/7.
    ("mcq_overall_1", "chance", {2: "14.3", 4: "14.3 [14.3, 14.3]", 5: "0.0 [0.0, 0.0]", 6: "0.143 [0.143, 0.143]"}),
    ("mcq_systems_1", "chance", {0: "14.3", 1: "14.3"}),
    # A is right for 3 of 20: (0.2460 ± 1.96 sqrt(0.006375 + 0.0024)) / 1.1921 = 0.2064 ± 0.1540.
    ("mcq_overall_1", "constant", {2: "15.0 [5.2, 36.0]"}),
    # 2 of 2: (1.9604 ± 1.96 sqrt(0.2401)) / 2.9207; 1 of 2: (1.4604 ± 1.96 sqrt(0.125 + 0.2401)) / 2.9207.
    ("mcq_perception_1", "three-quarters", {0: "100.0 [34.2, 100.0]", 1: "100.0 [34.2, 100.0]"}),
    ("mcq_systems_1", "three-quarters", {0: "50.0 [9.5, 90.5]", 1: "50.0 [9.5, 90.5]"}),
    # Right in the original order alone: each question scores one half, sigma = 0, so BSS = gm = 1/2.
    # (0.5960 ± 1.96 sqrt(0.0125 + 0.0024)) / 1.1921 = 0.5 ± 0.2007. 40 answers of 400 and 8 tokens.
    ("mcq_overall_2", "first-order-alone", {0: "20", 1: "100.0", 2: "50.0 [29.9, 70.1]", 3: "50.0", 6: "0.500 [0.500"}),
    ("mcq_overall_2", "first-order-alone", {8: "16000", 9: "320", 11: "0.25"}),
    # "Considering" is read as C, which is right for 2 of the first 15, and nothing is read from the last 5.
    # 2 of 20: (0.1960 ± 1.96 sqrt(0.0045 + 0.0024)) / 1.1921 = 0.1645 ± 0.1366; of those answered 2 of 15.
    ("mcq_overall_3", "considering", {0: "20", 1: "75.0", 2: "10.0 [2.8, 30.1]", 3: "13.3"}),
    # A quarter without the description: (0.3460 ± 1.96 sqrt(0.009375 + 0.0024)) / 1.1921. Ten are right with it alone
    # and none without it alone: p = 2 · 0.5¹⁰.
    ("mcq_overall_4", "three-quarters, without description", {2: "25.0 [11.2, 46.9]"}),
    (
        "mcq_left_out",
        "three-quarters",
        {1: "description", 3: "75.0 [53.1, 88.8]", 4: "25.0 [11.2, 46.9]", 5: "**0.0020**"},
    ),
    # 20 of 20: (1.0960 - 0.0960) / 1.1921 = 0.839; p = 2 · 0.5²⁰.
    ("mcq_orders_2", "first-order-alone", {0: "20", 1: "100.0 [83.9, 100.0]", 2: "0.0 [0.0, 16.1]", 3: "**0.0000**"}),
    # McNemar on the ten questions of both, all right but the two that were cut: p = 2 · 0.5² = 0.5.
    ("mcq_pairs_1", "three-quarters − half-asked", {0: "10", 1: "2", 2: "0", 3: "0.5000"}),
]


@pytest.mark.parametrize(("table", "name", "expected"), HAND)
def test_figures_are_those_computed_by_hand(table: str, name: str, expected: dict[int, str]) -> None:
    found = cells(GOLDEN.with_suffix(".md").read_text(encoding="utf-8"), table, name)
    for place, text in expected.items():
        assert found[place].startswith(text) if text.endswith(("[", "0.500")) else found[place] == text, found


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        for suffix, text in report(Path(name)).items():
            GOLDEN.with_suffix(f".{suffix}").write_text(text, encoding="utf-8")
    sys.exit(0)
