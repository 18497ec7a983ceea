"""Files of a search that other people's tools open, a module each with `write(search, path)`."""
