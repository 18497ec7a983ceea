"""The voxel map: its box and blocks, its window around a vehicle, its file, and whole maps put into one."""
