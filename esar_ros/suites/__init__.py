"""Benchmarks, a folder a paper: tasks, their rules and how one is put into a world."""
