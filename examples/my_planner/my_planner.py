"""A search method of one's own: fly north, report what was clearly seen, stop at the far end."""

import numpy as np

from esar_ros.mission.decision import Decision, Goal, GoalType, HeightReference
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy


class North:
    name, eligible, needs = "north", True, frozenset()

    def __init__(self, parameters):
        self.policy = ReportPolicy(ReportingSettings(**parameters.get("reporting", {})))

    def reset(self, brief, seed):
        self.policy.reset(brief.report_cap)
        north = np.array([brief.home[0], brief.home[1] + 400.0, 30.0])  # 30 m above the ground there
        self.goal = Goal(GoalType.WAYPOINT, north, HeightReference.GROUND)

    def act(self, observation):
        reports = self.policy.reports(observation)
        return Decision("fly", "north is as good as any", self.goal, reports, stop=observation.goal_reached)
