"""`esar VERB`: bad input is one clear line on the error stream and exit code 2."""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esar_ros import __version__
from esar_ros.app import cli
from esar_ros.app.arguments import Parser, on_off, shown
from esar_ros.app.reference_pages.commands import _OTHER_SUITES as OTHER_SUITES
from esar_ros.app.reference_pages.commands import parser_of
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource

Streams = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nothing_flies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fails a test in which anything is started or written: refusals must come before."""

    def fly(*_: Any) -> int:
        raise AssertionError("a mission was started")

    monkeypatch.setattr("esar_ros.app.mission.fly", fly)
    monkeypatch.chdir(tmp_path)
    for name in ("URL", "NAME", "PRESET", "REPLAY"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)


def refused(capsys: Streams, *arguments: str) -> str:
    """The one line that a refused command prints."""
    assert cli.main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == 1, printed.err
    assert lines[0].startswith("esar: ")
    return lines[0]


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Somebody else listens on it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def task_file(folder: Path, **changes: Any) -> Path:
    task = json.loads((resource("config/tasks") / "aotai-first.json").read_text(encoding="utf-8"))
    path = folder / "changed.json"
    path.write_text(json.dumps(task | changes), encoding="utf-8")
    return path


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


# -- verbs --------------------------------------------------------------------------------------


def test_without_a_verb_it_says_what_there_is(capsys: Streams) -> None:
    assert cli.main([]) == 2
    assert "usage" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_names_every_verb(capsys: Streams, word: str) -> None:
    assert cli.main([word]) == 0
    out = capsys.readouterr().out
    assert all(verb in out for verb in (*cli.VERBS, *cli.LAUNCHER_VERBS))


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_explains_its_flags(capsys: Streams, verb: str) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([verb, "--help"])
    assert end.value.code == 0
    assert "--help" in capsys.readouterr().out


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verbs_commands_explain_theirs(verb: str) -> None:
    for suite in ((), *(("--suite", name) for name in OTHER_SUITES.get(verb, ()))):
        parser = parser_of(cli.VERBS[verb][1], *suite)
        assert isinstance(parser, Parser)
        for part in parser._parsers():
            assert part.format_help().startswith(f"usage: {part.prog}")


def test_an_unknown_verb_is_answered_with_the_known_ones(capsys: Streams) -> None:
    line = refused(capsys, "fly")
    assert "'fly'" in line
    assert all(verb in line for verb in cli.VERBS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("misson",), "did you mean mission?"),
        (("mission", "--vehicle", "2"), "--vehicle 2: did you mean --vehicles?"),
        (("mission", "--plan", "fbe"), "did you mean --planner?"),
        (("mission", "--world", "embeded"), "did you mean embedded?"),
        (("mission", "--planner", "beleif"), "did you mean belief?"),
        (("mission", "--task", "aotai-frist"), "did you mean aotai-first?"),
        (("mission", "--task", "aotai-wu-1-44"), "did you mean aotai-wu-1-04?"),
        (("mission", "--detector", "esar_yole"), "did you mean esar_yolo?"),
        (("mission", "--detector", "mine.onnx"), "say what reads it: --detector onnx:mine.onnx"),
        (("mission", "--planner", "mine:North"), "docs/how-to/your-planner.md"),
        (("mission", "--task", "nofile.yaml"), "cannot read task nofile.yaml: no file of that name"),
        (("brief", "nofile.txt"), "cannot read brief nofile.txt: no file of that name"),
        (("bench", "--tasks", "nofile.txt"), "cannot read the list of tasks nofile.txt: no file of that name"),
        (("px4", "home", "nofile.txt"), "cannot read task nofile.txt: no file of that name"),
        (
            ("mission", "--keep-out", "nofile.yaml"),
            "keep-out zones nofile.yaml: No such file or directory: check the path",
        ),
        (("tasks", "shwo"), "did you mean show?"),
        (("tasks", "list", "--sets", "dev"), "did you mean --set?"),
        (("maps", "show", "atoai"), "did you mean aotai?"),
        (("bench", "--suite", "uavon"), "did you mean uav-on?"),
        (("sim", "--views"), "did you mean --view?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_misspelt_word_is_answered_with_the_one_that_is_meant(
    capsys: Streams, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(capsys, *arguments)


def test_no_part_of_a_flag_is_taken_for_it() -> None:
    for module in {module for _, module in cli.VERBS.values()}:
        parser = parser_of(module)
        assert isinstance(parser, Parser) and not any(part.allow_abbrev for part in parser._parsers()), module


def test_the_version_is_told(capsys: Streams) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"esar {__version__}\n"


def test_a_switch_takes_the_words_of_launch_files() -> None:
    assert [on_off(word) for word in ("on", "off", "true", "False", "maybe")] == ["on", "off", "on", "off", "maybe"]


def test_a_folder_is_shown_as_it_was_given(tmp_path: Path) -> None:
    assert shown(tmp_path / "out", str(tmp_path / "out")) == str(tmp_path / "out")
    assert shown(tmp_path / "out", "out") == "out"


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (UsageError("what", "cure"), 2),
        (KeyboardInterrupt(), 130),
        (OSError(errno.ENOSPC, "No space left on device", "out"), 2),
    ],
)
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int) -> None:
    def verb(argv: list[str]) -> int:
        raise raised

    monkeypatch.setattr("esar_ros.app.doctor.main", verb)
    assert cli.main(["doctor"]) == code


# -- mission ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--task", "aotai-frist"), ("'aotai-frist'", "aotai-first", "aotai-second")),
        (("--task", "no/such.json"), ("no/such.json",)),
        (("--planner", "zagzig"), ("planner 'zagzig'", "zigzag", "fbe", "random")),
        (("--planner", "apex"), ("apex asks a language model and none is configured", "export ESAR_MODEL_URL")),
        (("--planner", "vlfm"), ("vlfm needs CLIP weights", "vlfm_labels")),
        (("--detector", "eyes"), ("detector 'eyes'", "segmentation_oracle")),
        (("--world", "moon"), ("--world", "moon", "embedded")),
        (("--world", "px4", "--pace", "lockstep"), ("px4", "real time", "realtime")),
        (("--pace", "slow"), ("--pace", "lockstep")),
        (("--preset", "huge"), ("--preset", "paper")),
        (("--record", "all"), ("--record", "view")),
        (("--seed", "x"), ("--seed", "'x'")),
        (("--seed", "-1"), ("seed -1", "0")),
        (("--seed", str(2**31)), ("seed 2147483648", "2147483647")),
        (("--port", "65536"), ("65536", "65535")),
        (("--port", "-1"), ("-1", "65535")),
        (("--host", "203.0.113.7"), ("203.0.113.7", "--host")),
        (("--vehicles", ""), ("vehicles",)),
        (("--vehicles", "uav1,uav1"), ("vehicles", "different")),
        (("--vehicles", "uav1,2nd"), ("vehicle '2nd'", "letters")),
        (("--namespace", "team one"), ("namespace 'team one'", "letters")),
        (("--params-file", "none.yaml"), ("none.yaml", "No such file")),
        (("--out", "/dev/null/out"), ("/dev/null/out", "Not a directory", "--out")),
        (("--bogus",), ("--bogus", "esar mission --help")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mission_refuses(capsys: Streams, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    line = refused(capsys, "mission", *arguments)
    assert all(word in line for word in words), line
    assert not Path("out").exists()


def test_a_mission_refuses_a_port_in_use(capsys: Streams, taken_port: int) -> None:
    line = refused(capsys, "mission", "--port", str(taken_port))
    assert str(taken_port) in line
    assert "in use" in line
    assert "--port" in line


def test_a_mission_refuses_an_out_that_is_a_file(capsys: Streams, tmp_path: Path) -> None:
    path = written(tmp_path, "notes.txt", "mine")
    assert path in refused(capsys, "mission", "--out", path)
    assert Path(path).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pilot: [1\n", ("not YAML", "line 1")),
        ("pilot:\n\tros__parameters: {}\n", ("not YAML", "line 2")),
        ("", ("names no node",)),
        ("hello\n", ("names no node",)),
        ("- pilot\n", ("names no node",)),
        ("pilot:\n  pace: lockstep\n", ("key pilot", "ros__parameters")),
        ("pilot:\n  ros__parameters: 3\n", ("key pilot", "ros__parameters")),
        ("pilot: !!python/object:os.system {}\n", ("not YAML",)),
    ],
)
def test_a_mission_refuses_a_broken_parameter_file(
    capsys: Streams, tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    path = written(tmp_path, "parameters.yaml", text)
    line = refused(capsys, "mission", "--params-file", path)
    assert all(word in line for word in (path, *words)), line


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"t_max": -5.0}, ("key t_max", "greater than 0")),
        ({"wind": {"speed": 400.0}}, ("key wind.speed", "less than or equal to 40")),
        ({"weather": "drizzle"}, ("key weather", "clear")),
        ({"weather": "heavy_rian"}, ("key weather", "did you mean heavy_rain?")),
        ({"tier": "mediun"}, ("key tier", "did you mean medium?")),
        ({"map": "atoai"}, ("unknown map 'atoai'", "did you mean aotai?")),
        ({"wether": "clear"}, ("key wether", "did you mean weather?")),
        ({"victims": []}, ("key victims", "at least 1")),
        ({"schema": "esar-task/9"}, ("key schema", "esar-task/1")),
        ({"colour": "red"}, ("key colour", "not permitted")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_mission_refuses_an_invalid_task_file(
    capsys: Streams, tmp_path: Path, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    path = task_file(tmp_path, **changes)
    for command in (("mission", "--task", str(path)), ("tasks", "validate", str(path)), ("tasks", "show", str(path))):
        line = refused(capsys, *command)
        assert all(word in line for word in (str(path), *words)), line


def test_a_mission_refuses_a_broken_task_file(capsys: Streams, tmp_path: Path) -> None:
    path = written(tmp_path, "broken.json", '{\n  "schema": "esar-task/1",\n')
    line = refused(capsys, "mission", "--task", path)
    assert path in line
    assert "line 3" in line


# -- the others ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("score",), ("bag", "esar score --help")),
        (("score", "nowhere"), ("nowhere", "no bag")),
        (("score", "."), ("no bag", "metadata.yaml")),
        (("report", "."), ("holds neither bag/", "--out")),
        (("tasks",), ("verb", "esar tasks --help")),
        (("tasks", "burn"), ("'burn'", "validate")),
        (("tasks", "show", "nope"), ("'nope'", "aotai-first")),
        (("doctor", "--bogus"), ("--bogus", "esar doctor --help")),
        (("prepare", "--planner", "nosuch"), ("nosuch", "known")),
        (("prepare", "--planner", "fbe", "--detector", "esar_yolo:/nowhere"), ("takes no file",)),
        (("prepare", "nowhere"), ("unknown map 'nowhere'",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_the_other_verbs_refuse(capsys: Streams, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    line = refused(capsys, *arguments)
    assert all(word in line for word in words), line


def test_good_tasks_are_listed_shown_and_valid(capsys: Streams, tmp_path: Path) -> None:
    assert cli.main(["tasks", "list"]) == 0
    assert "aotai-first" in capsys.readouterr().out
    assert cli.main(["tasks", "show", "aotai-first"]) == 0
    assert "tent" in capsys.readouterr().out
    assert cli.main(["tasks", "validate", str(task_file(tmp_path))]) == 0
    assert "valid" in capsys.readouterr().out


def test_a_full_disk_is_told_in_one_line_and_a_defect_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: Streams
) -> None:
    def verb(argv: list[str]) -> int:
        raise OSError(number, "words of the system", "out/file")

    monkeypatch.setattr("esar_ros.app.doctor.main", verb)
    number = errno.ENOSPC
    assert cli.main(["doctor"]) == 2
    told = "esar: cannot use out/file: words of the system: free some space, or choose another folder\n"
    assert capsys.readouterr().err == told
    number = errno.EINVAL
    with pytest.raises(OSError, match="words of the system"):
        cli.main(["doctor"])
