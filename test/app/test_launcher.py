"""./esar: set-up in steps that are done once, the environment it makes, and what it refuses.

A stand-in for Python records what the launcher asks of it, so that a whole set-up takes milliseconds. The
real set-up is what these tests themselves run in when started by ./esar test.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "esar", "setup.py", "pyproject.toml", "package.xml", "CMakeLists.txt", "requirements", "msg", "srv", "action",
    "cmake", "scripts", "interfaces", "config/graph.env", "config/constraints-jazzy.txt",
)  # fmt: skip

# Variables that the launcher sets: those of the run that started this test are none of its business.
OWN = ("ESAR_", "FAST", "MALLOC_", "NUMBA_", "RMW_", "ROS_")

# `-c` goes to the real Python (the launcher's questions about it), `-m venv DIR` puts this very script into
# DIR, everything else is written down. A file named fail-WORD in its folder makes calls with WORD fail, hang-WORD
# makes them hang.
STAND_IN = """#!/bin/bash
record={record}
case "$1 $2" in
  -c*) exec {python} "$@" ;;
  "-m venv") mkdir -p "${{@: -1}}/bin"; cp "$0" "${{@: -1}}/bin/python" ;;
esac
echo "$*" >>"$record/calls"
echo "${{PATH%%:*}}" >>"$record/paths"
for word in "$record"/fail-*; do
  [ -e "$word" ] && case "$*" in *"${{word##*/fail-}}"*) echo "no such luck"; exit 1 ;; esac
done
for word in "$record"/hang-*; do
  [ -e "$word" ] && case "$*" in *"${{word##*/hang-}}"*) : >"$record/hanging"; exec sleep 60 ;; esac
done
exit 0
"""


class Launcher:
    """A copy of the launcher with what it reads, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.record = folder / "record"
        self.programs = folder / "programs"
        self.record.mkdir()
        self.programs.mkdir()
        for name in PARTS:
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)
        self.program("stand-in", STAND_IN.format(record=self.record, python=sys.executable))
        # Nothing may be installed on the machine by a test.
        self.program("apt-get", "#!/bin/bash\necho apt-get is not for tests\nexit 1\n")

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def environ(self, **environ: str) -> dict[str, str]:
        """Returns the environment of ./esar; a variable given as "" is unset."""
        values = {
            **{key: value for key, value in os.environ.items() if not key.startswith(OWN) and key != "PYTHONPATH"},
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "ESAR_PYTHON": "stand-in",
            **environ,
        }
        return {key: value for key, value in values.items() if value}

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run ./esar to its end."""
        command = [str(self.root / "esar"), *arguments]
        return subprocess.run(
            command, env=self.environ(**environ), capture_output=True, text=True, timeout=60, check=False
        )

    def calls(self) -> list[str]:
        """Returns the calls of Python since the last look."""
        path = self.record / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return lines


def living(group: int) -> list[str]:
    """Command lines of a process group's members that are not dead and merely waiting to be reaped."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, _, owner = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            words = (entry / "cmdline").read_text().replace("\0", " ")
            if int(owner) == group and state != "Z" and words:  # one without words has given its memory back: it ends
                found.append(words)
        except OSError:
            continue
    return found


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path)


def test_first_use_makes_the_environment_and_the_second_does_nothing(launcher: Launcher) -> None:
    first = launcher.run("exec", "true")
    assert first.returncode == 0, first.stderr
    venv, packages, build, prepared = launcher.calls()
    assert prepared == "-m esar_ros.app.prepare"
    assert venv == f"-m venv {launcher.root}/.esar/venv"
    assert "--require-hashes -r" in packages and packages.endswith("requirements/lock.txt")
    assert build.endswith(f"-e {launcher.root}")
    paths = (launcher.record / "paths").read_text().splitlines()
    assert paths[-1] == f"{launcher.root}/.esar/venv/bin", "the build uses the environment's cmake"
    assert "setting up in" in first.stderr and len(first.stderr.splitlines()) < 11
    assert first.stdout == ""
    second = launcher.run("exec", "true")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert launcher.calls() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("test", "--help"), "usage: esar test [--full] [ARGS...]"),
        (("test", "-h"), "ARGS go to pytest"),
        (("exec", "--help"), "usage: esar exec CMD..."),
        (("--help",), "usage: esar VERB"),
        (("--version",), "esar "),
    ],
)
def test_help_is_told_without_a_set_up(launcher: Launcher, arguments: tuple[str, ...], words: str) -> None:
    if arguments[0].startswith("--"):  # told by the package's own code, with the real Python
        shutil.copytree(ROOT / "esar_ros", launcher.root / "esar_ros", ignore=shutil.ignore_patterns("*.so"))
    told = launcher.run(*arguments, ESAR_PYTHON=sys.executable)
    assert (told.returncode, told.stderr) == (0, "")
    assert words in told.stdout
    assert not (launcher.root / ".esar").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("misson", "--task", "demo"), "esar: unknown verb 'misson': did you mean mission?"),
        (("a b; $(touch x) 'c'",), "esar: unknown verb 'a b; $(touch x) 'c'': "),
        ((), "usage: esar VERB"),
    ],
)
def test_what_is_no_verb_is_refused_before_a_set_up(launcher: Launcher, arguments: tuple[str, ...], words: str) -> None:
    shutil.copytree(ROOT / "esar_ros", launcher.root / "esar_ros", ignore=shutil.ignore_patterns("*.so"))
    refused = launcher.run(*arguments)
    assert refused.returncode == 2
    assert (refused.stdout + refused.stderr).startswith(words)
    assert launcher.calls() == [] and not (launcher.root / ".esar").joinpath("venv").exists()
    assert launcher.run("mission").returncode == 0
    assert launcher.calls()[-1] == "-m esar_ros.app.cli mission"


def test_a_step_that_failed_is_taken_up_again(launcher: Launcher) -> None:
    fails = launcher.record / "fail-lock.txt"
    fails.touch()
    failed = launcher.run("exec", "true")
    assert failed.returncode == 1
    assert "no such luck" in failed.stderr and "setup.log" in failed.stderr
    assert len(launcher.calls()) == 2
    fails.unlink()
    assert launcher.run("exec", "true").returncode == 0
    packages, build, _ = launcher.calls()  # not the environment again
    assert "lock.txt" in packages and "-e" in build


def test_ctrl_c_ends_the_set_up_at_once_and_the_next_use_goes_on(launcher: Launcher) -> None:
    hangs = launcher.record / "hang-lock.txt"
    hangs.touch()
    command = [str(launcher.root / "esar"), "exec", "true"]
    with subprocess.Popen(
        command, env=launcher.environ(), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        end = time.monotonic() + 20.0
        while not (launcher.record / "hanging").exists() and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the launcher and what it runs
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "run the command again to continue" in said
    assert living(process.pid) == []
    hangs.unlink()
    launcher.calls()
    assert launcher.run("exec", "true").returncode == 0
    packages, build, _ = launcher.calls()
    assert "lock.txt" in packages and "-e" in build


@pytest.mark.parametrize("interface", ["msg/Tick.msg", "action/Arm.action", "srv/SetPrompts.srv"])
def test_a_changed_interface_builds_again_and_nothing_else(launcher: Launcher, interface: str) -> None:
    launcher.run("exec", "true")
    launcher.calls()
    with (launcher.root / interface).open("a") as file:
        file.write("uint8 extra  # one more\n")
    assert launcher.run("exec", "true").returncode == 0
    build, _ = launcher.calls()
    assert build.endswith(f"-e {launcher.root}")


def test_a_changed_lock_installs_again(launcher: Launcher) -> None:
    launcher.run("exec", "true")
    launcher.calls()
    with (launcher.root / "requirements" / "lock.txt").open("a") as file:
        file.write("# newer\n")
    launcher.run("exec", "true")
    assert len(launcher.calls()) == 3


def test_a_moved_checkout_gets_a_new_environment(launcher: Launcher) -> None:
    launcher.run("exec", "true")
    launcher.calls()
    moved = launcher.root.with_name("moved")
    launcher.root.rename(moved)
    launcher.root = moved
    assert launcher.run("exec", "true").returncode == 0
    assert launcher.calls()[0] == f"-m venv {moved}/.esar/venv"


def test_a_folder_of_the_persons_choice(launcher: Launcher, tmp_path: Path) -> None:
    home = tmp_path / "elsewhere"
    assert launcher.run("exec", "true", ESAR_HOME=str(home)).returncode == 0
    assert (home / "stamps" / "build").is_file()
    assert not (launcher.root / ".esar").exists()


def test_a_folder_that_cannot_be_written(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = launcher.run("exec", "true", ESAR_HOME=str(tmp_path / "file" / "home"))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1 and "ESAR_HOME" in refused.stderr


def test_the_environment_of_what_runs_inside(launcher: Launcher) -> None:
    dirty = {"PYTHONPATH": "/x", "LD_LIBRARY_PATH": "/x", "AMENT_PREFIX_PATH": "/x", "CMAKE_PREFIX_PATH": "/x"}
    done = launcher.run("exec", "env", **dirty, ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET")
    values = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert not set(dirty) & set(values)
    assert values["PATH"].split(":")[0] == f"{launcher.root}/.esar/venv/bin"
    assert values["RMW_IMPLEMENTATION"] == "rmw_fastrtps_cpp"
    assert values["FASTRTPS_DEFAULT_PROFILES_FILE"] == f"{launcher.root}/config/fastdds_small.xml"
    assert values["FASTDDS_DEFAULT_PROFILES_FILE"] == f"{launcher.root}/config/fastdds_small.xml"
    assert int(values["MALLOC_TRIM_THRESHOLD_"]) > 0
    assert values["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET", "a person's choice stays"
    assert values["NUMBA_CACHE_DIR"].startswith(f"{launcher.root}/.esar/")


def test_a_persons_own_pythonpath_is_not_dropped_in_silence(launcher: Launcher) -> None:
    launcher.run("exec", "true")
    ros = {"AMENT_PREFIX_PATH": "/opt/x::/opt/ros/jazzy"}  # an empty prefix is none
    path = f"/opt/ros/jazzy/lib/python:/opt/x/lib/python:{launcher.root}"
    for own, told in (("", []), ("/home/me/my planner", ["/home/me/my planner"])):
        done = launcher.run("exec", "env", PYTHONPATH=f"{path}:{own}" if own else path, **ros)
        assert [line.partition("(")[2].partition(")")[0] for line in done.stderr.splitlines()] == told
        assert "PYTHONPATH=" not in done.stdout
    assert "./esar exec pip install -e FOLDER" in done.stderr


def test_exec_gives_the_commands_own_exit_code_and_words(launcher: Launcher) -> None:
    launcher.run("exec", "true")
    done = launcher.run("exec", "bash", "-c", 'printf "<%s>" "$@"; exit 7', "x", "a b", "*")
    assert (done.returncode, done.stdout) == (7, "<a b><*>")
    assert launcher.run("exec").returncode == 2


def test_other_verbs_go_to_the_command_line(launcher: Launcher) -> None:
    launcher.run("mission", "--out", "a b")
    assert launcher.calls()[-1] == "-m esar_ros.app.cli mission --out a b"


def test_it_works_from_any_folder_and_through_a_link(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves the environment alone that these tests run in, wherever that is."""
    monkeypatch.setenv("ESAR_HOME", str(tmp_path / "of-the-tests"))
    link = tmp_path / "link"
    link.symlink_to(launcher.root / "esar")
    environ = launcher.environ(ESAR_PYTHON=str(launcher.programs / "stand-in"))
    done = subprocess.run([link, "exec", "pwd"], cwd="/", env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "/"
    assert (launcher.root / ".esar").is_dir() and not (tmp_path / "of-the-tests").exists()


def test_test_runs_the_tests_and_fails_when_they_do(launcher: Launcher) -> None:
    launcher.run("test", "test/app", "-k", "x and y")
    assert launcher.calls()[-1] == "-m pytest test/app -k x and y"
    launcher.run("test")
    assert launcher.calls()[-1] == "-m pytest -n 3", "all of it"
    (launcher.record / "fail-pytest").touch()
    assert launcher.run("test").returncode == 1


def test_test_makes_the_test_tools_and_the_official_clients(launcher: Launcher) -> None:
    launcher.run("test", "--full")
    calls = launcher.calls()
    assert any("lock-test.txt" in call for call in calls)
    assert calls[-1] == "-m pytest -m  -n 3"
    wanted = ["lock-client"]
    for file in ("airsim-client.txt", "unrealcv-clients.txt"):
        lines = (launcher.root / "requirements" / file).read_text().splitlines()
        pins = [line.split()[0].split("==") for line in lines if not line.startswith("#")]
        wanted += [name if file == "airsim-client.txt" else version for name, version in pins]
    made = calls[-1 - len(wanted) : -1]
    files = [Path(call.rsplit(" ", 1)[1]).name for call in made]
    assert files == [f"{name}.txt" for name in wanted], "each is built with what stands above it"
    alone = {"--require-hashes", "--no-deps"}
    assert all(alone <= set(call.split()) for call in made), "no other code is downloaded, none unchecked"
    assert all("--no-build-isolation" in call for call in made[:-2]), "nor to build with"


@pytest.mark.parametrize("arguments", [("exec", "true"), ("mission",), ("test",)])
def test_another_processor_gets_one_line_naming_the_way(launcher: Launcher, arguments: tuple[str, ...]) -> None:
    launcher.program("uname", '#!/bin/bash\n[ "$1" = -m ] && echo aarch64 || echo Linux\n')
    refused = launcher.run(*arguments)
    assert refused.returncode == 2
    assert "--system-ros" in refused.stderr and "Docker" in refused.stderr
    assert len([line for line in refused.stderr.splitlines() if "aarch64" in line]) == 1


def test_no_python_gets_the_one_command(launcher: Launcher) -> None:
    launcher.program("id", "#!/bin/bash\necho 1000\n")
    launcher.program("sudo", "#!/bin/bash\nexit 1\n")
    refused = launcher.run("exec", "true", ESAR_PYTHON="no-such-python")
    assert refused.returncode == 2
    assert "sudo apt-get install -y python3 python3-venv python3-dev" in refused.stderr


def test_system_ros_needs_a_sourced_one(launcher: Launcher) -> None:
    refused = launcher.run("--system-ros", "exec", "true", AMENT_PREFIX_PATH="")
    assert refused.returncode == 2 and "source /opt/ros/" in refused.stderr
