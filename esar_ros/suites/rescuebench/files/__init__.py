"""RescueBench's files: points, people's tracks and results, read tolerantly and written in its authors' layout.

`lines` checks JSON lines for all three. Unreal's coordinates end here.
"""
