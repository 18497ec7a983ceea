"""Types and constants shared by every part: task, brief, observation, decision, report, clue kinds, modes and reasons.

Names of topics and frames, the vehicle's description, thresholds and settings files are defined here and nowhere else.
"""
