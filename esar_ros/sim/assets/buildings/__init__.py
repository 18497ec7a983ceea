"""Buildings and fittings of settlements: what the pieces of a plan look like, and where they are solid.

`masonry` has the facets and solids that all are made of; a module a kind of thing; `builders` finds them by name.
"""
