"""The three-dimensional map: occupancy voxels from depth pictures, and what is derived from them."""
