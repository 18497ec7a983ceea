"""Electrical energy of a multirotor: power by thrust (momentum theory), charge and terminal voltage."""

from __future__ import annotations

from dataclasses import dataclass

from esar_ros.mission.vehicle import Body
from esar_ros.sim.physics.dynamics import GRAVITY

CELLS = 6  # lithium polymer cells in series
FULL_CELL, EMPTY_CELL = 4.2, 3.5  # V, open circuit
INTERNAL_RESISTANCE = 0.02  # ohm, the whole pack
AVIONICS_POWER = 12.0  # W, always on
IDLE_SHARE = 0.08  # of the hover power, rotors turning on the ground


@dataclass
class Battery:
    """Charge left of a pack; used energy is all of its state."""

    hover_power: float  # W
    energy: float  # J, usable
    used: float = 0.0  # J
    power: float = AVIONICS_POWER  # W, at present

    @staticmethod
    def of(body: Body) -> Battery:
        """A full pack for an airframe."""
        return Battery(body.hover_power, body.battery_energy * 3600.0)

    def drain(self, thrust: float, armed: bool, seconds: float) -> None:
        """Fly so long at a specific thrust (m/s^2). Induced power grows as thrust^1.5."""
        load = max((thrust / GRAVITY) ** 1.5, IDLE_SHARE) if armed else 0.0
        self.power = AVIONICS_POWER + (self.hover_power - AVIONICS_POWER) * load
        self.used = min(self.energy, self.used + self.power * seconds)

    @property
    def charge(self) -> float:
        """Share of the usable energy that is left, 0..1."""
        return 1.0 - self.used / self.energy

    @property
    def voltage(self) -> float:
        """Terminal voltage in V under the present load."""
        open_circuit = CELLS * (EMPTY_CELL + (FULL_CELL - EMPTY_CELL) * self.charge)
        return open_circuit - INTERNAL_RESISTANCE * self.power / open_circuit

    @property
    def current(self) -> float:
        """A, positive while discharging."""
        return self.power / self.voltage
