"""Things that people look for outdoors, from a teapot to a truck, each family in several makes.

A make has a shape, a colour and a material, and its description says these three and no more: what is said is true of
it, and false of every other make of its family. `make` has the words, `parts` what the meshes are put together from; a
module a corner of life holds the families.
"""
