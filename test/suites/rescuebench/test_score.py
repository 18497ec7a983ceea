"""The score of results and of tracks, as table, as JSON and from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from esar_ros.app import cli
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import level_name
from esar_ros.scoring.rescue import Rules
from esar_ros.suites.rescuebench.files import tracks
from esar_ros.suites.rescuebench.files.results import write_results
from esar_ros.suites.rescuebench.files.tracks import write_tracks
from esar_ros.suites.rescuebench.score import ALL, RescueScore
from esar_ros.suites.rescuebench.settings import SimilaritySettings
from helpers.rescuebench import RESCUED, a_result, walk, write_checkout

PLAIN, ALIAS = (SimilaritySettings(sigma=42.0, alias=alias) for alias in (False, True))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkout(tmp_path_factory.mktemp("checkout"))


def rows(score: RescueScore, name: str) -> list[list[str]]:
    """Cells of a level in each of the tables."""
    out = io.StringIO()
    Console(file=out, width=120).print(score.table())
    return [line[len(name) :].split() for line in out.getvalue().splitlines() if line.startswith(f"{name} ")]


def test_tracks_of_a_checkout_make_the_row_of_people(checkout: Path) -> None:
    score = RescueScore(checkout, Rules.CODE, PLAIN)
    assert rows(score, "L1 (level_0)") == [
        ["1", "100.0", "100.0", "4.0", "–"],
        ["25.0", "25.0", "25.0", "25.0", "4.0", "100.0", "1"],
        ["19.3", "100.0", "1.0"],
    ]
    # 4 m from the victim: S1 whole, S2 25 (7.5 - 4) / 7.5.
    assert rows(score, "L5 (level_4)")[:2] == [
        ["1", "0.0", "36.7", "2.0", "–"],
        ["25.0", "11.7", "0.0", "0.0", "2.0", "100.0", "1"],
    ]
    assert rows(score, ALL)[0][:3] == ["5", "80.0", "87.3"]
    assert "3 of 5 episodes have a track" in score.notes()[-1]  # places of odd levels have none of their own name
    assert "hs_alias: off" in score.notes()[-1]
    assert "5 of 5 episodes have a track" in RescueScore(checkout, Rules.CODE, ALIAS).notes()[-1]


def test_tracks_under_the_papers_rules(checkout: Path) -> None:
    score = RescueScore(checkout / tracks.FOLDER / "UnrealRescue-StandinRoom" / "level_4.jsonl", Rules.PAPER, PLAIN)
    # Best 4 of 10 m to the victim: 25 * 0.6 for the first two stages.
    assert rows(score, "L5 (level_4)")[1][:4] == ["15.0", "15.0", "0.0", "0.0"]
    assert rows(score, "L1 (level_0)")[0] == ["–"] * 5
    assert "sigma 42 m" in score.notes()[-1]


def test_hand_overs_outside_the_gate_and_jumps_are_reported(checkout: Path, tmp_path: Path) -> None:
    places, picked = RESCUED
    far = walk((*places[:-1], (0.0, 6.5)), picked, "success")
    write_tracks(tmp_path / "level_0.jsonl", [far, far])
    notes = "\n".join(RescueScore(tmp_path, Rules.CODE, PLAIN, checkout).notes())
    assert "2 of the hand-overs ended more than 2 m" in notes
    assert "8 of 8 steps jump more than 1.5 m" in notes
    assert "1 tracks are replaced" in notes


def test_results_are_scored_as_recorded_or_by_the_papers_rules(tmp_path: Path) -> None:
    lines = [a_result(), a_result(0, 1, s3_score=0.0, path_similarity=None), a_result(2, 0)]
    path = write_results(tmp_path, "m", "1", [*lines, a_result(2, 0)])
    code = RescueScore(path, Rules.CODE, PLAIN)
    assert rows(code, "L1 (level_0)")[:2] == [
        ["2", "0.0", "75.0", "20.0", "3.0"],
        ["25.0", "25.0", "12.5", "12.5", "100.0", "90.0", "1"],
    ]
    notes = "\n".join(code.notes())
    assert "1 episodes (L1 point 1) have points that their distances do not give" in notes
    assert "1 lines are replaced" in notes
    paper = RescueScore(path, Rules.PAPER, PLAIN)
    stages = [25.0 * 0.92, 25.0, 25.0 * (1 - 4 / 9.5), 25.0 * (1 - 4 / 9.5)]
    assert rows(paper, "L3 (level_2)")[1] == [*(f"{points:.1f}" for points in stages), "100.0", "–", "0"]


def test_results_with_trajectories_are_compared_with_people(checkout: Path, tmp_path: Path) -> None:
    walked = [[100.0 * x, -100.0 * y, 100.0, 0.0, 0.0, 0.0] for x, y in RESCUED[0]]
    aside = [[x, y - 500.0, *rest] for x, y, *rest in walked]
    lines = [a_result(), a_result(2, 0), a_result(1, 0), a_result(4, 0)]
    poses = {lines[0].key: walked, lines[1].key: aside, lines[2].key: walked, lines[3].key: []}
    path = write_results(tmp_path, "m", "1", lines, poses)
    score = RescueScore(path, Rules.CODE, PLAIN, checkout)
    assert score.scores[level_name(0)].similarity == pytest.approx(1.0)
    # 5 m aside; warping takes no shorter pairs than those of the same step.
    assert score.scores[level_name(2)].similarity == pytest.approx(0.9, abs=0.05)
    assert score.scores[level_name(1)].similarity is score.scores[level_name(4)].similarity is None
    assert RescueScore(path, Rules.CODE, ALIAS, checkout).scores[level_name(1)].similarity == pytest.approx(1.0)
    assert RescueScore(path, Rules.PAPER, PLAIN, checkout).scores[level_name(0)].similarity == pytest.approx(1.0)


def test_from_the_command_line(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "score.json"
    arguments = ["score", "--suite", "rescuebench", str(checkout), "--json", str(out)]
    assert cli.main(arguments) == 0
    assert "L5 (level_4)" in capsys.readouterr().out
    document = json.loads(out.read_text())
    assert (document["schema"], document["rules"], document["of"]) == ("rescuebench-score/1", "code", "tracks")
    assert len(document["episodes"]) == 5 and document["scores"][ALL]["tcr"] == 0.8
    assert cli.main([*arguments, "--rules", "paper", "--expect", str(out)]) == 1


def test_bad_input_is_one_line(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        assert cli.main(["score", "--suite", "rescuebench", *arguments]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        return line

    lone = tmp_path / "level_0.jsonl"
    write_tracks(lone, [walk(*RESCUED, "success")])
    assert "--rescuebench DIR" in refused(str(lone))
    assert "no file of that name" in refused(str(lone), "--rescuebench", str(tmp_path))
    assert "no file of that name" in refused(str(tmp_path / "nowhere"))
    other = tmp_path / "other.jsonl"
    other.write_text('{"some": "thing"}\n')
    assert "neither results nor tracks" in refused(str(other))
    other.write_text("text\n")
    assert "line 1: not JSON" in refused(str(other))
    assert "--rules strict is of suite uav-on" in refused(str(checkout), "--rules", "strict")
    assert "--judge is of suite esarbench" in refused(str(checkout), "--judge", "offline")
    assert cli.main(["score", "--suite", "uav-on", str(checkout), "--rescuebench", str(checkout)]) == 2


def test_a_track_without_its_point_is_refused(checkout: Path, tmp_path: Path) -> None:
    stray = walk(*RESCUED, "success", 1)
    write_tracks(tmp_path / "level_0.jsonl", [walk(*RESCUED, "success"), stray])
    RescueScore(tmp_path, Rules.CODE, PLAIN, checkout)
    object.__setattr__(stray, "point", 9)
    write_tracks(tmp_path / "level_0.jsonl", [stray])
    with pytest.raises(UsageError, match=r"point 9 of L2 \(level_1\)"):
        RescueScore(tmp_path, Rules.CODE, PLAIN, checkout)
