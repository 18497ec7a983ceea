"""Search methods behind one registry.

`method` is what a method is, `session` flies one through a mission, `reporting` is the report policy that all share.
"""
