"""`esar leaderboard`: submissions side by side, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main
from esar_ros.benchmark.runner import worker
from helpers import bench_maker

ROOT = Path(__file__).resolve().parents[2]
ABOUT = "by: Team A\nhow: ./esar bench --planners fbe\nmachine: 2 cores\ndate: 2026-11-01\n"


def submit(folder: Path, methods: dict[str, float], about: str = ABOUT, **more: Any) -> Path:
    """A submission of these methods, by skill."""
    bench_maker.make_bench(folder, methods, events=2, snapshots=1, **more)
    (folder / "submission.yaml").write_text(about, encoding="utf-8")
    return folder


def rows(folder: Path, table: str) -> list[list[str]]:
    """The rows of a table of the page, without its heading."""
    text = (folder / "leaderboard" / "esarbench" / f"{table}.csv").read_text(encoding="utf-8")
    return [line.split(",") for line in text.splitlines()[1:]]


def test_submissions_stand_in_one_page_with_who_flew_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(tmp_path / "a", {"fbe": 0.4})
    submit(tmp_path / "b", {"greedy": 0.9}, ABOUT.replace("Team A", "Team <B>"))
    assert main(["leaderboard", str(tmp_path)]) == 0
    assert "greedy" in capsys.readouterr().out
    page = (tmp_path / "leaderboard" / "esarbench" / "report.html").read_text(encoding="utf-8")
    assert "Leaderboard of esarbench" in page and "Team A" in page and "Team &lt;B&gt;" in page
    assert "Flown twice" not in page
    assert "greedy \u2212 fbe" in page or "fbe \u2212 greedy" in page


def test_what_is_unfinished_and_words_of_others_are_told_as_in_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = submit(tmp_path / "a", {"fbe": 0.4})
    lines = [json.loads(line) for line in (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()]
    lines[0]["result"]["trouble"] = "0 of 3 answers could be used: odd answer [/INST]"
    bench_maker.write_lines(folder, [{k: v for k, v in line.items() if k != "sha256"} for line in lines])
    manifest = folder / "bench.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    document["settings"] |= {"tasks": [f"t{number}" for number in range(7)], "seeds": 1}
    manifest.write_text(json.dumps(document), encoding="utf-8")
    assert main(["leaderboard", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Unfinished: ") and "holds 4 of its 7 episodes" in said and "odd answer [/INST]" in said


def test_some_episodes_flown_again_leave_a_table_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(tmp_path / "a", {"fbe": 0.4})
    again = submit(tmp_path / "b", {"fbe": 0.4})
    lines = (again / "episodes.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for flown, is_told in ((3, False), (0, True)):
        (again / "episodes.jsonl").write_text("".join(lines[:flown]), encoding="utf-8")
        manifest = json.loads((again / "bench.json").read_text(encoding="utf-8"))
        manifest["settings"] |= {"tasks": [f"t{number}" for number in range(4)], "seeds": 1}
        (again / "bench.json").write_text(json.dumps(manifest), encoding="utf-8")
        assert main(["leaderboard", str(tmp_path)]) == 0
        assert capsys.readouterr().out.startswith("Unfinished") == is_told


def test_an_episode_lost_through_no_fault_of_the_method_counts_beside_no_other(tmp_path: Path) -> None:
    for lost, other in (("a", "b"), ("b", "a")):
        lines = bench_maker.make_bench(tmp_path / lost, {"fbe": 0.4}, events=2, snapshots=1)
        for line in lines:
            line |= {"status": "infrastructure_error", "reason": "the worker ended by signal 9"}
            line["result"]["metrics"] |= {"sr": 0.0, "tsr": 0.0, "cds": 0.0, "rs": 0.0}
        bench_maker.write_lines(tmp_path / lost, lines)
        (tmp_path / lost / "submission.yaml").write_text(ABOUT, encoding="utf-8")
        submit(tmp_path / other, {"fbe": 0.4})
        assert main(["leaderboard", str(tmp_path)]) == 0
        counted = {row[1]: int(row[-2]) for row in rows(tmp_path, "submissions")}
        assert counted == {lost: 0, other: 4}


def test_two_unknown_processors_are_not_equal_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "processor_kind", lambda: "")
    submit(tmp_path / "a", {"fbe": 0.4})
    submit(tmp_path / "b", {"fbe": 0.9})
    assert main(["leaderboard", str(tmp_path)]) == 0
    assert int(rows(tmp_path, "repeats")[0][-1]) > 0


def test_the_submissions_of_the_tree_hold(tmp_path: Path) -> None:
    """Seals, conditions and the tasks' content are those of today."""
    assert main(["leaderboard", str(ROOT / "results"), "--out", str(tmp_path)]) == 0


def test_two_machines_that_scored_alike_show_the_same_digest(tmp_path: Path) -> None:
    submit(tmp_path / "a", {"fbe": 0.4})
    submit(tmp_path / "b", {"fbe": 0.4}, ABOUT.replace("2 cores", "64 cores"))
    assert main(["leaderboard", str(tmp_path)]) == 0
    first, second = rows(tmp_path, "submissions")
    assert first[-1] == second[-1] and len(first[-1]) == 12
    assert int(first[-2]) > 0 and int(second[-2]) == 0, "each episode counts once"
    assert rows(tmp_path, "repeats") == [["fbe", "b", "a", first[-2], "0"]]


def test_what_two_machines_scored_otherwise_is_told_or_refused_by_their_processors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last bits differ between processors of different kinds, and flights with them; between equal ones nothing may."""
    monkeypatch.setattr(worker, "processor_kind", lambda: "x86_64 avx2")
    submit(tmp_path / "a", {"fbe": 0.4})
    submit(tmp_path / "b", {"fbe": 0.9})
    assert "with another score" in refusal(tmp_path, capsys)
    monkeypatch.setattr(worker, "processor_kind", lambda: "x86_64 avx2 avx512f")
    submit(tmp_path / "b", {"fbe": 0.9})
    assert main(["leaderboard", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "scored otherwise on a processor of another kind" in said
    first, second = rows(tmp_path, "submissions")
    assert first[-1] != second[-1]
    assert int(first[-2]) > 0 and int(second[-2]) == 0, "the first submission's episodes count"
    ((*names, alike, otherwise),) = rows(tmp_path, "repeats")
    assert names == ["fbe", "b", "a"] and int(otherwise) > 0
    assert int(alike) + int(otherwise) == int(first[-2])


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that refuses a folder."""
    assert main(["leaderboard", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_record_that_was_changed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episodes = submit(tmp_path / "a", {"fbe": 0.4}) / "episodes.jsonl"
    text = episodes.read_text(encoding="utf-8")
    assert '"rs":' in text
    episodes.write_text(text.replace('"rs":', '"rs":9', 1), encoding="utf-8")
    assert "changed after it was written" in refusal(tmp_path, capsys)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (None, "holds no submission.yaml"),
        ("how: x\nmachine: y\ndate: 2026-11-01\n", "key by: Field required"),
        (ABOUT + "link: nowhere\n", "key link"),
        (ABOUT.replace("2026-11-01", "soon"), "key date"),
    ],
)
def test_one_that_does_not_say_who_and_how_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], about: str | None, message: str
) -> None:
    folder = submit(tmp_path / "a", {"fbe": 0.4}, about or "")
    if about is None:
        (folder / "submission.yaml").unlink()
    assert message in refusal(tmp_path, capsys)


def test_other_conditions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(tmp_path / "a", {"fbe": 0.4})
    submit(tmp_path / "b", {"greedy": 0.9}, conditions=replace(bench_maker.TOLD, governor=False))
    assert "governor" in refusal(tmp_path, capsys)


def test_an_empty_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "holds no submission" in refusal(tmp_path, capsys)
    assert "is no folder" in refusal(tmp_path / "nowhere", capsys)
