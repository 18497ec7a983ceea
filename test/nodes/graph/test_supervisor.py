"""Starting, watching, restarting and ending processes; tiny scripts stand for the nodes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.nodes.graph import supervisor as module
from esar_ros.nodes.graph.mission import NodeSpec
from esar_ros.nodes.graph.supervisor import Supervisor, command

STAY = "import time; print('here', flush=True); time.sleep(60)"
# As rclpy nodes do: SIGINT only sets a flag, and the end is told.
ORDERLY = """
import signal, time
going = [True]
signal.signal(signal.SIGINT, lambda *_: going.clear())
print('here', flush=True)
while going: time.sleep(0.01)
print('closing', flush=True)
time.sleep(0.1)
print('closed', flush=True)
"""
DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
DIE = "print('oh'); raise SystemExit(3)"
REFUSE = "import sys; print('esar: parameter speed: too fast: fly slower', file=sys.stderr); sys.exit(2)"
REFUSE_AS_SIMULATOR = "import sys; print('sim: no EGL: install it', file=sys.stderr); sys.exit(2)"

Make = Callable[..., Supervisor]


class Heard:
    """Lines as they come, with when they came."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.at: dict[tuple[str, str], float] = {}

    def __call__(self, label: str, line: str) -> None:
        self.lines.append((label, line))
        self.at.setdefault((label, line), time.monotonic())

    def wait_for(self, label: str, line: str, seconds: float = 20.0) -> None:
        limit = time.monotonic() + seconds
        while (label, line) not in self.lines:
            assert time.monotonic() < limit, self.lines
            time.sleep(0.01)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def two_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits longer than the one before."""
    monkeypatch.setattr(module, "MAX_RESTARTS", 2)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heard: Heard) -> Iterator[Make]:
    """make(name=script or (script, NodeSpec fields)): a supervisor of these scripts."""
    made: list[Supervisor] = []

    def build(**scripts: Any) -> Supervisor:
        texts = {name: text if isinstance(text, str) else text[0] for name, text in scripts.items()}
        specs = [NodeSpec(name, **({} if isinstance(text, str) else text[1])) for name, text in scripts.items()]
        monkeypatch.setattr(module, "command", lambda spec, *_: [sys.executable, "-c", texts[spec.executable]])
        made.append(Supervisor(specs, tmp_path / "logs", on_line=heard))
        return made[-1]

    yield build
    for supervisor in made:
        supervisor.stop()


def watch(supervisor: Supervisor, seconds: float = 30.0) -> int:
    """Poll until the mission is over."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        code = supervisor.poll()
        if code is not None:
            return code
        time.sleep(0.02)
    raise AssertionError("it goes on")


def test_a_process_that_dies_is_started_again(make: Make, heard: Heard) -> None:
    supervisor = make(pilot=STAY, planner=STAY)
    supervisor.start()
    heard.wait_for("pilot", "here")
    first = supervisor.pid("pilot")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    limit = time.monotonic() + 20.0
    while supervisor.pid("pilot") in (first, None) and time.monotonic() < limit:
        assert supervisor.poll() is None
        time.sleep(0.02)
    assert supervisor.pid("pilot") not in (first, None)
    assert supervisor.restarted == ["pilot"]
    assert ("pilot", "was ended by SIGKILL, starting it again") in heard.lines


@pytest.mark.usefixtures("two_restarts")
def test_one_that_keeps_dying_is_given_up(make: Make) -> None:
    supervisor = make(pilot=DIE)
    supervisor.start()
    assert watch(supervisor) == 1
    assert supervisor.restarted == ["pilot"] * 2
    assert supervisor.failure.startswith("pilot ended with 3, 3 times: oh (see ")
    assert supervisor.failure.endswith("logs/pilot.log)")


@pytest.mark.usefixtures("two_restarts")
def test_the_mission_goes_on_without_one_that_only_watches(make: Make, heard: Heard) -> None:
    supervisor = make(viewer=(DIE, {"optional": True}), referee_recorder=(STAY, {"ends_mission": True}))
    supervisor.start()
    last = ("viewer", "ended with 3, the mission goes on without it")
    limit = time.monotonic() + 30.0
    while last not in heard.lines and time.monotonic() < limit:
        assert supervisor.poll() is None
        time.sleep(0.02)
    assert last in heard.lines
    assert supervisor.restarted == ["viewer"] * 2
    assert supervisor.poll() is None and supervisor.pid("viewer") is None


def test_one_that_must_not_be_restarted_ends_the_mission(make: Make) -> None:
    supervisor = make(simulator=(DIE, {"restart": False}), pilot=STAY)
    supervisor.start()
    assert watch(supervisor) == 1
    assert supervisor.restarted == []
    assert "simulator ended with 3: oh" in supervisor.failure


def test_the_orderly_end_of_the_referee_is_the_mission_s(make: Make) -> None:
    supervisor = make(pilot=STAY, referee_recorder=("print('scored')", {"ends_mission": True, "restart": False}))
    supervisor.start()
    assert watch(supervisor) == 0


def test_the_orderly_end_of_another_process_is_not(make: Make) -> None:
    supervisor = make(pilot=("print('bye')", {"restart": False}))
    supervisor.start()
    assert watch(supervisor) == 1


@pytest.mark.parametrize(
    ("script", "words"),
    [(REFUSE, "parameter speed: too fast: fly slower"), (REFUSE_AS_SIMULATOR, "no EGL: install it")],
)
def test_what_a_process_refuses_is_told_in_its_own_words(make: Make, script: str, words: str) -> None:
    supervisor = make(pilot=script, planner=STAY)
    supervisor.start()
    with pytest.raises(UsageError) as refusal:
        watch(supervisor)
    assert str(refusal.value).startswith(f"pilot: {words} (see ")
    assert str(refusal.value).endswith("logs/pilot.log)")
    assert supervisor.restarted == []


def test_code_2_without_words_is_a_death_like_others(make: Make) -> None:
    supervisor = make(pilot=("raise SystemExit(2)", {"restart": False}))
    supervisor.start()
    assert watch(supervisor) == 1


def test_it_ends_in_order_referee_first_simulator_last(make: Make, heard: Heard) -> None:
    supervisor = make(
        simulator=(ORDERLY, {"ros": False}),
        referee_recorder=(ORDERLY, {"ends_mission": True}),
        pilot=ORDERLY,
        planner=ORDERLY,
    )
    supervisor.start()
    for name in ("simulator", "referee_recorder", "pilot", "planner"):
        heard.wait_for(name, "here")
    supervisor.stop()
    at = heard.at
    for name in ("pilot", "planner"):
        assert at["referee_recorder", "closed"] <= at[name, "closing"]
        assert at[name, "closed"] <= at["simulator", "closing"]
    assert abs(at["pilot", "closing"] - at["planner", "closing"]) < 1.0


def test_one_that_ignores_the_request_is_killed(make: Make, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.5)
    supervisor = make(pilot=DEAF)
    supervisor.start()
    heard.wait_for("pilot", "here")
    pid = supervisor.pid("pilot")
    began = time.monotonic()
    supervisor.stop()
    assert 0.4 < time.monotonic() - began < 3.0
    assert supervisor.pid("pilot") is None
    assert not Path(f"/proc/{pid}").exists()
    assert supervisor.killed == ["pilot"]


def test_last_words_are_never_those_for_machines(make: Make) -> None:
    supervisor = make(simulator=("print('oh'); print('@progress {}'); raise SystemExit(3)", {"restart": False}))
    supervisor.start()
    assert watch(supervisor) == 1
    assert "ended with 3: oh (see" in supervisor.failure


def test_ending_twice_or_before_the_start_does_no_harm(make: Make) -> None:
    supervisor = make(pilot=STAY)
    supervisor.stop()
    supervisor.stop()


def test_everything_printed_is_logged(make: Make, tmp_path: Path) -> None:
    supervisor = make(pilot=("print('one'); print('two')", {"restart": False, "namespace": "/uav1"}))
    supervisor.start()
    watch(supervisor)
    supervisor.stop()
    assert (tmp_path / "logs" / "uav1-pilot.log").read_text(encoding="utf-8") == "one\ntwo\n"


def runs(command_line: Path) -> bool:
    """Returns whether a process lives; one that is dead and not yet reaped has no command line."""
    try:
        return bool(command_line.read_bytes())
    except OSError:
        return False


def test_children_die_with_the_supervisor(tmp_path: Path) -> None:
    """Killed outright it cannot end anybody: the kernel does."""
    script = f"""
import sys, time
from pathlib import Path
from esar_ros.nodes.graph import supervisor
from esar_ros.nodes.graph.mission import NodeSpec
supervisor.command = lambda spec, *_: [sys.executable, "-c", {DEAF!r}]
tell = lambda *_: print(one.pid("pilot"), flush=True)
one = supervisor.Supervisor([NodeSpec("pilot")], Path({str(tmp_path)!r}), on_line=tell)
one.start()
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = Path("/proc", parent.stdout.readline().strip(), "cmdline")
    assert child.read_bytes()
    parent.kill()
    parent.wait()
    limit = time.monotonic() + 5.0
    while runs(child) and time.monotonic() < limit:
        time.sleep(0.02)
    assert not runs(child)


# -- command lines ------------------------------------------------------------------------------


def test_a_node_s_command_carries_namespace_parameters_and_log_level(tmp_path: Path) -> None:
    spec = NodeSpec("pilot", "/uav1", {"pace": "lockstep", "end": "hold"})
    words = command(spec, tmp_path, "/there/mine.yaml", "debug")
    assert words[:6] == [sys.executable, "-u", "-m", "esar_ros.nodes.graph.start", "esar_ros.nodes.pilot", "--ros-args"]
    assert "__ns:=/uav1" in words
    assert words[-2:] == ["--log-level", "debug"]
    files = [words[i + 1] for i, word in enumerate(words) if word == "--params-file"]
    assert files[1] == "/there/mine.yaml"  # the last one wins
    written = yaml.safe_load(Path(files[0]).read_text(encoding="utf-8"))
    assert written == {"/**": {"ros__parameters": {"pace": "lockstep", "end": "hold"}}}


def test_the_simulator_gets_its_own_arguments(tmp_path: Path) -> None:
    words = command(NodeSpec("simulator", arguments=("--port", "1"), ros=False), tmp_path)
    assert words[4:] == ["esar_ros.sim.server", "--port", "1"]


def test_logs_that_cannot_be_written_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot write /dev/null/logs"):
        Supervisor([NodeSpec("pilot")], Path("/dev/null/logs"))


# --- What the one that scores is told --------------------------------------------------------------------------------

SCORES = """
import signal, sys, time
from esar_ros.mission.system.truth_token import truth_token
from esar_ros.nodes.graph.progress import told_failure
def end(signum, frame):
    print(f"told: {told_failure()!r}", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, end)
print(f"token: {truth_token()}", flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("two_restarts")
@pytest.mark.parametrize(
    ("pilot", "told"), [(DIE, "told: 'pilot ended with 3, 3 times: oh'"), (STAY, "told: ''")], ids=["process", "person"]
)
def test_who_scores_is_told_which_process_has_failed_and_nothing_where_a_person_ends_it(
    make: Make, heard: Heard, pilot: str, told: str
) -> None:
    supervisor = make(referee_recorder=(SCORES, {"ends_mission": True, "truth": True}), pilot=pilot)
    supervisor._token = "secret"
    supervisor.start()
    limit = time.monotonic() + 30.0
    while ("referee_recorder", "token: secret") not in heard.lines and time.monotonic() < limit:
        assert supervisor.poll() is None or pilot is DIE
        time.sleep(0.02)
    if pilot is DIE:
        assert watch(supervisor) == 1
    supervisor.stop()
    assert ("referee_recorder", told) in heard.lines


def test_a_full_disk_loses_log_lines_alone(make: Make, heard: Heard) -> None:
    """A process is heard all the same, its pipe does not run full, and the end is told in one line."""
    chatter = "print('x' * 300000); print('here', flush=True); import time; time.sleep(60)"
    supervisor = make(a=chatter)
    [process] = supervisor._processes
    process.log.close()
    process.log = open("/dev/full", "wb")  # noqa: SIM115
    supervisor.start()
    heard.wait_for("a", "here")
    supervisor.stop()
    assert supervisor.unwritten == (
        "the logs are incomplete: cannot write /dev/full: No space left on device: "
        "free some space, or choose another folder"
    )


def test_logs_on_a_full_disk_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(UsageError, match=r"cannot write .*logs: No space left on device: free some space"):
        Supervisor([], tmp_path / "logs")


def test_a_page_that_cannot_be_started_again_ends_no_flight(
    make: Make, heard: Heard, tmp_path: Path, two_restarts: None
) -> None:
    """Its port may be taken meanwhile: the mission goes on without it."""
    begun = tmp_path / "begun"
    page = f"import os\nif os.path.exists({str(begun)!r}): exec({REFUSE!r})\nopen({str(begun)!r}, 'w').close()\n{STAY}"
    supervisor = make(viewer=(page, {"optional": True}), planner=STAY)
    supervisor.start()
    heard.wait_for("viewer", "here")
    first = supervisor.pid("viewer")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    limit = time.monotonic() + 30.0
    while not any("goes on without it" in line for _, line in heard.lines):
        assert supervisor.poll() is None and time.monotonic() < limit, heard.lines
        time.sleep(0.02)
    assert supervisor.pid("planner") is not None
