"""Methods that need neither map nor model: search patterns, chance, and the reference rows of every table."""
