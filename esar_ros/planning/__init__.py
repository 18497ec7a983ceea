"""Search methods behind one registry.

`methods` are those of papers, `belief` the project's own, `model` asks language models for them. `method` is what a
method is, `session` flies one through a mission, `reporting` is the report policy that all share.
"""
