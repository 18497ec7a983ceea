"""Tiles of ground: wrapping squares of height, colour and light, finer than a map's texels."""
