"""A step is due when ticks of all vehicles agree, and who is followed ticks too; each is answered once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.msg import Tick
from esar_ros.nodes.core.participant.tick_collector import TickCollector
from esar_ros.nodes.core.stamps import to_stamp

PERIOD = 50_000_000


def tick(seq: int, epoch: int = 1, kinds: int = 0, absent: tuple[str, ...] = ()) -> Tick:
    message = Tick(seq=seq, epoch=epoch, kinds=kinds, period=0.05, absent=list(absent))
    message.header.stamp = to_stamp((seq + 1) * PERIOD)
    return message


def answer(ticks: TickCollector, message: Tick) -> None:
    assert not ticks.asks_again("uav1", message)
    step = ticks.due()
    assert step is not None
    ticks.finish(step)


def test_nothing_is_due_before_the_first_tick() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    assert ticks.due() is None
    assert ticks.answered is None and ticks.answered_ns is None
    assert ticks.absent_of("uav1") == frozenset()


def test_a_step_is_due_until_it_is_answered() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    ticks.asks_again("uav1", tick(4, epoch=3, absent=("planner",)))
    step = ticks.due()
    assert step is not None and step == ticks.due()
    assert (step.ns, step.seq, step.period, step.absent) == (5 * PERIOD, 4, 0.05, {"planner"})
    ticks.finish(step)
    assert ticks.due() is None
    assert (ticks.answered, ticks.answered_ns) == ((3, 4), 5 * PERIOD)


def test_a_step_knows_the_stamp_of_the_one_before_within_an_epoch() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    befores = []
    for message in (tick(0), tick(1), tick(2, epoch=2), tick(3, epoch=2)):
        ticks.asks_again("uav1", message)
        step = ticks.due()
        assert step is not None
        befores.append(step.previous_ns)
        ticks.finish(step)
    assert befores == [None, PERIOD, None, 3 * PERIOD], "who joins with an epoch did not answer the step before"


def test_a_frame_knows_the_one_before_it_in_its_epoch() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    seen = []
    frames = (tick(0, kinds=Tick.FRAME), tick(1), tick(2, kinds=Tick.FRAME), tick(3, 2, Tick.FRAME))
    for message in frames:
        ticks.asks_again("uav1", message)
        step = ticks.due()
        assert step is not None
        seen.append(step.frame_before_ns)
        ticks.finish(step)
    assert seen == [None, PERIOD, PERIOD, None]


def test_the_same_step_at_a_new_epoch_is_answered_by_the_answer_that_stands() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    answer(ticks, tick(0))
    assert not ticks.asks_again("uav1", tick(0)), "at the same epoch nobody has lost anything"
    assert ticks.asks_again("uav1", tick(0, epoch=2))
    assert ticks.answered == (2, 0)
    assert ticks.due() is None
    assert not ticks.asks_again("uav1", tick(1, epoch=2))
    assert ticks.due() is not None


def test_a_step_that_was_not_answered_is_due_at_the_new_epoch() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    ticks.asks_again("uav1", tick(0, kinds=Tick.FRAME))
    assert ticks.due() is not None
    assert not ticks.asks_again("uav1", tick(0, epoch=2, kinds=Tick.FRAME, absent=("planner",)))
    step = ticks.due()
    assert step is not None and step.absent == {"planner"}


def test_who_is_not_admitted_has_nothing_to_answer() -> None:
    ticks = TickCollector("pilot", ["uav1"])
    ticks.asks_again("uav1", tick(0, absent=("pilot",)))
    assert ticks.due() is None
    ticks.asks_again("uav1", tick(1, epoch=2))
    assert ticks.due() is not None


@given(st.permutations(["uav1", "uav2", "uav3"]))
def test_all_vehicles_served_must_tick_in_whatever_order(order: list[str]) -> None:
    ticks = TickCollector("referee", ["uav1", "uav2", "uav3"])
    for seq in (0, 1):
        for vehicle in order:
            assert ticks.due() is None
            ticks.asks_again(vehicle, tick(seq, absent=(f"pilot of {vehicle}",)))
        step = ticks.due()
        assert step is not None
        assert step.absent == {f"pilot of {vehicle}" for vehicle in order}
        assert ticks.absent_of("uav2") == {"pilot of uav2"}
        ticks.finish(step)


@pytest.mark.parametrize("late", [tick(0), tick(1, epoch=2)], ids=["step", "epoch"])
def test_a_vehicle_that_is_followed_must_tick_the_same(late: Tick) -> None:
    ticks = TickCollector("planner", ["uav1"])
    ticks.follow("uav2")
    ticks.asks_again("uav1", tick(1))
    assert ticks.due() is None
    ticks.hear_of("uav2", late)
    assert ticks.due() is None
    ticks.hear_of("uav2", tick(1, absent=("pilot",)))
    step = ticks.due()
    assert step is not None and not step.absent, "those of another vehicle are not this one's"
    assert ticks.absent_of("uav2") == {"pilot"}
