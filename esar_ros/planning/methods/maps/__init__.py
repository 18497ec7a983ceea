"""Methods on the bird's-eye map: frontiers and values, and paths over the grid to them."""
