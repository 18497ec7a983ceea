"""Places to walk and rescue in, made from a seed: small, with ground, floors and doors for a person on foot.

`site` has what a place is, a module a kind of place lays it out, `makers.rescue_site` finds them by name and seed. None
is a copy of a public map.
"""
