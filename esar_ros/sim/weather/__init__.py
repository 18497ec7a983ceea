"""Weather: what each of the thirteen looks like, the ground that it leaves, sun, moon and gusts."""
