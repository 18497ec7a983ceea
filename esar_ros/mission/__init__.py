"""The words that all parts share: task, brief, observation, decision, report, clue kinds, modes and reasons.

Names of topics and frames, the vehicle's description, thresholds and settings files have their one home here.
"""
