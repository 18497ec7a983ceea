"""`esar report`: which folder is what, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.app.cli import main
from helpers import bench_maker


def make_bench(folder: Path, events: int = 2) -> None:
    bench_maker.make_bench(folder, {"fbe": 0.4, "stay": 0.0}, events=events, snapshots=1)


def test_a_benchmark_is_compared_into_its_own_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bench(tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "stay*" in said and "report.html" in said and "Only 2 events" in said
    assert (tmp_path / "report" / "report.html").is_file()
    assert (tmp_path / "report" / "table3.tex").is_file()


def test_a_run_that_is_not_over_is_told_first_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bench(tmp_path)  # 2 events of 2 tasks by 2 methods
    manifest = tmp_path / "bench.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    for tasks, words in ((4, ""), (7, f"{tmp_path} holds 8 of its 14 episodes")):
        document["settings"] |= {"tasks": [f"t{number}" for number in range(tasks)], "seeds": 1}
        manifest.write_text(json.dumps(document), encoding="utf-8")
        assert main(["report", str(tmp_path)]) == 0
        said = capsys.readouterr().out.splitlines()[0]
        page, table = (
            (tmp_path / "report" / name).read_text(encoding="utf-8") for name in ("report.html", "table3.md")
        )
        for text in (said, page[: page.index("</header>")], table.splitlines()[0]):
            assert ("Unfinished" in text) == bool(words) and words in text


def test_words_of_others_are_not_read_as_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = bench_maker.make_bench(tmp_path, {"fbe": 0.4}, events=2, snapshots=1)
    for words in ("odd answer [/INST]", "odd answer [think]"):
        lines[1]["result"]["trouble"] = f"0 of 3 answers could be used: {words}"
        bench_maker.write_lines(tmp_path, lines)
        assert main(["report", str(tmp_path)]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


def test_words_of_a_record_that_no_file_and_no_terminal_can_hold_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = bench_maker.make_bench(tmp_path, {"fbe": 0.4}, events=2, snapshots=1)
    lines[0] |= {"status": "agent_error", "reason": "ValueError: fly \ud83d"}
    lines[1]["result"]["trouble"] = "0 of 3 answers could be used: odd answer \ud83d"
    bench_maker.write_lines(tmp_path, lines)
    assert main(["report", str(tmp_path)]) == 0
    assert "odd answer \\ud83d" in capsys.readouterr().out
    page, rows = ((tmp_path / "report" / name).read_text("utf-8") for name in ("report.html", "episodes.csv"))
    assert "ValueError: fly \\ud83d" in page and "ValueError: fly \\ud83d" in rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "magic"], "no method 'magic'"),
        (["--judge", "llm"], "ESAR_JUDGE_URL and ESAR_JUDGE_MODEL not set"),
        (["--by", "moon"], "--by moon is no condition that parts rows: known: preset, "),
        (["--by", "governor,thresholds"], "--by thresholds is no condition"),
        (["elsewhere"], "holds neither bag/ nor episodes.jsonl"),
    ],
)
def test_bad_usage_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    for name in ("ESAR_JUDGE_URL", "ESAR_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    make_bench(tmp_path, events=1)
    assert main(["report", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_mission_s_folder_takes_no_flags_of_a_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bag").mkdir()
    assert main(["report", str(tmp_path), "--against", "fbe"]) == 2
    assert "is one mission's folder" in capsys.readouterr().err
