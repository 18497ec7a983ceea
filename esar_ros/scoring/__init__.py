"""Metrics, judge and referee: everything that turns a flown mission into numbers. No ROS imports.

`referee` ends a mission, `score` makes a result of its record, `metrics` holds SR, TSR, CDS and RS (`rescue_score`).
"""
