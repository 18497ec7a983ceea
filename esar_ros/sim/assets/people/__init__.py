"""People: postures, clothes, and what lies over them."""
