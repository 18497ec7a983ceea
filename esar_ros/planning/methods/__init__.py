"""The methods, one a file, each opening with its source: patterns, methods on the map, methods that ask a model."""
