"""RescueBench: search, carry, return, hand over by a walker (Wu et al., 2026). Its files, rules, tables and rows.

Formats and rules are those of its authors' public code (Apache-2.0), read and written anew here; nothing of its data is
part of this project. Coordinates in files are Unreal's (left-handed, cm); past a reader they are the map frame's (m).
"""
