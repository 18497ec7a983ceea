"""Participants of the steps."""

from esar_ros.nodes.core.roster import Roster


def beat(roster: Roster, node: str, now: float, boot: int = 1, ready: bool = True, answered: int = -1) -> None:
    roster.on_heartbeat(node, boot, ready, "" if ready else "the brief", answered, now)


def test_members_join_only_when_ready_and_only_when_admitted() -> None:
    roster = Roster(["pilot", "planner"], patience=0.5)
    beat(roster, "pilot", 0.0)
    beat(roster, "planner", 0.0, ready=False)
    assert roster.missing() == {"planner": "the brief"}
    assert roster.absent() == ["pilot", "planner"]
    assert roster.admit()
    assert roster.absent() == ["planner"]


def test_silence_drops_a_member_and_raises_the_epoch() -> None:
    roster = Roster(["pilot"], patience=0.5)
    beat(roster, "pilot", 0.0)
    roster.admit()
    epoch = roster.epoch
    assert not roster.evict(0.5)
    assert roster.evict(0.51)
    assert roster.absent() == ["pilot"]
    assert roster.left() == {"pilot": "silent for 0.5 s"}
    assert roster.epoch == epoch + 1


def test_a_dead_member_does_not_come_back_by_itself() -> None:
    roster = Roster(["pilot"], patience=0.5)
    beat(roster, "pilot", 0.0)
    roster.admit()
    roster.evict(1.0)
    assert not roster.admit()


def test_a_quick_restart_is_noticed_by_the_boot_id() -> None:
    roster = Roster(["pilot"], patience=0.5)
    beat(roster, "pilot", 0.0, boot=1, answered=50)
    roster.admit()
    epoch = roster.epoch
    beat(roster, "pilot", 0.1, boot=2, ready=False)
    assert roster.epoch == epoch + 1
    assert roster.left() == {"pilot": "started again"}
    beat(roster, "pilot", 0.2, boot=2)
    assert roster.admit() and not roster.left()
    assert not roster.has_answered("pilot", 50)


def test_only_present_members_are_waited_for() -> None:
    roster = Roster(["referee"], patience=0.5)
    assert roster.has_answered("referee", 10)
    beat(roster, "referee", 0.0, answered=5)
    roster.admit()
    assert not roster.has_answered("referee", 10)
    beat(roster, "referee", 0.0, answered=10)
    assert roster.has_answered("referee", 10)


def test_a_heartbeat_before_the_first_step_answers_no_step() -> None:
    roster = Roster(["referee"], patience=0.5)
    beat(roster, "referee", 0.0, answered=0)
    roster.admit()
    assert not roster.has_answered("referee", 0)
    assert not roster.has_answered("referee", 50)


def test_strangers_are_ignored() -> None:
    roster = Roster(["pilot"], patience=0.5)
    beat(roster, "intruder", 0.0)
    assert not roster.admit()
    assert roster.has_answered("intruder", 10)


def test_a_member_that_says_it_is_not_ready_leaves_at_once_and_may_come_back() -> None:
    roster = Roster(["pilot"], patience=0.5)
    beat(roster, "pilot", 0.0)
    roster.admit()
    epoch = roster.epoch
    beat(roster, "pilot", 0.1, ready=False)
    assert roster.left() == {"pilot": "waits for the brief"} and roster.epoch == epoch + 1
    assert not roster.admit()
    beat(roster, "pilot", 0.2)
    assert roster.admit() and not roster.left()
