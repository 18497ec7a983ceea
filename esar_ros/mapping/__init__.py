"""The three-dimensional map that all methods share.

`mapper` is its front: depth images in (`inputs`), voxels (`map`), bird's-eye layers and frontiers (`layers`) out.
"""
