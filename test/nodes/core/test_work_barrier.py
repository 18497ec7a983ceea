"""Work of several members, done once a step and in one order."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from esar_ros.nodes.core.work_barrier import WorkBarrier

MEMBERS = ("a", "b", "c")


@given(st.permutations(MEMBERS), st.integers(1, 3))
def test_whoever_comes_first_work_is_done_once_in_the_members_order(order: list[str], asked: int) -> None:
    turns = WorkBarrier(MEMBERS)
    done: list[str] = []
    woken: list[str] = []
    for name in MEMBERS:
        turns.join(name, partial(woken.append, name))
    for ns in (1, 2):
        done.clear()
        woken.clear()
        for name in order:
            others = [other for other in MEMBERS if other != name]
            answers = [turns.take(name, ns, partial(done.append, name), others) for _ in range(asked)]
            assert all(answers) == (name == order[-1])
        assert done == list(MEMBERS)
        assert sorted(woken) == sorted(order[:-1])
        assert all(turns.take(name, ns, partial(done.append, name), MEMBERS) for name in MEMBERS)
        assert done == list(MEMBERS)


def test_who_is_not_awaited_holds_nobody_up_and_may_still_come() -> None:
    turns = WorkBarrier(MEMBERS)
    done: list[str] = []
    assert turns.take("b", 1, partial(done.append, "b"), ())
    assert turns.take("a", 1, partial(done.append, "a"), ["b"])
    assert done == ["b", "a"]


def test_work_of_a_step_that_was_left_is_not_done_later() -> None:
    turns = WorkBarrier(MEMBERS)
    done: list[str] = []
    assert not turns.take("a", 1, partial(done.append, "old"), ["b"])
    assert turns.take("b", 2, partial(done.append, "b"), ())
    assert done == ["b"]


def test_without_members_each_works_at_once() -> None:
    done: list[str] = []
    assert WorkBarrier().take("alone", 1, partial(done.append, "alone"), ())
    assert done == ["alone"]
