"""Meshes of people, clues, animals, plants and what may be mistaken for them, built from parts in real sizes."""
