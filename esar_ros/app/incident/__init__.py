"""Commands of a real search, one verb a file."""
