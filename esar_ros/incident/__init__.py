"""A real search: what others' files tell of it, what is computed of it, and what goes out in their formats."""
