"""Stopping rule: stop as soon as a second of search gains less than it costs.

RS = 0.1 Isafe + SR (0.3 + 0.3 Et) + 0.3 CDS with Et = 1 - T/Tmax (ESARBench, equations 2 to 7). A person not found yet
is worth (0.3 + 0.3 Et) / N, a clue about 0.3 / C; a second costs 0.3 SR / Tmax, which is nothing as long as nobody is
found.
"""

from __future__ import annotations

from dataclasses import dataclass

from esar_ros.mission.thresholds import Thresholds, load_thresholds


@dataclass(frozen=True)
class Score:
    """The weights of RS in one mission."""

    t_max: float  # s
    victims: int  # people missing, as far as the brief tells
    clues: int  # clues expected in all
    success: float = 0.3
    efficiency: float = 0.3
    clue: float = 0.3

    @staticmethod
    def of(t_max: float, victims: int, clues: int, thresholds: Thresholds | None = None) -> Score:
        """With the weights of config/thresholds.yaml."""
        weights = thresholds or load_thresholds()
        return Score(t_max, victims, clues, weights.weight_success, weights.weight_efficiency, weights.weight_clues)

    def person_value(self, elapsed: float) -> float:
        """Returns the gain in score of finding one more person at a time (s)."""
        left = max(0.0, 1.0 - elapsed / self.t_max)
        return (self.success + self.efficiency * left) / self.victims

    def clue_value(self, found: int) -> float:
        """Returns the gain in score of finding one more clue when `found` were found."""
        return self.clue / max(self.clues, found + 1)

    def cost(self, found: float) -> float:
        """Returns the cost in score of a second when `found` people (expected) have been found."""
        return self.efficiency * min(1.0, found / self.victims) / self.t_max

    def pays(self, rate: float, found: float) -> bool:
        """Returns whether search that gains `rate` a second is worth its time."""
        return rate > self.cost(found)
