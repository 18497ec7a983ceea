"""Places: relief, land cover, tracks and structures from config/maps, or from an elevation model.

`maps` loads a place; `relief` and its landscapes make the ground; `relief_image` and `map_sheet` show it.
"""
