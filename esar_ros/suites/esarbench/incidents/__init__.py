"""A second generator of tasks: incidents lived through by simulated people, independent of the stories."""
