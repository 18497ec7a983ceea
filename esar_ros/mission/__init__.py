"""The words every part of the system shares: task, clue kinds, weather, observation, decision, report."""
