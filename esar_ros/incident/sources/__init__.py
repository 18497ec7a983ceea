"""Readers of what others recorded: each takes a file to the features of a search, or to looks, and says what it left
out."""
