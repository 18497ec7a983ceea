"""Ground truth of the simulator: ground, plants, placed objects, conditions, collisions and rays; nothing of images."""
