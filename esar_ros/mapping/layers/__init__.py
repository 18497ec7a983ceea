"""Layers derived from the voxels or painted over the ground: ground plan, coverage, values, classes, frontiers."""
