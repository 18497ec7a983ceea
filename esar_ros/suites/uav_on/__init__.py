"""UAV-ON: object-goal navigation by a drone (Xiao et al., 2025). Its episode files, logs, tables and paper's rows.

Formats are those of its authors' public code, which has no licence: read, and written anew here. Coordinates in files
are AirSim's (NED, m); everything past a reader is in the map frame (ENU).
"""
