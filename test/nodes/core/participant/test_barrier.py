"""A step is due when ticks of all vehicles agree, and who is followed ticks too; each is answered once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.msg import Tick
from esar_ros.nodes.core.participant.barrier import TickBarrier
from esar_ros.nodes.core.stamps import to_stamp

PERIOD = 50_000_000


def tick(seq: int, epoch: int = 1, kinds: int = 0, absent: tuple[str, ...] = ()) -> Tick:
    message = Tick(seq=seq, epoch=epoch, kinds=kinds, period=0.05, absent=list(absent))
    message.header.stamp = to_stamp((seq + 1) * PERIOD)
    return message


def answer(barrier: TickBarrier, message: Tick) -> None:
    assert not barrier.asks_again("uav1", message)
    step = barrier.due()
    assert step is not None
    barrier.finish(step)


def test_nothing_is_due_before_the_first_tick() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    assert barrier.due() is None
    assert barrier.answered is None and barrier.answered_ns is None
    assert barrier.absent_of("uav1") == frozenset()


def test_a_step_is_due_until_it_is_answered() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    barrier.asks_again("uav1", tick(4, epoch=3, absent=("planner",)))
    step = barrier.due()
    assert step is not None and step == barrier.due()
    assert (step.ns, step.seq, step.period, step.absent) == (5 * PERIOD, 4, 0.05, {"planner"})
    barrier.finish(step)
    assert barrier.due() is None
    assert (barrier.answered, barrier.answered_ns) == ((3, 4), 5 * PERIOD)


def test_a_step_knows_the_stamp_of_the_one_before_within_an_epoch() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    befores = []
    for message in (tick(0), tick(1), tick(2, epoch=2), tick(3, epoch=2)):
        barrier.asks_again("uav1", message)
        step = barrier.due()
        assert step is not None
        befores.append(step.previous_ns)
        barrier.finish(step)
    assert befores == [None, PERIOD, None, 3 * PERIOD], "who joins with an epoch did not answer the step before"


def test_a_frame_knows_the_one_before_it_in_its_epoch() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    seen = []
    frames = (tick(0, kinds=Tick.FRAME), tick(1), tick(2, kinds=Tick.FRAME), tick(3, 2, Tick.FRAME))
    for message in frames:
        barrier.asks_again("uav1", message)
        step = barrier.due()
        assert step is not None
        seen.append(step.frame_before_ns)
        barrier.finish(step)
    assert seen == [None, PERIOD, PERIOD, None]


def test_the_same_step_at_a_new_epoch_is_answered_by_the_answer_that_stands() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    answer(barrier, tick(0))
    assert not barrier.asks_again("uav1", tick(0)), "at the same epoch nobody has lost anything"
    assert barrier.asks_again("uav1", tick(0, epoch=2))
    assert barrier.answered == (2, 0)
    assert barrier.due() is None
    assert not barrier.asks_again("uav1", tick(1, epoch=2))
    assert barrier.due() is not None


def test_a_step_that_was_not_answered_is_due_at_the_new_epoch() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    barrier.asks_again("uav1", tick(0, kinds=Tick.FRAME))
    assert barrier.due() is not None
    assert not barrier.asks_again("uav1", tick(0, epoch=2, kinds=Tick.FRAME, absent=("planner",)))
    step = barrier.due()
    assert step is not None and step.absent == {"planner"}


def test_who_is_not_admitted_has_nothing_to_answer() -> None:
    barrier = TickBarrier("pilot", ["uav1"])
    barrier.asks_again("uav1", tick(0, absent=("pilot",)))
    assert barrier.due() is None
    barrier.asks_again("uav1", tick(1, epoch=2))
    assert barrier.due() is not None


@given(st.permutations(["uav1", "uav2", "uav3"]))
def test_all_vehicles_served_must_tick_in_whatever_order(order: list[str]) -> None:
    barrier = TickBarrier("referee", ["uav1", "uav2", "uav3"])
    for seq in (0, 1):
        for vehicle in order:
            assert barrier.due() is None
            barrier.asks_again(vehicle, tick(seq, absent=(f"pilot of {vehicle}",)))
        step = barrier.due()
        assert step is not None
        assert step.absent == {f"pilot of {vehicle}" for vehicle in order}
        assert barrier.absent_of("uav2") == {"pilot of uav2"}
        barrier.finish(step)


@pytest.mark.parametrize("late", [tick(0), tick(1, epoch=2)], ids=["step", "epoch"])
def test_a_vehicle_that_is_followed_must_tick_the_same(late: Tick) -> None:
    barrier = TickBarrier("planner", ["uav1"])
    barrier.follow("uav2")
    barrier.asks_again("uav1", tick(1))
    assert barrier.due() is None
    barrier.hear_of("uav2", late)
    assert barrier.due() is None
    barrier.hear_of("uav2", tick(1, absent=("pilot",)))
    step = barrier.due()
    assert step is not None and not step.absent, "those of another vehicle are not this one's"
    assert barrier.absent_of("uav2") == {"pilot"}
