"""Methods on the bird's-eye map: frontiers and values, and the way over the grid to them."""
