"""A flat world of points in which the task's state machine is walked through its states."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import numpy as np

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.suites.rescuebench.machine import WalkerState, lies_on_stretcher

SECONDS = 1.0
"""s of a step."""


@dataclass
class Toy:
    """A walker without a body; hands fail at random."""

    chance: random.Random
    victim: Vector
    stretcher: Vector
    position: Vector
    yaw: float = 0.0
    carrying: bool = False
    luck: float = 0.7  # with which a pick or a drop works
    reach: float = 3.0  # m
    hit: bool = field(default=False, init=False)
    ended: bool = field(default=False, init=False)

    @property
    def walker(self) -> WalkerState:
        return WalkerState(self.position, self.yaw, self.carrying)

    def step(self, action: WalkAction) -> None:
        done = action.clipped()
        self.yaw = wrap_angle(self.yaw + math.radians(2.8 * done.angle) * SECONDS)
        ahead = np.array([math.cos(self.yaw), math.sin(self.yaw), 0.0])
        self.position = self.position + done.speed * SECONDS * ahead
        near = math.dist(self.position, self.victim) < self.reach
        if action.animation is Animation.CARRY and near and self.chance.random() < self.luck:
            self.carrying = True
        elif action.animation is Animation.DROP and self.chance.random() < self.luck:
            self.carrying = False
        if self.carrying:
            self.victim = self.position
        self.hit = self.chance.random() < 0.2
        self.ended = lies_on_stretcher(self.victim, self.stretcher, self.carrying)


def a_toy(seed: int) -> Toy:
    """A world drawn from a seed; in some, hands never work."""
    chance = random.Random(seed)
    one, two, three = (
        np.array([chance.uniform(-8.0, 8.0), chance.uniform(-8.0, 8.0), chance.choice((0.0, 0.0, 0.0, 1.0, 2.5))])
        for _ in range(3)
    )
    return Toy(chance, one, two, three, luck=chance.choice((0.0, 0.05, 0.7, 1.0)), reach=chance.choice((1.0, 3.0)))


def wish(toy: Toy, goal: Vector, hands: bool) -> WalkAction:
    """The action of one who walks to a goal with errors; hands: it picks up and puts down by itself."""
    chance = toy.chance
    x, y = (goal - toy.position)[:2]
    off = math.degrees(wrap_angle(math.atan2(y, x) - toy.yaw)) / 2.8
    speed = chance.choice((1.0, 1.0, 1.0, 2.0, 0.3, 0.0, -1.0))
    animation = Animation.STAND
    if hands and chance.random() < 0.5:
        animation = chance.choice((Animation.CARRY, Animation.DROP))
    elif chance.random() < 0.1:
        animation = chance.choice(tuple(Animation))
    return WalkAction(speed, off + chance.gauss(0.0, 5.0), chance.choice(tuple(Head)), animation)
