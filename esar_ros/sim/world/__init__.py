"""What is true in the simulator: ground, plants, placed objects, conditions, collisions and rays. Knows no pictures."""
