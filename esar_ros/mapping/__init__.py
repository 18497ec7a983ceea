"""The three-dimensional map that all methods share.

`mapper` is its front: depth pictures in (`inputs`), voxels (`map`), bird's-eye layers and frontiers (`layers`) out.
"""
