"""Frontier exploration on foot, in a room of boxes: somebody is found, picked up and carried to the stretcher."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.geometry.frames import Vector
from esar_ros.planning.walk import frontier, registry
from esar_ros.planning.walk.frontier import FrontierWalk
from helpers.box_view import Box
from helpers.walk_room import TASK, VICTIM, Eyes, Room


def an_agent(monkeypatch: pytest.MonkeyPatch, *persons: Vector) -> FrontierWalk:
    monkeypatch.setattr(frontier, "backend", lambda: Eyes(persons))
    agent = registry.create("frontier")
    assert isinstance(agent, FrontierWalk)
    agent.reset(TASK, 0)
    return agent


def test_it_goes_round_a_wall_finds_picks_up_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Room(an_agent(monkeypatch, VICTIM)).rescue(most=600)


def test_the_same_observations_give_the_same_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = an_agent(monkeypatch, VICTIM)
    walks = []
    for _ in range(2):
        agent.reset(TASK, 3)
        room = Room(agent)
        walks.append([room.step() for _ in range(80)])
    assert walks[0] == walks[1]


def test_a_false_alarm_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = np.array([-4.0, 0.5, 0.9])
    room = Room(an_agent(monkeypatch, wrong, VICTIM))
    assert room.rescue(most=700)


def test_what_is_not_seen_is_walked_round_once_it_was_felt(monkeypatch: pytest.MonkeyPatch) -> None:
    glass: Box = ((-2.0, 3.0, 0.0), (-1.8, 5.2, 3.0))
    assert Room(an_agent(monkeypatch, VICTIM), unseen=[glass]).rescue(most=900)


def test_it_says_whose_eyes_it_has() -> None:
    assert FrontierWalk().details["backend"] == "esar_yolo"
