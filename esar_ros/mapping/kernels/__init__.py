"""The compiled kernels of the voxel map, and the blocks of voxels that they index."""
