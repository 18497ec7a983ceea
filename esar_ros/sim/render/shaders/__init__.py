"""GLSL of the renderer, a module a kind of thing."""
